"""`tasks`: lists the tasks, their fields and their pages."""

import json
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from piecework.cli.options import JSON
from piecework.hit_templates.tasks import ListedTask, describe_field, list_tasks, render_tasks


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
    """List the available tasks.

    Each folder is a task or contains tasks. Without FOLDERS, the list includes the
    tasks in the current folder.

    Examples:
      piecework tasks
      piecework tasks ./dog --html tasks.html
    """
    listed_tasks = list_tasks(folders)
    if page is not None:
        page.write_text(render_tasks(listed_tasks), encoding="utf-8")
    if as_json:
        click.echo(json.dumps([listed.as_dict() for listed in listed_tasks], indent=2))
        return
    _say(listed_tasks)
    if page is not None:
        click.echo(f"written: {page}")


def _say(tasks: Sequence[ListedTask]) -> None:
    """Print for people what each task asks and needs."""
    console = Console()
    for listed in tasks:
        task = listed.task
        optional = [f"({name})" for name in task.optional_columns]
        columns = ", ".join([*task.columns, *optional])
        console.print(listed.named, style="bold", highlight=False)
        for line in (
            task.title,
            *map(describe_field, task.fields),
            f"item columns: {columns}; up to {task.items_per_hit} items a HIT",
        ):
            console.print(Padding(Text(line), (0, 0, 0, 4)))
