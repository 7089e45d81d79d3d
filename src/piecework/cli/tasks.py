"""`tasks`: which tasks there are, what each asks, and how its page looks."""

import json
from pathlib import Path

import click

from piecework.cli.options import JSON


@click.command()
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--html",
    "page",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a page that shows every task with its example items.",
)
@JSON
def tasks(folders: tuple[Path, ...], *, page: Path | None, as_json: bool) -> None:
    """List the tasks of the gallery, and those in FOLDERS.

    A folder is a task or holds some; without FOLDERS, the current folder's are
    listed too.

    \b
    Example:  piecework tasks
              piecework tasks ./dog --html tasks.html
    """  # noqa: D301 - click's mark for lines that stay lines
    from piecework.cli.work.tasks import listed, say_tasks, write_page

    found = listed(folders)
    if page is not None:
        write_page(found, page)
    if as_json:
        click.echo(json.dumps([one.as_dict() for one in found], indent=2))
        return
    say_tasks(found)
    if page is not None:
        click.echo(f"written: {page}")
