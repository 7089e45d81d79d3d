"""Comparisons of two sides: graded preferences on criteria, and outcomes of pairs of systems."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from piecework.analyses.votes import answers_that_count
from piecework.domain.field import Arrangement, Field
from piecework.domain.hit import Item
from piecework.domain.tables import ITEM_VALUE, ORDER
from piecework.domain.task import MADE_BY


def preferences(grades: pd.DataFrame, *, confidence: float = 0.95) -> pd.DataFrame:
    """Compute counts, shares and a sign test for each criterion.

    Args:
        grades: one row per judgement: `criterion` (str) and `grade` (a number: above 0
            if one side is better, 0 if neither is, below 0 if the other is; the
            distance says how much). Rows with a missing grade do not count.
        confidence: of the interval, in (0, 1).

    Returns:
        One row per criterion, in the order of the frame, index `criterion`. Columns
        `judgements`, `better`, `neutral`, `worse` (int64), `net` (float64: share of
        better minus worse), `mean` (float64 grade), `share` (float64: share of better
        among better and worse), `low`, `high` (its Wilson interval), `p_value` (exact
        two-sided sign test of better against worse), `p_adjusted` (times the number of
        criteria, at most 1; Bonferroni). If all are neutral, `share` and its interval
        are NaN and the p-value is 1.

    E. B. Wilson, JASA 22 (1927), doi:10.1080/01621459.1927.10502953.

    Raises:
        ValueError: a column is missing, or a grade is not a finite number.
    """
    missing = {"criterion", "grade"} - set(grades.columns)
    if missing:
        raise ValueError(f"grades have no column {', '.join(sorted(missing))}")
    judged = grades.loc[grades["grade"].notna()].astype({"grade": "float64"})
    if not np.isfinite(judged["grade"]).all():
        raise ValueError("grades must be finite numbers")
    names = judged["criterion"].drop_duplicates()
    rows = [
        _about_criterion(judged.loc[judged["criterion"] == name, "grade"], confidence)
        for name in names
    ]
    table = pd.DataFrame(rows, index=pd.Index(names, name="criterion"), columns=PREFERENCE_COLUMNS)
    table["p_adjusted"] = np.minimum(1.0, table["p_value"] * len(table))
    return table


PREFERENCE_COLUMNS = [
    "judgements", "better", "neutral", "worse", "net", "mean", "share", "low", "high",
    "p_value",
]  # fmt: skip


def _about_criterion(grades: "pd.Series[float]", confidence: float) -> tuple[float, ...]:
    better, worse = int((grades > 0).sum()), int((grades < 0).sum())
    decided = better + worse
    share, low, high, p_value = float("nan"), float("nan"), float("nan"), 1.0
    if decided:
        test = binomtest(better, decided)
        interval = test.proportion_ci(confidence_level=confidence, method="wilson")
        share, low, high = better / decided, interval.low, interval.high
        p_value = float(test.pvalue)
    neutral = len(grades) - decided
    net = (better - worse) / len(grades)
    mean = float(grades.mean())
    return (
        len(grades), better, neutral, worse, net, mean, share, low, high, p_value,
    )  # fmt: skip


OUTCOME_COLUMNS = ("item_id", "worker", "criterion", "first", "second", "outcome", "grade", "side")


def comparisons(
    table: pd.DataFrame,
    items: Sequence[Item],
    fields: Sequence[Field],
    arrangements: Sequence[Arrangement],
) -> pd.DataFrame:
    """Return one row per judgement that counts, of pairs with known systems.

    Columns `item_id`, `worker`, `criterion` (the field's name), `first`, `second` (str,
    the systems), `outcome` ("first", "second" or "tie"), `grade` (float64, above 0 for
    the first: steps from the middle of the scale) and `side` ("first", "second" or
    "tie": the side of the page that the judgement favours; "" if the order shown is not
    known).
    """
    by_id = {str(item.item_id): item for item in items}
    rows = [
        row
        for field in fields
        for arrangement in arrangements
        if field.mirrored_by == arrangement.name
        for row in _rows(answers_that_count(table), by_id, field, arrangement)
    ]
    return pd.DataFrame(rows, columns=list(OUTCOME_COLUMNS)).astype({"grade": "float64"})


def _rows(
    rows: pd.DataFrame, items: dict[str, Item], field: Field, sides: Arrangement
) -> Iterator[tuple[object, ...]]:
    cells = zip(
        rows["item_id"],
        rows["worker"],
        rows[ITEM_VALUE + field.name],
        rows[ORDER + sides.name],
        strict=True,
    )
    for item_id, worker, value, order in cells:
        columns = items[str(item_id)].columns
        systems = [columns.get(MADE_BY + column, "") for column in sides.columns]
        grade = _grade(field, value)
        if grade is None or not all(systems) or len(set(systems)) < len(systems):
            continue
        yield (
            item_id, worker, field.name, *systems, _outcome(grade), grade,
            _side(grade, tuple(order), sides),
        )  # fmt: skip


def _grade(field: Field, value: object) -> float | None:
    """Steps from the middle of the scale, above 0 for the first column."""
    if isinstance(value, float):
        return None if value != value else (field.minimum + field.maximum) / 2 - value  # noqa: PLR0124 - NaN is the only value unequal to itself
    values = [option.value for option in field.options]
    if value not in values:
        return None
    return (len(values) - 1) / 2 - values.index(str(value))


def _side(grade: float, order: tuple[str, ...], sides: Arrangement) -> str:
    if order == sides.columns:
        return _outcome(grade)
    return _outcome(-grade) if order == sides.columns[::-1] else ""


def _outcome(grade: float) -> str:
    return "tie" if grade == 0 else "first" if grade > 0 else "second"
