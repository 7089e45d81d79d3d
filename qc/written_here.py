"""One probability that a text was not written here by a person, from three parts.

The parts are the page's record of typing (`not_typed`), the planted word (`canary`)
and the samples of programs (`like_samples`). Each adds log odds to those of one text in
six. A silent part adds nothing. A part that speaks for a person adds little (`LEAST`),
because a retyped text looks typed and a program without samples may read like people.
No part adds more than `MOST`.

The weights are fitted by `python -m tests.bench.truth.written_fit` to combinations that
were made for it: recorded ways of entering a text, each with real texts of people or
programs (docs/internals/measurements/typing.md). The planted word was never measured.

No rule can name this probability, so it rejects nothing. It is shown to people.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from piecework.domain.late_modules import np, pd, scipy
from piecework.domain.verdicts import NOT_WRITTEN_HERE, Finding
from piecework.qc.heuristics import canary, like_samples, not_typed
from piecework.qc.sample_model import PRIOR
from piecework.qc.scores import SHOWN_FROM
from piecework.qc.typing_evidence import typing_of

TITLE = "Probably not written here by a person"
VERSION = 1

FLAG_FROM = 0.9
SHOWN_PROBABILITY = 2 * SHOWN_FROM

LEAST = -1.0
MOST = 4.0

_START = math.log(PRIOR / (1 - PRIOR))


class Weights(NamedTuple):
    """How much the log odds of each part count."""

    typing: float
    samples: float
    word: float = 1.0


WEIGHTS = Weights(typing=1.06, samples=0.5)


class Parts(NamedTuple):
    """Probabilities by part; `None` for a part that is silent."""

    typing: float | None
    samples: float | None
    word: float | None

    def log_odds(self, weights: Weights = WEIGHTS) -> dict[str, float]:
        """What each part that speaks adds, by its name."""
        return {
            name: float(np.clip(weight * (scipy.special.logit(part) - _START), LEAST, MOST))
            for name, part, weight in zip(self._fields, self, weights, strict=True)
            if part is not None
        }

    def probability(self, weights: Weights = WEIGHTS) -> float:
        """The probability that the text was not written here by a person.

        >>> round(Parts(typing=None, samples=None, word=None).probability(), 3)
        0.167
        """
        return float(scipy.special.expit(_START + sum(self.log_odds(weights).values())))


_NAMES = {"typing": "how it was entered", "samples": "samples", "word": "planted word"}
_SILENT = {
    "typing": "no record of typing",
    "samples": "no samples to compare with",
    "word": "no planted word in it",
}


def findings(table: pd.DataFrame, scores: Mapping[str, pd.DataFrame]) -> Iterator[Finding]:
    """Yield a finding for every text that was more likely not written here.

    Args:
        table: the answers (`piecework.domain.tables`).
        scores: of the heuristics, by name, at least of these answers.
    """
    parts = {
        heuristic.NAME: scores[heuristic.NAME]["suspicion"].reindex(table.index).to_numpy()
        for heuristic in (not_typed, like_samples, canary)
        if heuristic.NAME in scores
    }
    if not parts:
        return
    zeros = np.zeros(len(table))
    samples = parts.get(like_samples.NAME, zeros)
    word = parts.get(canary.NAME, zeros)
    typed = parts.get(not_typed.NAME, zeros)
    suspected = (typed >= SHOWN_FROM) | (samples >= SHOWN_FROM) | (word > 0)
    cells = table["typing"].tolist() if "typing" in table else [""] * len(table)
    texts, names = table["text"].tolist(), table.index.tolist()
    for place in np.flatnonzero(suspected).tolist():
        has_record = cells[place] and not_typed.NAME in parts
        record = typing_of(cells[place], texts[place]) if has_record else None
        own = Parts(
            typing=None if record is None else record.probability,
            samples=float(samples[place]) or None,
            word=float(word[place]) or None,
        )
        probability = own.probability()
        if probability >= SHOWN_PROBABILITY:
            yield Finding(
                heuristic=NOT_WRITTEN_HERE,
                version=VERSION,
                subject_kind="answer",
                subject_id=str(names[place]),
                suspicion=probability,
                flag=probability >= FLAG_FROM,
                evidence=_evidence(own, probability),
            )


def _evidence(parts: Parts, probability: float) -> str:
    """The probability, what each part adds, and what it cannot know."""
    added = ", ".join(f"{_NAMES[name]} {amount:+.1f}" for name, amount in parts.log_odds().items())
    silent = [
        words
        for (name, words), part in zip(_SILENT.items(), parts, strict=True)
        if part is None and name != "word"
    ]
    at_least = math.floor(probability * 100) / 100
    lacking = f"; it has {' and '.join(silent)}" if silent else ""
    return (
        f"was not written here by a person with a probability of {at_least:.2f} (in "
        f"log odds: {added}{lacking}); this cannot tell a person's own text that was "
        "pasted from a program's, nor know programs without samples, retyped texts or "
        "forged records"
    )
