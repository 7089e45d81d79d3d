"""Options of two workers about one item, against counting pair by pair."""

from collections import Counter
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from piecework.analyses.kappa import option_pairs

OPTIONS = ["a", "b", "c"]


def _options(value: object) -> set[object]:
    return {*value} if isinstance(value, tuple) else {value}


def _by_hand(votes: pd.DataFrame) -> list[list[int]]:
    counts: Counter[frozenset[object]] = Counter()
    for _, rows in votes.groupby("item_id"):
        for value, other in combinations(rows["value"], 2):
            first, second = _options(value), _options(other)
            counts.update(frozenset((x,)) for x in first & second)
            counts.update(frozenset((x, y)) for x in first - second for y in second - first)
    return [[counts[frozenset((x, y))] for y in OPTIONS] for x in OPTIONS]


@pytest.mark.parametrize("several", [False, True])
def test_pairs_are_those_that_one_counts(*, several: bool) -> None:
    """200 random answers about 40 items, with a single option or several."""
    rng = np.random.default_rng(3)

    def value() -> object:
        if not several:
            return str(rng.choice(OPTIONS))
        return tuple(option for option in OPTIONS if rng.random() < 0.5)

    votes = pd.DataFrame(
        [(f"i{n % 40}", f"w{n // 40}", value()) for n in range(200)],
        columns=["item_id", "worker", "value"],
    )
    pairs = option_pairs(votes, OPTIONS)
    assert pairs.tolist() == _by_hand(votes)
    assert (pairs == pairs.T).all()


def test_full_agreement_on_several_ticks_is_no_confusion() -> None:
    """Both tick a and b; nor is a tick more of another option a confusion."""
    ticks = [
        ("i", "x", ("a", "b")),
        ("i", "y", ("a", "b")),
        ("j", "x", ("a",)),
        ("j", "y", ("a", "b")),
    ]
    votes = pd.DataFrame(ticks, columns=["item_id", "worker", "value"])
    assert option_pairs(votes, OPTIONS).tolist() == [[2, 0, 0], [0, 1, 0], [0, 0, 0]]


def test_unknown_values_and_no_answers_are_no_pairs() -> None:
    """A missing value, a value that is no option, and an empty table."""
    votes = pd.DataFrame({"item_id": ["i", "i"], "worker": ["x", "y"], "value": ["", None]})
    assert not option_pairs(votes, OPTIONS).any()
    assert option_pairs(votes.iloc[:0], OPTIONS).shape == (3, 3)
