"""All files of a dataset at once, as bytes; whoever calls writes them."""

from collections.abc import Sequence

import pandas as pd

from domain.campaign import OutputFormat
from domain.hit import Item
from postprocess.aggregate import aggregate
from postprocess.datasets import answers, vizwiz_json
from postprocess.datasets.card import answers_card, card
from postprocess.datasets.csv_file import to_csv
from postprocess.datasets.facts import DatasetFacts
from postprocess.datasets.parquet_file import to_parquet
from postprocess.datasets.rows import answer_columns, item_columns
from postprocess.frame import must_be_sound, novel, set_aside
from postprocess.splits import split_of

CARD = "DATA_CARD.md"


def files(
    frame: pd.DataFrame,
    items: Sequence[Item],
    facts: DatasetFacts,
    formats: Sequence[OutputFormat],
) -> dict[str, bytes]:
    """Bytes by file name: the formats asked for, and always the data card.

    `frame` is the dataset frame (`postprocess.frame`) with every answer, `items` all
    items of the campaign in the order of their file. The same arguments give the same
    bytes.

    Raises:
        ValueError: the frame is not sound, or does not fit the items or their splits.
    """
    must_be_sound(frame)
    _must_fit(frame, items, facts)
    if facts.dataset == "answers":
        return _answer_files(frame, items, facts, formats)
    item_ids = [str(item.item_id) for item in items]
    summary = aggregate(frame, item_ids)
    splits = [split_of(item.item_id, facts.shares) for item in items]
    urls = [item.columns.get("url", "") for item in items]
    tables = {
        "captions": answer_columns(novel(frame)),
        "set_aside": answer_columns(set_aside(frame)),
        "items": item_columns(summary, urls=urls, splits=splits),
    }
    made: dict[str, bytes] = {}
    if "csv" in formats:
        made |= {f"{name}.csv": to_csv(table) for name, table in tables.items()}
    if "parquet" in formats:
        made |= {
            f"{name}.parquet": to_parquet(table, warning=facts.warning)
            for name, table in tables.items()
        }
    if "vizwiz_json" in formats:
        made |= vizwiz_json.files(frame, items, facts, summary=summary)
    text = card(frame, facts, summary=summary, splits=splits, names=made)
    return {**made, CARD: text.encode()}


def _answer_files(
    frame: pd.DataFrame,
    items: Sequence[Item],
    facts: DatasetFacts,
    formats: Sequence[OutputFormat],
) -> dict[str, bytes]:
    found = answers.tables(frame, items, facts)
    made: dict[str, bytes] = {}
    if "csv" in formats:
        made |= {f"{name}.csv": to_csv(table) for name, table in found.items()}
    if "parquet" in formats:
        types = answers.types(facts)
        made |= {
            f"{name}.parquet": to_parquet(table, warning=facts.warning, types=types)
            for name, table in found.items()
        }
    text = answers_card(frame, facts, items=len(items), names=made)
    return {**made, CARD: text.encode()}


def _must_fit(
    frame: pd.DataFrame,
    items: Sequence[Item],
    facts: DatasetFacts,
) -> None:
    splits = {str(item.item_id): split_of(item.item_id, facts.shares) for item in items}
    if len(splits) < len(items):
        raise ValueError("an item id occurs twice among the items")
    faults = [
        f"answer {answer_id}: item {item_id} is in split {split!r}, "
        f"but must be in {splits.get(item_id, 'the items file')!r}"
        for answer_id, item_id, split in zip(
            frame.index,
            frame["item_id"],
            frame["split"],
            strict=True,
        )
        if splits.get(item_id) != split
    ]
    if faults:
        raise ValueError("\n".join(faults))
