"""Check how much memory a Parquet file needs before unpacking it.

A file of a megabyte can unpack to ten thousand times as much, through highly compressed
pages, one long text shared by all rows, or a list of a billion nulls.
"""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from piecework.domain.errors import ConfigError

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


def check_size(path: Path, metadata: pq.FileMetaData) -> None:
    """Refuse a file that is too large unpacked, according to its footer.

    Raises:
        ConfigError: it is too large; the message has both sizes.
    """
    groups = (metadata.row_group(n) for n in range(metadata.num_row_groups))
    size = sum(map(_unpacked, groups))
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


def _unpacked(group: pq.RowGroupMetaData) -> int:
    columns = (group.column(n) for n in range(group.num_columns))
    return sum(
        max(0, column.total_uncompressed_size) + max(0, column.num_values) * _VALUE_BYTES
        for column in columns
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
