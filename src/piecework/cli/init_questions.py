"""Asks what the options of `init` leave open, writes the campaign file, checks it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

import click

from piecework.campaign.assembling import assemble
from piecework.campaign.columns import folder_of_pictures, is_on_the_web, match_columns
from piecework.campaign.draft import (
    Asked,
    Draft,
    asked_about,
    campaign_text,
    name_to_state,
    read_asked,
    relative,
    task_for,
    unknown_hosts,
)
from piecework.cli.options import ASSIGNMENTS, MINUTES, WAGE, Wage, Wishes
from piecework.config.campaign_file import parse_text, parse_untrusted
from piecework.config.items_file import Row, read_rows, renamed_row
from piecework.config.rewards import own_minutes
from piecework.config.trust import trust
from piecework.config.user_files import plain_name, write_new
from piecework.domain.errors import ConfigError
from piecework.domain.hit import is_picture
from piecework.domain.received_files import about_no_picture, pictures_in
from piecework.domain.task import GENERIC
from piecework.hit_templates.generic import OF_TEXTS, id_column
from piecework.hit_templates.own_html.task import ITEM_ID
from piecework.hit_templates.tasks import load_task, task_names
from piecework.simulation.rehearsals.checking import Checked, check_campaign

_T = TypeVar("_T")
_USUAL_ANSWERS, _USUAL_WAGE = 5, "$10.00"


_GENERIC = {
    "choose": "A question of your own: choose an answer",
    "compare": "A question of your own: which of two or more",
    "describe": "A text about each item, such as a picture",
    "rate": "A question of your own: a number or a grade",
    "tag": "Boxes in a picture, or words in a text, with your tags",
    "transcribe": "What is said in a sound, or written in a picture, word for word",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Items:
    """Where the items are, the columns that a person named, and all columns but the id.

    Attributes:
        asked: what is asked about items with these columns.
    """

    asked: Asked
    file: Path | None
    pictures: Path | None
    columns: Mapping[str, str]
    header: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _Person:
    """The person to ask; without a terminal, the defaults are used and listed."""

    may_ask: bool
    taken: list[str] = field(default_factory=list)

    def ask(self, stated: _T | None, words: str, usual: object, kind: Any) -> _T:  # noqa: ANN401 - click's types
        if stated is not None:
            return stated
        if not self.may_ask:
            self.taken.append(f"{words}: {usual}")
            answer: _T = kind.convert(usual, None, None)
            return answer
        return click.prompt(words, default=usual, type=kind)  # type: ignore[no-any-return]

    def until_right(
        self,
        stated: str | None,
        option: str,
        words: str,
        read: Callable[[str], _T],
        usual: str | None = None,
    ) -> _T:
        if stated is None and not self.may_ask:
            raise click.UsageError(f"give {option}: {words}")
        while True:
            try:
                return read(click.prompt(words, default=usual) if stated is None else stated)
            except ConfigError as fault:
                if stated is not None:
                    raise
                click.secho(str(fault), fg="red", err=True)


@dataclass(frozen=True, slots=True)
class Written:
    """The campaign file that was written, its check, and what was assumed."""

    path: Path
    checked: Checked
    assumed: Sequence[str]


def write_campaign_file(wishes: Wishes, *, may_ask: bool, today: date) -> Written:
    """Write the file, and check it.

    Raises:
        ConfigError: the task or the items do not exist, a column is missing, or the
            campaign file exists already.
    """
    if wishes.file is not None:
        _refuse_other(wishes.file, wishes)
    person = _Person(may_ask)
    folder = wishes.file.parent if wishes.file else Path()
    asked = _asked(wishes, person, folder)
    _refuse_unused(asked, wishes)
    items = person.until_right(
        wishes.items,
        "--items",
        "Items (a .csv or .jsonl file, or a folder of pictures)",
        lambda text: _items(Path(text), asked, folder, wishes, person),
    )
    path = wishes.file or _usual_path(items)
    _refuse_other(path, wishes)
    draft = _draft(path, items.asked, items, wishes, person)
    # The file names the items relative to this folder, which must exist to read them.
    path.parent.mkdir(parents=True, exist_ok=True)
    text = campaign_text(draft)
    assemble(parse_text(path, text))  # a file with a fault is not written
    if wishes.is_forced:
        fresh = path.with_name(f".{path.name}.new")
        fresh.unlink(missing_ok=True)
        write_new(fresh, text)
        fresh.replace(path)
    else:
        write_new(path, text)
    # The person has named what the file names.
    trust(parse_untrusted(path))
    return Written(path, check_campaign(path, on=today), person.taken)


def _asked(wishes: Wishes, person: _Person, folder: Path) -> Asked:
    stated, usual = wishes.task, None
    if stated is None and wishes.items is not None:
        usual = _task_of_items(Path(wishes.items), wishes, person)
        stated = None if person.may_ask else usual
    if person.may_ask and wishes.task is None:
        for name in GENERIC:
            click.echo(f"  {name:<21}{_GENERIC[name]}")
        for name in task_names():
            click.echo(f"  {name:<21}{load_task(name).title}")

    def read(named: str) -> Asked:
        hosts = wishes.hosts
        if unknown := unknown_hosts(named, folder=folder, allowed=hosts):
            hosts = (*hosts, *_allowed(unknown, person))
        return read_asked(named, folder=folder, hosts=hosts)

    words = "Task (of the gallery, a folder, or a page of HTML)"
    if stated is None and not person.may_ask:
        raise click.UsageError(
            "give --items, from which the task follows (--items photos/ asks for descriptions), "
            "or --task and --items"
        )
    return person.until_right(stated, "--task", words, read, usual)


def _task_of_items(items: Path, wishes: Wishes, person: _Person) -> str | None:
    """Return the task that the items suggest; `None`: a person has to say it.

    Raises:
        ConfigError: there are no items; or no single task fits, and no person can be asked.
    """
    rows = () if items.is_dir() else _rows(items)
    if not rows:
        _refuse_without_pictures(items)
    try:
        task, because = task_for(items, rows, _parts_of(wishes.options or ""))
    except ConfigError:
        if person.may_ask:
            return None
        raise
    if not person.may_ask:
        person.taken.append(f"Task: {task}, because {because}")
    return task


def _rows(path: Path) -> list[Row]:
    if not path.exists():
        raise ConfigError([f"{path}: no such file or folder"])
    rows = [row for _, row in read_rows(path)]
    if not rows:
        raise ConfigError([f"{path}: has no items"])
    return rows


def _refuse_without_pictures(folder: Path) -> None:
    if not pictures_in(folder):
        raise ConfigError(
            about_no_picture(folder),
            next_step="--items PHOTOS names the folder with the pictures; sounds and videos "
            "need a table with their addresses: --items recordings.csv",
        )


def _allowed(hosts: Mapping[str, str], person: _Person) -> Iterable[str]:
    named = ", ".join(hosts)
    if person.may_ask and click.confirm(
        f"The page loads scripts or styles from {named}, which can then read what "
        "workers type. Allow that?"
    ):
        return hosts
    raise ConfigError(
        [*hosts.values()],
        next_step="if you trust these hosts with what workers type, add "
        + " ".join(f"--host {host}" for host in hosts),
    )


def _items(path: Path, asked: Asked, folder: Path, wishes: Wishes, person: _Person) -> _Items:
    if path.is_dir():
        _refuse_without_pictures(path)
        if wishes.columns or wishes.pictures not in {None, path}:
            option = "--column" if wishes.columns else "--pictures"
            raise click.UsageError(
                f"{option}: no use here; the items are the pictures of a folder, not a table"
            )
        asked = asked_about(asked, (), folder=folder)
        return _Items(asked=asked, file=None, pictures=path, columns={})
    rows = _rows(path)
    asked = asked_about(asked, (*rows[0], *wishes.columns), folder=folder)
    known: Mapping[str, str] = {}
    named: Mapping[str, str] = wishes.columns  # a generic task needs none
    if asked.needed:
        known, named = _columns(path, rows, asked, wishes, person)
    shown = [renamed_row(row, wishes.columns, wanted=()) for row in rows]
    return _Items(
        asked=asked,
        file=path,
        pictures=_pictures(path, rows, {**known, **named}, asked, wishes, person),
        columns=named,
        header=[name for name in shown[0] if name != id_column(shown)],
    )


def _columns(
    path: Path, rows: Sequence[Row], asked: Asked, wishes: Wishes, person: _Person
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return the columns that are found by name and contents, and those that a person named."""
    item_id, named = asked.needed[0], dict(wishes.columns)
    matched = match_columns(
        asked.needed, rows, item_id=item_id, addresses=asked.addresses, stated=wishes.columns
    )
    for name, column in matched.renamed.items():
        if name not in wishes.columns and name != column:
            person.taken.append(f"the column {column!r} of {path.name} is {name}")
    for name in matched.missing:
        if name == item_id == ITEM_ID and asked.is_page:
            person.taken.append("items are numbered: row_1, row_2 and so on")
        else:
            named[name] = _column(name, path, rows[0], person)
    return matched.renamed, named


def _column(name: str, path: Path, row: Row, person: _Person) -> str:
    if not person.may_ask:
        raise ConfigError(
            [f"{path}: has no column {name!r}; its columns are {', '.join(row)}"],
            next_step=f"say which column it is: --column {name}=COLUMN",
        )
    words = f"Which column of {path.name} is {name}?"
    chosen: str = click.prompt(words, type=click.Choice([*row]))
    return chosen


def _pictures(
    path: Path,
    rows: Sequence[Row],
    columns: Mapping[str, str],
    asked: Asked,
    wishes: Wishes,
    person: _Person,
) -> Path | None:
    """Return the folder of the pictures that a file names; None for web addresses."""
    addresses = [row.get(columns.get(name, name), "") for name in asked.addresses for row in rows]
    page = None if asked.task is None else asked.task.html_page
    possible = page.possible_addresses if page is not None else ()
    if asked.task is None:
        possible = tuple(rows[0])  # a generic task shows any column
    shown = (row.get(columns.get(name, name), "") for name in possible for row in rows)
    addresses += filter(is_picture, shown)
    inside = next((name for name in addresses if name and not is_on_the_web(name)), None)
    if wishes.pictures is not None or inside is None:
        return wishes.pictures
    beside = folder_of_pictures([path.parent], inside)
    if beside is not None:
        person.taken.append(f"the pictures are in {beside}")
        return beside
    if not person.may_ask:
        raise ConfigError(
            [f"{path}: names the picture {inside!r}, but no folder beside it has it"],
            next_step="say where they are: --pictures FOLDER",
        )
    kind = click.Path(exists=True, file_okay=False, path_type=Path)
    folder: Path = click.prompt(f"Folder of the pictures ({inside})", type=kind)
    return folder


def _draft(path: Path, asked: Asked, items: _Items, wishes: Wishes, person: _Person) -> Draft:
    question, options = _question(asked, items, wishes, person)
    answers: int = person.ask(
        wishes.assignments, "Answers for each item", _USUAL_ANSWERS, ASSIGNMENTS
    )
    minutes = wishes.minutes
    if asked.is_page and minutes is None:
        task = asked.task
        pace = "1" if task is None else str(own_minutes(task, task.items_per_hit))
        minutes = person.ask(None, "Minutes for a HIT", pace, MINUTES)
    wage: Wage = person.ask(wishes.wage, "Wage for an hour, in $ or £", _USUAL_WAGE, WAGE)
    title = wishes.title or ""
    if not (title or asked.has_title) and person.may_ask:
        title = click.prompt("Title that workers read in the list")
    return Draft(
        path=path,
        asked=asked,
        name=name_to_state(path),
        items_file=relative(items.file, path.parent) if items.file else "",
        pictures=relative(items.pictures, path.parent) if items.pictures else "",
        columns=items.columns,
        question=question,
        options=options,
        title=title,
        answers=answers,
        minutes=minutes,
        wage_cents=wage.cents,
        currency=wage.currency,
    )


def _question(
    asked: Asked, items: _Items, wishes: Wishes, person: _Person
) -> tuple[str, Sequence[str]]:
    """Return the question of a generic task, and what can be chosen."""
    if asked.task is not None:
        return "", ()
    kind, question, options = asked.named, wishes.question or "", wishes.options or ""
    if not question and kind not in OF_TEXTS:
        question = person.until_right(None, "--question", "What workers are asked", str)
    proposed = ", ".join(items.header) if kind == "compare" else ""
    if not options and kind in {"choose", "compare", "tag"}:
        words = "Columns to compare" if proposed else "Answers to choose from"
        if person.may_ask:
            options = click.prompt(f"{words}, with commas", default=proposed or None)
        elif not proposed:
            raise click.UsageError(
                'give --options: the answers to choose from: --options "yes, no"'
            )
        options = options or proposed
    return question, _parts_of(options)


def _parts_of(options: str) -> list[str]:
    return [text.strip() for text in options.split(",") if text.strip()]


def _refuse_unused(asked: Asked, wishes: Wishes) -> None:
    """Refuse options that say nothing about this task.

    Raises:
        click.UsageError: it names the first.
    """
    of_generic = f"{asked.named} has its own; they are for {', '.join(GENERIC)}"
    for option, stated, is_of_use, why in (
        ("--host", wishes.hosts, asked.is_page, "only a page of HTML loads from other hosts"),
        ("--question", wishes.question, asked.task is None, of_generic),
        ("--options", wishes.options, asked.task is None, of_generic),
    ):
        if stated and not is_of_use:
            raise click.UsageError(f"{option}: no use here; {why}")


def _refuse_other(path: Path, wishes: Wishes) -> None:
    if path.exists() and not wishes.is_forced:
        raise ConfigError(
            [f"{path}: exists already, and init does not overwrite it"],
            next_step="choose another name (piecework init NAME.toml), or add --force",
        )


def _usual_path(items: _Items) -> Path:
    source = items.file or items.pictures
    assert source is not None  # noqa: S101 - items come from one of them
    return Path(f"{plain_name(source.resolve().stem, 'campaign')}.toml")
