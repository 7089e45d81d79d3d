"""Scores of the conditions that a task compares: their frame, means and intervals.

The sample of a mean is the people who rated a condition, or the items.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from piecework.analyses.votes import answers_that_count, on_scale
from piecework.domain.field import Field
from piecework.domain.hit import Item
from piecework.domain.tables import ITEM_VALUE
from piecework.domain.task import Conditions

COLUMNS = ("subject", "condition", "value")


def cells(scores: pd.DataFrame) -> pd.DataFrame:
    """Return means by subject (index) and condition (columns), sorted; NaN: no score.

    Raises:
        ValueError: a column is missing, or a value is not a finite number.
    """
    missing = [name for name in COLUMNS if name not in scores.columns]
    if missing:
        raise ValueError(f"scores have no column {', '.join(missing)}")
    scored = scores.loc[scores["value"].notna(), list(COLUMNS)]
    scored = scored.astype({"value": "float64"})
    if not np.isfinite(scored["value"]).all():
        raise ValueError("scores must be finite numbers")
    return scored.pivot_table(index="subject", columns="condition", values="value", aggfunc="mean")


def condition_means(scores: pd.DataFrame, *, confidence: float = 0.95) -> pd.DataFrame:
    """Return the mean of each condition over subjects, with Student's interval.

    A subject counts once per condition, with their mean there. The intervals are for
    other people; use `piecework.analyses.within_subject` to test whether two conditions differ,
    since the same people are in both.

    Args:
        scores: columns `subject`, `condition`, `value` (see
            `piecework.analyses.condition_scores`).
        confidence: in (0, 1).

    Returns:
        One row per condition, index `condition`, sorted. Columns `subjects` (int64),
        `mean`, `sd` (over subjects, n - 1), `low`, `high` (float64; NaN with one
        subject).
    """
    table = cells(scores)
    count = table.notna().sum().astype("int64")
    sd = table.std()
    quantile = stats.t.ppf((1 + confidence) / 2, np.maximum(count - 1, 1))
    reach: pd.Series[float] = sd * quantile / np.sqrt(count)
    mean = table.mean()
    return pd.DataFrame(
        {"subjects": count, "mean": mean, "sd": sd, "low": mean - reach, "high": mean + reach}
    )


GLOSSES = ("gloss", "translation", "reference_gloss", "reference_translation")
"""Item columns that explain a text to readers who do not know its language."""


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Conditions with their scores.

    Attributes:
        field: the number that is compared.
        named: the columns of the items that name the conditions.
        scores: one row per answer that counts: `subject` (the hashed worker),
            `condition`, `inside` ("" if the condition is not divided), `item_id` and
            `value` (float64); see `piecework.analyses.condition_scores`.
        texts: one row per item of a condition, index `item_id`, if the conditions name
            their texts: `condition`, `text`, `reference`, those of `GLOSSES` ("" if
            the items have none) and `mean` (of its scores; NaN without any).
    """

    field: Field
    named: Conditions
    scores: pd.DataFrame
    texts: pd.DataFrame = dataclasses.field(default_factory=pd.DataFrame)


def compared(
    table: pd.DataFrame,
    items: Sequence[Item],
    fields: Sequence[Field],
    conditions: Sequence[Conditions],
) -> tuple[Compared, ...]:
    """Return the task's comparisons, with the scores of the answers that count.

    Args:
        table: the table of answers (`piecework.domain.tables`).
        items: of the campaign, for their conditions.
        fields: of the task.
        conditions: of the task.
    """
    if not conditions:
        return ()
    by_name = {field.name: field for field in fields}
    rows = answers_that_count(table)
    all_scores = [
        (named, _scores(rows, items, named, by_name[named.field])) for named in conditions
    ]
    return tuple(
        Compared(
            field=by_name[named.field],
            named=named,
            scores=scores,
            texts=_texts(scores, items, named),
        )
        for named, scores in all_scores
    )


def _texts(scores: pd.DataFrame, items: Sequence[Item], conditions: Conditions) -> pd.DataFrame:
    if not (conditions.text and conditions.reference):
        return pd.DataFrame()
    columns = {
        "condition": conditions.column,
        "text": conditions.text,
        "reference": conditions.reference,
        **{name: name for name in GLOSSES},
    }
    texts = pd.DataFrame(
        {
            name: [item.columns.get(column, "").strip() for item in items]
            for name, column in columns.items()
        },
        index=pd.Index([str(item.item_id) for item in items], name="item_id"),
    )
    texts["mean"] = scores.groupby("item_id")["value"].mean()
    return texts[(texts[["condition", "text", "reference"]] != "").all(axis="columns")]


def _scores(
    rows: pd.DataFrame, items: Sequence[Item], conditions: Conditions, field: Field
) -> pd.DataFrame:
    def of(column: str) -> pd.Series:
        named = {str(item.item_id): item.columns.get(column, "").strip() for item in items}
        return rows["item_id"].map(named).astype("str")

    scores = pd.DataFrame(
        {
            "subject": rows["worker"].astype("str"),
            "condition": of(conditions.column),
            "inside": of(conditions.subcondition) if conditions.subcondition else "",
            "item_id": rows["item_id"].astype("str"),
            "value": on_scale(field, rows[ITEM_VALUE + conditions.field]),
        }
    )
    return scores.loc[(scores["condition"] != "") & scores["value"].notna()]


def mean_ratings(ratings: pd.DataFrame, *, confidence: float = 0.95) -> pd.DataFrame:
    """Return the mean rating of each condition, with Student's interval over items.

    Several people's ratings of one item are not independent, so an item counts once,
    with the mean of its ratings; the interval is for other items.

    Args:
        ratings: one row per rating: `item_id` (str), `condition` (str: such as its
            author) and `value` (a number). Rows with a missing value do not count.
        confidence: in (0, 1).

    Returns:
        One row per condition, index `condition`, sorted. Columns `ratings`, `items`
        (int64), `mean` (float64, of the items' means: the plain mean if all items have
        the same number of ratings), `sd` (of single ratings, n - 1), `low`, `high`
        (NaN with one item; both the mean if all items are rated the same).

    Raises:
        ValueError: a column is missing.
    """
    missing = {"item_id", "condition", "value"} - set(ratings.columns)
    if missing:
        raise ValueError(f"ratings have no column {', '.join(sorted(missing))}")
    rated = ratings.loc[ratings["value"].notna()].astype({"value": "float64"})
    of_condition = rated.groupby("condition")["value"]
    of_item = rated.groupby(["condition", "item_id"])["value"].mean()
    means = of_item.groupby("condition").agg(["size", "mean", "sem"])
    freedom = np.maximum(means["size"] - 1, 1)
    reach = stats.t.ppf((1 + confidence) / 2, freedom) * means["sem"]
    return pd.DataFrame(
        {
            "ratings": of_condition.size().astype("int64"),
            "items": means["size"].astype("int64"),
            "mean": means["mean"],
            "sd": of_condition.std(),
            "low": means["mean"] - reach,
            "high": means["mean"] + reach,
        }
    )
