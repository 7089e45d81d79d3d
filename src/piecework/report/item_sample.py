"""Which items a report shows with their pictures: ten, some of each kind.

Items are chosen by their answers, with ties broken by a hash of the id, so that equal
answers give equal choices. In a large campaign only a sample is considered.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Literal

import pandas as pd

from piecework.analyses.votes import on_scale
from piecework.domain.field import Field, is_graded
from piecework.domain.tables import value_column
from piecework.domain.task import Task

Kind = Literal["agreed", "disputed", "dropped", "edited", "plain"]

_ALL = 10

_EACH: Mapping[Kind, int] = {
    "disputed": 3, "dropped": 2, "edited": 2, "agreed": 3, "plain": _ALL,
}  # fmt: skip
"""Items of each kind, at first; kinds with more fill the places of kinds with less."""

_LOOKED_AT = 2000
"""Items that are considered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownItem:
    """An item as the report shows it.

    Attributes:
        kind: why it was chosen.
        columns: the cells of its row.
        picture: a small copy as a `data:` URL; "" if there is none.
    """

    item_id: str
    kind: Kind
    columns: Mapping[str, str] = field(default_factory=dict)
    picture: str = ""


def choose_items(answers: pd.DataFrame, task: Task) -> dict[str, Kind]:
    """Choose the items to show, by id, each with its kind; grouped by kind.

    An item is "plain" if nothing distinguishes it, as with a single answer.

    Args:
        answers: the table of answers (`piecework.postprocess.answers`).
        task: defines what an answer consists of.
    """
    ids = sorted(map(str, answers["item_id"].unique()), key=place_of)[:_LOOKED_AT]
    if not ids:
        return {}
    rows = answers[answers["item_id"].isin(ids)]
    is_out = rows["is_rejected"]
    counted = rows[~is_out & ~rows["is_surplus"]]
    dispute = _disputes(counted, task).reindex(ids).dropna()
    edits = counted["edits"].map(len).groupby(counted["item_id"]).sum()
    wanted: tuple[tuple[Kind, pd.Series[Any]], ...] = (
        ("disputed", dispute[dispute > 0]),
        ("dropped", is_out.groupby(rows["item_id"]).sum().reindex(ids)),
        ("edited", edits.reindex(ids)),
        # Items with canned answers are agreed too, but there is little to read.
        ("agreed", (1 - dispute)[~dispute.index.isin(_canned(counted))]),
        ("plain", pd.Series(1, index=ids)),
    )
    kinds: dict[str, Kind] = {}
    for places in (_EACH, dict.fromkeys(_EACH, _ALL)):
        for kind, amounts in wanted:
            free = amounts[(amounts > 0) & ~amounts.index.isin(list(kinds))]
            most = free.sort_values(ascending=False, kind="stable").index
            room = min(places[kind], _ALL - len(kinds))
            kinds |= dict.fromkeys(map(str, most[:room]), kind)
    order: tuple[Kind, ...] = ("agreed", "disputed", "dropped", "edited", "plain")
    return dict(sorted(kinds.items(), key=lambda pair: order.index(pair[1])))


def _canned(counted: pd.DataFrame) -> "pd.Series[str]":
    canned: pd.Series[str] = counted.loc[counted["is_canned"], "item_id"]
    return canned


def place_of(item_id: str) -> bytes:
    """Return a place in an order that depends on the id alone."""
    return hashlib.sha256(item_id.encode()).digest()


def _disputes(counted: pd.DataFrame, task: Task) -> "pd.Series[float]":
    """How far the answers about an item differ, 0 to 1; only with two or more."""
    fields = [asked for asked in task.item_fields if asked.kind != "text"]
    disputes = {}
    for item_id, rows in counted.groupby("item_id"):
        if len(rows) < 2:  # noqa: PLR2004 - one answer has nothing to differ from
            continue
        parts = [_dispute(asked, rows[value_column(asked)].tolist()) for asked in fields]
        if task.main_text:
            # The dataset is about the texts.
            parts = [_of_texts(rows["clean_text"].tolist())]
        disputes[str(item_id)] = sum(parts) / max(len(parts), 1)
    return pd.Series(disputes, dtype="float64")


def _dispute(asked: Field, values: Sequence[Any]) -> float:
    if asked.kind == "choices":
        return _apart([frozenset(value or ()) for value in values])
    if asked.kind == "number" or is_graded(asked):
        numbers = on_scale(asked, pd.Series(values)).dropna()
        low, high = _scale(asked)
        spread = numbers.max() - numbers.min() if len(numbers) else 0
        return float(spread / (high - low))
    most = Counter(values).most_common(1)[0][1]
    return 1 - most / len(values)


def _scale(asked: Field) -> tuple[float, float]:
    if asked.kind == "number":
        return asked.minimum, max(asked.maximum, asked.minimum + asked.step)
    grades = [float(option.value) for option in asked.options]
    return min(grades), max(*grades, min(grades) + 1)


def _of_texts(texts: Sequence[str]) -> float:
    return _apart([frozenset(text.casefold().split()) for text in texts])


def _apart(sets: Sequence[frozenset[str]]) -> float:
    """One minus the mean Jaccard index of pairs."""
    shared = [
        len(first & second) / len(first | second) if first | second else 1.0
        for first, second in combinations(sets, 2)
    ]
    return 1 - sum(shared) / len(shared)
