"""The answers of all files, dealt into buckets by item or by worker, through files.

A process writes one file for the rows that it read, with a record batch per bucket; the
next process reads its own batch of all files. Processes share nothing else, so a process
that dies loses only what it was writing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from piecework.domain.hit import Item
from piecework.domain.tables import Column
from piecework.qc.scores import Tally, merged, tally
from piecework.results.large.answer_files import Piece, read_piece
from piecework.results.large.work_folder import WorkFolder

Buckets = Callable[[pa.Table], npt.NDArray[np.int64]]
"""Returns the bucket of each row, the same for all answers about an item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The input, and where to work on it; cheap to send to another process.

    Attributes:
        folder: the work folder with the parts.
        schema: of the rows that are read.
        columns: the same columns, with pandas dtypes.
        buckets: the number of buckets.
    """

    folder: WorkFolder
    pieces: tuple[Piece, ...]
    schema: pa.Schema
    columns: Mapping[str, Column]
    buckets: int

    @property
    def answers(self) -> int:
        """The number of rows of all files."""
        return sum(piece.rows for piece in self.pieces)

    def split(self, number: int, buckets: Buckets) -> None:
        """Deal the rows of a piece into buckets."""

        def write(path: Path) -> None:
            dealt = [
                batch
                for table in read_piece(self.pieces[number], self.schema)
                for batch in deal(table, buckets(table), self.buckets)
            ]
            write_buckets(path, self.schema, dealt)

        self.folder.once(self.folder.at(f"split-{number}"), write)

    def about_items(self, bucket: int) -> pa.Table:
        """Read all rows about the items of a bucket, in no particular order."""
        paths = [self.folder.at(f"split-{n}") for n in range(len(self.pieces))]
        return read_bucket(paths, bucket, self.buckets)


def keep_items(source: Source, items: Iterable[Item]) -> None:
    """Store a campaign's items by bucket, for the parts of their answers."""
    buckets: list[list[Item]] = [[] for _ in range(source.buckets)]
    several = list(items)
    ids = pa.table({"item_id": [str(item.item_id) for item in several]})
    for item, bucket in zip(several, by_item(ids, source.buckets), strict=True):
        buckets[bucket].append(item)
    for number, own in enumerate(buckets):
        source.folder.keep(f"known-{number}", partial(list, own))


def known_items(source: Source, bucket: int) -> list[Item]:
    """Read the items of a bucket in the order of their file; empty if unknown."""
    is_known = source.folder.at(f"known-{bucket}").exists()
    items: list[Item] = source.folder.kept(f"known-{bucket}") if is_known else []
    return items


def states(files: Sequence[Path]) -> list[tuple[str, int, int]]:
    """Return names, sizes and times of files, to notice changes."""
    resolved = [(path.resolve(), path.stat()) for path in files]
    return [(str(path), state.st_size, state.st_mtime_ns) for path, state in resolved]


ROWS = 150_000
"""Rows per bucket, about: some 400 MB while its texts are compared."""

_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


def bucket_count(rows: int, of_rows: int) -> int:
    """The number of buckets; it depends only on the number of rows."""
    return max(1, -(-rows // of_rows))


def by_item(table: pa.Table, n: int) -> npt.NDArray[np.int64]:
    """Return the bucket of each row, the same for all answers about an item."""
    return _bucket(table["item_id"].to_pandas(), n)


def by_worker(table: pa.Table, n: int) -> npt.NDArray[np.int64]:
    """Return the bucket of each row, the same for a worker and for an assignment."""
    workers = table["worker_id"].to_pandas()
    return _bucket(workers.where(workers != "", table["assignment_id"].to_pandas()), n)


@dataclass(frozen=True, slots=True)
class BatchByBatch:
    """Deals rows by item into equal buckets, with the items of a batch side by side.

    So a bucket has the words of one or two batches, not of all. An item in several
    batches belongs to the first.

    Attributes:
        batches: the batch of the first item of each bucket, except the first bucket.
        items: the hashes of these items.
        moved: for items in several batches, the first batch, by the item's hash.
    """

    batches: npt.NDArray[np.int64]
    items: npt.NDArray[np.uint64]
    moved: "pd.Series[int]"

    @classmethod
    def of(cls, parts: Iterable[Tally], n: int) -> "BatchByBatch":
        """Build it from the `item_tally` of all rows, for `n` buckets."""
        rows = merged(parts).sort_values(["item", "batch"], ignore_index=True)
        is_first = ~rows["item"].duplicated()
        codes = np.cumsum(is_first.to_numpy()) - 1
        of_item = np.bincount(codes, weights=rows["n_rows"]).astype("int64")
        items = rows[is_first].assign(n_rows=of_item).sort_values(["batch", "item"])
        sizes = items["n_rows"].to_numpy()
        places = (np.cumsum(sizes) - sizes) * n // max(sizes.sum(), 1)
        used = np.arange(1, places.max(initial=0) + 1)
        starts = items.iloc[np.searchsorted(places, used)]
        several = rows.loc[rows["item"].duplicated(), "item"]
        moved = items[items["item"].isin(several)].set_index("item")["batch"]
        return cls(starts["batch"].to_numpy(), starts["item"].to_numpy(), moved)

    def buckets(self, table: pa.Table) -> npt.NDArray[np.int64]:
        """Return the bucket of each row."""
        items = _hashes(table["item_id"].to_pandas())
        batches = table["batch"].to_numpy()
        if len(self.moved):
            first = self.moved.reindex(items)
            batches = first.where(first.notna(), batches).to_numpy(dtype="int64")
        buckets = np.zeros(len(items), dtype="int64")
        for batch in np.unique(batches).tolist():
            rows = np.flatnonzero(batches == batch)
            first, last = np.searchsorted(self.batches, [batch, batch + 1])
            inside = np.searchsorted(self.items[first:last], items[rows], side="right")
            buckets[rows] = first + inside
        return buckets


def item_tally(table: pa.Table) -> Tally:
    """Count the rows of each `item`, as a hash, in each `batch`."""
    return tally(
        {"batch": table["batch"].to_numpy(), "item": _hashes(table["item_id"].to_pandas())}
    )


def deal(table: pa.Table, buckets: npt.NDArray[np.int64], n: int) -> list[pa.RecordBatch]:
    """Return the rows as one record batch per bucket."""
    order = np.argsort(buckets, kind="stable")
    sizes = np.bincount(buckets, minlength=n)
    dealt = table.take(pa.array(order)).combine_chunks()
    starts = np.cumsum(sizes) - sizes
    return [
        _batch(dealt.slice(start, size))
        for start, size in zip(starts.tolist(), sizes.tolist(), strict=True)
    ]


def write_buckets(path: Path, schema: pa.Schema, batches: Sequence[pa.RecordBatch]) -> None:
    """Write record batches, keeping those of each `deal` together."""
    with (
        pa.OSFile(str(path), "wb") as sink,
        pa.ipc.new_file(sink, schema, options=_OPTIONS) as writer,
    ):
        for batch in batches:
            writer.write_batch(batch)


def read_bucket(paths: Sequence[Path], bucket: int, n: int) -> pa.Table:
    """Read the rows of a bucket from all files."""
    tables = []
    for path in paths:
        with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as file:
            numbers = range(bucket, file.num_record_batches, n)
            batches = [file.get_batch(number) for number in numbers]
            tables.append(pa.Table.from_batches(batches, schema=file.schema))
    return pa.concat_tables(tables)


def _bucket(keys: "pd.Series[str]", n: int) -> npt.NDArray[np.int64]:
    return (_hashes(keys) % np.uint64(n)).astype("int64")


def _hashes(keys: "pd.Series[str]") -> npt.NDArray[np.uint64]:
    return pd.util.hash_array(keys.to_numpy(dtype="object"))


def _batch(table: pa.Table) -> pa.RecordBatch:
    # For an empty slice of texts, Arrow would write all texts of the original.
    arrays = [
        column.chunk(0) if len(column) else pa.array([], column.type) for column in table.columns
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=table.schema)
