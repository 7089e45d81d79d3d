"""Laws of strengths from comparisons in pairs."""

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize

from piecework.analyses.paired_comparisons import BradleyTerry, bradley_terry
from tests.examples import examples

Pair = tuple[str, str, str]

few = examples(25)


def compared(*rows: tuple[str, str, str | None, int]) -> pd.DataFrame:
    """Comparisons: (first, second, outcome, how often)."""
    return pd.DataFrame(
        [row[:3] for row in rows for _ in range(row[3])], columns=["first", "second", "outcome"]
    )


def test_two_sides_without_ties_have_the_log_of_their_wins() -> None:
    """Six to two is three to one: log 3 between them, and 1/6 + 1/2 is the variance."""
    fit = bradley_terry(compared(("a", "b", "first", 6), ("a", "b", "second", 2)))
    strength = fit.sides["strength"]
    assert strength["a"] - strength["b"] == pytest.approx(math.log(3))
    assert strength.sum() == pytest.approx(0)
    # Each is half of the difference, whose variance is 1/6 + 1/2.
    error = math.sqrt(1 / 6 + 1 / 2) / 2
    assert fit.sides["standard_error"].to_numpy() == pytest.approx(error)
    assert fit.tie == 0
    assert fit.log_likelihood == pytest.approx(6 * math.log(0.75) + 2 * math.log(0.25))


def test_ties_between_two_sides_by_hand() -> None:
    """4, 1 and 5 ties of 10: the ratio is 4, and 5 = t * root(4 * 1), so t is 2.5."""
    fit = bradley_terry(
        compared(("a", "b", "first", 4), ("b", "a", "first", 1), ("b", "a", "tie", 5))
    )
    strength = fit.sides["strength"]
    assert strength["a"] - strength["b"] == pytest.approx(math.log(4))
    assert fit.tie == pytest.approx(2.5)
    counts = fit.sides[["wins", "losses", "ties"]]
    assert counts.to_numpy().tolist() == [[4, 1, 5], [1, 4, 5]]


def test_the_strongest_comes_first_even_through_a_third() -> None:
    """Nobody compared a and c: a over b as b over c, two to one each; log 4 apart."""
    fit = bradley_terry(
        compared(
            ("c", "b", "second", 20),
            ("c", "b", "first", 10),
            ("a", "b", "first", 20),
            ("a", "b", "second", 10),
        )
    )
    assert fit.sides.index.tolist() == ["a", "b", "c"]
    strength = fit.sides["strength"]
    assert strength["a"] - strength["c"] == pytest.approx(math.log(4))


sides = st.sampled_from("abcd")
outcomes = st.sampled_from(["first", "second", "tie"])
comparisons = st.lists(
    st.tuples(sides, sides, outcomes).filter(lambda pair: pair[0] != pair[1]),
    min_size=1,
    max_size=30,
)


def smoothed_counts(rows: list[Pair]) -> Counter[tuple[str, str, str]]:
    """How often (winner, loser, "win") and (one, other, "tie"), a win more each way."""
    seen: Counter[tuple[str, str, str]] = Counter()
    for first, second, outcome in rows:
        if outcome == "second":
            seen[second, first, "win"] += 1
        else:
            seen[first, second, "tie" if outcome == "tie" else "win"] += 1
    for side, other in {tuple(sorted(row[:2])) for row in rows}:
        seen[side, other, "win"] += 1
        seen[other, side, "win"] += 1
    return seen


def unlikelihood(
    strength: dict[str, float], tie: float, seen: Counter[tuple[str, str, str]]
) -> float:
    """Davidson's formula as printed, as a negative log-likelihood."""
    total = 0.0
    for (side, other, what), times in seen.items():
        p, q = strength[side], strength[other]
        drawn = tie * math.sqrt(p * q)
        total -= times * math.log((drawn if what == "tie" else p) / (p + q + drawn))
    return total


@few
@given(comparisons)
def test_no_other_strengths_are_likelier(rows: list[Pair]) -> None:
    """A general optimiser on Davidson's formula finds the same top, smoothed by one."""
    fit = fitted(rows)
    names = fit.sides.index.tolist()
    seen = smoothed_counts(rows)

    def of_logs(logs: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> float:
        strength = dict(zip(names, np.exp(logs[:-1]).tolist(), strict=True))
        return unlikelihood(strength, math.exp(logs[-1]) if fit.tie else 0.0, seen)

    best = minimize(of_logs, np.zeros(len(names) + 1), method="BFGS").fun
    assert -fit.log_likelihood == pytest.approx(best, abs=1e-6)
    strength = np.exp(fit.sides["strength"]).to_dict()
    assert unlikelihood(strength, fit.tie, seen) == pytest.approx(best, abs=1e-6)


def fitted(rows: list[Pair]) -> BradleyTerry:
    """Strengths, smoothed by one; examples with islands are passed over."""
    pairs = pd.DataFrame(rows, columns=["first", "second", "outcome"])
    try:
        return bradley_terry(pairs, smoothing=1.0)
    except ValueError:
        assume(condition=False)
        raise


@pytest.mark.full
@few
@given(comparisons)
def test_who_is_shown_first_does_not_matter(rows: list[Pair]) -> None:
    """Turning every comparison round leaves strengths and errors as they were."""
    turned = {"first": "second", "second": "first", "tie": "tie"}
    fit, other = fitted(rows), fitted([(b, a, turned[how]) for a, b, how in rows])
    pd.testing.assert_frame_equal(
        fit.sides.sort_index(), other.sides.sort_index(), rtol=1e-6, atol=1e-8
    )


def test_a_side_that_never_loses_has_no_finite_strength() -> None:
    """Winning all; and winning some, tying the rest: both run away, unless smoothed."""
    for rows in ([("a", "b", "first", 3)], [("a", "b", "first", 3), ("a", "b", "tie", 2)]):
        with pytest.raises(ValueError, match="no finite strengths"):
            bradley_terry(compared(*rows))
        smoothed = bradley_terry(compared(*rows), smoothing=1.0).sides["strength"]
        assert smoothed["a"] - smoothed["b"] == pytest.approx(math.log(4))


def test_nothing_but_ties_is_equal_strength() -> None:
    """No win to tell them apart: strengths 0 without error, ties infinitely likely."""
    fit = bradley_terry(compared(("a", "b", "tie", 3)))
    assert fit.sides["strength"].tolist() == [0, 0]
    assert fit.sides["standard_error"].isna().all()
    assert fit.tie == math.inf


def test_what_cannot_be_compared_is_refused() -> None:
    """Islands, a side against itself, unknown outcomes, nothing at all, no column."""
    islands = compared(("a", "b", "tie", 1), ("c", "d", "tie", 1))
    with pytest.raises(ValueError, match="'a' and 'c' were never compared"):
        bradley_terry(islands)
    with pytest.raises(ValueError, match="itself"):
        bradley_terry(compared(("a", "a", "tie", 1)))
    with pytest.raises(ValueError, match="outcome 'left'"):
        bradley_terry(compared(("a", "b", "left", 1)))
    with pytest.raises(ValueError, match="there are no comparisons"):
        bradley_terry(compared(("a", "b", None, 2)))
    with pytest.raises(ValueError, match="no column outcome"):
        bradley_terry(islands[["first", "second"]])
