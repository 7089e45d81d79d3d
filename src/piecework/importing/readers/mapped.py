"""Read any CSV, tab-separated file or JSON Lines with columns described by a person.

Consecutive rows of one assignment become one row. Columns that are not mentioned are
ignored.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path

from piecework.domain.imported import Reading
from piecework.importing.readers.crowd_form import as_text
from piecework.importing.readers.head import Head
from piecework.importing.readers.objects import Document, objects_of
from piecework.importing.readers.rows import ImportedRow, Read, RowPart, Unreadable
from piecework.importing.readers.tables import CellError, Cells, read_table, time_in

NAME = "columns as stated"


def read(path: Path, head: Head, reading: Reading) -> Iterator[Read]:
    """Yield the rows as described by `reading`.

    Raises:
        ConfigError: the file has no header line.
    """
    rows = (
        _json_rows(path, head, reading)
        if head.first_object is not None
        else read_table(
            path,
            head,
            lambda line, cells: _row(line, cells, reading),
            header=reading.header,
        )
    )
    if reading.votes:
        for row in rows:
            yield from _each_vote(row, reading)
    elif reading.columns.assignment:
        yield from _together(rows)
    else:
        yield from rows


def columns_named(reading: Reading) -> set[str]:
    """Return all mapped columns, to find those that a file lacks."""
    columns = reading.columns
    return {
        *columns.assignment,
        *columns.hit,
        *filter(
            None,
            (
                columns.worker,
                columns.accepted,
                columns.submitted,
                columns.seconds,
                columns.outcome,
            ),
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
    try:
        return _row(line, _flat(document), reading)
    except CellError as fault:
        return Unreadable(line=line, column=fault.column, fault=str(fault))


def _flat(document: Mapping[str, object], prefix: str = "") -> dict[str, str]:
    """Flatten nested objects to names joined by dots."""
    cells: dict[str, str] = {}
    for name, value in document.items():
        if isinstance(value, dict) and len(prefix) < 100:  # noqa: PLR2004 - deep enough
            cells |= _flat(value, f"{prefix}{name}.")
        else:
            cells[f"{prefix}{name}"] = as_text(value)
    return cells


def _row(line: int, cells: Cells, reading: Reading) -> ImportedRow:
    columns = reading.columns
    accepted = time_in(cells, columns.accepted)
    submitted = time_in(cells, columns.submitted)
    accepted, submitted = _with_seconds(cells, columns.seconds, accepted, submitted)
    sent = {
        name: cells[name]
        for name in (*reading.answers.values(), *_votes_columns(reading))
        if name in cells
    }
    shown_names = {*reading.item, reading.item_id, *reading.gold.values()} - {""}
    if reading.numbers:
        sent = {
            name: cell
            for name, cell in cells.items()
            if _without(name, reading) in reading.answers.values()
        }
    return ImportedRow(
        line=line,
        hit_id=_joined(cells, columns.hit),
        assignment_id=_joined(cells, columns.assignment),
        worker_id=cells.get(columns.worker, "").strip(),
        accepted_at=accepted,
        submitted_at=submitted,
        outcome=cells.get(columns.outcome, "").strip(),
        feedback=cells.get(columns.feedback, ""),
        shown={
            name: cell
            for name, cell in cells.items()
            if name in shown_names or _without(name, reading) in shown_names
        },
        sent=sent,
    )


def _with_seconds(
    cells: Cells, column: str, accepted: datetime | None, submitted: datetime | None
) -> tuple[datetime | None, datetime | None]:
    text = cells.get(column, "").strip()
    if not text:
        return accepted, submitted
    try:
        worked = timedelta(seconds=float(text))
    except (ValueError, OverflowError) as fault:
        raise CellError(column, f"{text[:80]!r} is not a number of seconds") from fault
    if accepted is None and submitted is not None:
        accepted = submitted - worked
    elif submitted is None and accepted is not None:
        submitted = accepted + worked
    return accepted, submitted


def _joined(cells: Cells, columns: tuple[str, ...]) -> str:
    values = [cells.get(name, "").strip() for name in columns]
    return "/".join(values) if any(values) else ""


def _votes_columns(reading: Reading) -> list[str]:
    return [name for votes in reading.votes.values() for name in votes.values()]


def _without(name: str, reading: Reading) -> str:
    """Return a column's name without the number of its item."""
    for number in sorted(reading.numbers, key=len, reverse=True):
        if name.endswith(number):
            return name.removesuffix(number)
    return name


def _each_vote(row: Read, reading: Reading) -> Iterator[Read]:
    """Yield an assignment by an unknown worker for each counted vote."""
    if not isinstance(row, ImportedRow):
        yield row
        return
    for field, columns in reading.votes.items():
        for option, column in columns.items():
            text = row.sent.get(column, "").strip() or "0"
            if not text.isdigit():
                fault = f"{text[:80]!r} is not a number of votes"
                yield Unreadable(line=row.line, column=column, fault=fault)
                continue
            for _ in range(int(text)):
                yield ImportedRow(
                    line=row.line,
                    hit_id=row.hit_id,
                    shown=row.shown,
                    sent={field: option},
                )


def _together(rows: Iterator[Read]) -> Iterator[Read]:
    """Merge consecutive rows of one assignment into one with numbered columns."""

    def whose(row: Read) -> str:
        if isinstance(row, ImportedRow) and row.assignment_id:
            return row.assignment_id
        return f"line {row.line}"

    for _, group in groupby(rows, whose):
        members = list(group)
        first = members[0]
        if not isinstance(first, ImportedRow) or len(members) == 1:
            yield from members
            continue
        many = [row for row in members if isinstance(row, ImportedRow)]
        yield ImportedRow(
            line=first.line,
            hit_id=first.hit_id,
            assignment_id=first.assignment_id,
            worker_id=first.worker_id,
            accepted_at=first.accepted_at,
            submitted_at=first.submitted_at,
            feedback=first.feedback,
            parts=tuple(RowPart(row.shown, row.sent) for row in many),
            outcomes={number: row.outcome for number, row in enumerate(many, start=1)},
        )
