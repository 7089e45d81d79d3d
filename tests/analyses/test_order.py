"""Laws of what is shown first."""

import math
from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from piecework.analyses.page_effects import first_side_advantage, position_effect


def shown(orders: list[tuple[str, ...]], values: list[tuple[float, ...]]) -> pd.DataFrame:
    """A unit an order: which condition stood where, and how it was rated there."""
    rows = [
        (f"u{unit}", condition, position, value)
        for unit, (order, ratings) in enumerate(zip(orders, values, strict=True))
        for position, (condition, value) in enumerate(zip(order, ratings, strict=True))
    ]
    return pd.DataFrame(rows, columns=["unit", "condition", "position", "value"])


def drawn(seed: int, *, units: int, first_bonus: float) -> pd.DataFrame:
    """Conditions worth 1, 3 and 5 in shuffled order; the first place adds something."""
    chance = np.random.default_rng(seed)
    worth = {"a": 1.0, "b": 3.0, "c": 5.0}
    orders = [tuple(chance.permutation(list(worth)).tolist()) for _ in range(units)]
    values = [
        tuple(
            worth[name] + chance.normal() + first_bonus * (place == 0)
            for place, name in enumerate(order)
        )
        for order in orders
    ]
    return shown(orders, values)


def test_all_shuffles_listed_give_the_same_p_value() -> None:
    """Three units of two places: 8 orders, each as likely; the sample comes near."""
    ratings = shown([("a", "b"), ("b", "a"), ("a", "b")], [(4, 2), (5, 1), (3, 3)])
    rest = ratings["value"] - ratings.groupby("condition")["value"].transform("mean")
    table = rest.to_numpy().reshape(3, 2)

    def between(rows: list[tuple[float, ...]]) -> float:
        return float(np.square(np.array(rows).sum(axis=0)).sum())

    seen = between([tuple(row) for row in table])
    every = [between(list(rows)) for rows in product(*map(permutations, table))]
    exact = np.mean([value >= seen - 1e-9 for value in every])
    effect = position_effect(ratings, seed=1, shuffles=4000)
    assert effect.p_value == pytest.approx(exact, abs=0.03)


def test_a_place_that_flatters_is_found_and_what_stood_there_is_not_blamed() -> None:
    """Half a point for the first of three; its mean beyond the condition's is +1/3."""
    effect = position_effect(drawn(3, units=300, first_bonus=0.5), seed=1)
    assert effect.p_value < 0.01
    beyond = effect.positions["beyond"]
    assert beyond.to_numpy() == pytest.approx([1 / 3, -1 / 6, -1 / 6], abs=0.1)
    assert effect.positions["ratings"].tolist() == [300, 300, 300]


@pytest.mark.full
def test_without_an_effect_p_values_are_even() -> None:
    """Eighty campaigns without one: one set in a hundred would fail by chance."""
    campaigns = [drawn(1000 + seed, units=12, first_bonus=0) for seed in range(80)]
    seen = [
        position_effect(ratings, seed=seed, shuffles=99).p_value
        for seed, ratings in enumerate(campaigns)
    ]
    assert stats.kstest(seen, "uniform").pvalue > 0.01


def test_the_same_seed_gives_the_same_p_value() -> None:
    """And the order of rows does not matter."""
    ratings = drawn(5, units=20, first_bonus=0.3)
    effect = position_effect(ratings, seed=4, shuffles=200)
    turned = position_effect(ratings.iloc[::-1], seed=4, shuffles=200)
    assert effect.p_value == turned.p_value


def test_units_that_lack_a_place_are_left_out() -> None:
    """Of two units one has a single rating; nothing to shuffle is refused."""
    ratings = shown([("a", "b"), ("b", "a")], [(4, 2), (5, math.nan)])
    effect = position_effect(ratings, seed=1, shuffles=10)
    assert (effect.units, effect.left_out) == (1, 1)
    with pytest.raises(ValueError, match="no unit"):
        position_effect(ratings.iloc[[0, 2]].assign(position=[0, 1]), seed=1)
    with pytest.raises(ValueError, match="no column position"):
        position_effect(ratings.drop(columns="position"), seed=1)


def test_constant_ratings_show_no_effect() -> None:
    """All as much as was seen: p is 1."""
    ratings = shown([("a", "b"), ("b", "a")], [(3, 3), (3, 3)])
    assert position_effect(ratings, seed=1, shuffles=50).p_value == 1


def test_the_first_side_s_wins_are_a_sign_test() -> None:
    """Five of five: 2/2**5 is 1/16; ties do not count; nothing decided is 1."""
    outcomes = pd.DataFrame({"outcome": ["first"] * 5 + ["tie"] * 3})
    assert first_side_advantage(outcomes) == pytest.approx((5, 0, 1 / 16))
    assert first_side_advantage(outcomes.iloc[5:]) == (0, 0, 1.0)
