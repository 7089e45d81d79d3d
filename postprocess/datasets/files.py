"""All files of a dataset, each as a function that writes its content."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import BinaryIO

import pandas as pd

from domain.campaign import OutputFormat
from domain.hit import Item
from domain.task import DatasetKind
from postprocess.answers import validate
from postprocess.datasets.captions_layout import captions_layout
from postprocess.datasets.csv_file import write_csv
from postprocess.datasets.facts import DatasetFacts
from postprocess.datasets.fields_layout import fields_layout
from postprocess.datasets.layout import Layout, Write
from postprocess.datasets.parquet_file import write_parquet
from postprocess.splits import split_of

CARD = "DATA_CARD.md"

_LAYOUTS: Mapping[
    DatasetKind, Callable[[pd.DataFrame, Sequence[Item], DatasetFacts], Layout]
] = {"captions": captions_layout, "answers": fields_layout}


def dataset_files(
    table: pd.DataFrame,
    items: Sequence[Item],
    facts: DatasetFacts,
    formats: Sequence[OutputFormat],
) -> dict[str, Write]:
    """How each file is written, by name: the formats asked for, and the data card.

    `table` is the table of answers (`postprocess.answers`), `items` all items of the
    campaign in the order of their file. The same arguments give the same bytes,
    whatever the order of the rows; cells are made in batches while they are written.

    Raises:
        ValueError: the table is not sound, or does not fit the items or their splits.
    """
    validate(table, facts.task)
    _must_fit(table, items, facts)
    if not table.index.is_monotonic_increasing:
        table = table.sort_index()
    layout = _LAYOUTS[facts.task.dataset](table, items, facts)
    files: dict[str, Write] = {}
    for name, cells in layout.tables.items():
        if "csv" in formats:
            files[f"{name}.csv"] = partial(write_csv, cells)
        if "parquet" in formats:
            files[f"{name}.parquet"] = partial(
                write_parquet, cells, warning=facts.warning
            )
    if "vizwiz_json" in formats:
        files |= layout.documents
    card = layout.card(list(files)).encode()
    return {**files, CARD: partial(_write_bytes, card)}


def _write_bytes(content: bytes, file: BinaryIO) -> None:
    file.write(content)


def _must_fit(table: pd.DataFrame, items: Sequence[Item], facts: DatasetFacts) -> None:
    splits = {str(item.item_id): split_of(item.item_id, facts.shares) for item in items}
    if len(splits) < len(items):
        raise ValueError("an item id occurs twice among the items")
    expected = table["item_id"].map(pd.Series(splits, dtype="str"))
    wrong = table.loc[expected.isna() | (expected != table["split"])]
    faults = [
        f"answer {answer_id}: item {item_id} is in split {split!r}, "
        f"but must be in {splits.get(item_id, 'the items file')!r}"
        for answer_id, item_id, split in wrong[["item_id", "split"]].itertuples(
            name=None
        )
    ]
    if faults:
        raise ValueError("\n".join(faults))
