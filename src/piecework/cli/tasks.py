"""`preview`, and what `init` has to begin with.

A HIT to do in a browser; a list of tasks with their fields and pages, a task of your own
that runs at once, and a copy of the example campaigns.
"""

import json
import shutil
import signal
import threading
import tomllib
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path

import click
from rich.padding import Padding
from rich.text import Text

from piecework.cli.options import CAMPAIGN, WholeNumber
from piecework.cli.output import plain_console
from piecework.domain.task import GENERIC
from piecework.domain.text import shell_word
from piecework.hit_templates.starters import StarterKind, write_starter
from piecework.hit_templates.tasks import ListedTask, describe_field, list_tasks, render_tasks


def say_tasks(folders: tuple[Path, ...], *, page: Path | None, as_json: bool) -> None:
    """Print the tasks.

    Args:
        folders: each is a task or contains tasks; none stands for the current folder.
        page: also write a page that shows every task with its example items.
        as_json: whether a program reads the output.
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
    console = plain_console()
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
    console.print(", ".join(GENERIC), style="bold", highlight=False)
    stated = "take question and options from the campaign file: docs/how-to/tasks.md"
    console.print(Padding(Text(stated), (0, 0, 0, 4)))


def write_task(path: Path, kind: StarterKind, task: str | None) -> None:
    """Write a task into a folder, with items and a campaign file beside it."""
    campaign = write_starter(path, kind, task)
    click.echo(f"written: {path}/ (the task), {campaign} and its items")
    click.echo(f"next: piecework preview {shell_word(campaign)}")


def copy_examples(folder: Path) -> None:
    """Copy the example campaigns to a folder, where they write their results to `out`.

    Raises:
        click.UsageError: the folder has example campaigns already.
    """
    target = folder / "config" / "campaigns"
    if target.exists():
        raise click.UsageError(f"{target} exists already; name another folder")
    with as_file(files("piecework.config") / "campaigns") as source:
        # A clone may have rehearsed them.
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("out"))
    for file in sorted(target.glob("*.toml")):
        if not file.name.endswith(".deployment.toml"):
            campaign = tomllib.loads(file.read_text(encoding="utf-8"))
            # A short file states no description.
            asked = campaign.get("description") or campaign.get("question") or campaign["task"]
            click.echo(f"{file}: {asked}")
    click.echo(f"next: piecework rehearse {shell_word(target / 'demo.toml')}")


@click.command()
@CAMPAIGN
@click.option(
    "--port",
    type=WholeNumber(1, 65_534),
    help="Port of the site; the question pages use the next port. Default: free ports.",
)
def preview(campaign: Path, *, port: int | None) -> None:
    """Do a HIT yourself in the browser.

    The preview stores nothing with the campaign. When it ends, it deletes what you did.

    Examples:
      piecework preview birds.toml
      piecework preview birds.toml --port 9000
    """
    from piecework.campaign.assembling import read_anywhere
    from piecework.simulation.rehearsals.rehearsal import serve_preview

    # SIGTERM ends it like Ctrl-C, so that the folder is deleted.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with serve_preview(read_anywhere(campaign), port=port or 0) as addresses:
        click.echo(f"open {addresses.hit}")
        if addresses.test:
            click.echo(f"then the qualification test: {addresses.test}")
        click.echo("the preview pays and stores nothing; Ctrl-C ends it")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            click.echo("ended")
