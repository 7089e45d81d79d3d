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
to 0.84 on work held out. A worker's texts in one HIT that are unusually alike or unlike
raised it to 0.87.

A worker's probability is the mean of their answers', of three or more: weights of workers'
own features would have to be learnt from some eighteen bad workers at a time, and told less.

On votes and times alone it was a constant near the share of bad work that it was fitted
to; about answers of unknown workers, `text_off_item` alone told more.

It says nothing about answers without a text that can be compared with others' about the
same item, about workers without such an answer, or about answers of unknown workers.
Once people have decided about a kind of subject in the campaign, it is fitted to these
decisions and speaks of all of that kind.

The probability holds for work like the work it was fitted to, where one answer in six
was bad; in a campaign with fewer it is too high until people have decided.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from piecework.domain.late_modules import np, npt, pd, scipy
from piecework.domain.text import plural
from piecework.domain.verdicts import JOINED, Finding, SubjectKind
from piecework.qc.features import (
    TEXT_AND_TIME,
    Scores,
    Workers,
    answer_features,
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
from piecework.qc.scores import SHOWN_FROM, Codes, grouped
from piecework.qc.text_fit import text_fit

TITLE = "Joined suspicion"
VERSION = 6
FILE = Path(__file__).with_name("weights.json")

FLAG_FROM = 0.9
SHOWN_PROBABILITY = 2 * SHOWN_FROM
"""Below an even chance there is no finding."""

_PRIOR_SD = 0.5
"""How far a campaign's own decisions are expected to move a weight (ours)."""

_PRIOR_SD_INTERCEPT = 2.0
"""The same for the intercept: campaigns differ most in their share of bad work
(ours)."""

_LEAST_ANSWERS = 3
"""With fewer answers, what is said of each is all that can be said of their worker (ours)."""

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

Floats: TypeAlias = "npt.NDArray[np.float64]"
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
    own: pd.DataFrame | None = None,
    here: npt.NDArray[np.bool_] | None = None,
) -> Iterator[Finding]:
    """Yield a finding for every answer and worker that is more likely bad than not.

    Subjects without a text that can be compared, and answers of unknown workers, have none,
    unless people decided.

    Args:
        table: the answers (`piecework.domain.tables`); all of each worker are enough, with
            `own` of them, if people did not decide.
        scores: of the heuristics, by name.
        judged: people's decisions in this campaign.
        own: of `piecework.qc.features.own_features`, if already computed.
        here: by row, whether its answer and its worker are asked about; by default, all are.
    """
    judged = judged or {}
    here = np.ones(len(table), dtype="bool") if here is None else here
    of_table = Workers.of(table)
    answers = answer_features(table, scores, own, of_table)
    is_compared = (text_fit(table)["log_odds"].notna() & (table["worker_id"] != "")).to_numpy()
    of_answers = _weights("answer", answers, judged)
    likely = probabilities(of_answers, answers)
    speaks = here if judged.get("answer") else here & is_compared
    places = np.flatnonzero((likely >= SHOWN_PROBABILITY) & speaks)
    strongest = _strongest(_parts(answers, of_answers, places))
    subjects = table.index.take(places).tolist()
    for subject, probability, features in zip(
        subjects, likely[places].tolist(), strongest, strict=True
    ):
        yield _finding("answer", subject, probability, features)

    counts = np.ones(len(answers), dtype="bool") if judged.get("worker") else is_compared
    counted = pd.Series(np.where(counts, likely, np.nan), index=table.index)
    workers = worker_features(table, scores, counted, of_table)
    likely = probabilities(_weights("worker", workers, judged), workers)
    numbers = pd.Series(np.bincount(of_table.codes[counts], minlength=len(of_table.names)))
    numbers = numbers.set_axis(of_table.names).reindex(workers.index)
    asked = of_table.names.take(np.unique(of_table.codes[here]))
    speaks = np.asarray(numbers >= _LEAST_ANSWERS) | bool(judged.get("worker"))
    speaks &= np.asarray(workers.index.isin(asked))
    places = np.flatnonzero((likely >= SHOWN_PROBABILITY) & speaks)
    shown, codes = workers.index.take(places), of_table.codes[of_table.order]
    is_counted = counts[of_table.order]
    is_shown = is_counted & np.isin(codes, of_table.names.get_indexer(shown))
    rows = of_table.order[is_shown]
    parts, of_workers = _parts(answers, of_answers, rows), pd.Series(codes[is_shown])
    means = grouped(parts, of_workers).mean()
    means = means.set_axis(of_table.names.take(means.index.to_numpy())).reindex(shown).fillna(0.0)
    for subject, probability, number, features in zip(
        shown.tolist(),
        likely[places].tolist(),
        numbers.iloc[places].tolist(),
        _strongest(means),
        strict=True,
    ):
        many = plural(number, "answer")
        yield _finding("worker", subject, probability, f"{features} (mean of {many})")


def _weights(kind: SubjectKind, features: pd.DataFrame, judged: Judged) -> Weights:
    weights = shipped()[kind]
    decided = judged.get(kind)
    return refitted(weights, features, decided) if decided else weights


def _parts(features: pd.DataFrame, weights: Weights, places: Codes) -> pd.DataFrame:
    """What each feature of these rows adds to the log odds."""
    parts = {
        name: features[name].to_numpy()[places] * weight for name, weight in weights.weights.items()
    }
    return pd.DataFrame(parts)


def _finding(kind: SubjectKind, subject: str, probability: float, strongest: str) -> Finding:
    # Rounded down, so that 1.00 is never shown for less than certainty.
    at_least = math.floor(probability * 100) / 100
    return Finding(
        heuristic=JOINED,
        version=VERSION,
        subject_kind=kind,
        subject_id=subject,
        suspicion=probability,
        flag=probability >= FLAG_FROM,
        evidence=f"is bad work with a probability of {at_least:.2f}; strongest features, in log "
        f"odds: {strongest}",
    )


def probabilities(weights: Weights, features: pd.DataFrame) -> Floats:
    """By row of features, the probability that it is bad."""
    # Added one by one: a product of matrices rounds by how many rows there are.
    log_odds = np.zeros(len(features))
    for name, weight in weights.weights.items():
        log_odds += weight * features[name].to_numpy(dtype="float64")
    return np.asarray(scipy.special.expit(weights.intercept + log_odds), dtype="float64")


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
        likely = scipy.special.expit(cases @ fitted)
        bend = (cases * (counts * likely * (1 - likely))[:, None]).T @ cases
        slope = cases.T @ (counts * (is_bad - likely)) - precision * (fitted - around)
        fitted = fitted + np.linalg.solve(bend + np.diag(precision), slope)
    return fitted


def _strongest(parts: pd.DataFrame) -> Iterator[str]:
    """Yield for each row the features that count most for and against it.

    The intercept and smaller features are left out, so these do not add up to the probability.

    Args:
        parts: of the log odds; a column for each feature.
    """
    names = sorted(str(name) for name in parts)
    words = [_in_words(name) for name in names]
    cells = parts[names].to_numpy(dtype="float64")
    # Of equal amounts, the first name comes first.
    ranked = np.argsort(-np.abs(cells), axis=1, kind="stable")[:, :_MOST_SHOWN]
    amounts = np.take_along_axis(cells, ranked, axis=1)
    for places, own in zip(ranked.tolist(), amounts.tolist(), strict=True):
        yield ", ".join(
            f"{words[place]} {amount:+.1f}"
            for place, amount in zip(places, own, strict=True)
            if round(abs(amount), 1)
        )


def _of_heuristic(name: str) -> str:
    title = _TITLES[name]
    return f"{title[0].lower()}{title[1:]}"


def _in_words(name: str) -> str:
    kind, _, feature = name.rpartition(":")
    words = TEXT_AND_TIME.get(feature) or _of_heuristic(feature)
    return f"{words} (mean of this worker's)" if kind else words
