"""Read any CSV, tab-separated file, JSON Lines or Parquet with columns described by a person.

The rows of one assignment become one row. Columns that are not mentioned are
ignored.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from pathlib import Path

from piecework.domain.imported import Reading
from piecework.importing.numbered_names import place_of
from piecework.importing.readers import parquet
from piecework.importing.readers.crowd_form import as_text
from piecework.importing.readers.head import Head
from piecework.importing.readers.rows import ImportedRow, Read, Unreadable, together
from piecework.importing.readers.tables import (
    CellError,
    Cells,
    Document,
    cell_in,
    objects_of,
    read_table,
    time_in,
    with_duration,
)

NAME = "columns as stated"

_COUNT = re.compile(r"(\d+)(?:\.0*)?")
_MOST_VOTES = 100_000
"""Of one option about one item; a larger number is of something else."""


def read(path: Path, head: Head, *, most_bytes: int | None = parquet.MOST_BYTES) -> Iterator[Read]:
    """Yield the rows as described by `head.reading`.

    Args:
        path: the file.
        head: its beginning.
        most_bytes: as for `parquet.objects_of`.

    Raises:
        ConfigError: the file has no header line, or is too large.
    """
    reading = head.reading
    if reading.votes:
        for row in _rows(path, head, most_bytes):
            yield from _each_vote(row, reading)
    elif reading.columns.assignment:
        yield from together(partial(_rows, path, head, most_bytes))
    else:
        yield from _rows(path, head, most_bytes)


def _rows(path: Path, head: Head, most_bytes: int | None) -> Iterator[Read]:
    reading = head.reading
    if parquet.fits(head):
        documents = parquet.objects_of(path, _columns_named(reading), most_bytes=most_bytes)
        return (_json_row(line, document, reading) for line, document in documents)
    if head.first_object is not None:
        return _json_rows(path, head, reading)
    return read_table(
        path,
        head,
        lambda line, cells: _row(line, cells, reading),
        worker=reading.columns.worker,
        header=reading.header,
    )


def _columns_named(reading: Reading) -> set[str]:
    """Return all mapped columns."""
    columns = reading.columns
    return {
        *columns.assignment,
        *columns.hit,
        *filter(
            None,
            (columns.worker, columns.accepted, columns.submitted, columns.seconds, columns.outcome),
        ),
        *filter(None, (columns.feedback, reading.item_id)),
        *reading.item,
        *reading.answers.values(),
        *(column for votes in reading.votes.values() for column in votes.values()),
        *reading.gold.values(),
    }


def _json_rows(path: Path, head: Head, reading: Reading) -> Iterator[Read]:
    for line, document in objects_of(path, head):
        if isinstance(document, str):
            yield Unreadable(line=line, fault=document)
            continue
        for entry in _entries(document, reading):
            yield _json_row(line, entry, reading)


def _entries(document: Document, reading: Reading) -> Iterator[Document]:
    """Yield the object; or each of its members, if two names are given for them."""
    if not reading.header:
        yield document
        return
    key, *rest = reading.header
    for name, value in document.items():
        yield {key: name, **dict.fromkeys(rest, value)}


def _json_row(line: int, document: Document, reading: Reading) -> Read:
    cells = Cells((name, as_text(value)) for name, value in leaves(document))
    cells.times = reading.times
    try:
        return _row(line, cells, reading)
    except CellError as fault:
        worker_id = cell_in(cells, reading.columns.worker)
        return Unreadable(line=line, column=fault.column, fault=str(fault), worker_id=worker_id)


def leaves(document: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yield the values of an object and of objects in it, with names joined by dots."""
    for name, value in document.items():
        if isinstance(value, dict) and len(prefix) < 100:  # noqa: PLR2004 - deep enough
            yield from leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _row(line: int, cells: Cells, reading: Reading) -> ImportedRow:
    columns = reading.columns
    accepted = time_in(cells, columns.accepted)
    submitted = time_in(cells, columns.submitted)
    accepted, submitted = with_duration(cells, columns.seconds, accepted, submitted)
    stated = (*reading.answers.values(), *_votes_columns(reading))
    sent = {column: cells[column] for name in stated for column in _columns_of(name, cells)}
    shown_names = {*reading.item, reading.item_id, *reading.gold.values()} - {""}
    numbers, answers = reading.numbers or (), {*reading.answers.values()}
    if numbers:
        sent = {
            name: cell
            for name, cell in cells.items()
            if _without(name, numbers, answers) in answers
        }
    return ImportedRow(
        line=line,
        hit_id=_joined(cells, columns.hit),
        assignment_id=_joined(cells, columns.assignment),
        worker_id=cell_in(cells, columns.worker),
        accepted_at=accepted,
        submitted_at=submitted,
        outcome=cell_in(cells, columns.outcome),
        feedback=cell_in(cells, columns.feedback),
        shown={
            name: cell
            for name, cell in cells.items()
            if name in shown_names or _without(name, numbers, shown_names) in shown_names
        },
        sent=sent,
    )


def _columns_of(name: str, names: Collection[str]) -> list[str]:
    """Return the column of an answer, or its parts in a flattened form (`rating.1`)."""
    if name in names:
        return [name]
    return [column for column in names if column.rpartition(".")[0] == name]


def columns_missing(reading: Reading, header: Collection[str]) -> list[str]:
    """Return the mapped columns that a file lacks."""
    return sorted(name for name in _columns_named(reading) if not _columns_of(name, header))


def _joined(cells: Cells, columns: tuple[str, ...]) -> str:
    values = [cell_in(cells, name) for name in columns]
    return "/".join(values) if any(values) else ""


def _votes_columns(reading: Reading) -> list[str]:
    return [name for votes in reading.votes.values() for name in votes.values()]


def _without(name: str, numbers: Collection[str], known: Collection[str]) -> str:
    """Return a column's name without the number of its item."""
    place = place_of(name, numbers, known)
    return place.base if place else name


def _each_vote(row: Read, reading: Reading) -> Iterator[Read]:
    """Yield an assignment by an unknown worker for each counted vote.

    A row with a fault in any count is unreadable as a whole.
    """
    if not isinstance(row, ImportedRow):
        yield row
        return
    counts: list[tuple[str, str, int]] = []
    for field, columns in reading.votes.items():
        for option, column in columns.items():
            try:
                counts.append((field, option, _count(row.sent.get(column, "").strip())))
            except ValueError as fault:
                yield Unreadable(
                    line=row.line, column=column, fault=str(fault), worker_id=row.worker_id
                )
                return
    for field, option, count in counts:
        for _ in range(count):
            yield ImportedRow(
                line=row.line, hit_id=row.hit_id, shown=row.shown, sent={field: option}
            )


def _count(text: str) -> int:
    """Return a number of votes; an empty cell has none.

    >>> _count("3.0"), _count("")
    (3, 0)
    """
    whole = _COUNT.fullmatch(text or "0")
    if not whole:
        raise ValueError(f"{text[:80]!r} is not a number of votes")
    digits = whole[1].lstrip("0")
    if len(digits) > len(str(_MOST_VOTES)) or int(digits or 0) > _MOST_VOTES:
        raise ValueError(f"{text[:80]} votes; at most {_MOST_VOTES:,} are allowed")
    return int(digits or 0)
