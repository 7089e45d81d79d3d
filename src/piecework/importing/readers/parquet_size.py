"""How much a Parquet file unpacks to, asked before anything is unpacked.

A file of a megabyte can hold ten thousand times as much: pages that are packed well,
one long text that every row points to, or a list of a thousand million nothings.
"""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from piecework.domain.errors import ConfigError

MOST_BYTES = 1 << 30
"""Of a file: more than any campaign's answers, and little enough for any machine."""

MOST_AT_ONCE = 1 << 28
"""Of the rows that are read at a time."""

_VALUE_BYTES = 8
"""What a value takes at least, once it is Python's; a missing one too."""

_TEXT = "BYTE_ARRAY"


def texts_in(file: pq.ParquetFile) -> list[str]:
    """The columns of texts, by their paths: those where rows can share a value."""
    columns = (file.schema.column(n) for n in range(len(file.schema)))
    return [column.path for column in columns if column.physical_type == _TEXT]


def check_size(path: Path, metadata: pq.FileMetaData) -> None:
    """Refuse a file that unpacks to too much, by what its foot says.

    Raises:
        ConfigError: it does; with both sizes.
    """
    groups = (metadata.row_group(n) for n in range(metadata.num_row_groups))
    size = sum(map(_unpacked, groups))
    if size > MOST_BYTES:
        _refuse(path, size, MOST_BYTES)


def check_rows(path: Path, rows: pa.RecordBatch) -> None:
    """Refuse rows whose texts, once each has its own, are too much.

    Args:
        path: of the file.
        rows: read with its texts as dictionaries.

    Raises:
        ConfigError: they are.
    """
    size = sum(map(_own_bytes, rows.columns))
    if size > MOST_AT_ONCE:
        _refuse(path, size, MOST_AT_ONCE, of=f"{rows.num_rows:,} rows of it")


def _refuse(path: Path, size: int, most: int, *, of: str = "the file") -> None:
    fault = (
        f"{path}: has {path.stat().st_size / 1e6:,.1f} MB, and {of} would unpack to "
        f"{size / 1e9:,.1f} GB; allowed are {most / 1e9:.1f} GB"
    )
    raise ConfigError(
        [fault],
        next_step="of a large dataset import parts: write it as several files",
    )


def _unpacked(group: pq.RowGroupMetaData) -> int:
    columns = (group.column(n) for n in range(group.num_columns))
    return sum(
        max(0, column.total_uncompressed_size)
        + max(0, column.num_values) * _VALUE_BYTES
        for column in columns
    )


def _own_bytes(column: pa.Array) -> int:
    """What the values take if none is shared."""
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
