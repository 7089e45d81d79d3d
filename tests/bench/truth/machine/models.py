"""Labels of models: planted ones, and small classifiers that are trained here.

No classifier sees a label of an item that it labels, or of the same source.
"""

import re
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.optimize import minimize
from scipy.special import logsumexp

from tests.bench.truth.machine.sets import Draw, ReplayedSet

Floats = npt.NDArray[np.float64]

COPIED = 0.9
"""The share of items on which the second of two models copies the first."""

_FOLDS, _PENALTY, _LEAST_TEXTS = 10, 1.0, 3
_WORD = re.compile(r"[a-z0-9']+")
_DENIALS = frozenset(
    ["no", "not", "never", "fake", "hoax", "false", "denies", "deny", "untrue", "wrong"]
)
_DOUBTS = frozenset(
    ["reportedly", "claims", "claim", "report", "reports", "alleged", "may", "rumor"]
)
_OFTEN = 0.6
"""A text that has this share of the words of a statement says it."""


def planted_models(kept: ReplayedSet, draw: Draw, seed: int) -> dict[str, pd.DataFrame]:
    """By name, models that are right about a share of items, drawn by chance."""
    chance = np.random.default_rng(seed + 1000)

    def model(share: float) -> "pd.Series[str]":
        is_right = chance.random(len(draw.gold)) < _share(kept, share)
        wrong = [
            chance.choice([value for value in kept.values if value != truth])
            for truth in draw.planted
        ]
        return draw.planted.where(is_right, pd.Series(wrong, index=draw.gold.index))

    models: dict[str, Sequence[pd.Series[str]]] = {
        f"planted, {share}": (model(share),) for share in (0.6, 0.7, 0.8, 0.9)
    }
    if kept.ceiling < 1.0:
        del models["planted, 0.9"]
    first, second = model(0.8), model(0.8)
    is_copy = chance.random(len(first)) < COPIED
    models["two of 0.8 with the same errors"] = (first, first.where(is_copy, second))
    models["planted, 0.2"] = (model(0.2),)
    guesses = chance.choice(kept.values, len(draw.gold))
    models["guesses"] = (pd.Series(guesses, index=draw.gold.index),)
    names = kept.planted or tuple(models)
    return {name: _table(models[name]) for name in names}


def classifiers(kept: ReplayedSet) -> dict[str, pd.DataFrame]:
    """By name, models that read the texts, if there are any."""
    if kept.texts is None:
        return {}
    gold = kept.draw(0).gold
    labels = _by_overlap(kept)
    words = _bag_of_words(kept.texts, gold, kept.values)
    return {
        "word overlap": _table([labels]),
        "bag of words": _table([words["value"]], words["probability"]),
    }


def agreement(machine: pd.DataFrame, gold: "pd.Series[str]") -> float:
    """How often the labels are the known ones."""
    return float((machine["value"] == machine["item_id"].map(gold)).mean())


def _share(kept: ReplayedSet, share: float) -> float:
    """How often a model says what is planted, so that it is right this often."""
    return (share - (1.0 - kept.ceiling)) / (2.0 * kept.ceiling - 1.0)


def _table(
    labels: Sequence["pd.Series[str]"], probability: "pd.Series[float] | None" = None
) -> pd.DataFrame:
    return pd.concat(
        pd.DataFrame(
            {
                "model": f"m{number}",
                "item_id": values.index,
                "value": values.to_numpy(),
                "probability": np.nan if probability is None else probability.to_numpy(),
            }
        )
        for number, values in enumerate(labels)
    )


def _words(text: str) -> set[str]:
    return {*_WORD.findall(text.lower().replace("&apos;", "'"))}


def _overlap(text: str, statement: str) -> float:
    words = _words(statement)
    return len(words & _words(text)) / max(len(words), 1)


def _by_overlap(kept: ReplayedSet) -> "pd.Series[str]":
    """Whether the text has the words of the statement; denials and doubts of three."""
    assert kept.texts is not None
    labels = []
    for text, statement in zip(kept.texts["text"], kept.texts["hypothesis"], strict=True):
        words = _words(text)
        if len(kept.values) > 2:
            against, observing, agrees = kept.values
            is_doubt = "?" in text or words & _DOUBTS
            label = against if words & _DENIALS else observing if is_doubt else agrees
        else:
            label = kept.values[_overlap(text, statement) >= _OFTEN]
        labels.append(label)
    return pd.Series(labels, index=kept.texts.index)


def _bag_of_words(
    texts: pd.DataFrame, gold: "pd.Series[str]", values: Sequence[str]
) -> pd.DataFrame:
    """A logistic regression on words, trained on other folds of sources."""
    truths = pd.Index(values).get_indexer(pd.Index(gold))
    sources, _ = pd.factorize(texts["source"])
    order = np.random.default_rng(0).permutation(int(sources.max()) + 1)
    folds = order[sources] % _FOLDS
    chances = np.zeros((len(gold), len(values)))
    for fold in range(_FOLDS):
        is_held = folds == fold
        table = _features(texts, ~is_held)
        weights = _logistic(table[~is_held], truths[~is_held], len(values))
        scores = table[is_held] @ weights
        chances[is_held] = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
    best = chances.argmax(axis=1)
    return pd.DataFrame(
        {"value": np.array(values)[best], "probability": chances.max(axis=1)}, index=gold.index
    )


def _features(texts: pd.DataFrame, is_trained: npt.NDArray[np.bool_]) -> Floats:
    """Which words are in a text, and how many of the statement's words it has."""
    bags = [
        {*(f"t {word}" for word in _words(text))} | {*(f"h {word}" for word in _words(statement))}
        for text, statement in zip(texts["text"], texts["hypothesis"], strict=True)
    ]
    seen = pd.Series([*_all(bags, is_trained)]).value_counts()
    names = pd.Index(sorted(seen[seen >= _LEAST_TEXTS].index))
    table = np.zeros((len(texts), len(names) + 2))
    for row, bag in enumerate(bags):
        columns = names.get_indexer(pd.Index(sorted(bag)))
        table[row, columns[columns >= 0]] = 0.3
    table[:, -2] = [
        2.0 * _overlap(text, statement)
        for text, statement in zip(texts["text"], texts["hypothesis"], strict=True)
    ]
    table[:, -1] = 1.0
    return table


def _all(bags: Sequence[set[str]], is_trained: npt.NDArray[np.bool_]) -> Iterator[str]:
    for bag, is_in in zip(bags, is_trained, strict=True):
        if is_in:
            yield from sorted(bag)


def _logistic(table: Floats, truths: npt.NDArray[np.intp], kinds: int) -> Floats:
    known = np.eye(kinds)[truths]

    def loss(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(-1, kinds)
        scores = table @ weights
        logs = scores - logsumexp(scores, axis=1, keepdims=True)
        slope = table.T @ (np.exp(logs) - known) + _PENALTY * weights
        penalty = 0.5 * _PENALTY * (weights**2).sum()
        return float(penalty - (logs * known).sum()), slope.ravel()

    start = np.zeros(table.shape[1] * kinds)
    fitted = minimize(loss, start, jac=True, method="L-BFGS-B")
    weights: Floats = fitted.x.reshape(-1, kinds)
    return weights
