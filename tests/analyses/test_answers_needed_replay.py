"""Replays of votes with labels of models, and with shuffled ones."""

import numpy as np
import pandas as pd
import pytest

from piecework.analyses.answers_needed import Replay, Replays, replays, saved, shuffled
from piecework.domain.campaign import AsNeeded
from tests.analyses.test_labels_from_votes import crowd
from tests.analyses.test_machine_labels import VALUES, model

RULE = AsNeeded(most=5, until=0.9)


def test_a_good_model_saves_votes_and_a_shuffled_one_does_not() -> None:
    """People give five votes to each of the items; a model is right about nine in ten.

    Nothing is lacking: as many votes were kept as the rule may ask for.
    """
    votes, truth = crowd(each=5, seed=7)
    made = replays([(votes, VALUES)], 0, model(truth, 0.9, seed=1), RULE, least=1, seed=3)
    alone, helped, misled = (
        replay.asked.mean() for replay in (made.people, made.models, made.shuffled)
    )
    assert helped < 0.8 * alone
    assert misled == pytest.approx(alone, rel=0.1)
    assert made.people.lacking == made.models.lacking == 0
    assert made.comparable <= len(truth)
    assert made.models.same > 0.85 * made.comparable
    assert (made.models.asked.between(1, 5)).all()


def test_votes_that_were_not_kept_are_counted_as_lacking() -> None:
    """With two votes each, every item that is not sure after them lacks more."""
    votes, truth = crowd(each=2, seed=7)
    made = replays([(votes, VALUES)], 0, model(truth, 0.9, seed=1), RULE, least=1, seed=3)
    for replay in (made.people, made.models, made.shuffled):
        assert replay.asked.max() == 2
        assert replay.lacking == int((~replay.is_sure).sum())
    assert made.models.lacking < made.people.lacking


def test_models_are_shuffled_alike() -> None:
    """The labels of each model stay as frequent, and the models agree as before."""
    truth = pd.Series(["0", "1"] * 10, index=[f"i{n}" for n in range(20)])
    both = pd.concat([model(truth, 0.8, seed=1), model(truth, 0.8, seed=1, name="copy")])
    table = shuffled(both, seed=5).pivot_table(
        index="item_id", columns="model", values="value", aggfunc="first"
    )
    assert (table["m"] == table["copy"]).all()
    assert table["m"].value_counts().to_dict() == (
        model(truth, 0.8, seed=1)["value"].value_counts().to_dict()
    )
    before = both[both["model"] == "m"].set_index("item_id")["value"]
    assert (table["m"].reindex(before.index) != before).any()


def asked(votes: list[int], *, lacking: bool = False) -> Replay:
    """A replay of 400 items; if any lack votes, all do."""
    numbers = pd.Series(np.tile(votes, 400 // len(votes)), index=range(400))
    lack = pd.Series(lacking, index=numbers.index)
    return Replay(asked=numbers, is_sure=~lack, is_lacking=lack, same=400)


def made_up(people: Replay, models: Replay) -> Replays:
    """Replays with these two; the third is not looked at."""
    rule = AsNeeded(most=8, until=0.9)
    return Replays(
        rule=rule, least=1, comparable=400, people=people, models=models, shuffled=people
    )


def test_the_interval_of_what_is_saved_contains_it() -> None:
    """Of 4 votes each, 1 or 3 are asked for: half is saved.

    The share saved of an item is 3/4 or 1/4, so over 400 items the standard error is
    0.25 / 20 = 0.0125, and the interval 0.5 plus or minus 0.0245.
    """
    made = made_up(asked([4]), asked([1, 3]))
    lowest, highest, low, high = saved(made, made.models, seed=1)
    assert lowest == highest == 0.5
    assert (low, high) == pytest.approx((0.4755, 0.5245), abs=0.003)


def test_votes_that_are_lacking_make_bounds_of_what_is_saved() -> None:
    """People alone ask for 4 votes, or for up to 8; with models for 2, or for 8.

    1 - 2/4, at most 1 - 2/8; if models lack votes too, at least 1 - 8/4.
    """
    made = made_up(asked([4], lacking=True), asked([2]))
    assert saved(made, made.models, seed=1) == (0.5, 0.75, 0.5, 0.75)
    made = made_up(asked([4], lacking=True), asked([2], lacking=True))
    assert saved(made, made.models, seed=1)[:2] == (-1.0, 0.75)
