"""Fits the spelling rule's weights to labelled captions and says how good they are.

`python -m tests.postprocess.fit_spelling` prints `postprocess/language/weights.py`;
with `--folds 5` it prints instead what the rule does to words it was not fitted to.
Not a test: it is how the weights came about, so that they can be made again.
"""

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from postprocess.language import features
from postprocess.language.candidates import candidates
from postprocess.language.corpus import Corpus
from postprocess.language.suspects import Suspect, find_suspects
from postprocess.text import Text

SPELLING = Path(__file__).resolve().parents[2] / "../shared/data/spelling"
KINDS = ("real", "typo", "missing_space")
_INJECTED_WEIGHT = 0.1
"""Injected errors are many and easy; real ones should decide."""
_NO_CANDIDATE_WEIGHT = 0.3
_PENALTY = 0.02

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A labelled word; `rows` are its rivals, leaving first, `right` the good ones."""

    kind: str
    source: str
    word: str
    is_typo: bool
    rows: Floats
    right: tuple[int, ...]


def main() -> None:
    """Print the weights, or the table of a cross-validation by word."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, default=0)
    folds = parser.parse_args().folds
    cases, totals = labelled()
    if not folds:
        print(_as_module(fit(cases)))  # noqa: T201 - its purpose
        return
    chosen: list[tuple[Case, int, float]] = []
    for fold in range(folds):
        weights = fit([case for case in cases if _fold(case, folds) != fold])
        for case in cases:
            if _fold(case, folds) == fold and len(case.rows) > 1:
                chances = _chances(case.rows @ weights)
                best = int(chances[1:].argmax()) + 1
                chosen.append((case, best, float(chances[best])))
    for percent in (50, 60, 70, 75, 80, 85, 90):
        print(_line(chosen, totals, percent / 100))  # noqa: T201


def labelled() -> tuple[list[Case], Counter[str]]:
    """The labelled words that are suspects, and how many labelled words there are."""
    rows = [json.loads(line) for line in _lines("input_corpus.jsonl")]
    texts = [
        Text(text_id=row["key"], item_id=row["image"], text=row["text"]) for row in rows
    ]
    corpus = Corpus((text.item_id, text.text) for text in texts)
    suspects = find_suspects(texts, corpus)
    by_place = {(suspect.text_id, suspect.start): suspect for suspect in suspects}
    found = candidates({suspect.word for suspect in suspects}, corpus)
    cases, totals = [], Counter[str]()
    for gold in map(json.loads, _lines("gold.jsonl")):
        for label in gold["tokens"]:
            if gold["kind"] not in KINDS or label["cls"] == "amb":
                continue
            totals[f"{gold['kind']} {label['cls']}"] += 1
            totals[f"{gold['kind']} {label['cls']} {gold['key'].split('|')[0]}"] += 1
            suspect = by_place.get((gold["key"], label["start"]))
            if suspect:
                meant = found[suspect.word]
                rivals = [features.of_leaving(suspect, corpus)] + [
                    {
                        **features.of_typo(suspect.word, each),
                        **features.of_meaning(each, suspect=suspect, corpus=corpus),
                    }
                    for each in meant
                ]
                cases.append(
                    _case(gold, label, suspect=suspect, meant=meant, rivals=rivals)
                )
    return cases, totals


def fit(cases: list[Case]) -> Floats:
    """Weights of a conditional logit with a small quadratic penalty."""
    widest = max(len(case.rows) for case in cases)
    table = np.zeros((len(cases), widest, len(features.NAMES)))
    blocked = np.full((len(cases), widest), -1e9)
    right = np.zeros((len(cases), widest))
    counts = np.zeros(len(cases))
    for place, case in enumerate(cases):
        table[place, : len(case.rows)] = case.rows
        blocked[place, : len(case.rows)] = 0
        right[place, list(case.right)] = 1
        counts[place] = 1.0 if case.kind == "real" else _INJECTED_WEIGHT
        if case.is_typo and case.right == (0,):
            counts[place] *= _NO_CANDIDATE_WEIGHT
    scale = np.abs(table).reshape(-1, len(features.NAMES)).max(axis=0)
    scale[scale == 0] = 1
    table /= scale

    def loss(weights: Floats) -> tuple[float, Floats]:
        sums = table @ weights + blocked
        odds = np.exp(sums - sums.max(axis=1, keepdims=True))
        everything, good = odds.sum(axis=1), (odds * right).sum(axis=1)
        good = np.maximum(good, 1e-300)
        pull = odds / everything[:, None] - odds * right / good[:, None]
        value = counts @ (np.log(everything) - np.log(good))
        slope = np.einsum("n,nm,nmd->d", counts, pull, table, optimize=True)
        return (
            float(value + _PENALTY * (weights @ weights)),
            slope + 2 * _PENALTY * weights,
        )

    start = np.zeros(len(features.NAMES))
    best = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 600})
    return np.asarray(best.x / scale)


def _case(
    gold: Mapping[str, str],
    label: Mapping[str, str],
    *,
    suspect: Suspect,
    meant: list[str],
    rivals: list[features.Features],
) -> Case:
    wanted = {each.replace("\u2019", "'").casefold() for each in label["gold"]}
    is_typo = label["cls"] == "typo"
    right = [n for n, each in enumerate(meant, start=1) if is_typo and each in wanted]
    rows = [[rival.get(name, 0.0) for name in features.NAMES] for rival in rivals]
    return Case(
        kind=gold["kind"],
        source=gold["key"].split("|")[0],
        word=suspect.word,
        is_typo=is_typo,
        rows=np.array(rows),
        right=tuple(right) or (0,),
    )


def _line(
    chosen: list[tuple[Case, int, float]],
    totals: Mapping[str, int],
    threshold: float,
) -> str:
    tally: Counter[str] = Counter()
    for case, best, chance in chosen:
        if chance >= threshold:
            fate = "fixed" if best in case.right else "wrong"
            name = f"{case.kind} {fate if case.is_typo else 'harmed'}"
            tally.update([name, f"{name} {case.source}"])

    def percent(name: str, whole: str) -> str:
        return f"{100 * tally[name] / totals[whole]:5.2f}"

    return (
        f"{threshold:.2f}: real typos fixed {percent('real fixed', 'real typo')} "
        f"wrong {percent('real wrong', 'real typo')}, right words harmed "
        f"{percent('real harmed', 'real ok')} "
        f"(vizwiz {percent('real harmed vizwiz', 'real ok vizwiz')}); injected fixed "
        f"{percent('typo fixed', 'typo typo')}; missing spaces fixed "
        f"{percent('missing_space fixed', 'missing_space typo')}"
    )


def _as_module(weights: Floats) -> str:
    rows = [
        f'    "{name}": {weight:.2f},'
        for name, weight in zip(features.NAMES, weights, strict=True)
    ]
    return "\n".join(
        [
            '"""Weights of the features, in nats; see fit_spelling.py in the tests."""',
            "",
            "from collections.abc import Mapping",
            "",
            "WEIGHTS: Mapping[str, float] = {",
            *rows,
            "}",
        ],
    )


def _chances(sums: Floats) -> Floats:
    odds = np.exp(sums - sums.max())
    return np.asarray(odds / odds.sum())


def _fold(case: Case, folds: int) -> int:
    return int(hashlib.sha256(case.word.encode()).hexdigest(), 16) % folds


def _lines(name: str) -> Iterator[str]:
    return iter((SPELLING / name).read_text(encoding="utf-8").splitlines())


if __name__ == "__main__":
    main()
