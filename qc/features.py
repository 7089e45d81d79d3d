"""What the joined suspicion looks at: simple features of answers and of workers.

A feature is a number that is 0 if nothing is known or nothing is unusual. Features that
depend on the task (lengths, times, how much texts share) are in standard deviations of
the batch, at most three, so that weights learned on one task mean the same on another.
A worker's features are means over their answers, drawn towards 0 as if by two more
neutral answers. Answers with the same words count as one, because copies of a text are
not independent evidence. For the same reason, what one feature tells of a repeated text does
not count again in another.

No feature depends on an outcome: approval rates contain it, and a later rejection was
not known when the answer was sent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple, Self, TypeAlias

from piecework.domain.late_modules import np, npt, pd, rapidfuzz
from piecework.qc.plain_text import plain_column, plain_of
from piecework.qc.ratings import LIKENESS
from piecework.qc.scores import Codes, Tally, coded, grouped, rows_of, spreads, tally
from piecework.qc.text_fit import text_fit

Floats: TypeAlias = "npt.NDArray[np.float64]"

TEXT_AND_TIME: Mapping[str, str] = {
    "unshared": "words that no other answer about the item uses",
    "off_item": "fits another item better",
    "short": "shorter than usual",
    "fast": "faster than usual",
    "like_item": "more like the item's own text than usual",
    "odd_likeness": "unusually like or unlike the item's own text",
    "like_own": "more like this worker's other texts in the HIT than usual",
    "odd_own": "unusually like or unlike this worker's other texts in the HIT",
}
"""Features that every answer has, with their names for people."""

_OF_ASSIGNMENTS = ("like_own", "odd_own")
"""Those that compare a worker's answers already: their means tell nothing more."""

_OF_REPEATED_TEXTS = ("sentence_off_items", "same_sentence")

OF_ANSWERS = (
    *(*_OF_REPEATED_TEXTS, "too_fast", "not_typed", "capitals"),
    *("quality_words", "rule_violation"),
)
"""Heuristics on answers with a suspicion that is a feature."""

OF_WORKERS = ("low_agreement", "straight_line", "gold_failed", "contradiction")
"""Heuristics on workers with a suspicion that is a feature."""

_IN_SDS = ("unshared", "short", "fast", "like_item", "like_own")
"""Features in standard deviations of the batch."""

_MOST_SDS = 3.0

_MOST_COMPARED = 20
"""Each text is compared with this many of its worker's next texts: a HIT may have thousands."""

_USUAL_ODDNESS = math.sqrt(2 / math.pi)
"""The mean distance from the mean, in standard deviations, if it is normal."""

_MOST_ODDS = 5.0
_LEAST_ODDS = 1e-6
_SHRUNKEN_BY = 2.0

Scores: TypeAlias = "Mapping[str, pd.DataFrame]"


class Workers(NamedTuple):
    """The workers of a table.

    Attributes:
        codes: by row, the number of its worker.
        names: by number, the worker's id, sorted; "" if it is not known.
        order: the rows in the order of the answers' ids. Sums of floats depend on their
            order; this makes them independent of the order of rows.
    """

    codes: Codes
    names: pd.Index[str]
    order: Codes

    @classmethod
    def of(cls, table: pd.DataFrame) -> Self:
        """Number the workers of a table."""
        codes, names = pd.factorize(table["worker_id"], sort=True)
        is_ordered = table.index.is_monotonic_increasing
        order = np.arange(len(table)) if is_ordered else table.index.argsort()
        return cls(codes, pd.Index(names, dtype="str"), np.asarray(order))


def answer_features(
    table: pd.DataFrame,
    scores: Scores,
    own: pd.DataFrame | None = None,
    workers: Workers | None = None,
) -> pd.DataFrame:
    """One row per answer: its own features, then its worker's, prefixed `worker:`.

    Args:
        table: the answers (`piecework.domain.tables`).
        scores: of the heuristics, by name; absent ones are 0.
        own: of `own_features`, if already computed.
        workers: of the table, if already numbered.
    """
    own = own_features(table) if own is None else own
    workers = Workers.of(table) if workers is None else workers
    columns = {str(name): own[name].to_numpy() for name in own}
    for name in OF_ANSWERS:
        suspicions = scores[name]["suspicion"] if name in scores else pd.Series(dtype="float64")
        # Rows with the table's own index are not looked up again.
        columns[name] = suspicions.reindex(table.index).fillna(0.0).to_numpy()
    columns |= _counted_once(columns)
    columns |= _means(own.drop(columns=[*_OF_ASSIGNMENTS]), answer_weights(table), workers)
    return pd.DataFrame(columns, index=table.index, copy=False)


def _counted_once(columns: Mapping[str, Floats]) -> dict[str, Floats]:
    """What each heuristic on repeated texts adds to what those before it tell.

    The first to tell is that a worker's texts in the HIT are unusually like each other.
    """
    seen = np.where(columns["like_own"] > 0, np.clip(columns["odd_own"], 0.0, 1.0), 0.0)
    rest = {}
    for name in _OF_REPEATED_TEXTS:
        rest[name] = np.maximum(columns[name] - seen, 0.0)
        seen = np.maximum(seen, columns[name])
    return rest


def worker_features(
    table: pd.DataFrame,
    scores: Scores,
    probabilities: pd.Series[float],
    numbered: Workers | None = None,
) -> pd.DataFrame:
    """One row per known worker, in the order of their ids.

    Args:
        table: the answers (`piecework.domain.tables`).
        scores: of the heuristics, by name; absent ones are 0.
        probabilities: by answer, that it is bad; absent or NaN if it does not count.
        numbered: the workers of the table, if already numbered.

    Returns:
        `answers`, the log odds of the mean probability; then the suspicions of heuristics. A
        worker without an answer that counts has 0.
    """
    numbered = Workers.of(table) if numbered is None else numbered
    workers = numbered.names[numbered.names != ""].rename("worker_id")
    likely = probabilities.reindex(table.index).to_numpy()
    order = numbered.order[~np.isnan(likely)[numbered.order]]
    by_code = grouped(
        pd.DataFrame({"mean": likely[order]}), pd.Series(numbered.codes[order])
    ).mean()
    mean = by_code["mean"].set_axis(numbered.names.take(by_code.index.to_numpy())).reindex(workers)
    mean = mean.clip(_LEAST_ODDS, 1 - _LEAST_ODDS)
    columns = {"answers": (mean / (1 - mean)).map(math.log, na_action="ignore").fillna(0.0)}
    for name in OF_WORKERS:
        suspicions = scores[name]["suspicion"] if name in scores else pd.Series(dtype="float64")
        columns[name] = suspicions.reindex(workers).fillna(0.0)
    return pd.DataFrame(columns, index=workers)


def own_features(table: pd.DataFrame, usual: pd.DataFrame | None = None) -> pd.DataFrame:
    """One row per answer: the features of `TEXT_AND_TIME`.

    Args:
        table: all answers of each batch, or any if `usual` is of all answers.
        usual: of `own_usual`.
    """
    of_batch = _of_batch(table)
    if usual is None:  # as `own_usual`, without counting equal values first
        usual = pd.concat(
            [_usual_of(name, table["batch"], values) for name, values in of_batch.items()]
        )
    off_item = -text_fit(table)["log_odds"]
    own = {
        name: _in_sds(values, table["batch"], usual[usual["feature"] == name])
        for name, values in of_batch.items()
    }
    # 0 if the likeness is not known, and on average: both tell nothing.
    for name, odd in (("like_item", "odd_likeness"), ("like_own", "odd_own")):
        is_known = of_batch[name].notna().to_numpy()
        own[odd] = np.where(is_known, np.abs(own[name]) - _USUAL_ODDNESS, 0.0)
    own["off_item"] = off_item.clip(-_MOST_ODDS, _MOST_ODDS).fillna(0.0).to_numpy()
    return pd.DataFrame({name: own[name] for name in TEXT_AND_TIME}, index=table.index)


def own_tally(table: pd.DataFrame) -> Tally:
    """How often each `value` of a `feature` occurs in a `batch`."""
    return pd.concat(
        [
            tally({"batch": table["batch"], "value": values}).assign(feature=name)
            for name, values in _of_batch(table).items()
        ],
        ignore_index=True,
    )


def own_usual(counts: Tally) -> pd.DataFrame:
    """By batch, `mean` and `sd` of each `feature`, from the `own_tally` of all."""
    by_feature = []
    for name in _IN_SDS:
        rows = rows_of(counts.loc[counts["feature"] == name, ["batch", "value", "n_rows"]])
        by_feature.append(_usual_of(name, rows["batch"], rows["value"]))
    return pd.concat(by_feature)


def _usual_of(feature: str, batches: pd.Series[int], values: pd.Series[float]) -> pd.DataFrame:
    """By batch, `mean` and `sd` of the values of a `feature`."""
    known = pd.DataFrame({"group": batches, "value": values}).dropna()
    by_batch = spreads(known)
    return by_batch[["mean", "sd"]].assign(feature=feature)


def _of_batch(table: pd.DataFrame) -> Mapping[str, pd.Series[float]]:
    """The features in standard deviations of the batch; NaN if unknown."""
    fits = text_fit(table)
    words = fits["words"].where(fits["words"] > 0)
    seconds = table["shown_seconds"].where(table["shown_seconds"] > 0, table["market_seconds"])
    return {
        "unshared": 1 - fits["shared"] / words,
        "short": -np.log(words),
        "fast": -np.log(seconds.where(seconds > 0)),
        "like_item": _likeness(table),
        "like_own": _own_likeness(table),
    }


def _likeness(table: pd.DataFrame) -> pd.Series[float]:
    """How like the item's own text each text is; NaN if unknown."""
    if LIKENESS in table:
        return table[LIKENESS]
    return pd.Series(np.nan, index=table.index)


def _own_likeness(table: pd.DataFrame) -> pd.Series[float]:
    """How like its worker's other texts in the assignment each text is; NaN without others.

    The mean likeness, letter by letter, to the texts beside it in the order of the answers'
    ids, at most `_MOST_COMPARED` on each side. Canned texts do not count.
    """
    texts = np.array(plain_of(table), dtype="object")
    places = np.flatnonzero((texts != "") & ~table["is_canned"].to_numpy("bool"))
    if not table.index.is_monotonic_increasing:
        places = places[table.index.take(places).argsort()]
    assignments, _ = pd.factorize(table["assignment_id"].take(places))
    order = places[np.argsort(assignments, kind="stable")]
    assignments = np.sort(assignments)
    sums, counts = np.zeros(len(table)), np.zeros(len(table))
    for apart in range(1, _MOST_COMPARED + 1):
        beside = assignments[:-apart] == assignments[apart:]
        if not beside.any():
            break
        pairs = order[:-apart][beside], order[apart:][beside]
        first, second = (texts[side].tolist() for side in pairs)
        scorer = rapidfuzz.distance.Indel.normalized_similarity
        alike = rapidfuzz.process.cpdist(first, second, scorer=scorer, dtype=np.float64)
        for side in pairs:
            # A text is on each side of one pair at most.
            sums[side] += alike
            counts[side] += 1.0
    means = np.divide(sums, counts, out=np.full(len(table), np.nan), where=counts > 0)
    return pd.Series(means, index=table.index)


def _in_sds(values: pd.Series[float], batches: pd.Series[int], usual: pd.DataFrame) -> Floats:
    """Distances from the batch's mean in its standard deviations; 0 if unknown."""
    of_batch = usual[["mean", "sd"]].reindex(batches)
    mean, spread = of_batch["mean"].to_numpy(), of_batch["sd"].to_numpy()
    apart = (values.to_numpy() - mean) / np.where(spread > 0, spread, np.nan)
    return np.asarray(np.nan_to_num(np.clip(apart, -_MOST_SDS, _MOST_SDS)))


def _means(
    features: pd.DataFrame, weights: pd.Series[float], workers: Workers
) -> dict[str, Floats]:
    """By answer, its worker's mean of each feature, prefixed `worker:`; 0 if not known."""
    codes, size = workers.codes[workers.order], len(workers.names)
    counts = weights.to_numpy()[workers.order]
    answers = np.bincount(codes, counts, minlength=size)
    is_known = np.asarray(workers.names != "")
    means = {}
    for name in features:
        # A group's sum depends only on its own rows.
        weighed = features[name].to_numpy()[workers.order] * counts
        sums = np.bincount(codes, weighed, minlength=size)
        of_worker = np.where(is_known, sums / (answers + _SHRUNKEN_BY), 0.0)
        means[f"worker:{name}"] = of_worker[workers.codes]
    return means


def answer_weights(table: pd.DataFrame) -> pd.Series[float]:
    """What each answer counts: a share of 1 if its worker repeats its words."""
    texts = plain_column(table)
    words, worded = coded(texts)
    workers, _ = coded(table["worker_id"])
    pairs, different = pd.factorize(workers * worded + words)
    shares = 1.0 / np.bincount(pairs, minlength=len(different))[pairs]
    return pd.Series(np.where(texts == "", 1.0, shares), index=table.index)
