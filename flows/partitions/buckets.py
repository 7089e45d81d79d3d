"""Rows dealt into buckets by what they have in common, through files.

A process writes one file for the rows that it read, a record batch a bucket; the next
process reads its own batch of all files. Nothing passes from process to process, so one
that dies has taken nothing with it but what it was writing.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

ROWS = 150_000
"""Of a bucket, about: some 400 MB while its texts are compared."""

_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


def bucket_count(rows: int, of_rows: int) -> int:
    """How many buckets; it hangs on the rows alone, not on how they were cut."""
    return max(1, -(-rows // of_rows))


def by_item(table: pa.Table, n: int) -> npt.NDArray[np.int64]:
    """The bucket of each row, the same for all answers about an item."""
    return _bucket(table["item_id"].to_pandas(), n)


def by_worker(table: pa.Table, n: int) -> npt.NDArray[np.int64]:
    """The bucket of each row, the same for all of a worker, and of an assignment."""
    workers = table["worker_id"].to_pandas()
    return _bucket(workers.where(workers != "", table["assignment_id"].to_pandas()), n)


def deal(
    table: pa.Table, buckets: npt.NDArray[np.int64], n: int
) -> list[pa.RecordBatch]:
    """The rows as a record batch a bucket."""
    order = np.argsort(buckets, kind="stable")
    sizes = np.bincount(buckets, minlength=n)
    dealt = table.take(pa.array(order)).combine_chunks()
    starts = np.cumsum(sizes) - sizes
    return [
        _batch(dealt.slice(start, size))
        for start, size in zip(starts.tolist(), sizes.tolist(), strict=True)
    ]


def write_buckets(
    path: Path, schema: pa.Schema, batches: Sequence[pa.RecordBatch]
) -> None:
    """Write record batches, those of each `deal` together."""
    with (
        pa.OSFile(str(path), "wb") as sink,
        pa.ipc.new_file(sink, schema, options=_OPTIONS) as writer,
    ):
        for batch in batches:
            writer.write_batch(batch)


def read_bucket(paths: Sequence[Path], bucket: int, n: int) -> pa.Table:
    """The rows of a bucket from all files."""
    tables = []
    for path in paths:
        with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as file:
            batches = range(bucket, file.num_record_batches, n)
            found = [file.get_batch(number) for number in batches]
            tables.append(pa.Table.from_batches(found, schema=file.schema))
    return pa.concat_tables(tables)


def _bucket(keys: "pd.Series[str]", n: int) -> npt.NDArray[np.int64]:
    hashes = pd.util.hash_array(keys.to_numpy(dtype="object"))
    return (hashes % np.uint64(n)).astype("int64")


def _batch(table: pa.Table) -> pa.RecordBatch:
    arrays = [
        column.chunk(0) if column.num_chunks else pa.array([], column.type)
        for column in table.columns
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=table.schema)
