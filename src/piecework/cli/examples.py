"""`examples`: copies the example campaigns to a folder outside the checkout."""

import shutil
import tomllib
from importlib.resources import as_file, files
from pathlib import Path

import click


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=".")
def examples(folder: Path) -> None:
    """Copy the example campaigns to a folder.

    FOLDER is the current folder unless you name another. The example campaigns write
    their results to FOLDER/out. The command overwrites nothing.

    Examples:
      piecework examples
      piecework examples tries
      piecework rehearse tries/config/campaigns/demo.toml
    """
    target = folder / "config" / "campaigns"
    if target.exists():
        raise click.UsageError(f"{target} exists already; name another FOLDER")
    with as_file(files("piecework.config") / "campaigns") as source:
        shutil.copytree(source, target)
    for file in sorted(target.glob("*.toml")):
        if not file.name.endswith(".deployment.toml"):
            campaign = tomllib.loads(file.read_text(encoding="utf-8"))
            click.echo(f"{file}: {campaign['description']}")
    click.echo(f"next: piecework rehearse {target / 'demo.toml'}")
