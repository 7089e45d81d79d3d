"""Fits and measures `qc.written_here` on combinations that are made for it.

No data has both a record of typing and a text of a known author. So each recorded
session (`typing_sessions`) is combined with real texts: with a person's if a person
entered their own text, otherwise with a program's. `python -m
tests.bench.truth.written_fit` prints the weights, fitted to sessions with odd seeds and
texts about every second image, and writes into docs/internals/measurements/typing.md what they do
with the others.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from piecework.qc.sample_model import PRIOR
from piecework.qc.written_here import FLAG_FROM, WEIGHTS, Parts, Weights
from tests.bench.truth.machine_texts import OTHER, SAME, Case, judged
from tests.bench.truth.measure import auc
from tests.bench.truth.typing_fit import PAGE, evidence, was_typed
from tests.bench.truth.typing_sessions import Session, sessions
from tests.browser.typists import TYPISTS

_BEGIN, _END = "<!-- combined -->", "<!-- end of combined -->"
_BOOTSTRAPS = 200
_DRAWS = 20
"""Texts that each session is combined with."""

_BINS = (0.0, 0.1, 0.5, 0.9, 1.0)
_SLOPE_SD = 1.0
_OWN_TEXT = "a person's own text, pasted"

KNOWN = (SAME[1], SAME[2], SAME[3])
"""Short texts of programs that wrote samples."""

UNKNOWN = (OTHER[0], OTHER[1])
"""Short texts of programs that wrote none."""

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]
Half = Literal[0, 1]


class Combined(NamedTuple):
    """A session with a text.

    Attributes:
        is_bad: not written here by a person.
    """

    way: str
    parts: Parts
    is_bad: bool


def combined(half: Half, cases: Sequence[Case]) -> list[Combined]:
    """Combine the sessions of a half with texts about its images."""
    chosen = [session for session in sessions() if session.seed % 2 != half]
    people, programs = texts_of(half, cases)
    rng = np.random.default_rng(half)
    return list(_combinations(chosen, people, programs, rng))


def _combinations(
    chosen: Sequence[Session], people: Floats, programs: Floats, rng: np.random.Generator
) -> Iterator[Combined]:
    for session in chosen:
        is_typed = was_typed(session)
        is_own = is_typed and session.typist.is_visible
        by_person = is_own or session.typist.name == _OWN_TEXT
        for suspicion in rng.choice(people if by_person else programs, _DRAWS):
            parts = Parts(
                typing=evidence(session).probability, samples=float(suspicion) or None, word=None
            )
            yield Combined(session.typist.name, parts, not is_own)


@cache
def texts_of(half: Half, cases: tuple[Case, ...]) -> tuple[Floats, Floats]:
    """The suspicions of people's and of programs' texts about a half of the images."""
    people, programs = [], []
    for case in cases:
        own = judged(case)
        of_half = np.array(
            [hashlib.sha256(image.encode()).digest()[1] % 2 == half for image in own.images]
        )
        people.append(own.suspicion[of_half & ~own.is_machine])
        programs.append(own.suspicion[of_half & own.is_machine])
    return np.concatenate(people), np.concatenate(programs)


def fitted(chosen: Sequence[Combined]) -> Weights:
    """The weights, drawn towards 1: parts that are independent."""
    weight = _weights(chosen)
    bad = np.array([each.is_bad for each in chosen])

    def loss(own: Floats) -> float:
        weights = Weights(typing=own[0], samples=own[1])
        chance = np.array([each.parts.probability(weights) for each in chosen])
        likelihood = np.log(np.where(bad, chance, 1 - chance))
        drawn = ((own - 1) ** 2).sum() / (2 * _SLOPE_SD**2)
        return float(drawn - len(chosen) / _DRAWS * (weight * likelihood).sum())

    typing, samples = minimize(loss, np.ones(2), method="Nelder-Mead").x.round(2)
    return Weights(typing=float(typing), samples=float(samples))


def measured() -> str:
    """The tables of the page, on the half that the weights were not fitted to."""
    known, unknown = combined(1, KNOWN), combined(1, UNKNOWN)
    return "\n".join([*_figures(known, unknown), "", *_by_way(known), "", *_bins(known)])


def main() -> None:
    """Fit, measure, write."""
    print(fitted([*combined(0, KNOWN), *combined(0, UNKNOWN)]))
    print("in use:", WEIGHTS)
    page = PAGE.read_text("utf-8")
    before, _, rest = page.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    PAGE.write_text(f"{before}{_BEGIN}\n\n{measured()}\n\n{_END}{after}", "utf-8")


def _weights(chosen: Sequence[Combined]) -> Floats:
    """The weight of each combination, so that the prior holds."""
    bad = np.array([each.is_bad for each in chosen])
    return np.asarray(np.where(bad, PRIOR / bad.sum(), (1 - PRIOR) / (~bad).sum()))


def _figures(known: Sequence[Combined], unknown: Sequence[Combined]) -> Iterator[str]:
    columns = ("AUC", "flagged: not written here", "flagged: written here", "ECE")
    yield f"| what speaks | {' | '.join(columns)} |"
    yield "|---|---:|---:|---:|---:|"
    for name, chosen, silent in (
        ("the record alone", known, {"samples": None}),
        ("the samples alone", known, {"typing": None}),
        ("both", known, {}),
        ("both, by programs without samples", unknown, {}),
    ):
        parts = [each.parts._replace(**silent) for each in chosen]
        chance = np.array([own.probability() for own in parts])
        bad = np.array([each.is_bad for each in chosen])
        flag, weight = chance >= FLAG_FROM, _weights(chosen)

        def areas(at: Places, chance: Floats = chance, bad: Flags = bad) -> float:
            return auc(chance[at], bad[at])[0]

        def recall(at: Places, flag: Flags = flag, bad: Flags = bad) -> float:
            return float(flag[at][bad[at]].mean())

        def harmed(at: Places, flag: Flags = flag, bad: Flags = bad) -> float:
            return float(flag[at][~bad[at]].mean())

        def error(
            at: Places, chance: Floats = chance, bad: Flags = bad, weight: Floats = weight
        ) -> float:
            return _error(chance[at], bad[at], weight[at])

        yield (
            f"| {name} | {_two(_drawn(len(chosen), areas))} "
            f"| {_percent(_drawn(len(chosen), recall))} "
            f"| {_percent(_drawn(len(chosen), harmed))} "
            f"| {_two(_drawn(len(chosen), error))} |"
        )


def _by_way(chosen: Sequence[Combined]) -> Iterator[str]:
    yield "| how the text was entered | whose text | flagged | median probability |"
    yield "|---|---|---:|---:|"
    for typist in TYPISTS:
        own = [each for each in chosen if each.way == typist.name]
        chance = np.array([each.parts.probability() for each in own])
        is_person = typist.name == _OWN_TEXT or not own[0].is_bad
        whose = "a person's" if is_person else "a program's"
        if len({each.is_bad for each in own}) > 1:
            whose = "either"
        flags = (chance >= FLAG_FROM).mean()
        yield f"| {typist.name} | {whose} | {flags:.0%} | {np.median(chance):.2f} |"


def _bins(chosen: Sequence[Combined]) -> Iterator[str]:
    yield "| probability | share of texts | mean probability | not written here |"
    yield "|---|---:|---:|---:|"
    chance = np.array([each.parts.probability() for each in chosen])
    bad, weight = np.array([each.is_bad for each in chosen]), _weights(chosen)
    number = np.digitize(chance, _BINS[1:-1])
    for place, (low, high) in enumerate(pairwise(_BINS)):
        own = number == place
        share = weight[own].sum()
        if share:
            mean = (weight * chance)[own].sum() / share
            true = (weight * bad)[own].sum() / share
            yield f"| {low:g} to {high:g} | {share:.1%} | {mean:.3f} | {true:.3f} |"


def _error(chance: Floats, bad: Flags, weight: Floats) -> float:
    scaled = np.where(
        bad, weight * PRIOR / weight[bad].sum(), weight * (1 - PRIOR) / weight[~bad].sum()
    )
    number = np.digitize(chance, _BINS[1:-1])
    gaps = np.bincount(number, scaled * (chance - bad))
    return float(np.abs(gaps).sum())


def _drawn(size: int, measure: Callable[[Places], float]) -> tuple[float, float, float]:
    """A measure, and its 95 % interval over draws of sessions."""
    rng = np.random.default_rng(1)
    session = np.arange(size).reshape(-1, _DRAWS)
    draws = [
        measure(session[rng.choice(len(session), len(session))].ravel()) for _ in range(_BOOTSTRAPS)
    ]
    low, high = np.quantile(draws, [0.025, 0.975])
    return measure(np.arange(size)), float(low), float(high)


def _two(interval: tuple[float, float, float]) -> str:
    middle, low, high = interval
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def _percent(interval: tuple[float, float, float]) -> str:
    middle, low, high = (f"{100 * part:.0f}" for part in interval)
    return f"{middle} % ({low} to {high})"


if __name__ == "__main__":
    main()
