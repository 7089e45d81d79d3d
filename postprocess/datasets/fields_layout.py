"""The files of a general dataset, with a column for each field of the task."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from piecework.analyses.condition_scores import compared
from piecework.analyses.conditions import condition_means
from piecework.domain import column_names as names
from piecework.domain.column_names import MARKET, OUTCOME
from piecework.domain.hit import Item
from piecework.domain.tables import ORDER, value_column
from piecework.postprocess.aggregates import item_aggregates
from piecework.postprocess.answers import set_aside_reasons, was_rejected
from piecework.postprocess.datasets.card import fields_card
from piecework.postprocess.datasets.facts import DatasetFacts
from piecework.postprocess.datasets.file_table import (
    NUMBER,
    TEXT,
    TEXTS,
    TRUTH,
    WHOLE,
    FileTable,
    arrow_types,
    as_json,
)
from piecework.postprocess.datasets.layout import Layout
from piecework.postprocess.datasets.pictures import picture_columns
from piecework.postprocess.datasets.sent_columns import sent_cells
from piecework.postprocess.participants import participants
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
        documents={},
        card=partial(fields_card, table, listed.cells, facts),
    )


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
    """Return the inputs of a requester's own page, often its items' only names."""
    if facts.task.html_page is None and not facts.is_imported:
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
