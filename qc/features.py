"""What the joined suspicion looks at: simple features of answers and of workers.

A feature is a number that is 0 where nothing is known or nothing is unusual. What
depends on the task (lengths, times, how much texts share) is told in standard
deviations of the batch, at most three, so that weights learned on one task mean the
same on another. A worker's features are means over his answers, drawn towards 0 by two
answers more that say nothing.

No feature knows an outcome: approval rates contain it, and a later rejection was not
known when the answer was sent.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd

from qc.scores import coded
from qc.text_fit import text_fit

Floats = npt.NDArray[np.float64]

TEXT_AND_TIME: Mapping[str, str] = {
    "unshared": "words that no other answer about the item uses",
    "off_item": "fits another item better",
    "short": "shorter than usual",
    "fast": "faster than usual",
}
"""Features that every answer has, in words."""

OF_ANSWERS = (
    *("sentence_off_items", "same_sentence", "too_fast", "not_typed", "capitals"),
    *("quality_words", "rule_violation"),
)
"""Heuristics on answers whose suspicion is a feature of its own."""

OF_WORKERS = ("low_agreement", "straight_line", "gold_failed", "contradiction")
"""Heuristics on workers whose suspicion is one."""

_MOST_SDS = 3.0
_MOST_ODDS = 5.0
_SHRUNKEN_BY = 2.0

Scores = Mapping[str, pd.DataFrame]


def answer_features(
    table: pd.DataFrame, scores: Scores, own: pd.DataFrame | None = None
) -> pd.DataFrame:
    """One row an answer: its own features, then `worker:` those of its worker's.

    Args:
        table: the answers (`domain.tables`).
        scores: of the heuristics, by name; those that are absent are 0.
        own: of `own_features`, where they are known.
    """
    own = own_features(table) if own is None else own
    means = _means(own, table).reindex(table["worker_id"]).fillna(0.0)
    means.index = own.index
    means[table["worker_id"].to_numpy() == ""] = 0.0
    found = {
        name: scores[name]["suspicion"].reindex(table.index).fillna(0.0)
        if name in scores
        else 0.0
        for name in OF_ANSWERS
    }
    return pd.concat(
        [own, pd.DataFrame(found, index=own.index), means.add_prefix("worker:")], axis=1
    )


def worker_features(
    table: pd.DataFrame, scores: Scores, own: pd.DataFrame | None = None
) -> pd.DataFrame:
    """One row a known worker, in the order of their ids: means, then heuristics."""
    known = table[(table["worker_id"] != "").to_numpy()]
    own = (own_features(table) if own is None else own).loc[known.index]
    means = _means(own, known)
    of_answers = {
        name: scores[name]["suspicion"].reindex(known.index).fillna(0.0)
        for name in OF_ANSWERS
        if name in scores
    }
    shares = _means(pd.DataFrame(of_answers, index=known.index), known)
    of_workers = {
        name: scores[name]["suspicion"].reindex(means.index).fillna(0.0)
        if name in scores
        else 0.0
        for name in OF_WORKERS
    }
    whole = pd.concat(
        [means, shares, pd.DataFrame(of_workers, index=means.index)], axis=1
    )
    names = [*TEXT_AND_TIME, *OF_ANSWERS, *OF_WORKERS]
    return whole.reindex(columns=names, fill_value=0.0)


def own_features(table: pd.DataFrame) -> pd.DataFrame:
    """One row an answer: the features of `TEXT_AND_TIME`."""
    fits = text_fit(table)
    batches, _ = coded(table["batch"])
    words = fits["words"].where(fits["words"] > 0)
    seconds = table["shown_seconds"].where(
        table["shown_seconds"] > 0, table["market_seconds"]
    )
    log_seconds = np.log(seconds.where(seconds > 0))
    return pd.DataFrame(
        {
            "unshared": _in_sds(1 - fits["shared"] / words, batches),
            "off_item": (-fits["log_odds"]).clip(-_MOST_ODDS, _MOST_ODDS).fillna(0.0),
            "short": _in_sds(-np.log(words), batches),
            "fast": _in_sds(-log_seconds, batches),
        },
        index=table.index,
    )


def _in_sds(values: "pd.Series[float]", batches: npt.NDArray[np.intp]) -> Floats:
    """Distances from the batch's mean in its standard deviations; 0 without any."""
    by_batch = values.groupby(batches)
    spread = by_batch.transform("std", ddof=0)
    apart = (values - by_batch.transform("mean")) / spread.where(spread > 0)
    return np.asarray(apart.clip(-_MOST_SDS, _MOST_SDS).fillna(0.0), dtype="float64")


def _means(features: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    by_worker = features.groupby(table["worker_id"])
    sums = by_worker.sum()
    return sums.div(by_worker.size() + _SHRUNKEN_BY, axis=0)
