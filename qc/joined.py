"""The joined suspicion: one probability that an answer, or a worker's work, is bad.

A logistic regression over `piecework.qc.features`. The shipped weights
(`qc/weights.json`) were fitted to labelled work by `python -m tests.bench.truth.fit`,
which also writes down on what, and how good they are on work that they were not fitted
to. What no labelled set says anything about has a weight of 0. Where people have
decided in a campaign, the weights are fitted again to their decisions, drawn towards
the shipped ones: few decisions move them little. Decisions by policy have no part, for
they follow from the heuristics themselves.

Of workers hardly more is learnt than from whether their texts fit: of the features only
few tell anything there, and weights have to be learnt from some eighteen bad workers at
a time. Of those with more than sixteen answers the joined suspicion tells bad from good
a little better than the single heuristic (0.93 and 0.89), of those with four and fewer
worse (0.76 and 0.83); the single one as a feature, heavier shrinking and more weight on
other sets move its area between 0.76 and 0.78.

The probability is that of work like the work it was fitted to, where one answer in six
was bad; in a campaign with fewer it is too high until people have decided.
"""

import functools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import expit

from piecework.domain.verdicts import JOINED, Finding, SubjectKind
from piecework.qc.features import (
    TEXT_AND_TIME,
    Scores,
    answer_features,
    own_features,
    worker_features,
)
from piecework.qc.scores import TOLD_FROM

VERSION = 1
FILE = Path(__file__).with_name("weights.json")

FLAG_FROM = 0.9
TOLD_PROBABILITY = 2 * TOLD_FROM
"""Below an even chance there is nothing to tell."""

_PRIOR_SD = 0.5
"""How far a campaign's own decisions are expected to move a weight (ours)."""

_PRIOR_SD_INTERCEPT = 2.0
"""Campaigns differ most in how much of their work is bad (ours)."""

_ROUNDS = 25
_MOST_TOLD = 4

Floats = npt.NDArray[np.float64]
Judged = Mapping[SubjectKind, Mapping[str, bool]]
"""By kind and id, whether people found the subject's work bad."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """A logistic regression.

    Attributes:
        intercept: log odds of a subject of which nothing is known.
        weights: log odds for each unit of a feature, by its name.
        provenance: what it was fitted to, and how good it is on work held out.
    """

    intercept: float
    weights: Mapping[str, float]
    provenance: Mapping[str, Any] = field(default_factory=dict)


@functools.cache
def shipped() -> Mapping[SubjectKind, Weights]:
    """The weights that come with piecework, for answers and for workers."""
    held = json.loads(FILE.read_text(encoding="utf-8"))
    return {"answer": Weights(**held["answer"]), "worker": Weights(**held["worker"])}


def findings(
    table: pd.DataFrame,
    scores: Scores,
    judged: Judged | None = None,
    usual: pd.DataFrame | None = None,
) -> Iterator[Finding]:
    """A finding for every answer and worker that is rather bad than not.

    Args:
        table: the answers (`piecework.domain.tables`), or all answers of each worker
            if `usual` was made from all answers.
        scores: of the heuristics, by name.
        judged: what people decided in this campaign.
        usual: of `piecework.qc.features.own_usual`.
    """
    own = own_features(table, usual)
    features: Mapping[SubjectKind, pd.DataFrame] = {
        "answer": answer_features(table, scores, own),
        "worker": worker_features(table, scores, own),
    }
    for kind, rows in features.items():
        weights = shipped()[kind]
        if judged and judged.get(kind):
            weights = refitted(weights, rows, judged[kind])
        likely = probabilities(weights, rows)
        places = np.flatnonzero(likely >= TOLD_PROBABILITY)
        likely_rows = rows[list(weights.weights)].iloc[places]
        for subject, cells, probability in zip(
            likely_rows.index.tolist(),
            likely_rows.to_numpy(dtype="float64").tolist(),
            likely[places].tolist(),
            strict=True,
        ):
            yield Finding(
                heuristic=JOINED,
                version=VERSION,
                subject_kind=kind,
                subject_id=subject,
                suspicion=probability,
                flag=probability >= FLAG_FROM,
                evidence=_evidence(weights, cells, probability),
            )


def probabilities(weights: Weights, features: pd.DataFrame) -> Floats:
    """By row of features, the probability that it is bad."""
    # Added one by one: a product of matrices rounds by how many rows there are.
    log_odds = np.zeros(len(features))
    for name, weight in weights.weights.items():
        log_odds += weight * features[name].to_numpy(dtype="float64")
    return np.asarray(expit(weights.intercept + log_odds), dtype="float64")


def refitted(
    weights: Weights, features: pd.DataFrame, judged: Mapping[str, bool]
) -> Weights:
    """The most likely weights after these decisions, a normal prior around the old."""
    known = features[features.index.isin(list(judged))]
    if known.empty:
        return weights
    names = list(weights.weights)
    is_bad = np.array([judged[str(name)] for name in known.index], dtype="float64")
    before = np.array([weights.intercept, *weights.weights.values()])
    sds = np.array([_PRIOR_SD_INTERCEPT, *[_PRIOR_SD] * len(names)])
    fitted = fit(known[names].to_numpy(), is_bad, around=before, precision=sds**-2.0)
    return Weights(
        intercept=float(fitted[0]),
        weights=dict(zip(names, fitted[1:].tolist(), strict=True)),
        provenance={**weights.provenance, "own decisions": len(known)},
    )


def fit(
    rows: Floats,
    is_bad: Floats,
    *,
    around: Floats,
    precision: Floats,
    counts: Floats | None = None,
) -> Floats:
    """Intercept and weights of a logistic regression with a normal prior, by Newton.

    Args:
        rows: a row of features a case.
        is_bad: 1.0 or 0.0 a case.
        around: the prior's means, the intercept's first.
        precision: one divided by the prior's variances.
        counts: how much each case counts; all 1 if not stated.
    """
    cases = np.column_stack([np.ones(len(rows)), rows])
    counts = np.ones(len(rows)) if counts is None else counts
    fitted = around.copy()
    for _ in range(_ROUNDS):
        likely = expit(cases @ fitted)
        bend = (cases * (counts * likely * (1 - likely))[:, None]).T @ cases
        slope = cases.T @ (counts * (is_bad - likely)) - precision * (fitted - around)
        fitted = fitted + np.linalg.solve(bend + np.diag(precision), slope)
    return fitted


def _evidence(weights: Weights, features: Sequence[float], likely: float) -> str:
    """The probability, and the features that count most for and against it.

    Args:
        weights: by which features count.
        features: of one subject, in the order of the weights.
        likely: the probability.
    """
    parts = {
        name: weight * feature
        for (name, weight), feature in zip(
            weights.weights.items(), features, strict=True
        )
    }
    ranked_parts = sorted(parts.items(), key=lambda part: (-abs(part[1]), part[0]))
    words = [
        f"{_in_words(name)} {amount:+.1f}"
        for name, amount in ranked_parts[:_MOST_TOLD]
        if round(abs(amount), 1)
    ]
    # Rounded down: what is nearly sure is not sure.
    at_least = math.floor(likely * 100) / 100
    # Without the intercept and what is left out they do not add up to it.
    most = f"weightiest log odds: {', '.join(words)}"
    return f"probability {at_least:.2f} of bad work; {most}"


def _in_words(name: str) -> str:
    kind, _, feature = name.rpartition(":")
    words = TEXT_AND_TIME.get(feature, feature)
    return f"{words} (mean of this worker's)" if kind else words
