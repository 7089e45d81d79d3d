"""All files of a dataset, each with a function that writes it."""

import hashlib
import io
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, BinaryIO, cast

import pandas as pd

from piecework.domain.campaign import OutputFormat
from piecework.domain.hit import Item
from piecework.domain.task import DatasetKind
from piecework.postprocess.answers import validate
from piecework.postprocess.datasets.card import front_matter
from piecework.postprocess.datasets.croissant import WrittenFile, croissant
from piecework.postprocess.datasets.facts import DatasetFacts
from piecework.postprocess.datasets.file_table import (
    Layout,
    Write,
    split_tables,
    write_csv,
    write_parquet,
)
from piecework.postprocess.datasets.layouts import captions_layout, fields_layout
from piecework.postprocess.splits import splits

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

CARD = "README.md"
CROISSANT = "croissant.json"
PICTURES = "images"
"""The folder of pictures, if a dataset has them."""

_LAYOUTS: Mapping[DatasetKind, Callable[[pd.DataFrame, Sequence[Item], DatasetFacts], Layout]] = {
    "captions": captions_layout,
    "answers": fields_layout,
}


def dataset_files(
    table: pd.DataFrame, items: Sequence[Item], facts: DatasetFacts, formats: Sequence[OutputFormat]
) -> dict[str, Write]:
    """Return the writers of all files by name: tables, JSON, Croissant and the card.

    `table` is the table of answers (`piecework.postprocess.answers`), `items` all items
    of the campaign in the order of their file. The same arguments give the same bytes,
    regardless of row order; cells are converted in batches while writing. Croissant
    contains the hashes of the other files, so it is written after them.

    Raises:
        ValueError: the table is invalid, or does not match the items or their splits.
    """
    validate(table, facts.task)
    _must_fit(table, items, facts)
    if not table.index.is_monotonic_increasing:
        table = table.sort_index()
    layout = layout_of(table, items, facts)
    plain = _plain_files(layout, facts, formats)
    written: dict[str, WrittenFile] = {}
    files: dict[str, Write] = {
        name: partial(_write_hashed, name, write, written) for name, write in plain.items()
    }
    has_parquet = "parquet" in formats
    head = front_matter(layout, facts, has_parquet=has_parquet)
    card = head + layout.card(list(files))
    return {
        **files,
        CROISSANT: partial(_write_croissant, layout, facts, files, written, table),
        CARD: partial(_write_bytes, card.encode()),
    }


def layout_of(table: pd.DataFrame, items: Sequence[Item], facts: DatasetFacts) -> Layout:
    """Return the layout of a task's dataset."""
    return _LAYOUTS[facts.task.dataset](table, items, facts)


def _plain_files(
    layout: Layout, facts: DatasetFacts, formats: Sequence[OutputFormat]
) -> dict[str, Write]:
    files: dict[str, Write] = {}
    for name, cells in layout.tables.items():
        if "csv" in formats:
            files[f"{name}.csv"] = partial(write_csv, cells)
        if "parquet" in formats:
            files[f"{name}.parquet"] = partial(write_parquet, cells, warning=facts.warning)
    if "parquet" in formats:
        for split, cells in split_tables(layout.tables[layout.main]).items():
            files[f"{layout.main}_{split}.parquet"] = partial(
                write_parquet, cells, warning=facts.warning
            )
    for format_ in formats:
        files |= layout.documents.get(format_, {})
    return files


class _HashedFile(io.RawIOBase):
    """Writes to another file and computes the hash of the content."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, content: "ReadableBuffer", /) -> int:
        view = memoryview(content).cast("B")
        self._digest.update(view)
        self._size += len(view)
        self._file.write(view)
        return len(view)

    def tell(self) -> int:
        return self._size

    @property
    def written(self) -> WrittenFile:
        return WrittenFile(sha256=self._digest.hexdigest(), size_bytes=self._size)


def _write_hashed(name: str, write: Write, written: dict[str, WrittenFile], file: BinaryIO) -> None:
    hashed = _HashedFile(file)
    write(cast("BinaryIO", hashed))
    written[name] = hashed.written


def _write_croissant(
    layout: Layout,
    facts: DatasetFacts,
    files: Mapping[str, Write],
    written: Mapping[str, WrittenFile],
    table: pd.DataFrame,
    file: BinaryIO,
) -> None:
    for name in files.keys() - written.keys():
        files[name](io.BytesIO())
    last = table["submitted_at"].max()
    published = "" if pd.isna(last) else last.date().isoformat()
    in_order = {name: written[name] for name in files}
    file.write(croissant(layout, facts, in_order, published=published))


def _write_bytes(content: bytes, file: BinaryIO) -> None:
    file.write(content)


def _must_fit(table: pd.DataFrame, items: Sequence[Item], facts: DatasetFacts) -> None:
    split_of = splits(items, facts.shares)
    if len(split_of) < len(items):
        raise ValueError("an item id occurs twice among the items")
    expected = table["item_id"].map(pd.Series(split_of, dtype="str"))
    wrong = table.loc[expected.isna() | (expected != table["split"])]
    faults = [
        f"answer {answer_id}: item {item_id} is in split {split!r}, "
        f"but must be in {split_of.get(item_id, 'the items file')!r}"
        for answer_id, item_id, split in wrong[["item_id", "split"]].itertuples(name=None)
    ]
    if faults:
        raise ValueError("\n".join(faults))
