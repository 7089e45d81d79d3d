"""Fits and measures `qc.typing_evidence` on sessions in a real Chromium.

`python -m tests.bench.truth.typing_fit` prints the weights, fitted to sessions with odd
seeds, and writes into docs/internals/measurements/typing.md what they do on those with even ones.
Ways count alike, and not typed texts as one in six (`PRIOR`).
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from piecework.qc.heuristics.not_typed import Params
from piecework.qc.typing_evidence import WEIGHTS, Typing, Weights, read_typing
from tests.bench.truth.measure import auc, wilson
from tests.bench.truth.sets import LabelledSet, answer, as_table
from tests.bench.truth.typing_sessions import Session, sessions
from tests.browser.typists import TYPISTS

PRIOR = 1 / 6
"""Share of texts that are not typed, as in the work behind the joined suspicion."""

PAGE = Path(__file__).resolve().parents[3] / "docs/internals/measurements/typing.md"
_BEGIN, _END = "<!-- sessions -->", "<!-- end of sessions -->"
_SLOPE_SD = 5.0
_BINS = (0.0, 0.1, 0.5, 0.9, 1.0)

Floats = npt.NDArray[np.float64]


def was_typed(session: Session) -> bool:
    """Whether a person entered at least half of the text here."""
    if session.typist.is_typed is not None:
        return session.typist.is_typed
    return session.record.outside <= session.record.length / 2


def evidence(session: Session) -> Typing:
    """What the record says; the texts are not kept, and their lengths are true."""
    typing = read_typing(session.record, "x" * session.record.length)
    assert typing is not None
    return typing


def fitted(chosen: Sequence[Session]) -> Weights:
    """The weights of the logistic curve; slopes are drawn towards zero."""
    features = np.array([_features(evidence(session)) for session in chosen])
    bad = np.array([not was_typed(session) for session in chosen], dtype="float64")
    weight = _weights(bad) * len(chosen)

    def loss(own: Floats) -> float:
        at = own[0] + features @ own[1:]
        likelihood = weight * np.logaddexp(0, np.where(bad, -at, at))
        return float(likelihood.sum() + (own[1:] ** 2).sum() / (2 * _SLOPE_SD**2))

    intercept, elsewhere, machine = minimize(loss, np.zeros(3)).x.round(2).tolist()
    return Weights(intercept, elsewhere, machine)


def measured(chosen: Sequence[Session]) -> str:
    """The tables of the page."""
    return "\n".join([*_by_way(chosen), "", *_calibration(chosen)])


def calibration_error(chosen: Sequence[Session]) -> float:
    """How far probabilities are from shares, over the bins, with the prior."""
    return sum(share * abs(mean - true) for _, share, mean, true in _bins(chosen))


def held_out() -> list[Session]:
    """The sessions that the weights were not fitted to."""
    return [session for session in sessions() if session.seed % 2 == 0]


def held_out_set() -> LabelledSet:
    """The same as a labelled set; each text is as long as the text that was sent."""
    chosen = held_out()
    rows = [
        answer(f"{number}", text="x" * session.record.length, typing=session.record.as_json())
        for number, session in enumerate(chosen)
    ]
    bad = {f"{n}" for n, session in enumerate(chosen) if not was_typed(session)}
    return LabelledSet(
        name="sessions in Chromium: mostly not typed",
        kind="driven",
        table=as_table(rows),
        bad={"answer": frozenset(bad)},
        heuristics=("not_typed",),
    )


def main() -> None:
    """Fit, measure, write."""
    print(fitted([session for session in sessions() if session.seed % 2]))
    print("in use:", WEIGHTS)
    page = PAGE.read_text("utf-8")
    before, _, rest = page.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    tables = measured(held_out())
    PAGE.write_text(f"{before}{_BEGIN}\n\n{tables}\n\n{_END}{after}", "utf-8")


def _features(typing: Typing) -> tuple[float, float]:
    return typing.share, float(typing.is_machine)


def _weights(bad: Floats) -> Floats:
    """The weight of each session, so that the prior holds; they add up to 1."""
    bad_weight, other_weight = PRIOR / bad.sum(), (1 - PRIOR) / (1 - bad).sum()
    return np.asarray(bad * bad_weight + (1 - bad) * other_weight, dtype="float64")


def _by_way(chosen: Sequence[Session]) -> Iterable[str]:
    limit = Params().flag_from
    yield "| how the text was entered | texts | flagged | median probability |"
    yield "|---|---:|---:|---:|"
    for typist in TYPISTS:
        own = [evidence(session).probability for session in chosen if session.typist == typist]
        flags = sum(probability >= limit for probability in own)
        yield (
            f"| {typist.name} | {len(own)} | {_percent(wilson(flags, len(own)))} "
            f"| {np.median(own):.3f} |"
        )
    bad = np.array([not was_typed(session) for session in chosen])
    suspicion = np.array([evidence(session).probability for session in chosen])
    flag = suspicion >= limit
    middle, low, high = auc(suspicion, bad)
    recall = wilson(int((flag & bad).sum()), int(bad.sum()))
    honest = wilson(int((flag & ~bad).sum()), int((~bad).sum()))
    yield ""
    yield (
        f"Of {int(bad.sum())} texts that were mostly not typed, {_percent(recall)} are "
        f"flagged; of {int((~bad).sum())} others, {_percent(honest)}. The AUC is "
        f"{middle:.2f} ({low:.2f} to {high:.2f})."
    )


def _bins(chosen: Sequence[Session]) -> Iterable[tuple[tuple[float, float], float, float, float]]:
    """Yield each bin with its share of texts, mean probability, and true share."""
    bad = np.array([not was_typed(session) for session in chosen], dtype="float64")
    suspicion = np.array([evidence(session).probability for session in chosen])
    weight = _weights(bad)
    number = np.digitize(suspicion, _BINS[1:-1])
    for place, bounds in enumerate(pairwise(_BINS)):
        share = weight[number == place].sum()
        if share:
            of_bin = weight[number == place] / share
            yield (
                bounds,
                float(share),
                float((of_bin * suspicion[number == place]).sum()),
                float((of_bin * bad[number == place]).sum()),
            )


def _calibration(chosen: Sequence[Session]) -> Iterable[str]:
    yield "| probability | share of texts | mean probability | not typed |"
    yield "|---|---:|---:|---:|"
    for (low, high), share, mean, true in _bins(chosen):
        yield f"| {low:g} to {high:g} | {share:.1%} | {mean:.3f} | {true:.3f} |"
    yield ""
    error = calibration_error(chosen)
    yield f"The calibration error (ECE) over these bins is {error:.3f}."


def _percent(share: tuple[float, float, float]) -> str:
    middle, low, high = (f"{100 * part:.0f}" for part in share)
    return f"{middle} % ({low} to {high})"


if __name__ == "__main__":
    main()
