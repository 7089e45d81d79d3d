"""Read Parquet: piecework's own datasets, and tables whose columns a person names.

Of a dataset, texts are read as typed, before cleaning. Decisions in the first campaign are
outcomes here, like those of any other tool.

How much memory a file needs is checked before it is unpacked. A file of a megabyte can
unpack to ten thousand times as much, through highly compressed pages, one long text shared
by all rows, or a list of a billion nulls.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from piecework.domain.errors import ConfigError
from piecework.domain.tables import ORDER
from piecework.importing.readers.crowd_form import as_text
from piecework.importing.readers.head import Head
from piecework.importing.readers.moments import moment
from piecework.importing.readers.rows import ImportedRow, Read, RowPart

NAME = "piecework dataset (Parquet)"

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


def objects_of(path: Path, names: Collection[str]) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield the rows as objects, numbered from 1.

    Args:
        path: the file.
        names: the columns to read, or members of columns.

    Raises:
        ConfigError: it is not valid Parquet, or too large unpacked.
    """
    yield from enumerate(_rows_of(path, frozenset(names)), start=1)


def _rows_of(path: Path, names: Collection[str]) -> Iterator[dict[str, object]]:
    try:
        with pq.ParquetFile(path) as file:
            columns = [name for name in file.schema_arrow.names if _is_among(name, names)]
            check_size(path, file.metadata, columns)
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
    """Yield a row per assignment with consecutive answers.

    Raises:
        ConfigError: piecework did not write it, or it is too large unpacked.
    """
    numbered = enumerate(_answers(path), start=1)
    for assignment, group in groupby(numbered, lambda pair: _assignment(pair[1])):
        yield _row(assignment, list(group))


def _answers(path: Path) -> Iterator[Mapping[str, object]]:
    try:
        with pq.ParquetFile(path) as file:
            texts = _texts(path, file)
        with pq.ParquetFile(path, read_dictionary=texts) as file:
            for batch in file.iter_batches(_AT_ONCE):
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


def _assignment(cells: Mapping[str, object]) -> str:
    return str(cells["answer_id"]).rpartition(".")[0]


def _row(assignment: str, group: list[tuple[int, Mapping[str, object]]]) -> Read:
    line, first = group[0]
    sent_at = first.get("submitted_at")
    return ImportedRow(
        line=line,
        assignment_id=assignment,
        worker_id=str(first["worker"] or ""),
        submitted_at=moment("" if sent_at is None else str(sent_at)),
        parts=tuple(
            RowPart(
                {name: as_text(cells.get(name)) for name in _OF_THE_ITEM},
                _sent(cells),
                _measured(cells),
            )
            for _, cells in group
        ),
        outcomes={position: _outcome(cells) for position, (_, cells) in enumerate(group, 1)},
    )


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


MOST_BYTES = 1 << 30
"""The limit for a file: above any campaign's answers, but fit for any machine."""

MOST_AT_ONCE = 1 << 28
"""The limit for the rows read at a time."""

_VALUE_BYTES = 8
"""The least memory for a value as a Python object, even a missing one."""

_TEXT = "BYTE_ARRAY"


def texts_in(file: pq.ParquetFile) -> list[str]:
    """Return the paths of text columns, where rows can share a value."""
    columns = (file.schema.column(n) for n in range(len(file.schema)))
    return [column.path for column in columns if column.physical_type == _TEXT]


def check_size(
    path: Path, metadata: pq.FileMetaData, columns: Collection[str] | None = None
) -> None:
    """Refuse a file that is too large unpacked, according to its footer.

    Args:
        path: the file.
        metadata: its footer.
        columns: those that will be read; `None`: all.

    Raises:
        ConfigError: it is too large; the message has both sizes.
    """
    groups = (metadata.row_group(n) for n in range(metadata.num_row_groups))
    size = sum(_unpacked(group, columns) for group in groups)
    if size > MOST_BYTES:
        _refuse(path, size, MOST_BYTES)


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


def _refuse(path: Path, size: int, most: int, *, of: str = "the file") -> None:
    fault = (
        f"{path}: has {path.stat().st_size / 1e6:,.1f} MB, but {of} would unpack to "
        f"{size / 1e9:,.1f} GB; the limit is {most / 1e9:.1f} GB"
    )
    raise ConfigError([fault], next_step="split a large dataset into several files")


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
