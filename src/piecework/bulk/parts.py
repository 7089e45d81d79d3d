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
"""Says of each row which bucket it goes to: the same for all answers about an item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What is read, and where it is worked on; cheap to send to another process.

    Attributes:
        folder: where parts are.
        schema: of the rows that are read.
        columns: the same as pandas has them.
        buckets: how many.
    """

    folder: WorkFolder
    pieces: tuple[Piece, ...]
    schema: pa.Schema
    columns: Mapping[str, Column]
    buckets: int

    @property
    def answers(self) -> int:
        """Rows of all files."""
        return sum(piece.rows for piece in self.pieces)

    def split(self, number: int, buckets: Buckets) -> None:
        """Deal the rows of a piece."""

        def write(path: Path) -> None:
            dealt = [
                batch
                for table in read_piece(self.pieces[number], self.schema)
                for batch in deal(table, buckets(table), self.buckets)
            ]
            write_buckets(path, self.schema, dealt)

        self.folder.once(self.folder.at(f"split-{number}"), write)

    def about_items(self, bucket: int) -> pa.Table:
        """All rows about the items of a bucket, in no order."""
        paths = [self.folder.at(f"split-{n}") for n in range(len(self.pieces))]
        return read_bucket(paths, bucket, self.buckets)


def keep_items(source: Source, items: Iterable[Item]) -> None:
    """Keep a campaign's items where the parts of their answers find them."""
    buckets: list[list[Item]] = [[] for _ in range(source.buckets)]
    several = list(items)
    ids = pa.table({"item_id": [str(item.item_id) for item in several]})
    for item, bucket in zip(several, by_item(ids, source.buckets), strict=True):
        buckets[bucket].append(item)
    for number, own in enumerate(buckets):
        source.folder.keep(f"known-{number}", partial(list, own))


def known_items(source: Source, bucket: int) -> list[Item]:
    """The items of a bucket, if a campaign's are known, in the order of their file."""
    is_known = source.folder.at(f"known-{bucket}").exists()
    items: list[Item] = source.folder.kept(f"known-{bucket}") if is_known else []
    return items


def states(files: Sequence[Path]) -> list[tuple[str, int, int]]:
    """Names, sizes and times of files: whether any was changed since."""
    resolved = [(path.resolve(), path.stat()) for path in files]
    return [(str(path), state.st_size, state.st_mtime_ns) for path, state in resolved]
