"""The files of a dataset: a caption dataset's in VizWiz-Captions' format, or any task's.

The table of answers has the names of `piecework.domain.tables`; only this module maps them
to VizWiz's names in the files. A general dataset has a column for each field of the task.

A page's script may make inputs that the file does not declare, and an items file may bring
some. What came under each such name is a column of text. A program could send thousands of
names, so their number is limited; the rest is one JSON object for each answer.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from piecework.analyses.condition_scores import compared, condition_means
from piecework.analyses.votes import answers_that_count, difficulties, votes
from piecework.analyses.votes import votes_that_count as voices
from piecework.domain import column_names as names
from piecework.domain.campaign import OutputFormat
from piecework.domain.column_names import CAPTIONS, MARKET, OUTCOME, SENT, SENT_MORE, ColumnNames
from piecework.domain.field import MERGED as MERGED_REGIONS
from piecework.domain.field import Field
from piecework.domain.hit import Item
from piecework.domain.tables import ITEM_VALUE, ORDER, value_column
from piecework.domain.task import Task
from piecework.postprocess.aggregates import item_aggregates, most_chosen, of_choice, option_votes
from piecework.postprocess.answers import set_aside_reasons, was_rejected
from piecework.postprocess.datasets import coco_json, spans
from piecework.postprocess.datasets.card import captions_card, fields_card
from piecework.postprocess.datasets.facts import DatasetFacts
from piecework.postprocess.datasets.file_table import (
    NUMBER,
    TEXT,
    TEXTS,
    TRUTH,
    WHOLE,
    FileTable,
    Layout,
    Write,
    arrow_types,
    as_json,
)
from piecework.postprocess.datasets.pictures import picture_columns
from piecework.postprocess.pseudonyms import participants
from piecework.postprocess.splits import splits

_FIRST = arrow_types(names.ANSWERS_BEGIN)
_LAST = arrow_types(names.ANSWERS_END)
_WHY_ASIDE = arrow_types(names.SET_ASIDE)
_OF_CONDITIONS = arrow_types(names.OF_CONDITIONS)
_OF_FIELDS: Mapping[str, pa.DataType] = {"choices": TEXTS, "number": NUMBER}


def fields_layout(table: pd.DataFrame, items: Sequence[Item], facts: DatasetFacts) -> Layout:
    """Return the layout: `answers`, `set_aside`, `items` and the card.

    Also `participants` if the task has personal questions, and `conditions` if it
    compares conditions.
    """
    cells, types = _cells(table, facts)
    reasons = set_aside_reasons(table).set_axis(cells.index)
    listed = _items(table, items, facts)
    return Layout(
        main="answers",
        tables={
            "answers": FileTable(cells=cells, types=types, rows=np.flatnonzero(reasons == "")),
            "set_aside": FileTable(
                cells=cells.assign(set_aside=reasons),
                types=types | _WHY_ASIDE,
                rows=np.flatnonzero(reasons != ""),
            ),
            "items": listed,
            **_participants(table, facts),
            **_conditions(table, items, facts),
        },
        documents=_documents(table, listed.cells, facts),
        card=partial(fields_card, table, listed.cells, facts),
    )


def _documents(
    table: pd.DataFrame, items: pd.DataFrame, facts: DatasetFacts
) -> dict[OutputFormat, dict[str, Write]]:
    """Return the writers of the files of merged marks, by format."""
    files: dict[OutputFormat, dict[str, Write]] = {}
    if facts.is_part:
        return files
    merged = {
        aggregate.field: aggregate.kind
        for aggregate in facts.task.aggregates
        if aggregate.kind in MERGED_REGIONS
    }
    boxes = {}
    for name, kind in merged.items():
        if kind == "points":
            continue  # COCO's keypoints are those of a skeleton, which a page does not have
        cells = items[f"{name}{names.MERGED}"]
        if kind == "spans":
            texts = [facts.marked_texts.get((name, item)) for item in items[names.ITEM]]
            marked = spans.marked_texts(cells, texts, items)
            files.setdefault("conll", {}).update(spans.conll_documents(marked, name))
            files.setdefault("brat", {}).update(spans.brat_document(marked, name))
            continue
        objects = coco_json.Objects.of(cells, facts.labels.get(name, ()), MERGED_REGIONS[kind])
        if kind == "boxes":
            boxes[name] = objects
        documents = coco_json.objects_documents(
            objects,
            name,
            items,
            coco_json.about(table, facts),
            licence=facts.publication.items_licence,
        )
        files.setdefault("coco_json", {}).update(documents)
    if boxes and facts.publication.pictures == "files":
        files["imagefolder"] = coco_json.imagefolder_document(boxes, items)
    return files


def _cells(table: pd.DataFrame, facts: DatasetFacts) -> tuple[pd.DataFrame, dict[str, pa.DataType]]:
    """Return the columns of `answers.*` by name, with their types."""
    task = facts.task
    sources = {"answer_id": "answer_id"} | {name: name for name in _FIRST}
    types = dict(_FIRST)
    for field in facts.open_fields:
        sources[field.name] = value_column(field)
        types[field.name] = _OF_FIELDS.get(field.kind, TEXT)
    if task.main_text:
        sources |= {
            task.main_text: "clean_text",
            f"{task.main_text}{names.ORIGINAL}": "text",
            names.EDITS: "edits",
        }
        both = (f"{task.main_text}{names.ORIGINAL}", names.EDITS)
        types |= dict.fromkeys(both, TEXT)
    sent = sent_cells(table["also_sent"], facts.sent_columns, with_more=facts.is_part)
    sources |= {str(name): str(name) for name in sent}
    types |= dict.fromkeys(map(str, sent), TEXT)
    for name in task.shuffled_names:
        sources[f"{names.ORDER_OF}{name}"] = ORDER + name
        types[f"{names.ORDER_OF}{name}"] = TEXTS
    if names.PLAYED in task.measures:
        sources[names.PLAYED], types[names.PLAYED] = names.PLAYED, NUMBER
    types |= _LAST
    if facts.is_imported:
        sources[OUTCOME] = OUTCOME
        types[OUTCOME] = TEXT
    if facts.has_markets:
        sources[MARKET] = MARKET
        types[MARKET] = TEXT
    sources |= {name: name for name in (*_LAST, *_WHY_ASIDE) if name != "set_aside"}
    rows = table.assign(edits=as_json(table["edits"]), is_rejected=was_rejected(table))
    rows = pd.concat([rows, sent], axis="columns").reset_index()
    return pd.DataFrame({name: rows[source] for name, source in sources.items()}), types


def _items(table: pd.DataFrame, items: Sequence[Item], facts: DatasetFacts) -> FileTable:
    """Return a row per item, with its aggregated answers."""
    task = facts.task
    summary = item_aggregates(
        table,
        [str(item.item_id) for item in items],
        task.fields,
        task.aggregates,
        columns={str(item.item_id): item.columns for item in items},
        are_all=not facts.is_part,
        machine=facts.machine,
    )
    summary = _with_settled(summary, facts.settled)
    compared_by = [condition.column for condition in task.conditions]
    compared_by += [
        condition.subcondition for condition in task.conditions if condition.subcondition
    ]
    split_of = splits(items, facts.shares)
    listed = {
        names.ITEM: list(summary.index),
        names.URL: [item.picture for item in items],
        names.SPLIT: [split_of[str(item.item_id)] for item in items],
        **{name: [item.columns.get(name, "") for item in items] for name in compared_by},
        **_inputs(items, facts),
    }
    cells = pd.concat(
        [
            pd.DataFrame(listed, dtype="str"),
            picture_columns(items, facts.sizes),
            summary.reset_index(drop=True),
        ],
        axis="columns",
    )
    return FileTable(
        cells=cells, types={str(name): _type_of(column) for name, column in cells.items()}
    )


def _with_settled(summary: pd.DataFrame, settled: Mapping[tuple[str, str], str]) -> pd.DataFrame:
    """Replace majorities by the labels that people settled, and mark them.

    A field with a settled label gets another column, `<field>_settled_by_person`.
    """
    whole = summary.copy()
    for name in sorted({field for _, field in settled} & set(summary.columns)):
        labels = [settled.get((str(item), name), "") for item in summary.index]
        is_settled = np.array([label != "" for label in labels], dtype="bool")
        own = pd.Series(labels, index=summary.index, dtype="str")
        place = summary.columns.get_loc(name)
        whole[name] = own.where(is_settled, summary[name])
        whole.insert(int(place) + 1, f"{name}{names.SETTLED}", is_settled)  # type: ignore[arg-type]
    return whole


def _inputs(items: Sequence[Item], facts: DatasetFacts) -> dict[str, list[str]]:
    """Return what an own page or a generic task shows, often its items' only names."""
    shows_any = facts.task.html_page is not None or facts.task.is_generic
    if not (shows_any or facts.is_imported):
        return {}
    return {
        f"{names.INPUT}{name}": [item.columns.get(name, "") for item in items]
        for name in (*facts.task.columns[1:], *facts.task.optional_columns)
    }


def _type_of(column: "pd.Series[Any]") -> pa.DataType:
    if isinstance(column.dtype, pd.StringDtype):
        return TEXT
    kind = str(column.dtype).lower()
    return {"int64": WHOLE, "float64": NUMBER, "bool": TRUTH}.get(kind, TEXTS)


def _participants(table: pd.DataFrame, facts: DatasetFacts) -> dict[str, FileTable]:
    if facts.is_part or facts.open_fields == facts.task.fields:
        return {}
    counts = participants(table, facts.task.fields)
    types = {str(name): TEXT for name in counts}
    return {"participants": FileTable(cells=counts, types=types)}


def _conditions(
    table: pd.DataFrame, items: Sequence[Item], facts: DatasetFacts
) -> dict[str, FileTable]:
    """Return the mean of each condition and its parts (`inside` not empty)."""
    task = facts.task
    if facts.is_part or not task.conditions:
        return {}
    parts = [
        condition_means(scores)
        .reset_index()
        .assign(field=comparison.field.name, inside=str(inside))
        for comparison in compared(table, items, task.fields, task.conditions)
        for inside, scores in [
            ("", comparison.scores),
            *comparison.scores[comparison.scores["inside"] != ""].groupby("inside"),
        ]
    ]
    means = pd.concat(parts, ignore_index=True)
    return {"conditions": FileTable(cells=means, types=_OF_CONDITIONS)}


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
    cells = _caption_cells(table, facts.task)
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
        documents={
            "vizwiz_json": coco_json.captions_documents(
                cells,
                reasons,
                images,
                coco_json.about(table, facts),
                licence=facts.publication.items_licence,
            )
        },
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
    `text_detected_probability` (`piecework.postprocess.aggregates`; only if
    the table has all answers), and `votes_<flaw>` (int64) for each of `FLAWS`.
    """
    text_field, flaws_field = (
        _field(task, name) for name in (task.text_present_field, _FLAWS_FIELD)
    )
    asked = [value_column(field) for field in (text_field, flaws_field) if field]
    rows = answers_that_count(table[[*_COUNTED, *asked]])
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
            "text_detected": most_chosen(text)["value"],
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


def _caption_cells(table: pd.DataFrame, task: Task) -> pd.DataFrame:
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


_MOST_COLUMNS = 1_000
_MOST_CELLS = 50_000_000
"""Two gigabytes or so for the columns of a table that has as many cells."""


def sent_columns(table: pd.DataFrame, task: Task) -> dict[str, str]:
    """Return the columns of names that were sent for no field, by name.

    Args:
        table: the table of answers, with `also_sent` and `submitted_at`.
        task: the task, whose fields have columns too.
    """
    rows = table.loc[table["also_sent"] != "", ["also_sent", "submitted_at"]]
    # By time, so that later answers do not change the names of earlier columns.
    in_order = rows.sort_index(kind="stable").sort_values("submitted_at", kind="stable")
    counts = Counter[str]()
    for cell in in_order["also_sent"].tolist():
        counts.update([*json.loads(cell)])
    most = max(1, min(_MOST_COLUMNS, _MOST_CELLS // max(len(table), 1)))
    chosen = {name for name, _ in counts.most_common(most)}
    names = ColumnNames(field.name for field in task.fields)
    return {name: names.take(name, prefix=SENT) for name in counts if name in chosen}


def sent_cells(
    also_sent: "pd.Series[str]", columns: Mapping[str, str], *, with_more: bool = False
) -> pd.DataFrame:
    """Return the columns of text; an answer without a name has an empty cell.

    Args:
        also_sent: the column of the table of answers.
        columns: from `sent_columns`; other names are in the column `SENT_MORE`.
        with_more: whether the table has that column if no cell needs it.
    """
    cells = {name: [""] * len(also_sent) for name in columns.values()}
    more: dict[int, str] = {}
    for number, cell in enumerate(also_sent.tolist()):
        if not cell:
            continue
        sent: dict[str, str] = json.loads(cell)
        for name in [*sent]:
            if name in columns:
                cells[columns[name]][number] = sent.pop(name)
        if sent:
            more[number] = json.dumps(sent, ensure_ascii=False)
    if more or with_more:
        cells[SENT_MORE] = [more.get(number, "") for number in range(len(also_sent))]
    return pd.DataFrame(
        {
            name: pd.Series(column, index=also_sent.index, dtype="str")
            for name, column in cells.items()
        },
        index=also_sent.index,
    )
