"""Asks what the options of `init` leave open, writes the campaign file, checks it."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from piecework.campaign.composing.columns import folder_of_pictures, is_on_the_web, match_columns
from piecework.campaign.composing.draft import (
    Asked,
    Draft,
    compose,
    items_per_hit,
    own_minutes,
    read_asked,
    relative,
    unknown_hosts,
    usual_batches,
    usual_description,
)
from piecework.cli.init_wishes import ASSIGNMENTS, BATCHES, MINUTES, WAGE, Wishes
from piecework.config.campaign_file import parse_untrusted
from piecework.config.items_file import Row, read_rows
from piecework.config.trust import trust
from piecework.config.user_files import write_new
from piecework.domain.errors import ConfigError
from piecework.domain.hit import PICTURES, is_picture
from piecework.domain.text import plural
from piecework.hit_templates.own_html.task import ITEM_ID
from piecework.hit_templates.tasks import load_task, task_names
from piecework.simulation.rehearsals.checking import Checked, check_campaign

if TYPE_CHECKING:
    from decimal import Decimal

_T = TypeVar("_T")
_USUAL_ASSIGNMENTS, _USUAL_WAGE = 5, "10.00"
_LONGEST_NAME = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class _Items:
    """Where the items are, and which of their columns the task uses."""

    file: Path | None
    pictures: Path | None
    columns: Mapping[str, str]
    count: int


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
        self, stated: str | None, option: str, words: str, read: Callable[[str], _T]
    ) -> _T:
        if stated is None and not self.may_ask:
            raise click.UsageError(f"give {option}: {words}")
        while True:
            try:
                return read(click.prompt(words) if stated is None else stated)
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
    items = person.until_right(
        wishes.items,
        "--items",
        "Items (a .csv or .jsonl file, or a folder of pictures)",
        lambda text: _items(Path(text), asked, wishes, person),
    )
    path = wishes.file or _usual_path(items)
    _refuse_other(path, wishes)
    draft = _draft(path, asked, items, wishes, person)
    # The file names the items relative to this folder, which must exist to read them.
    path.parent.mkdir(parents=True, exist_ok=True)
    text, _ = compose(draft, today=today)
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
    if person.may_ask and wishes.task is None:
        for name in task_names():
            click.echo(f"  {name:<21}{load_task(name).title}")

    def read(named: str) -> Asked:
        hosts = wishes.hosts
        if unknown := unknown_hosts(named, folder=folder, allowed=hosts):
            hosts = (*hosts, *_allowed(unknown, person))
        return read_asked(named, folder=folder, hosts=hosts)

    words = "Task (of the gallery, a folder, or a page of HTML)"
    return person.until_right(wishes.task, "--task", words, read)


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


def _items(path: Path, asked: Asked, wishes: Wishes, person: _Person) -> _Items:
    if path.is_dir():
        count = sum(file.suffix.lower() in PICTURES for file in path.rglob("*"))
        return _Items(file=None, pictures=path, columns={}, count=count)
    if not path.exists():
        raise ConfigError([f"{path}: no such file or folder"])
    rows = [row for _, row in read_rows(path)]
    if not rows:
        raise ConfigError([f"{path}: has no items"])
    item_id = asked.needed[0]
    matched = match_columns(
        asked.needed, rows, item_id=item_id, addresses=asked.addresses, stated=wishes.columns
    )
    columns = dict(matched.renamed)
    for name, column in columns.items():
        if name not in wishes.columns:
            person.taken.append(f"the column {column!r} of {path.name} is {name}")
    for name in matched.missing:
        if name == item_id == ITEM_ID and asked.is_page:
            person.taken.append("items are numbered: row_1, row_2 and so on")
        else:
            columns[name] = _column(name, path, rows[0], person)
    return _Items(
        file=path,
        pictures=_pictures(path, rows, columns, asked, wishes, person),
        columns=columns,
        count=len(rows),
    )


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
    page = asked.task.html_page
    possible = page.possible_addresses if page is not None else ()
    shown = (row.get(columns.get(name, name), "") for name in possible for row in rows)
    addresses += filter(is_picture, shown)
    inside = next((name for name in addresses if name and not is_on_the_web(name)), None)
    if inside is None:
        return None
    if wishes.pictures is not None:
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
    count, task = max(items.count, 1), asked.task
    assignments: int = person.ask(
        wishes.assignments, "Answers for each item", _USUAL_ASSIGNMENTS, ASSIGNMENTS
    )
    batches: int = person.ask(wishes.batches, "Batches", usual_batches(count), BATCHES)
    shows = items_per_hit(task, count, batches)
    minutes: Decimal = person.ask(
        wishes.minutes,
        f"Minutes for a HIT of {plural(shows, 'item')} (default: the task's own pace)",
        str(own_minutes(task, shows)),
        MINUTES,
    )
    wage: int = person.ask(
        wishes.wage, f"Wage for an hour, in {wishes.currency}", _USUAL_WAGE, WAGE
    )
    title = wishes.title or ""
    if not (title or asked.has_title) and person.may_ask:
        title = click.prompt("Title that workers read in the list")
    description = wishes.description or usual_description(asked, title)
    if wishes.description is None and person.may_ask:
        description = click.prompt("Purpose of the collection", default=description)
    return Draft(
        path=path,
        name=_name(path.stem),
        asked=asked,
        count=count,
        items_file=relative(items.file, path.parent) if items.file else "",
        pictures=relative(items.pictures, path.parent) if items.pictures else "",
        columns=items.columns,
        title=title,
        description=description,
        assignments=assignments,
        batches=batches,
        minutes=minutes,
        wage_cents=wage,
        currency=wishes.currency,
    )


def _refuse_other(path: Path, wishes: Wishes) -> None:
    if path.exists() and not wishes.is_forced:
        raise ConfigError(
            [f"{path}: exists already, and init does not overwrite it"],
            next_step="choose another name (piecework init NAME.toml), or add --force",
        )


def _usual_path(items: _Items) -> Path:
    source = items.file or items.pictures
    assert source is not None  # noqa: S101 - items come from one of them
    return Path(f"{_name(source.resolve().stem)}.toml")


def _name(stem: str) -> str:
    """Return a campaign's name made from the name of a file."""
    name = re.sub(r"[^a-z0-9_-]+", "-", stem.lower()).strip("-_")
    return name[:_LONGEST_NAME] or "campaign"
