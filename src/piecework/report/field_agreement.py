"""How far workers agree about each judged field of the items."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from piecework.analyses.alpha import Level, krippendorff_alpha
from piecework.analyses.kappa import jaccard
from piecework.analyses.votes import votes
from piecework.domain.scales import is_graded
from piecework.domain.task import Field

_RESAMPLES = 400

_MOST_CELLS = 5_000_000
"""Alpha counts each value of each item: more cells than this need much memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """The agreement about one field.

    Attributes:
        measure: what it is, in words.
        value: 1 is full agreement; NaN if nothing can be compared.
        low: lower end of the 95 % interval; NaN without an interval.
        high: upper end of the 95 % interval; NaN without an interval.
        items: items with at least two answers.
        answers: answers about these items.
    """

    field: str
    measure: str
    value: float
    low: float
    high: float
    items: int
    answers: int


def agreements(
    rows: pd.DataFrame, fields: Sequence[Field], *, seed: int, resamples: int = _RESAMPLES
) -> tuple[Agreement, ...]:
    """Measure the agreement about each field; () if no item has two answers.

    Args:
        rows: answers, with `item_id` and the columns of the fields.
        fields: judged fields: no texts.
        seed: of the resampled intervals.
        resamples: the number of draws; 0 gives no interval.
    """
    if not rows["item_id"].duplicated().any():
        return ()
    return tuple(_agreement(field, rows, seed=seed, resamples=resamples) for field in fields)


def _agreement(field: Field, rows: pd.DataFrame, *, seed: int, resamples: int) -> Agreement:
    field_votes = votes(rows, field)
    if field.kind == "choices":
        overlaps = jaccard(field_votes)
        return Agreement(
            field=field.name,
            measure="Jaccard index",
            value=float(overlaps["jaccard"].mean()) if len(overlaps) else math.nan,
            low=math.nan,
            high=math.nan,
            items=len(overlaps),
            answers=int(overlaps["answers"].sum()),
        )
    level: Level = "interval" if field.kind == "number" else "nominal"
    if is_graded(field):
        level = "ordinal"
    order = [option.value for option in field.options]
    if order:
        field_votes = field_votes[field_votes["value"].isin(order)]
    if field.kind == "number":
        field_votes = _fewer(field_votes.dropna(subset="value"), seed=seed)
    alpha = krippendorff_alpha(
        field_votes,
        level=level,
        seed=seed,
        order=order if level == "ordinal" else None,
        resamples=resamples,
    )
    return Agreement(
        field=field.name,
        measure=f"alpha, {level}",
        value=alpha.alpha,
        low=alpha.low,
        high=alpha.high,
        items=alpha.items,
        answers=alpha.ratings,
    )


def _fewer(field_votes: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Return the votes about some items, drawn by chance, if nearly all values differ.

    `Agreement.items` says how many are left.
    """
    items = field_votes["item_id"].drop_duplicates().sort_values()
    if len(items) * field_votes["value"].nunique() <= _MOST_CELLS:
        return field_votes
    each = len(field_votes) / len(items)
    left = items.sample(int(math.sqrt(_MOST_CELLS / each)), random_state=seed)
    return field_votes[field_votes["item_id"].isin(left)]
