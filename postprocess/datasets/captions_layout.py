"""The files of a caption dataset, in the format of VizWiz-Captions.

Internally, the table of answers has the names of `piecework.domain.tables`; only this
module maps them to VizWiz's names in the files.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa

from piecework.analyses.difficulty import difficulties
from piecework.analyses.fields import counted, votes
from piecework.analyses.votes import counted as voices
from piecework.domain.column_names import CAPTIONS, MARKET, OUTCOME
from piecework.domain.hit import Item
from piecework.domain.tables import ITEM_VALUE, value_column
from piecework.domain.task import Field, Task
from piecework.postprocess.aggregates import leading, option_votes
from piecework.postprocess.answers import set_aside_reasons, was_rejected
from piecework.postprocess.datasets import captions_json
from piecework.postprocess.datasets.card import captions_card
from piecework.postprocess.datasets.facts import DatasetFacts
from piecework.postprocess.datasets.file_table import (
    NUMBER,
    TEXT,
    WHOLE,
    FileTable,
    arrow_types,
    as_json,
)
from piecework.postprocess.datasets.layout import Layout
from piecework.postprocess.datasets.pictures import picture_columns
from piecework.postprocess.datasets.sent_columns import sent_cells
from piecework.postprocess.label_probabilities import of_choice
from piecework.postprocess.splits import splits

COLUMNS = arrow_types(CAPTIONS)

FLAWS = (
    "blur", "bright", "dark", "obscured", "framing", "rotation", "other", "none",
)  # fmt: skip
"""The flaws that VizWiz asks for; a task without them has no votes for them."""

_RENAMED = {"clean_text": "caption", "text": "caption_original", "is_canned": "is_precanned"}
_FLAWS_FIELD = "flaws"
_OTHER_FIELD = "flaw_other"
_YES_NO = ("yes", "no")
_COUNTED = ("item_id", "worker", "is_canned", "is_rejected", "is_surplus")


def captions_layout(table: pd.DataFrame, items: Sequence[Item], facts: DatasetFacts) -> Layout:
    """Return the layout: tables, JSON of captions and the card."""
    pictures = picture_columns(items, facts.sizes)
    item_ids = [str(item.item_id) for item in items]
    cells = _cells(table, facts.task)
    sent = sent_cells(table["also_sent"], facts.sent_columns, with_more=facts.is_part)
    cells = pd.concat([cells, sent.reset_index(drop=True)], axis="columns")
    names = pictures["file_name"].set_axis(item_ids)
    types = {
        **COLUMNS,
        **dict.fromkeys(map(str, sent), TEXT),
        **({OUTCOME: TEXT} if facts.is_imported else {}),
        **({MARKET: TEXT} if facts.has_markets else {}),
    }
    cells = cells.assign(file_name=cells["item_id"].map(names))[list(types)]
    reasons = set_aside_reasons(table).set_axis(cells.index)
    summary = image_summary(table, item_ids, facts.task, are_all=not facts.is_part)
    split_of = splits(items, facts.shares)
    listed = pd.DataFrame(
        {
            "item_id": summary.index,
            "url": [item.picture for item in items],
            "split": [split_of[item_id] for item_id in item_ids],
        },
        dtype="str",
    )
    images = pd.concat([listed, pictures, summary.reset_index(drop=True)], axis="columns")
    return Layout(
        main="captions",
        tables={
            "captions": FileTable(cells=cells, types=types, rows=np.flatnonzero(reasons == "")),
            "set_aside": FileTable(
                cells=cells.assign(set_aside=reasons),
                types={**types, "set_aside": TEXT},
                rows=np.flatnonzero(reasons != ""),
            ),
            "items": FileTable(cells=images, types=_item_types(images)),
        },
        documents=captions_json.documents(
            cells,
            reasons,
            images,
            captions_json.about(table, facts),
            licence=facts.publication.items_licence,
        ),
        card=partial(captions_card, table, images, facts),
    )


def image_summary(
    table: pd.DataFrame, item_ids: Sequence[str], task: Task, *, are_all: bool = True
) -> pd.DataFrame:
    """Return a row for each of `item_ids`, in order; index `item_id`.

    Only accepted answers that are not surplus count, including canned ones. Columns:
    `answers`, `canned`, `captions` (int64; answers = canned + captions), `difficulty`
    (str; "unknown" without answers), `text_detected` (str; the majority, "" for a tie),
    `text_yes`, `text_no` (int64; votes), `text_detected_likeliest` and
    `text_detected_probability` (`piecework.postprocess.label_probabilities`; only if
    the table has all answers), and `votes_<flaw>` (int64) for each of `FLAWS`.
    """
    text_field, flaws_field = (
        _field(task, name) for name in (task.text_present_field, _FLAWS_FIELD)
    )
    asked = [value_column(field) for field in (text_field, flaws_field) if field]
    rows = counted(table[[*_COUNTED, *asked]])
    items = pd.Index(list(item_ids), dtype="str", name="item_id")
    by_item = rows.groupby("item_id")["is_canned"]
    answers = by_item.size().reindex(items, fill_value=0).astype("int64")
    canned = by_item.sum().reindex(items, fill_value=0).astype("int64")
    text = _votes(rows, text_field, items, _YES_NO)
    flaws = _votes(rows, flaws_field, items, FLAWS)
    sure = pd.DataFrame(index=items)
    if text_field is not None and are_all:
        text_voices = voices(votes(rows, text_field))
        sure = of_choice("text_detected", text_voices, _YES_NO, items)
    return pd.DataFrame(
        {
            "answers": answers,
            "canned": canned,
            "captions": answers - canned,
            "difficulty": difficulties(canned, answers),
            "text_detected": leading(text)["value"],
            "text_yes": text["yes"],
            "text_no": text["no"],
            **{str(name): column for name, column in sure.items()},
            **{f"votes_{flaw}": flaws[flaw] for flaw in FLAWS},
        },
        index=items,
    )


def _field(task: Task, name: str) -> Field | None:
    return next((field for field in task.item_fields if field.name == name), None)


def _votes(
    rows: pd.DataFrame, field: Field | None, items: "pd.Index[str]", options: Sequence[str]
) -> pd.DataFrame:
    if field is None:
        return pd.DataFrame(0, index=items, columns=list(options), dtype="int64")
    return option_votes(votes(rows, field), options, items)


def _cells(table: pd.DataFrame, task: Task) -> pd.DataFrame:
    """Return the columns of `COLUMNS` except `file_name`, as named in the files."""
    nothing = pd.Series("", index=table.index, dtype="str")
    no_ticks = pd.Series([()] * len(table), index=table.index, dtype="object")
    text_field = _field(task, task.text_present_field)
    text_answers = nothing if text_field is None else table[value_column(text_field)]
    flaws = ITEM_VALUE + _FLAWS_FIELD
    flaw_other = ITEM_VALUE + _OTHER_FIELD
    cells = table.rename(columns=_RENAMED).assign(
        # A worker's program may send anything, and one such answer must not prevent the
        # export of the others.
        text_detected=text_answers.where(text_answers.isin(_YES_NO), ""),
        flaws=table.get(flaws, no_ticks),
        flaw_other=table.get(flaw_other, nothing),
        edits=as_json(table["edits"]),
        is_rejected=was_rejected(table),
    )
    return cells.reset_index()


def _item_types(images: pd.DataFrame) -> dict[str, pa.DataType]:
    kinds = {"int64": WHOLE, "float64": NUMBER}
    return {str(name): kinds.get(str(dtype).lower(), TEXT) for name, dtype in images.dtypes.items()}
