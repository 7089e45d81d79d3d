"""The answers of all files, dealt by item: the first step of all work in parts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from piecework.bulk.answer_files import Piece, read_piece
from piecework.bulk.buckets import by_item, deal, read_bucket, write_buckets
from piecework.bulk.work_folder import WorkFolder
from piecework.domain.hit import Item
from piecework.domain.tables import Column

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
