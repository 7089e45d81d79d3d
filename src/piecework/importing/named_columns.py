"""Which columns of anybody's table hold texts, items, workers and labels.

A person names them, or their names are plain: `caption`, `image_id`, `annotator`. Columns
are columns by their names alone, because a wrong guess from values would be hard to notice.
If two fit, or no column, the message has the options to write.
"""

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from piecework.domain.errors import ConfigError
from piecework.domain.imported import COLUMNS_READ, NamedColumns, Reading, Role
from piecework.domain.text import did_you_mean, one_line, plural
from piecework.hit_templates.tasks import load_task
from piecework.importing.readers import mapped, parquet
from piecework.importing.readers.head import Head, head_of
from piecework.importing.readers.recognise import is_of_a_tool
from piecework.importing.readers.rows import ImportedRow
from piecework.importing.readers.tables import objects_of

_USUAL: Mapping[Role, frozenset[str]] = {
    "text": frozenset(
        {
            *("text", "texts", "caption", "captions", "sentence", "description", "comment"),
            *("transcription", "utterance", "answertext", "responsetext"),
        }
    ),
    "item": frozenset(
        {
            *("item", "itemid", "image", "imageid", "imagename", "imageurl", "img", "imgid"),
            *("picture", "pictureid", "photo", "photoid", "filename", "task", "taskid"),
            *("question", "questionid", "stimulus", "stimulusid", "document", "documentid"),
        }
    ),
    "worker": frozenset(
        {
            *("worker", "workerid", "annotator", "annotatorid", "rater", "raterid", "coder"),
            *("coderid", "participant", "participantid", "respondent", "respondentid"),
            *("user", "userid", "prolificpid", "responseid", "judge", "judgeid"),
        }
    ),
    "label": frozenset(
        {
            *("label", "labels", "answer", "answers", "vote", "rating", "choice", "response"),
            *("annotation", "judgement", "judgment", "grade", "verdict"),
        }
    ),
}
"""Names that say what a column holds, without case and punctuation."""

_HOLDS: Mapping[Role, str] = {
    "text": "the texts",
    "item": "the items",
    "worker": "the workers",
    "label": "the labels",
}
_MOST_LISTED = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a command needs from a table.

    Attributes:
        needed: roles that must have a column.
        optional: roles that are used if a column is plain.
        either: of these roles one is enough.
    """

    needed: tuple[Role, ...] = ()
    optional: tuple[Role, ...] = ()
    either: tuple[Role, ...] = ()

    @property
    def roles(self) -> tuple[Role, ...]:
        """All roles, those that are needed first."""
        return (*self.either, *self.needed, *self.optional)


FOR_CLEANING = Wanted(needed=("text",), optional=("item",))
FOR_DESCRIBING = Wanted(needed=("text", "item"))
FOR_ANALYSING = Wanted(needed=("label", "item"), optional=("worker",))
FOR_ASSESSING = Wanted(either=("text", "label"), needed=("item",), optional=("worker",))


def columns_in(path: Path, head: Head) -> dict[str, bool]:
    """Return the columns of a table, and whether each has one value in a row.

    A member of an object has its name after the object's: `image.path`.

    Raises:
        ConfigError: the file cannot be read.
    """
    if parquet.fits(head):
        return parquet.columns_in(path)
    if head.reading.header or head.first_object is None:
        return dict.fromkeys(head.reading.header or head.header, True)
    names: dict[str, bool] = {}
    for _, document in objects_of(path, head):
        if not isinstance(document, str):
            for name, value in mapped.leaves(document):
                names[name] = names.get(name, True) and not isinstance(value, list)
    return names


def find_columns(
    path: Path, columns: Mapping[str, bool], stated: NamedColumns, wanted: Wanted
) -> NamedColumns:
    """Return a column for each role: the stated one, else one with a plain name.

    Args:
        path: the table.
        columns: its columns, and whether each has one value in a row.
        stated: the columns that a person named.
        wanted: the roles.

    Raises:
        ConfigError: a stated column does not exist, or no column is plain for a role; it
            has every fault.
    """
    faults = list(_stated_faults(path, columns, stated))
    if not columns:
        faults.append(f"{path}: has no column names")
    if faults:
        raise ConfigError(faults)
    fitting = {role: _fitting(role, columns, stated) for role in wanted.roles}
    if any(map(stated.of, wanted.either)):  # the others are then not asked for
        fitting |= {role: list(stated.of(role)) for role in wanted.either}
    absent = [role for role in wanted.needed if not fitting[role]]
    faults = [f"{path}: {_why_none(columns, role)}" for role in absent]
    options = [f"--{role} COLUMN" for role in absent]
    if wanted.either and not any(fitting[role] for role in wanted.either):
        faults.append(f"{path}: {_why_none(columns, *wanted.either)}")
        options.append(" or ".join(f"--{role} COLUMN" for role in wanted.either))
    for role, names in fitting.items():
        if len(names) > 1 and not stated.of(role) and not _may_lack(role, wanted):
            faults.append(f"{path}: {_listed(names, ' and ')} may each hold {_HOLDS[role]}")
            options.append(" or ".join(f"--{role} {shlex.quote(name)}" for name in names))
    if faults:
        raise ConfigError(faults, next_step=f"name the column: {'; '.join(options)}")
    known = {role: names for role, names in fitting.items() if len(names) == 1 or role == "label"}
    return NamedColumns(
        text="".join(known.get("text", ())),
        item="".join(known.get("item", ())),
        worker="".join(known.get("worker", ())),
        label=tuple(known.get("label", ())),
    )


def in_words(columns: NamedColumns) -> str:
    """Say which column holds what, as a clause.

    >>> in_words(NamedColumns(text="caption", item="image_id"))
    'caption holds the texts, image_id the items'
    """
    roles: tuple[Role, ...] = ("text", "label", "item", "worker")
    pairs = [(names, _HOLDS[role]) for role in roles if (names := columns.of(role))]
    verbs = [" holds", *[""] * len(pairs)]
    return ", ".join(
        f"{' and '.join(names)}{verb} {what}"
        for (names, what), verb in zip(pairs, verbs, strict=False)
    )


def _stated_faults(path: Path, columns: Mapping[str, bool], stated: NamedColumns) -> Iterator[str]:
    roles: tuple[Role, ...] = ("text", "item", "worker", "label")
    pairs = [(role, name) for role in roles for name in stated.of(role)]
    for role, name in pairs:
        if name not in columns:
            listed = f"the columns are {_listed(list(columns))}"
            meant = did_you_mean(name, columns, then=listed)
            yield f"{path}: --{role} {name}: there is no such column{meant}"
        elif not columns[name]:
            yield f"{path}: --{role} {name}: the column holds lists, not one value in each row"
        elif [other for _, other in pairs].count(name) > 1:
            yield f"{path}: --{role} {name}: two options name this column"


def _fitting(role: Role, columns: Mapping[str, bool], stated: NamedColumns) -> list[str]:
    """Return the stated columns of a role, else all with a usual name."""
    if stated.of(role):
        return list(stated.of(role))
    taken = {*stated.of("text"), *stated.of("item"), *stated.of("worker"), *stated.label}
    return [
        name
        for name, has_one_value in columns.items()
        if has_one_value and name not in taken and _letters(name) in _USUAL[role]
    ]


def _why_none(columns: Mapping[str, bool], *roles: Role) -> str:
    """Say why no column fits roles: lists are no values, or no name says what it holds."""
    usual = frozenset().union(*(_USUAL[role] for role in roles))
    lists = [name for name, is_plain in columns.items() if not is_plain and _letters(name) in usual]
    if lists:
        return f"the column {_listed(lists)} holds lists, not one value in each row"
    what = " or ".join(_HOLDS[role] for role in roles)
    return (
        f"no column has a name that says it holds {what}; the columns are {_listed(list(columns))}"
    )


def _may_lack(role: Role, wanted: Wanted) -> bool:
    """Return whether a command does without the role: an item that only helps cleaning."""
    return role == "item" and role in wanted.optional


def _letters(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())


def _listed(names: Collection[str], separator: str = ", ") -> str:
    shown = separator.join(one_line(name, at_most=60) for name in list(names)[:_MOST_LISTED])
    return f"{shown}, ..." if len(names) > _MOST_LISTED else shown or "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedReading:
    """How files are read whose columns were named or columns.

    Attributes:
        reading: what importing needs.
        columns: the columns; all empty for files of a known tool.
        labels: columns with answers that are surely no texts.
        remarks: what a person has to know about the columns, in sentences.
    """

    reading: Reading
    columns: NamedColumns = field(default_factory=NamedColumns)
    labels: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def read_by_names(
    paths: Sequence[Path],
    reading: Reading,
    stated: NamedColumns,
    wanted: Wanted,
    *,
    task_name: str = "",
) -> NamedReading:
    """Complete how files are read; files of a known tool need nothing.

    Args:
        paths: the files; they need the same columns.
        reading: what a file of columns states; if it states answers, nothing is added.
        stated: the columns that a person named.
        wanted: the roles.
        task_name: a task of the gallery, whose main text the text is.

    Raises:
        ConfigError: a file cannot be read, or a column is missing or not plain.
    """
    if reading.answers or reading.votes:
        return NamedReading(reading=reading)
    heads = {path: head_of(path, reading) for path in paths}
    of_tools = [path for path, head in heads.items() if is_of_a_tool(path, head)]
    if of_tools:
        if stated:
            raise ConfigError(
                [
                    f"{path}: a known tool wrote this file, so its columns are known"
                    for path in of_tools
                ],
                next_step="leave out --text, --item, --worker and --label; --columns FILE "
                "states which of its columns are answers",
            )
        return NamedReading(reading=reading)
    return read_columns(heads, reading, stated, wanted, task_name=task_name)


def read_columns(
    heads: Mapping[Path, Head],
    reading: Reading,
    stated: NamedColumns,
    wanted: Wanted,
    *,
    task_name: str = "",
) -> NamedReading:
    """Complete how tables are read by their columns, also if a known tool wrote them.

    Args:
        heads: the beginnings of the files, which need the same columns.
        reading: what a file of columns states.
        stated: the columns that a person named.
        wanted: the roles.
        task_name: a task of the gallery, whose main text the text is.

    Raises:
        ConfigError: a file cannot be read, or a column is missing or not plain.
    """
    first, head = next(iter(heads.items()))
    columns = find_columns(first, columns_in(first, head), stated, wanted)
    others = {path: columns_in(path, head) for path, head in heads.items() if path != first}
    if faults := [
        f"{path}: has no column {name!r}, which is read in {first}; its columns are "
        f"{_listed(names)}"
        for path, names in others.items()
        for name in (columns.text, *columns.label, columns.item, columns.worker)
        if name and name not in names
    ]:
        raise ConfigError(faults, next_step="give files with the same columns")
    completed = _completed(reading, columns, task_name)
    is_guess = columns.text and columns.label and not (stated.text or stated.label)
    if is_guess and _is_shown(first, replace(head, reading=completed), columns):
        columns = replace(columns, text="")
        completed = _completed(reading, columns, task_name)
    remarks = [f"{COLUMNS_READ}{in_words(columns)}."]
    if "worker" in wanted.roles and not columns.worker:
        remarks.append("No column names workers, so each row counts as a different person's.")
    return NamedReading(
        reading=completed,
        columns=columns,
        # A column that is only found may hold texts, unless texts have no use.
        labels=columns.label if "text" not in wanted.roles else stated.label,
        remarks=tuple(remarks),
    )


def guessed_of(heads: Iterable[Head]) -> tuple[str, ...]:
    """Return what was guessed about files before their columns were read, in sentences."""
    guesses = dict.fromkeys(guess for head in heads for guess, _ in head.guesses)
    return tuple(f"{guess[:1].upper()}{guess[1:]}." for guess in guesses)


def named_files(paths: Sequence[Path]) -> str:
    """Name files in a sentence: the first, and how many others there are."""
    others = len(paths) - 1
    more = f" and {plural(others, 'other file')}" if others else ""
    return f"{paths[0].name}{more}"


def _completed(reading: Reading, columns: NamedColumns, task_name: str) -> Reading:
    task = load_task(task_name) if task_name else None
    text = {(task.main_text if task else "") or columns.text: columns.text} if columns.text else {}
    kinds = {columns.text: {"kind": "text"}} if columns.text and task is None else {}
    return replace(
        reading,
        columns=replace(reading.columns, worker=columns.worker or reading.columns.worker),
        item=(columns.item,) if columns.item else reading.item,
        item_id=columns.item or reading.item_id,
        answers={**text, **{name: name for name in columns.label}},
        fields={**kinds, **reading.fields},
        numbers=reading.numbers or (),
    )


def _is_shown(path: Path, head: Head, columns: NamedColumns) -> bool:
    """Return whether all rows of an item have the same text, which then is the item's."""
    texts: dict[str, str] = {}
    is_repeated = False
    for row in mapped.read(path, head):
        if isinstance(row, ImportedRow):
            text, item = row.sent.get(columns.text, ""), row.shown.get(columns.item, "")
            is_repeated |= item in texts
            if texts.setdefault(item, text) != text:
                return False
    return is_repeated
