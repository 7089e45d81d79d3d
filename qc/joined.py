"""The joined suspicion: one probability that an answer, or a worker's work, is bad.

It is a logistic regression over `piecework.qc.features`. The shipped weights
(`qc/weights.json`) were fitted to labelled work by `python -m tests.bench.truth.fit`,
which also records the data and how good the weights are on work that they were not
fitted to. Features that no labelled set contains have a weight of 0. Once people have
decided in a campaign, the weights are fitted again to their decisions, drawn towards
the shipped ones: few decisions move them little. Decisions by policy do not count,
because they follow from the heuristics themselves.

Where the page shows a text, such as a sentence to paraphrase, an answer that is
unusually like it or unlike it is suspicious. This raised the area for answers from 0.78
to 0.84. Texts of one assignment that are unusually alike or unlike raised it by less
than 0.01 and the recall for workers by less than two of 22 workers, so they do not
count.

For workers, little is learnt: few features tell anything there, and weights have to be
learnt from some eighteen bad workers at a time. On votes the calibration error was
0.21, on times of a study 0.17.

It says nothing about answers without a text that can be compared with others' about the
same item, nor about workers without such an answer: on votes and times alone it was a
constant near the share of bad work that it was fitted to. Nor about answers of unknown
workers, where `text_off_item` alone told more. Once people have decided
about a kind of subject in the campaign, it is fitted to these decisions and speaks of
all of that kind.

The probability holds for work like the work it was fitted to, where one answer in six
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
    answer_weights,
    own_features,
    worker_features,
)
from piecework.qc.heuristics import (
    capitals,
    contradiction,
    gold_failed,
    low_agreement,
    not_typed,
    quality_words,
    rule_violation,
    same_sentence,
    sentence_off_items,
    straight_line,
    too_fast,
)
from piecework.qc.scores import SHOWN_FROM
from piecework.qc.text_fit import text_fit

TITLE = "Joined suspicion"
VERSION = 5
FILE = Path(__file__).with_name("weights.json")

FLAG_FROM = 0.9
SHOWN_PROBABILITY = 2 * SHOWN_FROM
"""Below an even chance there is no finding."""

_PRIOR_SD = 0.5
"""How far a campaign's own decisions are expected to move a weight (ours)."""

_PRIOR_SD_INTERCEPT = 2.0
"""The same for the intercept: campaigns differ most in their share of bad work
(ours)."""

_ROUNDS = 25
_MOST_SHOWN = 4

_TITLES = {
    heuristic.NAME: heuristic.TITLE
    for heuristic in (
        *(sentence_off_items, same_sentence, too_fast, not_typed, capitals),
        *(quality_words, rule_violation),
        *(low_agreement, straight_line, gold_failed, contradiction),
    )
}
"""Titles of the heuristics with a suspicion that is a feature, by name."""

Floats = npt.NDArray[np.float64]
Judged = Mapping[SubjectKind, Mapping[str, bool]]
"""By kind and id, whether people found the subject's work bad."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """A logistic regression.

    Attributes:
        intercept: log odds of a subject about which nothing is known.
        weights: log odds for each unit of a feature, by name.
        provenance: the data it was fitted to, and how good it is on held-out work.
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
    """Yield a finding for every answer and worker that is more likely bad than not.

    Subjects without a text that can be compared, and answers of unknown workers, have none,
    unless people decided.

    Args:
        table: the answers (`piecework.domain.tables`), or all answers of each worker
            if `usual` was made from all answers.
        scores: of the heuristics, by name.
        judged: people's decisions in this campaign.
        usual: of `piecework.qc.features.own_usual`.
    """
    own, weights_of = own_features(table, usual), answer_weights(table)
    features: Mapping[SubjectKind, pd.DataFrame] = {
        "answer": answer_features(table, scores, own, weights_of),
        "worker": worker_features(table, scores, own, weights_of),
    }
    is_compared = text_fit(table)["log_odds"].notna()
    has_text: Mapping[SubjectKind, pd.Index[str]] = {
        "answer": table.index[is_compared & (table["worker_id"] != "")],
        "worker": pd.Index(table["worker_id"][is_compared].unique()),
    }
    for kind, rows in features.items():
        weights = shipped()[kind]
        if judged and judged.get(kind):
            weights = refitted(weights, rows, judged[kind])
            speaks = np.ones(len(rows), dtype="bool")
        else:
            speaks = np.asarray(rows.index.isin(has_text[kind]))
        likely = probabilities(weights, rows)
        places = np.flatnonzero((likely >= SHOWN_PROBABILITY) & speaks)
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


def refitted(weights: Weights, features: pd.DataFrame, judged: Mapping[str, bool]) -> Weights:
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
    rows: Floats, is_bad: Floats, *, around: Floats, precision: Floats, counts: Floats | None = None
) -> Floats:
    """Fit a logistic regression with a normal prior, by Newton's method.

    Args:
        rows: one row of features per case.
        is_bad: 1.0 or 0.0 per case.
        around: the prior's means, starting with the intercept's.
        precision: one divided by the prior's variances.
        counts: the weight of each case; 1 by default.

    Returns:
        The intercept, then the weights.
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
        weights: of the features.
        features: of one subject, in the order of the weights.
        likely: the probability.
    """
    parts = {
        name: weight * feature
        for (name, weight), feature in zip(weights.weights.items(), features, strict=True)
    }
    ranked_parts = sorted(parts.items(), key=lambda part: (-abs(part[1]), part[0]))
    words = [
        f"{_in_words(name)} {amount:+.1f}"
        for name, amount in ranked_parts[:_MOST_SHOWN]
        if round(abs(amount), 1)
    ]
    # Rounded down, so that 1.00 is never shown for less than certainty.
    at_least = math.floor(likely * 100) / 100
    # The intercept and smaller features are left out, so these do not add up to it.
    most = f"strongest features, in log odds: {', '.join(words)}"
    return f"is bad work with a probability of {at_least:.2f}; {most}"


def _of_heuristic(name: str) -> str:
    title = _TITLES[name]
    return f"{title[0].lower()}{title[1:]}"


def _in_words(name: str) -> str:
    kind, _, feature = name.rpartition(":")
    words = TEXT_AND_TIME.get(feature) or _of_heuristic(feature)
    return f"{words} (mean of this worker's)" if kind else words
