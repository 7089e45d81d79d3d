"""Read the rows of a table by column name, and a file's JSON objects one by one.

A table is a CSV or tab-separated. A row with a different number of cells than the header
is reported with its line: a truncated table or an unclosed quote must not become someone's
answer. JSON objects are in JSON Lines, a list, or concatenated.

In tables that do not name which columns are of items and which of answers, the values tell.
Several people answer about one unit. What differs between their rows is an answer, and what
is the same for all may be of the unit.
"""

import csv
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from piecework.domain.errors import ConfigError
from piecework.domain.imported import Reading, Times
from piecework.domain.money import cents_from_wire
from piecework.domain.toml_text import toml_line
from piecework.importing.readers.head import (
    MOST_COLUMNS,
    Head,
    cells_of,
    csv_fault,
    lines_of,
    named,
)
from piecework.importing.readers.moments import moment
from piecework.importing.readers.rows import Read, Unreadable


class Cells(dict[str, str]):
    """A row's cells by column.

    Attributes:
        times: how the file writes times.
    """

    times = Times()


_MAY_LACK = frozenset({"Approve", "Reject"})
"""The last columns of an MTurk batch, which rows may omit."""


class CellError(ValueError):
    """A cell that cannot be read, with its column."""

    def __init__(self, column: str, fault: str) -> None:
        super().__init__(fault)
        self.column = column


def read_table(
    path: Path,
    head: Head,
    row_of: Callable[[int, Cells], Read],
    *,
    worker: str = "",
    header: tuple[str, ...] = (),
) -> Iterator[Read]:
    """Yield each row of a table as `row_of` reads it.

    Args:
        path: the file.
        head: its beginning.
        row_of: converts a line number and its cells to a row; may raise `CellError`.
        worker: the column of workers' ids, for rows with a fault in a cell.
        header: the column names, if the file has no header line.

    Raises:
        ConfigError: the header is not valid.
    """
    rows = cells_of(path, head)
    if not header:
        first = next(rows, (1, []))[1]
        header = () if isinstance(first, csv.Error) else named(first)
    _check_header(path, header)
    for line, cells in rows:
        if isinstance(cells, csv.Error):
            yield Unreadable(line=line, fault=csv_fault(cells))
        elif (wrong := _wrong_length(header, cells)) is not None:
            yield Unreadable(line=line, fault=wrong, cells=tuple(cells))
        else:
            padded = [*cells, *[""] * (len(header) - len(cells))]
            row = Cells(zip(header, padded, strict=True))
            row.times = head.reading.times
            try:
                yield row_of(line, row)
            except CellError as fault:
                yield Unreadable(
                    line=line,
                    column=fault.column,
                    fault=str(fault),
                    cells=tuple(cells),
                    worker_id=cell_in(row, worker),
                )


def time_in(cells: Cells, column: str) -> datetime | None:
    """Return the time in a cell; `None` if the cell is empty or there is no column.

    Raises:
        CellError: it is not a time.
    """
    try:
        return moment(cell_in(cells, column), cells.times)
    except ValueError as fault:
        raise CellError(column, str(fault)) from fault


def cents_in(cells: Cells, column: str) -> int | None:
    """Return the amount in a cell such as `$0.04`; `None` if not whole cents."""
    text = cells.get(column, "").strip().lstrip("$£€").replace(",", "")
    try:
        return cents_from_wire(text)
    except ValueError:
        return None


_SECOND = timedelta(seconds=1)
_LONGEST_WORK = timedelta(days=365)
"""The longest that MTurk allows; more is a time since 1970, or counted in another unit."""


def with_duration(
    cells: Cells,
    column: str,
    accepted: datetime | None,
    submitted: datetime | None,
    *,
    unit: timedelta = _SECOND,
) -> tuple[datetime | None, datetime | None]:
    """Return both times of an assignment, a missing one from how long it took.

    Args:
        cells: the row.
        column: the column of how long it took; an empty cell says nothing.
        accepted: when the worker accepted it, if known.
        submitted: when the worker submitted it, if known.
        unit: what the column counts.

    Raises:
        CellError: the cell is not a number, or more than a year.
    """
    text = cell_in(cells, column)
    if not text:
        return accepted, submitted
    counted = "seconds" if unit == _SECOND else "milliseconds"
    try:
        return _both_times(accepted, submitted, float(text) * unit)
    except ValueError as fault:
        raise CellError(column, f"{text[:80]!r} is not a number of {counted}") from fault
    except OverflowError as fault:
        raise CellError(column, f"{text[:80]!r} {counted} are more than a year") from fault


def _both_times(
    accepted: datetime | None, submitted: datetime | None, worked: timedelta
) -> tuple[datetime | None, datetime | None]:
    if worked > _LONGEST_WORK:
        raise OverflowError
    if accepted is None and submitted is not None:
        accepted = submitted - worked
    elif submitted is None and accepted is not None:
        submitted = accepted + worked
    return accepted, submitted


def cell_in(cells: Cells, column: str) -> str:
    """Return a cell without spaces around it; "" if there is no such column.

    A file may have a column whose name is empty; it is never the column that "" means.
    """
    return cells.get(column, "").strip() if column else ""


def filled(cells: Cells) -> dict[str, str]:
    """Replace `{}` by "": MTurk files write empty answers this way."""
    return {name: "" if cell == "{}" else cell for name, cell in cells.items()}


def _check_header(path: Path, header: tuple[str, ...]) -> None:
    if not any(header):
        raise ConfigError([f"{path}: line 1: has no column names"])
    if len(header) > MOST_COLUMNS:
        raise ConfigError(
            [(f"{path}: line 1: has {len(header):,} columns; at most {MOST_COLUMNS} are allowed")]
        )
    if twice := sorted({name for name in header if header.count(name) > 1}):
        raise ConfigError([f"{path}: line 1: column {twice[0]!r} appears twice"])


def _wrong_length(header: tuple[str, ...], cells: list[str]) -> str | None:
    if len(cells) > len(header):
        return f"has {len(cells)} cells, but the header has {len(header)} columns"
    missing = header[len(cells) :]
    if missing and not _MAY_LACK.issuperset(missing):
        return (
            f"has {len(cells)} cells, but the header has {len(header)} columns; the "
            "file may have been cut off"
        )
    return None


_PIECE = 1 << 20
_BETWEEN = " \t\r\n,[]"
LARGEST = 1 << 28
"""256 MB, more than any API answers with."""

Document = dict[str, object]
NumberedObject = tuple[int, Document | str]
"""The number of a line or object, and the object or what is wrong with it."""


def objects_of(path: Path, head: Head) -> Iterator[NumberedObject]:
    """Yield the objects of a file, with only one in memory."""
    if _is_json_lines(head):
        yield from _lines(path, head)
    else:
        yield from _documents(path, head)


def text_in(document: Document, *names: str) -> str:
    """Return the first of these members that is text or a number, as text; or ""."""
    for name in names:
        value = document.get(name)
        if isinstance(value, str):
            return value.strip()
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
    return ""


def object_in(document: Document, name: str) -> Document:
    """Return a member that is an object, else {}."""
    value = document.get(name)
    return value if isinstance(value, dict) else {}


def _is_json_lines(head: Head) -> bool:
    first, _, rest = head.text.lstrip("\ufeff").partition("\n")
    if not rest.strip():
        return False
    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


class _Decoder:
    """Decodes objects: NaN is a missing value, as pandas writes it; no number is infinite."""

    def __init__(self) -> None:
        self._infinite: list[str] = []
        self._decoder = json.JSONDecoder(parse_constant=self._constant)

    def first_of(self, text: str) -> tuple[Document | str, int]:
        """Return the first object of a text, or what is wrong with it, and where it ends.

        Raises:
            ValueError: the text does not begin with a whole value.
            RecursionError: its values are nested too deeply.
        """
        self._infinite.clear()
        value, end = self._decoder.raw_decode(text)
        if not isinstance(value, dict):
            return "not a JSON object", end
        if self._infinite:
            return f"has the number {self._infinite[0]}, which is not valid JSON", end
        return value, end

    def _constant(self, word: str) -> None:
        if word != "NaN":
            self._infinite.append(word)


def _lines(path: Path, head: Head) -> Iterator[NumberedObject]:
    decoder = _Decoder()
    for number, line in lines_of(path, head):
        text = line.strip()
        try:
            value, end = decoder.first_of(text)
        except (ValueError, RecursionError) as fault:
            yield number, f"not valid JSON ({fault})"
            continue
        yield number, value if end == len(text) else "not valid JSON (more follows the object)"


def _documents(path: Path, head: Head) -> Iterator[NumberedObject]:
    decoder, buffer, number, size = _Decoder(), "", 0, _PIECE
    with path.open(encoding=head.encoding, errors="replace") as file:
        while piece := file.read(size):
            buffer += piece
            while buffer := buffer.lstrip(_BETWEEN):
                try:
                    value, end = decoder.first_of(buffer)
                except (ValueError, RecursionError):
                    break
                number, size, buffer = number + 1, _PIECE, buffer[end:]
                yield number, value
            # An incomplete object is tried again when twice as much has been read.
            size = max(_PIECE, len(buffer))
            if len(buffer) > LARGEST:
                yield number + 1, f"is larger than {LARGEST >> 20} MB"
                return
    if buffer.strip(_BETWEEN):
        yield number + 1, "not valid JSON; the file may have been cut off"


_LEAST_REPEATED = 2
"""Without a second row for any unit, values that repeat this often are answers."""


class Roles(NamedTuple):
    """What columns hold.

    Attributes:
        shown: the columns of items.
        sent: the columns of answers.
        guesses: what was guessed, with the line that states otherwise.
    """

    shown: frozenset[str]
    sent: frozenset[str]
    guesses: tuple[tuple[str, str], ...] = ()


def stated_roles(names: Collection[str], reading: Reading) -> Roles | None:
    """Return what is stated; `None` if it does not tell items from answers."""
    items = {*reading.item, reading.item_id} - {""}
    if reading.answers:
        sent = frozenset(reading.answers.values())
        return Roles(frozenset(items or set(names) - sent), sent)
    if items:
        return Roles(frozenset(items), frozenset(set(names) - items))
    return None


def guessed_roles(
    rows: Iterable[tuple[str, Mapping[str, str]]],
    names: Sequence[str],
    *,
    asked: Collection[str] = (),
    answers_stand_together: bool = False,
) -> Roles:
    """Guess roles from the rows.

    Args:
        rows: the unit and the cells of each row.
        names: the columns in question, in the order of the file.
        asked: columns that are known to be answers.
        answers_stand_together: whether no column of items stands between answers.
    """
    columns = _Columns(names)
    for unit, cells in rows:
        columns.see(unit, cells)
    sent = {*asked} & {*names} | columns.answers()
    if answers_stand_together and sent:
        positions = [number for number, name in enumerate(names) if name in sent]
        sent |= {*names[positions[0] : positions[-1] + 1]}
    shown = [name for name in names if name not in sent]
    ordered = [name for name in names if name in sent]
    items, answers = ", ".join(shown) or "none", ", ".join(ordered) or "none"
    stated = toml_line("answers", {name: name for name in (ordered or shown)[:1]})
    guess = f"columns of items: {items}; answers: {answers}"
    return Roles(frozenset(shown), frozenset(ordered), ((guess, stated),))


class _Columns:
    """The values of columns by unit; memory grows with units and columns."""

    def __init__(self, names: Sequence[str]) -> None:
        self._of_units: dict[str, dict[str, int]] = {}
        self._same = dict.fromkeys(names)
        self._different: dict[str, set[int]] = {name: set() for name in names}
        self._rows = 0
        self._is_repeated = False

    def see(self, unit: str, cells: Mapping[str, str]) -> None:
        """Add a row."""
        self._rows += 1
        before = self._of_units.get(unit)
        values = {name: hash(cells.get(name, "").strip()) for name in self._same}
        if before is None:
            self._of_units[unit] = values
        else:
            self._is_repeated = True
        for name, value in values.items():
            self._different[name].add(value)
            if before is not None and before.get(name, value) != value:
                del self._same[name]

    def answers(self) -> set[str]:
        """Return the columns that differ within a unit, or hold few values."""
        if self._is_repeated:
            return self._different.keys() - self._same.keys()
        return {
            name
            for name, values in self._different.items()
            if 1 < len(values) <= self._rows / _LEAST_REPEATED
        }
