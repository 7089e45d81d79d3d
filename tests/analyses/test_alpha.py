"""Laws of Krippendorff's alpha."""

import math
from itertools import permutations, product

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from piecework.analyses.agreement import Level, krippendorff_alpha
from piecework.analyses.votes import vote_table
from tests.analyses.ballots import votes_of, votes_on
from tests.examples import examples

LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")

CODERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
"""Twelve units, four coders, 41 values: the example of Krippendorff's "Computing
Krippendorff's alpha-reliability" (2011), section C, who prints nominal 0.743, ordinal
0.815 and interval 0.849."""


@pytest.mark.parametrize(
    ("level", "printed"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_of_the_printed_example(level: Level, printed: float) -> None:
    """Forty of the 41 values can be paired, on eleven units."""
    votes = votes_on(*zip(*CODERS, strict=True))
    agreement = krippendorff_alpha(votes, level=level, seed=1, resamples=0)
    assert agreement.alpha == pytest.approx(printed, abs=0.0005)
    assert (agreement.items, agreement.ratings, agreement.resamples) == (11, 40, 0)
    assert math.isnan(agreement.low)


def test_ordinal_words_are_ordered_as_said() -> None:
    """The same example in words, whose alphabet has another order."""
    words = ["very low", "low", "mid", "high", "very high"]
    words_of_coders = [[words[n - 1] if n else None for n in coder] for coder in CODERS]
    votes = votes_on(*zip(*words_of_coders, strict=True))
    agreement = krippendorff_alpha(votes, level="ordinal", order=words, seed=1, resamples=0)
    assert agreement.alpha == pytest.approx(0.815, abs=0.0005)
    with pytest.raises(ValueError, match="not among the ordered"):
        krippendorff_alpha(votes, level="ordinal", order=words[1:], seed=1)
    with pytest.raises(ValueError, match="needs numbers"):
        krippendorff_alpha(votes, level="interval", seed=1)


def by_pairs(items: list[list[int]], level: Level) -> float:
    """One minus observed over expected disagreement, over all ordered pairs."""
    items = [item for item in items if len(item) >= 2]
    pool = [value for item in items for value in item]

    def apart(a: int, b: int) -> float:
        if level == "nominal":
            return float(a != b)
        if level == "interval":
            return float((a - b) ** 2)
        low, high = min(a, b), max(a, b)
        between = sum(pool.count(value) for value in range(low, high + 1))
        return (between - (pool.count(a) + pool.count(b)) / 2) ** 2

    observed = sum(
        apart(a, b) / (len(item) - 1) for item in items for a, b in permutations(item, 2)
    )
    crossed = sum(apart(a, b) for a, b in product(pool, pool))
    return 1 - observed / (crossed / (len(pool) - 1))


@examples(15)
@given(
    st.lists(st.lists(st.integers(1, 4), max_size=4), min_size=1, max_size=6),
    st.sampled_from(["nominal", "ordinal", "interval"]),
)
def test_alpha_is_the_definition_over_all_pairs(items: list[list[int]], level: Level) -> None:
    """Whatever is missing; undefined without pairs or with a single value."""
    agreement = krippendorff_alpha(votes_on(*items), level=level, seed=1, resamples=0)
    pool = {value for item in items if len(item) >= 2 for value in item}
    if len(pool) < 2:
        assert math.isnan(agreement.alpha)
    else:
        assert agreement.alpha == pytest.approx(by_pairs(items, level))


@pytest.mark.full
@settings(max_examples=40)
@given(st.lists(st.lists(st.integers(1, 9), min_size=2, max_size=4), min_size=2, max_size=9))
def test_alpha_is_what_the_library_named_after_it_finds(items: list[list[int]]) -> None:
    """Krippendorff 0.9 builds the matrix of coincidences, we only sum."""
    assume(len({value for item in items for value in item}) > 1)
    votes = votes_on(*items)
    counts = vote_table(votes)
    for level in LEVELS:
        agreement = krippendorff_alpha(votes, level=level, seed=1, resamples=0)
        expected = krippendorff.alpha(
            value_counts=counts.to_numpy(),
            value_domain=counts.columns.to_numpy(),
            level_of_measurement=level,
        )
        assert agreement.alpha == pytest.approx(expected)


def test_the_interval_repeats_with_its_seed_and_holds_the_estimate() -> None:
    """Sixty items, three raters who are right in four of five cases."""
    chance = np.random.default_rng(3)
    truth = chance.integers(1, 6, size=60)
    values = np.where(chance.random((60, 3)) < 0.8, truth[:, None], chance.integers(1, 6, (60, 3)))
    votes = votes_on(*values.tolist())
    first, same, other = (
        krippendorff_alpha(votes, level="nominal", seed=seed, resamples=200) for seed in (7, 7, 8)
    )
    assert first == same != other
    assert first.low < first.alpha < first.high
    wide = krippendorff_alpha(votes, level="nominal", seed=7, resamples=200, confidence=0.99)
    assert wide.low < first.low < first.high < wide.high


@pytest.mark.full
def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    """Forty items twice rated, 80 times: of 80, 95 % is 76, and 66 is far below."""
    chance = np.random.default_rng(5)
    # Two values, each rater right in 9 of 10: they agree in .82, by chance in half.
    expected = (0.82 - 0.5) / 0.5
    covered = 0
    for seed in range(80):
        truth = chance.integers(0, 2, size=(40, 1))
        values = np.where(chance.random((40, 2)) < 0.9, truth, 1 - truth)
        agreement = krippendorff_alpha(
            votes_on(*values.tolist()), level="nominal", seed=seed, resamples=100
        )
        covered += agreement.low <= expected <= agreement.high
    assert covered >= 66


def test_resamples_of_one_value_are_left_out_and_counted() -> None:
    """Of two items, one draw in four is twice "bb": there is nothing to agree on."""
    agreement = krippendorff_alpha(votes_on("ab", "bb"), level="nominal", seed=1)
    assert 700 < agreement.resamples < 800


def test_no_votes_one_rater_and_a_constant_have_no_alpha() -> None:
    """NaN, with an interval of NaN, at every level."""
    for votes in (votes_of(), votes_on("1", "2"), votes_on("11", "11")):
        numbers = votes.assign(value=pd.to_numeric(votes["value"]))
        agreement = krippendorff_alpha(numbers, level="interval", seed=1)
        assert math.isnan(agreement.alpha)
        assert math.isnan(agreement.high)
        assert math.isnan(krippendorff_alpha(votes, level="nominal", seed=1).alpha)
