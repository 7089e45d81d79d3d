"""The campaign file that `init` writes: only what a person chose; the rest is derived."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import chain, count
from pathlib import Path

from piecework.campaign.deriving import address_columns, needed_columns
from piecework.config.items_file import Row
from piecework.config.machine_file import MachineFile, machine_file
from piecework.config.user_files import legal_name, name_in, names_beside, plain_name
from piecework.domain.errors import ConfigError, StoreError
from piecework.domain.money import SIGNS, Currency, cents_to_wire
from piecework.domain.store_address import store_address
from piecework.domain.task import GENERIC, Part, Task
from piecework.domain.text import shell_word
from piecework.domain.toml_text import toml_line
from piecework.hit_templates.generic import Asked as Generic
from piecework.hit_templates.generic import shown_parts
from piecework.hit_templates.own_html.embedding import embedded
from piecework.hit_templates.own_html.page import hosts_refused
from piecework.hit_templates.own_html.placeholders import loop_in
from piecework.hit_templates.own_html.task import Around, html_task
from piecework.hit_templates.tasks import load_task, task_names
from piecework.store.database import exists

_IN_LOOP = 5
"""Items for a HIT whose page shows them in a loop, if a person states nothing."""

_LONGEST_PLAIN = 36
"""Characters of a name that gets a number."""

_COMMENTS_AT = 32
"""Column in which comments begin after shorter settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What workers are asked: a task, or a requester's own page.

    Attributes:
        named: its name as a campaign file beside it writes it.
        task: `None` of a generic task, which any items make.
        hosts: hosts that the page may load from.
        items_per_hit: of a page that shows them in a loop, so that it must be stated.
        needed: columns of items that it requires; the first is the id.
        addresses: columns that hold addresses of pictures, optional ones too.
    """

    named: str
    task: Task | None
    hosts: tuple[str, ...] = ()
    items_per_hit: int | None = None
    needed: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()

    @property
    def is_page(self) -> bool:
        """Whether it is HTML."""
        return self.task is not None and self.task.html_page is not None

    @property
    def has_title(self) -> bool:
        """Whether it has its own title for the HIT."""
        return self.task is None or not self.is_page or self.task.title != Path(self.named).stem


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Everything that a campaign file will say; `None` or empty is derived.

    Attributes:
        path: path of the file.
        items_file: relative to it, like `pictures`.
        name: the campaign's; "" is the file's.
        columns: the file's names of columns by the task's, where a person named them.
        minutes: minutes that a HIT is expected to take.
        wage_cents: pay per hour, which is also the floor.
    """

    path: Path
    asked: Asked
    name: str = ""
    items_file: str = ""
    pictures: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    question: str = ""
    options: Sequence[str] = ()
    title: str = ""
    answers: int
    minutes: Decimal | None = None
    wage_cents: int
    currency: Currency = "USD"


def read_asked(
    named: str,
    *,
    folder: Path,
    hosts: tuple[str, ...] = (),
    header: tuple[str, ...] | None = None,
) -> Asked:
    """Read the task or page that a person names.

    Args:
        named: a task, generic or of the gallery, a folder, or an HTML page, relative to
            the current directory.
        folder: where the campaign file will be.
        hosts: hosts that a page may load from.
        header: the columns of the items, if they are known.

    Raises:
        ConfigError: it does not exist, or it has errors.
    """
    path, most = Path(named), None
    if named in GENERIC:
        return Asked(named=named, task=None)
    if path.suffix.lower() in {".html", ".htm"}:
        html = path.read_text("utf-8-sig", errors="replace") if path.is_file() else ""
        most = _IN_LOOP if loop_in(html, header or ()) else None
        around = Around(
            title="",
            description="A page.",
            fields={},
            hosts=hosts,
            folder=folder,
            header=header,
            items_per_hit=most,
        )
        beside, task = relative(path, folder), html_task(path, around)
    else:
        is_folder = named not in task_names() and path.is_dir()
        beside = relative(path, folder) if is_folder or "/" in named else named
        if is_folder and not beside.startswith((".", "/")):
            beside = f"./{beside}"
        task = load_task(beside, beside=folder)
    return Asked(
        named=beside,
        task=task,
        hosts=hosts,
        items_per_hit=most,
        needed=needed_columns(task),
        addresses=address_columns(task),
    )


def task_for(items: Path, rows: Sequence[Row], options: Sequence[str] = ()) -> tuple[str, str]:
    """Return the generic task that items suggest, and why, as a clause.

    Args:
        items: the file of the items, or the folder of their pictures.
        rows: of the file; none of a folder.
        options: what a person wants workers to choose from.

    Raises:
        ConfigError: none or several tasks fit; it has the words to add.

    >>> task_for(Path("notes.csv"), [{"id": "1", "note": "The sky is blue."}])
    ('describe', 'notes.csv has words in the column note')
    """
    if not rows:
        return (
            ("choose", "--options has answers") if options else ("describe", "items are pictures")
        )
    if options:
        is_of_columns = all(option in rows[0] for option in options)
        columns = ("compare", "--options names columns")
        return columns if is_of_columns else ("choose", "--options has answers")
    parts = shown_parts(Generic(kind="describe", stated=(), path=""), rows, grows=False)
    pictures = [part.column for part in parts if part.kind == "picture"]
    if len(pictures) > 1:
        raise ConfigError(
            [f"{items}: no task is named, and the columns {', '.join(pictures)} have pictures"],
            next_step=f'add --task compare --options "{",".join(pictures)}" --question "...", '
            "or --task describe",
        )
    recorded = [part.column for part in parts if part.kind in {"audio", "video"}]
    if pictures or not recorded:
        written = [part.column for part in parts if part.kind == "text" and _has_words(part, rows)]
        if column := next(iter([*pictures, *written]), ""):
            what = "pictures" if pictures else "words"
            return "describe", f"{items} has {what} in the column {column}"
        header = ", ".join(rows[0])
        raise ConfigError(
            [f"{items}: no task is named, and neither pictures nor words are in columns {header}"],
            next_step="add --task TASK (piecework init --tasks lists them)",
        )
    return "transcribe", f"{items} has recordings in the column {recorded[0]}"


def _has_words(part: Part, rows: Sequence[Row]) -> bool:
    return any(letter.isalpha() for row in rows for letter in row.get(part.column, ""))


def name_to_state(path: Path) -> str:
    """Return the name that a new campaign file states; "": the file's own is plain and free.

    A file that is overwritten keeps its name.

    >>> name_to_state(Path("nowhere/Birds 2026.toml")), name_to_state(Path("nowhere/birds.toml"))
    ('birds-2026', '')
    """
    derived = legal_name(path.stem)
    name = _name_before(path) or free_name(path, derived)
    return "" if name == derived else name


def free_name(path: Path, derived: str) -> str:
    """Return a plain name for a campaign file, or the derived one if no letter is plain.

    A name that another file of the folder, any results or a store in a database have stays
    theirs. A database that only a file beside the campaign names is not asked: it may have
    come from anyone.

    Args:
        path: the campaign file.
        derived: the name made from the file's.

    Raises:
        ConfigError: as `machine_file`, which names the folder of results.
    """
    machine = machine_file(path)
    results = machine.all_results(path)
    database = _database_to_ask(machine)
    is_own = not database or (results / derived).exists()
    # Results beside the file are its own; in a folder of the machine they may be another's.
    own = {derived: False} if is_own and not machine.folder else {}
    taken = own | dict.fromkeys(names_beside(path).values(), True)
    plain = plain_name(path.stem, derived)
    names = chain([plain], (f"{plain[:_LONGEST_PLAIN]}-{n}" for n in count(2)))
    return next(
        name
        for name in names
        if not taken.get(name, (results / name).exists())
        and (taken.get(name) is False or not _has_store(results / name, database))
    )


def _database_to_ask(machine: MachineFile) -> str:
    """Return the URL of the database with the stores, if this user's environment names it."""
    is_from_user = machine.is_named or machine.tables.store.url is None
    return machine.store_url if is_from_user else ""


def _has_store(folder: Path, database: str) -> bool:
    """Return whether a database has a campaign's store; one that does not answer has none."""
    if not database:
        return False
    with suppress(StoreError, ConfigError):
        return exists(store_address(folder, campaign=folder.name, url=database))
    return False


def _name_before(path: Path) -> str:
    with suppress(OSError, ValueError):
        return name_in(path)
    return ""


def asked_about(asked: Asked, header: tuple[str, ...], *, folder: Path) -> Asked:
    """Return what is asked about items with these columns; a page may show several."""
    if not asked.is_page:
        return asked
    named = str(folder / asked.named)
    return read_asked(named, folder=folder, hosts=asked.hosts, header=header)


def unknown_hosts(named: str, *, folder: Path, allowed: Sequence[str]) -> dict[str, str]:
    """Return refused hosts that a page loads from, with reasons; none for a task."""
    path = Path(named)
    if path.suffix.lower() not in {".html", ".htm"} or not path.is_file():
        return {}
    html = path.read_text("utf-8-sig", errors="replace")
    return hosts_refused(path, html, allowed, embedded(html, path, folder).styles)


def relative(path: Path, folder: Path) -> str:
    """Return a path as a campaign file in a folder writes it.

    >>> relative(Path("/a/items.csv"), Path("/a/b"))
    '../items.csv'
    """
    return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()


def campaign_text(draft: Draft) -> str:
    """Return the text of the campaign file; it ends with a line break."""
    return "\n".join("\n".join(part) + "\n" for part in map(list, _parts(draft)) if part)


def _parts(draft: Draft) -> Iterator[Iterator[str]]:
    yield _head(draft)
    if draft.columns:
        names = {"file": draft.items_file, "columns": draft.columns}
        lines = (toml_line(name, value) for name, value in names.items() if value)
        yield iter(("[items]", *lines))
    posting = {"title": draft.title, "items_per_hit": draft.asked.items_per_hit}
    if stated := [toml_line(name, value) for name, value in posting.items() if value]:
        yield iter(("[posting]", *stated))


def _head(draft: Draft) -> Iterator[str]:
    name = draft.path.name
    yield f"# piecework check {shell_word(name)}      what it costs; with --full, what is derived"
    yield f"# piecework preview {shell_word(name)}    do it yourself in a browser"
    yield f"# piecework rehearse {shell_word(name)}   simulated workers; costs nothing"
    if draft.name:
        yield _line("name", draft.name, "of the results' folder, the HITs and the dataset")
    yield toml_line("task", draft.asked.named)
    yield from _question(draft)
    if draft.asked.hosts:
        # The operators of these hosts can read what workers type into the page.
        yield toml_line("hosts", list(draft.asked.hosts))
    yield from _items(draft)
    yield _line("answers", draft.answers, "accepted answers for each item")
    sign = "" if draft.currency == "USD" else SIGNS[draft.currency]
    wage = f"{sign}{cents_to_wire(draft.wage_cents)}"
    yield _line("hourly_wage", wage, "the reward follows from it")
    if draft.minutes is not None:
        yield _commented(f"minutes = {draft.minutes}", "for a HIT; better from a pilot")


def _question(draft: Draft) -> Iterator[str]:
    if draft.question:
        yield toml_line("question", draft.question)
    if draft.asked.named == "rate" and not draft.options:
        yield toml_line("scale", [1, 5])
    if draft.options:
        yield toml_line("options", list(draft.options))


def _items(draft: Draft) -> Iterator[str]:
    if not draft.columns:  # those are a table
        yield toml_line("items", draft.items_file or f"{draft.pictures}/")
    if draft.items_file and draft.pictures:
        yield toml_line("pictures", draft.pictures)


def _line(key: str, value: object, comment: str) -> str:
    return _commented(toml_line(key, value), comment)


def _commented(text: str, comment: str) -> str:
    return f"{text:<{_COMMENTS_AT}} # {comment}"
