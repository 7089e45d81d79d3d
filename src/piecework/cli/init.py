"""`init`: writes a campaign file from a few questions, with comments and a policy.

It also lists tasks, and writes what to begin with: example campaigns, or a task of your own
that runs at once.
"""

import json
import shutil
import sys
import tomllib
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.options import (
    ASSIGNMENTS,
    JSON,
    MINUTES,
    WAGE,
    TaskName,
    Wishes,
    grouped,
    is_typed,
)
from piecework.domain.clock import SystemClock
from piecework.domain.task import GENERIC
from piecework.domain.text import plural, shell_word
from piecework.hit_templates.starters import write_starter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from piecework.cli.init_questions import Written
    from piecework.hit_templates.tasks import ListedTask


def _pairs(_ctx: click.Context, _param: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    """Return the columns by the task's names for them."""
    columns = {}
    for text in texts:
        name, equals, column = text.partition("=")
        if not (name and equals and column):
            raise click.BadParameter(f"{text!r} is not NAME=COLUMN", param_hint="--column")
        columns[name] = column
    return columns


def _campaign_file(_ctx: click.Context, _param: click.Parameter, path: Path | None) -> Path | None:
    """Return the file to write; refuse items or a page, which people name first too."""
    if path is None:
        return None
    option = "--items" if path.is_dir() else _MEANT.get(path.suffix.lower())
    if option is None:
        return path
    named = Path(path.resolve().name or "campaign").with_suffix(".toml")
    raise click.UsageError(
        f"{str(path)!r} is no campaign file; name that first: "
        f"piecework init {shell_word(named)} {option} {shell_word(path)}"
    )


_MEANT = dict.fromkeys((".csv", ".tsv", ".jsonl", ".parquet"), "--items") | {".html": "--task"}
"""The option for a file that is named in place of the campaign file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Beginning:
    """What to list or write instead of a campaign file."""

    lists: tuple[str, ...]
    page: Path | None
    examples: Path | None
    new_task: Path | None
    model: str | None

    def is_asked(self) -> bool:
        """Whether any of it is asked for.

        Raises:
            click.UsageError: two things at once, or an option without effect.
        """
        asked = {
            "--tasks": self.lists,
            "--examples": self.examples is not None,
            "--new-task": self.new_task is not None,
        }
        names = [name for name, is_stated in asked.items() if is_stated]
        if len(names) > 1:
            raise click.UsageError(f"{' and '.join(names)}: give only one of them")
        if self.page is not None and not self.lists:
            raise click.UsageError("--html goes with --tasks")
        if self.model is not None and self.new_task is None:
            raise click.UsageError("--from goes with --new-task")
        typed = _typed_of_a_campaign()
        if names and typed:
            raise click.UsageError(f"{typed[0]}: no use with {names[0]}, which asks nothing")
        return bool(names)

    def write(self, *, as_json: bool) -> None:
        """List or write it."""
        if self.examples is not None:
            _copy_examples(self.examples)
        elif self.new_task is not None:
            _write_task(self.new_task, "choice" if self.model is None else self.model)
        else:
            folders = tuple(Path(each) for each in self.lists if each)
            _say_tasks(folders, page=self.page, as_json=as_json)


def _say_tasks(folders: tuple[Path, ...], *, page: Path | None, as_json: bool) -> None:
    """Print the tasks.

    Args:
        folders: each is a task or contains tasks; none stands for the current folder.
        page: also write a page that shows every task with its example items.
        as_json: whether a program reads the output.
    """
    from piecework.hit_templates.tasks import list_tasks, render_tasks

    listed_tasks = list_tasks(folders)
    if page is not None:
        page.write_text(render_tasks(listed_tasks), encoding="utf-8")
    if as_json:
        click.echo(json.dumps([listed.as_dict() for listed in listed_tasks], indent=2))
        return
    _say_for_people(listed_tasks)
    if page is not None:
        click.echo(f"written: {page}")


def _say_for_people(tasks: "Sequence[ListedTask]") -> None:
    """Print for people what each task asks and needs."""
    from rich.padding import Padding
    from rich.text import Text

    from piecework.cli.output import plain_console
    from piecework.hit_templates.tasks import describe_field

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


def _write_task(path: Path, model: str) -> None:
    """Write a task into a folder, with items and a campaign file beside it."""
    campaign = write_starter(path, model)
    click.echo(f"written: {path}/ (the task), {campaign} and its items")
    click.echo(f"next: piecework preview {shell_word(campaign)}")


def _copy_examples(folder: Path) -> None:
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


def _typed_of_a_campaign() -> list[str]:
    """Return the stated options and arguments that are about the campaign file."""
    others = {"lists", "page", "examples", "new_task", "model", "as_json"}
    return [
        max(each.opts, key=len) if isinstance(each, click.Option) else "FILE"
        for each in click.get_current_context().command.params
        if each.name not in others and each.expose_value and is_typed(str(each.name))
    ]


@click.command()
@grouped(
    "beginning",
    _Beginning,
    click.option(
        "--tasks",
        "lists",
        multiple=True,
        is_flag=False,
        flag_value="",
        metavar="[FOLDER]",
        help="List the tasks instead, also those of FOLDER; repeatable.",
    ),
    click.option(
        "--html",
        "page",
        type=click.Path(path_type=Path, dir_okay=False),
        help="With --tasks: write a page that shows every task.",
    ),
    click.option(
        "--examples",
        is_flag=False,
        flag_value=".",
        metavar="[FOLDER]",
        type=click.Path(file_okay=False, path_type=Path),
        help="Copy the example campaigns to this folder instead.",
    ),
    click.option(
        "--new-task",
        metavar="FOLDER",
        type=click.Path(path_type=Path),
        help="Write a task of your own into this folder instead, with items and a "
        "campaign file beside it.",
    ),
    click.option(
        "--from",
        "model",
        metavar="KIND|TASK",
        help="With --new-task: what an answer is (text, choice, choices or scale; default: "
        "choice), or a task of --tasks to copy and change.",
    ),
)
@grouped(
    "wishes",
    Wishes,
    click.argument(
        "file", type=click.Path(path_type=Path), required=False, callback=_campaign_file
    ),
    click.option(
        "--task",
        type=TaskName(),
        help="describe, choose, compare, rate, tag or transcribe; a task of --tasks; "
        "a task's folder; or a page of HTML. Default: what the items suggest.",
    ),
    click.option("--items", help="The items: a .csv or .jsonl file, or a folder of pictures."),
    click.option(
        "--pictures",
        type=click.Path(path_type=Path, file_okay=False, exists=True),
        help="The folder of the pictures that the items file names.",
    ),
    click.option(
        "--column",
        "columns",
        multiple=True,
        metavar="NAME=COLUMN",
        callback=_pairs,
        help="The items' column for the task's NAME; repeatable.",
    ),
    click.option("--question", help="What a generic task asks, such as choose or compare."),
    click.option(
        "--options", metavar="A,B,…", help="What workers choose from, or the columns to compare."
    ),
    click.option("--title", help="Title in the list of HITs; default: the task's."),
    click.option("--minutes", type=MINUTES, help="Expected minutes for a HIT."),
    click.option(
        "--wage",
        type=WAGE,
        help="The least that an hour should pay: 12.00 in US dollars, or £12.00.",
    ),
    click.option(
        "--answers", "assignments", type=ASSIGNMENTS, help="Accepted answers for each item."
    ),
    click.option(
        "--host",
        "hosts",
        multiple=True,
        help="A host from which the page may load; repeatable.",
    ),
    click.option("--force", "is_forced", is_flag=True, help="Overwrite a file that exists."),
)
@click.option("--yes", is_flag=True, help="Ask nothing; use the defaults.")
@JSON
def init(*, beginning: _Beginning, wishes: Wishes, yes: bool, as_json: bool) -> None:
    """Write a campaign file from your answers.

    The command asks for what no option states; with --json it uses defaults.

    What the file leaves out is derived: `piecework check FILE --full` prints it.

    Examples:
      piecework init
      piecework init --examples tries
      piecework init --task choose --items cups.csv --question "Is it full?"
    """
    if beginning.is_asked():
        beginning.write(as_json=as_json)
        return
    from piecework.cli.init_questions import write_campaign_file

    written = write_campaign_file(
        wishes,
        may_ask=sys.stdin.isatty() and not (yes or as_json),
        today=SystemClock().now().date(),
    )
    _say(written, as_json=as_json)


def _say(written: "Written", *, as_json: bool) -> None:
    """Print what the campaign costs, what was assumed, and the next commands."""
    path, checked = written.path, written.checked
    campaign, cost = checked.campaign, checked.price
    if as_json:
        document = {"written": str(path), "assumed": list(written.assumed)}
        click.echo(json.dumps(document | checked.as_dict(), indent=2))
        return
    for assumed in written.assumed:
        click.echo(f"assumed: {assumed}")
    shown = campaign.rewards.shown
    click.echo(
        f"written: {path}: {plural(len(campaign.items), 'item')} in "
        f"{plural(campaign.posting.batches, 'batch')}, "
        f"{plural(cost.hits, 'HIT')} at "
        f"{shown(campaign.rewards.reward_cents)}, each by "
        f"{plural(campaign.posting.assignments, 'worker')}; expected to cost about "
        f"{shown(cost.expected)}, never more than {shown(cost.cap)}"
    )
    for warning in checked.warnings:
        click.secho(f"WARNING: {warning}", fg="yellow")
    click.echo(f"next: piecework check {shell_word(path)}      (what it costs, and why)")
    click.echo(f"      piecework preview {shell_word(path)}    (do it yourself in a browser)")
    click.echo(f"      piecework rehearse {shell_word(path)}   (simulated workers; costs nothing)")
