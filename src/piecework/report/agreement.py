"""How far workers agree about each judged field of the items, and what each measure means."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from piecework.analyses.agreement import (
    Level,
    about_some,
    jaccard,
    krippendorff_alpha,
    of_fewer_items,
)
from piecework.analyses.regions import interval_of_mean, item_regions
from piecework.analyses.transcripts import item_transcripts
from piecework.analyses.votes import on_scale, votes
from piecework.domain.field import MERGED, Field, Regions, is_graded

_RESAMPLES = 400

_MOST_ANSWERS = 10_000
"""Comparing the marks or words of more answers takes longer than a reader waits."""

_MEASURES: Mapping[str, tuple[Regions, str]] = {
    part: (part, f"F1 of {kind}") for kind, part in MERGED.items()
}


_NOTES = {
    "alpha": "Krippendorff's alpha with its 95 % interval; 1 is full agreement, 0 is chance.",
    "Jaccard": "For several ticks, the mean Jaccard index of pairs of answers, which does not "
    "correct for chance.",
    "F1": "For marks, the mean F1 of pairs of workers; areas match at an IoU of 0.5, spans if "
    "they overlap, points within a twentieth of the picture's diagonal.",
    "equal words": "For transcripts, the mean share of equal words of pairs of workers: 1 minus "
    "the word error rate.",
}


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
        fields: judged fields: no texts, unless they can be merged.
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
    if field.is_merged:
        return _of_merged(field, field_votes, seed=seed, resamples=resamples)
    level: Level = "interval" if field.kind == "number" else "nominal"
    if is_graded(field):
        level = "ordinal"
    order = [option.value for option in field.options]
    if order:
        field_votes = field_votes[field_votes["value"].isin(order)]
    if field.kind == "number":
        is_on_scale = on_scale(field, field_votes["value"]).notna()
        field_votes = of_fewer_items(field_votes[is_on_scale], seed=seed)
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


def _of_merged(field: Field, field_votes: pd.DataFrame, *, seed: int, resamples: int) -> Agreement:
    if len(field_votes) > _MOST_ANSWERS:
        share = _MOST_ANSWERS / len(field_votes)
        most = int(share * field_votes["item_id"].nunique())
        field_votes = about_some(field_votes, most, seed=seed)
    if field.is_transcript:
        items, measure, alike = item_transcripts(field_votes), "equal words", "likeness"
    else:
        part, measure = _MEASURES[field.regions]
        items, alike = item_regions(field_votes, part), "f1"
    compared = items[items[alike].notna()]
    scores = compared[alike].to_numpy("float64")
    low, high = interval_of_mean(scores, seed=seed, resamples=resamples)
    return Agreement(
        field=field.name,
        measure=measure,
        value=float(scores.mean()) if len(scores) else math.nan,
        low=low,
        high=high,
        items=len(compared),
        answers=int(compared["workers"].sum()),
    )


def notes_on(measured: Sequence[Agreement]) -> Iterator[str]:
    """Yield a sentence about each measure that was used."""
    for measure, words in _NOTES.items():
        if any(each.measure.startswith(measure) for each in measured):
            yield words
