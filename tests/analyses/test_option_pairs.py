"""Options of two workers about one item, against counting pair by pair."""

from collections import Counter
from itertools import combinations
from time import process_time

import numpy as np
import pandas as pd
import pytest

from piecework.analyses.agreement import option_pairs

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


def test_only_options_that_are_ticked_together_are_looked_at_again() -> None:
    """Two thousand options, of which one worker ticked two, are two million pairs."""
    options = [f"o{n}" for n in range(2_000)]
    values = [(f"o{n % 2_000}",) for n in range(4_000)] + [("o0", "o1")]
    votes = pd.DataFrame(
        [(f"i{n % 100}", f"w{n}", value) for n, value in enumerate(values)],
        columns=["item_id", "worker", "value"],
    )
    begun = process_time()
    pairs = option_pairs(votes, options)
    assert process_time() - begun < 8
    # About i0, three workers ticked o0, one of them o1 as well, and two others o100.
    assert (pairs[0, 0], pairs[0, 1], pairs[0, 100]) == (3, 0, 6)
