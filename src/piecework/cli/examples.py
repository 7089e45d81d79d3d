"""`examples`: the example campaigns, for a folder outside the checkout."""

import shutil
import tomllib
from importlib.resources import as_file, files
from pathlib import Path

import click


@click.command()
@click.argument(
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=".",
)
def examples(folder: Path) -> None:
    """Copy the example campaigns to a folder.

    FOLDER is the one that you are in, unless you name another. What the campaigns make
    is written to FOLDER/out. Nothing is overwritten.

    \b
    Example:  piecework examples tries
              piecework rehearse tries/config/campaigns/demo.toml
    """  # noqa: D301 - click's mark for lines that stay lines
    target = folder / "config" / "campaigns"
    if target.exists():
        raise click.UsageError(f"{target} is there already; name another FOLDER")
    with as_file(files("piecework.config") / "campaigns") as source:
        shutil.copytree(source, target)
    for file in sorted(target.glob("*.toml")):
        if not file.name.endswith(".deployment.toml"):
            campaign = tomllib.loads(file.read_text(encoding="utf-8"))
            click.echo(f"{file}: {campaign['description']}")
    click.echo(f"begin with: piecework rehearse {target / 'demo.toml'}")
