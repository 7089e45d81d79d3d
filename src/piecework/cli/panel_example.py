"""`panel example`: prints a panel file to start from."""

from importlib.resources import files

import click

_NAMES = ("clickworker", "external", "microworkers", "sona")


@click.command("example")
@click.argument("name", type=click.Choice(_NAMES))
def panel_example(*, name: str) -> None:
    """Print a ready-made panel file.

    NAME is `external` for any panel with an external link, or the name of a panel. The
    comments in the file state what is verified about the panel and what is a guess.

    Examples:
      piecework panel example external > panel.toml
      piecework panel example sona
    """
    folder = files("piecework.panel") / "ready_made"
    click.echo((folder / f"{name}.toml").read_text(encoding="utf-8"), nl=False)
