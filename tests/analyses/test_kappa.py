"""Laws of agreement beyond chance."""

import math
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.analyses.agreement import (
    Weights,
    cohen_kappa,
    cohen_kappa_of_pairs,
    fleiss_kappa,
    fleiss_kappa_of_counts,
)
from tests.analyses.ballots import votes_of, votes_on
from tests.examples import examples

PRINTED = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]
"""Fourteen raters, ten subjects, five categories: the example of the encyclopaedia's
article on Fleiss' kappa, which prints 0.210."""


def test_fleiss_kappa_of_the_printed_example() -> None:
    """P = 0.378 and P_e = 0.213 are printed with it: (0.378 - 0.213)/0.787 = 0.210."""
    assert fleiss_kappa_of_counts(PRINTED) == pytest.approx(0.210, abs=0.0005)


def brute_force(votes: list[list[int]]) -> float:
    """Kappa by listing every pair of ratings of every item."""
    votes = [item for item in votes if len(item) >= 2]
    agreeing = [
        np.mean([rating == other for rating, other in combinations(item, 2)]) for item in votes
    ]
    everything = [vote for item in votes for vote in item]
    chance = sum((everything.count(v) / len(everything)) ** 2 for v in set(everything))
    return float((np.mean(agreeing) - chance) / (1 - chance))


@examples(40)
@given(st.lists(st.lists(st.integers(0, 2), max_size=6), min_size=1, max_size=8))
def test_fleiss_kappa_agrees_with_listing_all_pairs(votes: list[list[int]]) -> None:
    """Whatever the numbers of ratings, the formula is the definition."""
    compared = {vote for item in votes if len(item) >= 2 for vote in item}
    if len(compared) < 2:
        assert math.isnan(fleiss_kappa(votes_on(*votes)))
    else:
        assert fleiss_kappa(votes_on(*votes)) == pytest.approx(brute_force(votes))


def test_full_agreement_is_one_and_nothing_to_compare_is_nan() -> None:
    """Two unanimous items of two kinds; then nothing, one rater, and one category."""
    assert fleiss_kappa(votes_on("aaa", "bbb")) == 1.0
    assert math.isnan(fleiss_kappa(votes_of()))
    assert math.isnan(fleiss_kappa(votes_on("a", "b")))
    assert math.isnan(fleiss_kappa(votes_on("aaa")))


def rated(*values: object) -> "pd.Series[str]":
    """One rater's values of items 0, 1, 2, ..."""
    return pd.Series(list(values))


def test_cohen_kappa_of_two_published_annotators() -> None:
    """Van Miltenburg and Elliott had 101 descriptions checked twice, and print 100.

    81 and 86 are incongruent, 79 for both; so 91 agree, and chance gives
    .81*.86 + .19*.14 = .7232: (.91 - .7232)/.2768 = 0.6749, as their notebook prints.
    """
    pairs = [("in", "in")] * 79 + [("in", "con")] * 2 + [("con", "in")] * 7
    pairs += [("con", "con")] * 12
    first, second = zip(*pairs, strict=True)
    assert cohen_kappa(rated(*first), rated(*second)) == pytest.approx(0.674855491329, abs=1e-12)


def cost(first: int, other: int, weights: Weights) -> float:
    """What a disagreement costs."""
    apart = abs(first - other)
    return {"none": float(apart > 0), "linear": apart, "quadratic": apart**2}[weights]


@examples(40)
@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=20),
    st.sampled_from(["none", "linear", "quadratic"]),
)
def test_cohen_kappa_agrees_with_crossing_everybody_with_everybody(
    pairs: list[tuple[int, int]], weights: Weights
) -> None:
    """Chance is the mean cost over all pairs of one's any and the other's any value."""
    first, second = zip(*pairs, strict=True)
    seen = np.mean([cost(a, b, weights) for a, b in pairs])
    chance = np.mean([cost(a, b, weights) for a, b in product(first, second)])
    kappa = cohen_kappa(rated(*first), rated(*second), weights=weights)
    if chance == 0:
        assert math.isnan(kappa)
    else:
        assert kappa == pytest.approx(1 - seen / chance)


def test_cohen_kappa_is_of_items_that_both_rated() -> None:
    """Items 0 and 1 agree; 2 is missing for one, 3 is unknown to the other."""
    first = rated("a", "b", None, "a")
    assert cohen_kappa(first, rated("a", "b", "b")) == 1.0
    assert math.isnan(cohen_kappa(first.iloc[:0], first))


def test_cohen_kappa_refuses_what_it_cannot_weigh() -> None:
    """Words have no distance; an item rated twice has no one rating."""
    with pytest.raises(ValueError, match="needs numbers"):
        cohen_kappa(rated("good", "bad"), rated("bad", "good"), weights="linear")
    twice = pd.Series(["a", "b"], index=["i", "i"])
    with pytest.raises(ValueError, match="once"):
        cohen_kappa(twice, twice)


def test_cohen_kappa_is_told_for_each_two_who_share_enough() -> None:
    """Workers a and b share three items and agree on two; c shares one with each.

    The first says x, x, y; the other x, y, y. They agree by 2/3; chance is
    (2*1 + 1*2) / 9 = 4/9, so kappa is (2/3 - 4/9) / (5/9) = 0.4. Unknown workers
    are in no pair.
    """
    rows = [
        *(("1", "a", "x"), ("2", "a", "x"), ("3", "a", "y")),
        *(("1", "b", "x"), ("2", "b", "y"), ("3", "b", "y")),
        *(("3", "c", "y"), ("1", "", "x"), ("2", "", "x")),
    ]
    votes = pd.DataFrame(rows, columns=["item_id", "worker", "value"])
    pairs = cohen_kappa_of_pairs(votes)
    assert pairs[["first", "second", "items"]].to_numpy().tolist() == [
        ["a", "b", 3],
        ["a", "c", 1],
        ["b", "c", 1],
    ]
    assert pairs["kappa"].iloc[0] == pytest.approx(0.4)
    assert pairs["same"].tolist() == pytest.approx([2 / 3, 1, 1])
    assert len(cohen_kappa_of_pairs(votes, least_shared=2)) == 1
