"""The tables of a dataset of answers: one column for each field of the task.

Captions have tables of their own (`postprocess.datasets.rows`); everything else that
people can be asked looks like this.
"""

import math
from collections.abc import Mapping, Sequence

import pandas as pd
import pyarrow as pa

from analyses.condition_scores import compared
from analyses.conditions import condition_means
from analyses.fields import HIT_VALUE, ITEM_VALUE, ORDER, PLACE, PROBLEMS
from domain.hit import Item
from domain.task import Field
from postprocess.datasets.facts import DatasetFacts
from postprocess.datasets.rows import edits_json
from postprocess.frame import INDEX, novel, set_aside
from postprocess.item_aggregates import item_aggregates
from postprocess.participants import participants
from postprocess.splits import split_of

Table = dict[str, list[object]]

_FIRST = ("item_id", "split", "batch", "round", "position")
_LAST = ("worker", "shown_seconds", "submitted_at", "is_provisional")
_OF_CONDITIONS = (
    *("field", "condition", "inside"),
    *("subjects", "mean", "sd", "low", "high"),
)
_WHY_ASIDE = ("is_rejected", "rejected_because", "is_surplus", "set_aside")


def tables(
    frame: pd.DataFrame, items: Sequence[Item], facts: DatasetFacts
) -> dict[str, Table]:
    """Values by column, by name of the table.

    `answers`, `set_aside` and `items`; `participants` where anything personal was
    asked, `conditions` where the task compares some.
    """
    item_ids = [str(item.item_id) for item in items]
    summary = item_aggregates(
        frame,
        item_ids,
        facts.fields,
        facts.aggregates,
        columns={str(item.item_id): item.columns for item in items},
    )
    return {
        "answers": _answers(novel(frame), facts),
        "set_aside": _answers(set_aside(frame), facts, also=_WHY_ASIDE),
        "items": {
            "item_id": list(item_ids),
            "url": [item.columns.get("url", "") for item in items],
            "split": [split_of(item.item_id, facts.shares) for item in items],
            **_conditions_of(items, facts),
            **{str(name): summary[name].tolist() for name in summary},
        },
        **_participants(frame, facts),
        **_conditions(frame, items, facts),
    }


def _conditions_of(items: Sequence[Item], facts: DatasetFacts) -> Table:
    """What each item is compared as."""
    columns = [one.column for one in facts.conditions]
    columns += [one.subcondition for one in facts.conditions if one.subcondition]
    return {
        name: [item.columns.get(name, "") for item in items]
        for name in dict.fromkeys(columns)
    }


def _participants(frame: pd.DataFrame, facts: DatasetFacts) -> dict[str, Table]:
    if facts.open_fields == facts.fields:
        return {}
    counts = participants(frame, facts.fields)
    return {"participants": {str(name): counts[name].tolist() for name in counts}}


def _conditions(
    frame: pd.DataFrame, items: Sequence[Item], facts: DatasetFacts
) -> dict[str, Table]:
    """The mean of each condition, and of each part of one (`inside` not empty)."""
    if not facts.conditions:
        return {}
    rows: list[dict[str, object]] = []
    for one in compared(frame, items, facts.fields, facts.conditions):
        divided = one.scores[one.scores["inside"] != ""]
        parts = [("", one.scores), *divided.groupby("inside")]
        for inside, scores in parts:
            means = condition_means(scores)
            rows += [
                {
                    "field": one.field.name,
                    "condition": str(condition),
                    "inside": str(inside),
                    **{str(name): value for name, value in row.items()},
                }
                for condition, row in means.astype("object").iterrows()
            ]
    return {"conditions": {name: [r[name] for r in rows] for name in _OF_CONDITIONS}}


def types(facts: DatasetFacts) -> dict[str, pa.DataType]:
    """Arrow's types of the columns that the task brings; others are known."""
    kinds: Mapping[str, pa.DataType] = {
        "choices": pa.list_(pa.string()),
        "number": pa.float64(),
    }
    found = {
        field.name: kinds.get(field.kind, pa.string()) for field in facts.open_fields
    }
    found |= dict.fromkeys(("mean", "sd", "low", "high"), pa.float64())
    found["subjects"] = pa.int64()
    found |= dict.fromkeys(_conditions_of((), facts), pa.string())
    found |= {f"order_{name}": pa.list_(pa.string()) for name in facts.ordered}
    for one in facts.aggregates:
        name = one.field
        found |= {
            f"{name}_{part}": pa.float64()
            for part in ("share", "mean", "sd", "low", "high")
        }
        found |= {
            f"{name}_votes": pa.int64(),
            f"{name}_majority": pa.list_(pa.string()),
        }
        for option in _field(facts, name).options:
            found[f"{name}_share_{option.value}"] = pa.float64()
            found[f"{name}_votes_{option.value}"] = pa.int64()
    return found


def _answers(
    frame: pd.DataFrame, facts: DatasetFacts, *, also: Sequence[str] = ()
) -> Table:
    columns: Table = {INDEX: frame.index.tolist()}
    columns |= {name: frame[name].tolist() for name in _FIRST}
    columns[PLACE] = frame[PLACE].tolist() if PLACE in frame else []
    for field in facts.open_fields:
        prefix = HIT_VALUE if field.scope == "hit" else ITEM_VALUE
        cells = frame[prefix + field.name].tolist() if len(frame) else []
        columns[field.name] = [_cell(field, value) for value in cells]
    if facts.main_text:
        columns[facts.main_text] = frame["caption"].tolist()
        columns[f"{facts.main_text}_original"] = frame["caption_original"].tolist()
        columns["edits"] = [edits_json(edits) for edits in frame["edits"]]
    for name in facts.ordered:
        shown = frame[ORDER + name].tolist() if len(frame) else []
        columns[f"order_{name}"] = [list(order) for order in shown]
    problems = frame[PROBLEMS].tolist() if len(frame) else []
    columns[PROBLEMS] = [list(names) for names in problems]
    return columns | {name: frame[name].tolist() for name in (*_LAST, *also)}


def _cell(field: Field, value: object) -> object:
    """One value as every format takes it; nothing stays nothing."""
    if field.kind == "choices":
        return list(value) if isinstance(value, tuple | list) else []
    if field.kind == "number":
        return value if isinstance(value, float) else math.nan
    return value if isinstance(value, str) else ""


def _field(facts: DatasetFacts, name: str) -> Field:
    return next(field for field in facts.fields if field.name == name)
