"""Read Parquet: piecework's own datasets, and tables whose columns a person names.

Of a dataset, texts are read as typed, before cleaning. Decisions in the first campaign are
outcomes here, like those of any other tool.

How much memory a file needs is checked before it is unpacked. A file of a megabyte can
unpack to ten thousand times as much, through highly compressed pages, one long text shared
by all rows, or a list of a billion nulls.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from piecework.domain.errors import ConfigError
from piecework.domain.tables import ORDER
from piecework.importing.readers.crowd_form import as_text
from piecework.importing.readers.head import Head
from piecework.importing.readers.moments import moment
from piecework.importing.readers.rows import ImportedRow, Read, RowPart, Unreadable

NAME = "piecework dataset (Parquet)"

MOST_BYTES = 1 << 30
"""The limit for a file: above any campaign's answers, but fit for any machine."""

MOST_AT_ONCE = 1 << 28
"""The limit for the rows read at a time."""

_AT_ONCE = 5_000
_ORIGINAL = "_original"
_OF_THE_ITEM = ("item_id", "url", "file_name")
_OF_THE_WORK = frozenset(
    {
        *("answer_id", *_OF_THE_ITEM, "split", "batch", "round", "position", "place"),
        *("problems", "worker", "shown_seconds", "submitted_at", "is_provisional"),
        *("is_rejected", "rejected_because", "is_surplus", "set_aside", "edits"),
        *("is_precanned", "outcome_elsewhere"),
    }
)
_KEYS = ("answer_id", "worker")
_LONGEST_POSITION = 9
_OF_A_DATASET = frozenset({"answer_id", "item_id", "worker"})
_RENAMED = {"text_detected": "has_text"}


def fits(head: Head) -> bool:
    """Recognise Parquet by its first bytes; reading checks who wrote it."""
    return head.magic == b"PAR1"


def is_dataset(path: Path) -> bool:
    """Return whether piecework wrote the file, according to its columns.

    Raises:
        ConfigError: it is not valid Parquet.
    """
    return set(_schema(path).names) >= _OF_A_DATASET


def columns_in(path: Path) -> dict[str, bool]:
    """Return the columns, and whether each has one value in a row.

    A member of an object has its name after the object's: `image.path`.

    Raises:
        ConfigError: it is not valid Parquet.
    """
    return {
        name: not (
            pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind)
        )
        for name, kind in _members(_schema(path))
    }


def objects_of(
    path: Path, names: Collection[str], *, most_bytes: int | None
) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield the rows as objects, numbered from 1.

    Args:
        path: the file.
        names: the columns to read, or members of columns.
        most_bytes: the limit for these columns of all rows, unpacked; `None`: only each row
            group has a limit, as the caller keeps no more.

    Raises:
        ConfigError: it is not valid Parquet, or too large unpacked.
    """
    yield from enumerate(_rows_of(path, frozenset(names), most_bytes), start=1)


def _rows_of(
    path: Path, names: Collection[str], most_bytes: int | None
) -> Iterator[dict[str, object]]:
    try:
        with pq.ParquetFile(path) as file:
            columns = [name for name in file.schema_arrow.names if _is_among(name, names)]
            check_size(path, file.metadata, columns, most_bytes=most_bytes)
            texts = texts_in(file)
        with pq.ParquetFile(path, read_dictionary=texts) as file:
            for batch in file.iter_batches(_AT_ONCE, columns=columns):
                check_rows(path, batch)
                for row in batch.to_pylist():
                    yield {name: as_json_value(value) for name, value in row.items()}
    except (pa.ArrowException, OSError) as fault:
        raise ConfigError([f"{path}: not valid Parquet ({fault})"]) from fault


def as_json_value(value: object) -> object:
    """Return a cell as a value of JSON: a time as text, 3.0 as 3, NaN as null.

    >>> as_json_value([3.0, float("nan"), 0.5])
    [3, None, 0.5]
    """
    if isinstance(value, dict):
        return {str(name): as_json_value(member) for name, member in value.items()}
    if isinstance(value, list):
        return [as_json_value(member) for member in value]
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return int(value) if value.is_integer() else value
    return value if isinstance(value, str | int | None) else str(value)


def _is_among(column: str, names: Collection[str]) -> bool:
    return any(name == column or name.startswith(f"{column}.") for name in names)


def _schema(path: Path) -> pa.Schema:
    try:
        return pq.read_schema(path)
    except (pa.ArrowException, OSError) as fault:
        raise ConfigError([f"{path}: not valid Parquet ({fault})"]) from fault


def _members(schema: Iterable[pa.Field], prefix: str = "") -> Iterator[tuple[str, pa.DataType]]:
    for each in schema:
        if pa.types.is_struct(each.type):
            members = (each.type.field(n) for n in range(each.type.num_fields))
            yield from _members(members, f"{prefix}{each.name}.")
        else:
            yield f"{prefix}{each.name}", each.type


def read(path: Path, _head: Head) -> Iterator[Read]:
    """Yield a row per assignment.

    Raises:
        ConfigError: piecework did not write it, or it is too large unpacked.
    """
    return DatasetTables([path]).read(path)


class DatasetTables:
    """Tables of datasets, which divide the answers of an assignment between them.

    An assignment may have answers that count in one table, and others in `set_aside`.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = [*paths]

    def read(self, path: Path) -> Iterator[Read]:
        """Yield a row per assignment that has its last answer in this table.

        Of all tables, each assignment's end is in memory; answers only while more of their
        assignment are to come.

        Raises:
            ConfigError: piecework did not write a table, or it is too large unpacked.
        """
        own = self._paths.index(path)
        begun: dict[_Key, list[_Line]] = {}
        for number in sorted({own} | self._tables_of.get(own, frozenset())):
            for line, cells in enumerate(_answers(self._paths[number]), start=1):
                key = _key(cells)
                end = self._ends[key]
                if end.table != own:
                    continue
                begun.setdefault(key, []).append(_Line(line, number == own, cells))
                if (end.table, end.line) == (number, line):
                    yield from _rows_of_assignment(key.assignment, begun.pop(key))

    @cached_property
    def _ends(self) -> dict["_Key", "_End"]:
        ends: dict[_Key, _End] = {}
        for number, path in enumerate(self._paths):
            only_this = frozenset({number})
            for line, cells in enumerate(_answers(path, _KEYS), start=1):
                key = _key(cells)
                before = ends.get(key)
                tables = only_this if before is None else before.tables
                # Sets are shared, as most assignments are in one table.
                tables = tables if number in tables else tables | only_this
                ends[key] = _End(number, line, tables)
        return ends

    @cached_property
    def _tables_of(self) -> dict[int, frozenset[int]]:
        """The tables with answers of the assignments that end in a table, by that table."""
        divided: dict[int, set[frozenset[int]]] = {}
        for end in self._ends.values():
            divided.setdefault(end.table, set()).add(end.tables)
        return {table: frozenset().union(*tables) for table, tables in divided.items()}


def _answers(path: Path, columns: Sequence[str] | None = None) -> Iterator[Mapping[str, object]]:
    try:
        with pq.ParquetFile(path) as file:
            texts = _texts(path, file)
        with pq.ParquetFile(path, read_dictionary=texts) as file:
            for batch in file.iter_batches(_AT_ONCE, columns=columns):
                check_rows(path, batch)
                yield from batch.to_pylist()
    except (pa.ArrowException, OSError) as fault:
        raise ConfigError([f"{path}: not valid Parquet ({fault})"]) from fault


def _texts(path: Path, file: pq.ParquetFile) -> list[str]:
    """Return the text columns of a file, after checking it."""
    missing = _OF_A_DATASET - set(file.schema_arrow.names)
    if missing:
        raise ConfigError([f"{path}: not a piecework dataset; missing columns: {sorted(missing)}"])
    check_size(path, file.metadata)
    return texts_in(file)


class _Key(NamedTuple):
    """An assignment; those of several campaigns may have the same id."""

    assignment: str
    worker: str


class _End(NamedTuple):
    """The last answer of an assignment, and all tables with answers of it."""

    table: int
    line: int
    tables: frozenset[int]


class _Line(NamedTuple):
    """An answer, its line, and whether it is in the table that is read."""

    number: int
    is_own: bool
    cells: Mapping[str, object]


def _key(cells: Mapping[str, object]) -> _Key:
    return _Key(_place(cells)[0], str(cells["worker"] or ""))


def _place(cells: Mapping[str, object]) -> tuple[str, int]:
    """Return the assignment of an answer, and its position there.

    >>> _place({"answer_id": "A1.10"}), _place({"answer_id": "A1"})
    (('A1', 10), ('A1', 1))
    """
    answer_id = str(cells["answer_id"])
    assignment, _, position = answer_id.rpartition(".")
    is_place = bool(assignment) and position.isdecimal() and len(position) <= _LONGEST_POSITION
    return (assignment, int(position)) if is_place else (answer_id, 1)


def _rows_of_assignment(assignment: str, lines: list[_Line]) -> Iterator[Read]:
    """Yield the row of an assignment, and what differs from an answer with the same id."""
    by_position: dict[int, Mapping[str, object]] = {}
    for line in sorted(lines, key=lambda line: _place(line.cells)[1]):
        position = _place(line.cells)[1]
        known = by_position.get(position, line.cells)
        if _part(known) == _part(line.cells):
            # A later table knows what was decided since.
            by_position[position] = line.cells
        else:
            fault = f"{line.cells['answer_id']} differs from the answer with this id before it"
            worker_id = str(line.cells["worker"] or "")
            yield Unreadable(line=line.number, column="answer_id", fault=fault, worker_id=worker_id)
    first = next(line.number for line in lines if line.is_own)
    yield _row(first, assignment, list(by_position.values()))


def _row(line: int, assignment: str, answers: list[Mapping[str, object]]) -> ImportedRow:
    sent_at = answers[0].get("submitted_at")
    return ImportedRow(
        line=line,
        assignment_id=assignment,
        worker_id=str(answers[0]["worker"] or ""),
        submitted_at=moment("" if sent_at is None else str(sent_at)),
        parts=tuple(map(_part, answers)),
        outcomes={position: _outcome(cells) for position, cells in enumerate(answers, 1)},
    )


def _part(cells: Mapping[str, object]) -> RowPart:
    shown = {name: as_text(cells.get(name)) for name in _OF_THE_ITEM}
    return RowPart(shown, _sent(cells), _measured(cells))


def _sent(cells: Mapping[str, object]) -> dict[str, str]:
    sent = {}
    for name, cell in cells.items():
        if name in _OF_THE_WORK or name.startswith(ORDER.replace(".", "_")):
            continue
        if name.endswith(_ORIGINAL):
            sent[name.removesuffix(_ORIGINAL)] = as_text(cell)
        elif f"{name}{_ORIGINAL}" not in cells:
            sent[_RENAMED.get(name, name)] = as_text(cell)
    return sent


def _measured(cells: Mapping[str, object]) -> dict[str, str]:
    seconds = cells.get("shown_seconds")
    if isinstance(seconds, float):
        return {"shown_ms": str(round(seconds * 1000))}
    return {}


def _outcome(cells: Mapping[str, object]) -> str:
    return str(cells.get("set_aside") or "accepted")


_VALUE_BYTES = 8
"""The least memory for a value as a Python object, even a missing one."""

_TEXT = "BYTE_ARRAY"


def texts_in(file: pq.ParquetFile) -> list[str]:
    """Return the paths of text columns, where rows can share a value."""
    columns = (file.schema.column(n) for n in range(len(file.schema)))
    return [column.path for column in columns if column.physical_type == _TEXT]


def check_size(
    path: Path,
    metadata: pq.FileMetaData,
    columns: Collection[str] | None = None,
    *,
    most_bytes: int | None = MOST_BYTES,
) -> None:
    """Refuse a file that is too large unpacked, according to its footer.

    Args:
        path: the file.
        metadata: its footer.
        columns: those that will be read; `None`: all.
        most_bytes: the limit for all rows; `None`: only each row group has a limit.

    Raises:
        ConfigError: it is too large; the message has both sizes.
    """
    groups = (metadata.row_group(n) for n in range(metadata.num_row_groups))
    sizes = [_unpacked(group, columns) for group in groups]
    if most_bytes is not None and sum(sizes) > most_bytes:
        _refuse(path, sum(sizes), most_bytes)
    if (largest := max(sizes, default=0)) > MOST_BYTES:
        _refuse(path, largest, MOST_BYTES, of="one of its row groups", mend=_SMALLER_GROUPS)


def check_rows(path: Path, rows: pa.RecordBatch) -> None:
    """Refuse rows with too much text when values are no longer shared.

    Args:
        path: the file.
        rows: rows read with texts as dictionaries.

    Raises:
        ConfigError: they have too much text.
    """
    size = sum(map(_own_bytes, rows.columns))
    if size > MOST_AT_ONCE:
        _refuse(path, size, MOST_AT_ONCE, of=f"{rows.num_rows:,} of its rows")


_SMALLER_GROUPS = "write the file with smaller row groups"


def _refuse(
    path: Path,
    size: int,
    most: int,
    *,
    of: str = "the file",
    mend: str = "split a large dataset into several files",
) -> None:
    fault = (
        f"{path}: has {path.stat().st_size / 1e6:,.1f} MB, but {of} would unpack to "
        f"{size / 1e9:,.1f} GB; the limit is {most / 1e9:.1f} GB"
    )
    raise ConfigError([fault], next_step=mend)


def _unpacked(group: pq.RowGroupMetaData, wanted: Collection[str] | None) -> int:
    columns = (group.column(n) for n in range(group.num_columns))
    return sum(
        max(0, column.total_uncompressed_size) + max(0, column.num_values) * _VALUE_BYTES
        for column in columns
        if wanted is None or column.path_in_schema.split(".")[0] in wanted
    )


def _own_bytes(column: pa.Array) -> int:
    """Return the bytes that the values take if none are shared."""
    return sum(_leaf_bytes(leaf) for leaf in _leaves(column))


def _leaf_bytes(leaf: pa.Array) -> int:
    if not pa.types.is_dictionary(leaf.type):
        return int(leaf.nbytes)
    lengths = pc.binary_length(leaf.dictionary).take(leaf.indices)
    return int(pc.sum(lengths).as_py() or 0) + len(leaf) * _VALUE_BYTES


def _leaves(column: pa.Array) -> Iterator[pa.Array]:
    kind = column.type
    if pa.types.is_struct(kind):
        for n in range(kind.num_fields):
            yield from _leaves(column.field(n))
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        yield from _leaves(column.flatten())
    elif pa.types.is_map(kind):
        yield from _leaves(column.keys)
        yield from _leaves(column.items)
    else:
        yield column
