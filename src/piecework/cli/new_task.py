"""`new-task`: creates a task of your own that runs at once."""

from pathlib import Path

import click

from piecework.hit_templates.starters import STARTER_KINDS, StarterKind, write_starter


@click.command("new-task")
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--kind",
    type=click.Choice(STARTER_KINDS),
    default="choice",
    show_default=True,
    help="The answer about an item: a text, one option, several options, or a point on a scale.",
)
def new_task(path: Path, kind: StarterKind) -> None:
    """Create a task of your own.

    The command writes the task into the folder PATH, and items and a campaign file
    beside it. The files have comments, and you can rehearse the campaign at once.

    Examples:
      piecework new-task dog
      piecework new-task dog --kind scale
      piecework rehearse dog.toml
    """
    campaign = write_starter(path, kind)
    click.echo(f"written: {path}/ (the task), {campaign} and its items")
    click.echo(f"next: piecework preview {campaign}")
