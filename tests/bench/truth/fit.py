"""Fits the weights of the joined suspicion, and judges them on work held out.

`python -m tests.bench.truth.fit` writes `qc/weights.json`. ParaQuality decides; sets of
real texts that were exchanged count a small part of it each, so that what only they can say
has a weight. A heuristic's flag never speaks for a worker: weights below 0 of heuristics are
0. A worker's probability is the mean of their answers'. Held out: the workers of ParaQuality
in fifths, each judged by weights that were fitted without them.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from piecework.qc.features import OF_ANSWERS, OF_WORKERS, answer_features
from piecework.qc.joined import FILE, Weights, fit, probabilities
from piecework.qc.registry import HEURISTICS, scores
from piecework.qc.text_fit import with_text_fit
from tests.bench.truth.measure import auc
from tests.bench.truth.sets import (
    LabelledSet,
    exchanged_sets,
    paraphrases,
    repeated_sentences,
)

_FOLDS = 5
_REPEATS = 4
_SHARE = 0.1
"""How much each other set counts beside ParaQuality, all its cases together."""

_PENALTY = 20.0
_PENALTY_OF_A_FLAG = 1.0
"""Heuristics seldom fire; what they say when they do needs few cases."""
_HONEST = 0.02
_MANY, _TENTHS, _FIFTHS = 1000, 10, 5
_DRAWS = 1000

Floats = npt.NDArray[np.float64]


class Cases(NamedTuple):
    """A row of features a case, whether it is bad, and its worker."""

    rows: pd.DataFrame
    is_bad: Floats
    workers: npt.NDArray[np.object_]


def main() -> None:
    """Fit, judge what is held out, and write."""
    sets = [paraphrases(), *exchanged_sets(), repeated_sentences()]
    names = [labelled.name for labelled in sets]
    own, *others = [_cases(labelled) for labelled in sets]
    weights = _fitted(own, others)
    likely = _held_out(own, others)
    workers = _of_workers(own, likely, sets[0].bad["worker"])
    of_workers = {"answers": 1.0, **dict.fromkeys(OF_WORKERS, 0.0)}
    held: dict[str, object] = {}
    for kind, fitted, cases, held_out, single in (
        ("answer", weights, own, likely, "text_off_item"),
        ("worker", Weights(intercept=0.0, weights=of_workers), *workers, "texts_off_items"),
    ):
        alone = _scores(sets[0])[single]["suspicion"].reindex(cases.rows.index).to_numpy()
        held[kind] = {
            "intercept": round(fitted.intercept, 4),
            "weights": {name: round(weight, 4) for name, weight in fitted.weights.items()},
            "provenance": {
                "fitted to": names,
                **_compared(held_out, alone, cases, single),
            },
        }
        print(kind, json.dumps(held[kind], indent=1))
    FILE.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")


def _scores(labelled: LabelledSet) -> dict[str, pd.DataFrame]:
    wanted = labelled.heuristics or ()
    settings: dict[str, dict[str, object] | None] = {
        heuristic.NAME: {} if heuristic.NAME in wanted else None for heuristic in HEURISTICS
    }
    return scores(labelled.table, settings, seed=labelled.seed)


def _cases(labelled: LabelledSet) -> Cases:
    table = with_text_fit(labelled.table)
    rows = answer_features(table, _scores(labelled))
    is_bad = rows.index.isin(list(labelled.bad["answer"])).astype("float64")
    return Cases(rows, is_bad, table["worker_id"].to_numpy(dtype="object"))


def _of_workers(
    own: Cases, likely: Sequence[Floats], bad: Collection[str]
) -> tuple[Cases, list[Floats]]:
    """The workers as cases, and the mean probability of each one's answers, by repeat."""
    means = [pd.Series(each).groupby(own.workers).mean() for each in likely]
    workers = means[0].index
    cases = Cases(
        pd.DataFrame(index=workers),
        workers.isin(list(bad)).astype("float64"),
        workers.to_numpy(dtype="object"),
    )
    return cases, [np.asarray(mean, dtype="float64") for mean in means]


def _fitted(own: Cases, others: Sequence[Cases]) -> Weights:
    names = list(own.rows.columns)
    every = [own, *others]
    share = _SHARE * len(own.rows)
    counts = [np.ones(len(own.rows))]
    counts += [np.full(len(cases.rows), share / len(cases.rows)) for cases in others]
    is_flag = [name in OF_ANSWERS for name in names]
    own_penalties = np.where(is_flag, _PENALTY_OF_A_FLAG, _PENALTY)
    precision = np.concatenate([[1e-6], own_penalties])
    fitted = fit(
        np.vstack([cases.rows[names].to_numpy() for cases in every]),
        np.concatenate([cases.is_bad for cases in every]),
        around=np.zeros(len(names) + 1),
        precision=precision,
        counts=np.concatenate(counts),
    )
    own_weights = np.where(is_flag, np.maximum(fitted[1:], 0.0), fitted[1:])
    return Weights(
        intercept=float(fitted[0]), weights=dict(zip(names, own_weights.tolist(), strict=True))
    )


def _held_out(own: Cases, others: Sequence[Cases]) -> list[Floats]:
    """By way of cutting the workers into fifths, each answer's probability."""
    codes, different = pd.factorize(own.workers)
    suspicions = []
    for seed in range(_REPEATS):
        drawn = np.random.default_rng(seed).permutation(len(different))
        folds = (drawn % _FOLDS)[codes]
        likely = np.zeros(len(codes))
        for fold in range(_FOLDS):
            rest = folds != fold
            seen = Cases(own.rows[rest], own.is_bad[rest], own.workers[rest])
            weights = _fitted(seen, others)
            likely[~rest] = probabilities(weights, own.rows[~rest])
        suspicions.append(likely)
    return suspicions


def _compared(
    held_out: Sequence[Floats], alone: Floats, own: Cases, single: str
) -> dict[str, object]:
    """Joined and single suspicions, and by how much the joined AUC is above the single one.

    Each figure has its 95 % interval: workers are drawn again.
    """
    chance = np.random.default_rng(0)
    codes, different = pd.factorize(own.workers)
    rows_of = pd.Series(np.arange(len(codes))).groupby(codes).indices
    likely = np.mean(held_out, axis=0)
    joined, singles = [], []
    for _ in range(_DRAWS):
        drawn = chance.integers(0, len(different), len(different))
        rows = np.concatenate([rows_of[worker] for worker in drawn])
        joined.append(_measures(likely[rows], own.is_bad[rows], is_probability=True))
        singles.append(_measures(alone[rows], own.is_bad[rows]))
    means = pd.DataFrame([_measures(each, own.is_bad, is_probability=True) for each in held_out])
    gains = [first["auc"] - second["auc"] for first, second in zip(joined, singles, strict=True)]
    low, high = np.quantile(gains, (0.025, 0.975))
    return {
        "held out": _with_intervals(
            {str(name): float(mean) for name, mean in means.mean().items()}, joined
        ),
        f"{single} alone": _with_intervals(_measures(alone, own.is_bad), singles),
        "beyond it": {
            "least": round(float(low), 3),
            "most": round(float(high), 3),
            "bad": int(own.is_bad.sum()),
            "cases": len(own.is_bad),
        },
    }


def _with_intervals(
    figures: Mapping[str, float], drawn: Sequence[Mapping[str, float]]
) -> dict[str, list[float]]:
    bounds = pd.DataFrame(drawn).quantile([0.025, 0.975])
    return {
        name: [round(float(each), 3) for each in (figure, *bounds[name])]
        for name, figure in figures.items()
    }


def _measures(suspicion: Floats, bad: Floats, *, is_probability: bool = False) -> dict[str, float]:
    """The area, the share of bad found where 2 % of the honest are flagged, and the ECE."""
    is_bad = bad > 0
    line = np.quantile(suspicion[~is_bad], 1 - _HONEST, method="higher")
    measures = {
        "auc": auc(suspicion, is_bad)[0],
        "recall at 2 % of the honest": float((suspicion[is_bad] > line).mean()),
    }
    return measures | ({"ece": _calibration_error(suspicion, bad)} if is_probability else {})


def _calibration_error(likely: Floats, is_bad: Floats) -> float:
    """Expected calibration error over tenths of the cases; of few, over fifths."""
    parts = _TENTHS if len(likely) >= _MANY else _FIFTHS
    order = np.array_split(np.argsort(likely, kind="stable"), parts)
    off = [len(o) * abs(likely[o].mean() - is_bad[o].mean()) for o in order]
    return float(sum(off) / len(likely))


if __name__ == "__main__":
    main()
