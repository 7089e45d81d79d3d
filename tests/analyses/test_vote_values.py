"""How probable votes are by the votes of others."""

import numpy as np
import pytest

from piecework.analyses.dawid_skene import Floats, Places, beliefs_of_others


def vote_values(items: Places, workers: Places, votes: Places) -> Floats:
    """The probability of each vote by the others'."""
    return beliefs_of_others(items, workers, votes)[np.arange(len(votes)), votes]


def test_a_vote_is_worth_what_the_others_say() -> None:
    """Three workers and one item: two yes and one no.

    The others of a yes are a yes and a no, so the shares of the votes decide; the
    others of the no are two yes.
    """
    values = vote_values(np.zeros(3, int), np.arange(3), np.array([0, 0, 1]))
    assert values[0] == values[1]
    assert 0.5 < values[0] < 0.7
    assert values[2] < 0.1


def test_a_worker_who_guesses_has_votes_of_little_worth() -> None:
    """Six are right nine times in ten, and one tosses a coin."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 200)
    votes = [np.where(rng.random(200) < 0.9, truth, 1 - truth) for _ in range(6)]
    votes.append(rng.integers(0, 2, 200))
    items = np.tile(np.arange(200), 7)
    workers = np.repeat(np.arange(7), 200)
    values = vote_values(items, workers, np.concatenate(votes))
    means = np.bincount(workers, values) / 200
    assert means[6] == pytest.approx(0.5, abs=0.1)
    assert (means[:6] > 0.8).all()


def test_a_rare_value_stays_possible() -> None:
    """Two of three votes for a value with one item in a hundred win that item."""
    items = np.repeat(np.arange(100), 3)
    workers = np.tile(np.arange(3), 100)
    votes = np.zeros(300, int)
    votes[:2] = 1
    values = vote_values(items, workers, votes)
    assert values[0] > 0.01
    assert values[2] < 0.5


def test_a_single_value_is_certain() -> None:
    """With one option there is nothing to doubt."""
    assert vote_values(np.arange(2), np.arange(2), np.zeros(2, int)).tolist() == [1, 1]
