"""Laws of votes that are counted and weighed."""

import math
from collections import Counter, defaultdict
from fractions import Fraction

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.analyses.votes import accuracy, majority, weighted_majority
from tests.analyses.ballots import ballots, votes_of, votes_on
from tests.examples import examples


def test_a_majority_a_tie_and_one_voter() -> None:
    """Two of three; one against one; one of one."""
    labels = majority(votes_on("aab", "ba", "c"))
    assert labels["leaders"].tolist() == [("a",), ("a", "b"), ("c",)]
    assert labels["votes"].tolist() == [3, 2, 1]
    assert labels["share"].tolist() == [pytest.approx(2 / 3), 0.5, 1.0]
    assert labels["value"].iloc[[0, 2]].tolist() == ["a", "c"]
    assert pd.isna(labels["value"].iloc[1])


def by_hand(votes: pd.DataFrame, weights: dict[str, int]) -> dict[str, tuple[str, ...]]:
    """Leaders by adding whole numbers in a loop."""
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    for item, worker, value in votes.to_numpy().tolist():
        sums[item][value] += weights[worker]
    return {
        item: tuple(sorted(v for v in counts if counts[v] == max(counts.values())))
        for item, counts in sums.items()
    }


@examples(25)
@given(ballots())
def test_the_majority_is_what_counting_by_hand_gives(votes: pd.DataFrame) -> None:
    """Leaders, and their share of the votes."""
    labels = majority(votes)
    assert labels["leaders"].to_dict() == by_hand(votes, dict.fromkeys(WORKERS, 1))
    for item, row in labels.iterrows():
        values = votes.loc[votes["item_id"] == item, "value"]
        assert row["share"] == pytest.approx((values == row["leaders"][0]).mean())
        assert row["votes"] == len(values)


WORKERS = [f"w{place}" for place in range(5)]


@examples(25)
@given(ballots(), st.lists(st.integers(0, 3), min_size=5, max_size=5))
def test_weights_are_added(votes: pd.DataFrame, whole: list[int]) -> None:
    """Tenths that are added as floats give the leaders that whole numbers give."""
    weights = dict(zip(WORKERS, whole, strict=True))
    tenths = pd.Series({worker: weight / 10 for worker, weight in weights.items()})
    labels = weighted_majority(votes, tenths)
    assert labels["leaders"].to_dict() == by_hand(votes, weights)


@examples(25)
@given(ballots())
def test_equal_weights_are_the_majority(votes: pd.DataFrame) -> None:
    """Whatever the weight, if all have the same, a third among them."""
    equal = pd.Series(1 / 3, index=WORKERS)
    pd.testing.assert_frame_equal(weighted_majority(votes, equal), majority(votes))


def test_weights_that_only_rounding_tells_apart_are_tied() -> None:
    """A tenth and two tenths are three tenths, though not in binary."""
    votes = votes_of(("i", "ann", "x"), ("i", "bob", "x"), ("i", "cid", "y"))
    labels = weighted_majority(votes, pd.Series({"ann": 0.1, "bob": 0.2, "cid": 0.3}))
    assert labels["leaders"].tolist() == [("x", "y")]


def test_weightless_votes_are_all_tied() -> None:
    """Nobody of weight has spoken: both values lead, with half each."""
    votes = votes_of(("i", "ann", "x"), ("i", "bob", "y"))
    labels = weighted_majority(votes, pd.Series({"ann": 0.0, "bob": 0.0}))
    assert labels["leaders"].tolist() == [("x", "y")]
    assert labels["share"].tolist() == [0.5]


def test_weights_that_mean_nothing_are_refused() -> None:
    """A worker without weight, a negative one, and one that is no number."""
    votes = votes_of(("i", "ann", "x"))
    with pytest.raises(ValueError, match="no weight for 1 workers, first 'ann'"):
        weighted_majority(votes, pd.Series({"bob": 1.0}))
    for weight in (-1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="finite"):
            weighted_majority(votes, pd.Series({"ann": weight}))


def test_a_tie_counts_as_one_guess() -> None:
    """Right, one of two, one of three, wrong: (1 + 1/2 + 1/3 + 0)/4 = 11/24."""
    labels = majority(votes_on("a", "ab", "abc", "b"))
    gold = pd.Series("a", index=[*labels.index, "never asked"])
    assert accuracy(labels, gold) == pytest.approx(float(Fraction(11, 24)))
    assert math.isnan(accuracy(labels, gold.loc[["never asked"]]))
    assert math.isnan(accuracy(majority(votes_of()), gold))
