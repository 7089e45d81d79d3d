"""Laws of the effect of pages that were drawn at random for HITs."""

import numpy as np
import pandas as pd
import pytest

from piecework.analyses.page_effects import Effect, effects

LEVELS = ("allowed", "blocked")


def texts(
    *, seed: int = 1, effect: float = 0.0, of_worker: float = 0.0, hits: int = 30, workers: int = 15
) -> pd.DataFrame:
    """Texts of HITs that took five workers each; HITs alternate between two pages."""
    rng = np.random.default_rng(seed)
    habits = of_worker * rng.standard_normal(workers)
    rows = []
    for hit in range(hits):
        page = LEVELS[hit % 2]
        for worker in rng.choice(workers, 5, replace=False).tolist():
            value = habits[worker] + rng.standard_normal()
            rows.append((f"h{hit}", f"w{worker}", page, value))
    table = pd.DataFrame(rows, columns=["hit", "worker", "paste", "value"])
    return table.assign(value=table["value"] + effect * (table["paste"] == "blocked"))


def only(table: pd.DataFrame, *, seed: int = 1) -> Effect:
    """The effect of the other page."""
    (effect,) = effects(table, "paste", LEVELS, "value", seed=seed)
    return effect


def test_means_and_difference_are_those_of_the_texts() -> None:
    """Recomputed by pandas; a text without a value is left out."""
    table = texts(effect=1.0)
    table.loc[3, "value"] = np.nan
    effect = only(table)
    means = table.groupby("paste")["value"].mean()
    assert effect.base == pytest.approx(means["allowed"])
    assert effect.mean == pytest.approx(means["blocked"])
    assert effect.low < effect.difference < effect.high
    assert effect.p == pytest.approx(1 / 1001, abs=0.01)


def test_few_hits_or_workers_compare_nothing() -> None:
    """Five HITs for each page, and ten workers."""
    assert effects(texts(hits=8), "paste", LEVELS, "value", seed=1) == []
    assert effects(texts(workers=9), "paste", LEVELS, "value", seed=1) == []
    three = (*LEVELS, "discouraged")
    assert effects(texts(), "paste", three, "value", seed=1) == []


def test_what_a_workers_texts_share_widens_the_interval() -> None:
    """If workers heed a page differently, many texts by few workers tell less."""
    table = texts(hits=200)
    heeds = {f"w{number}": 3.0 * (number % 2) for number in range(15)}
    table["value"] += table["worker"].map(heeds) * (table["paste"] == "blocked")
    own = only(table)
    sides = [side for _, side in table.groupby("paste")["value"]]
    independent = 2 * 1.96 * sum(side.var() / len(side) for side in sides) ** 0.5
    assert own.high - own.low > 1.5 * independent


@pytest.mark.full
def test_intervals_cover_and_p_is_not_too_small() -> None:
    """Without an effect, in 60 experiments with strong habits of workers."""
    made = [only(texts(seed=seed, of_worker=2.0)) for seed in range(60)]
    assert sum(own.low <= 0 <= own.high for own in made) >= 54
    assert sum(own.p <= 0.1 for own in made) <= 12
