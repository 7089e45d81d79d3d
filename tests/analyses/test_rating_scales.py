"""Items rated on scales that people use differently."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.analyses.rating_scales import rating_scales
from piecework.domain.imported import UNNAMED
from tests.analyses.ballots import votes_of


def crowd(*, each: int, seed: int, spread: float = 1.0) -> tuple[pd.DataFrame, pd.Series]:
    """Ratings of 300 items by 30 workers of known shift, range and noise; the truth."""
    draw = np.random.default_rng(seed)
    truth = draw.normal(0, 1, 300)
    shift = draw.normal(0, spread, 30)
    wide = np.clip(draw.normal(1, 0.4 * spread, 30), 0, 2)
    noise = np.exp(draw.normal(-0.5, 0.5 * spread, 30))
    rows = [
        (f"i{item}", f"w{worker}",
         3 + shift[worker] + wide[worker] * truth[item] + draw.normal(0, noise[worker]))
        for item in range(300)
        for worker in draw.choice(30, each, replace=False)
    ]  # fmt: skip
    known = pd.Series(truth, index=[f"i{item}" for item in range(300)])
    return votes_of(*rows), known


def means(ratings: pd.DataFrame) -> "pd.Series[float]":
    """The plain means."""
    return ratings.groupby("item_id")["value"].mean().astype("float64")


@pytest.mark.parametrize("each", [2, 3, 5, 10])
def test_items_are_nearer_the_truth_than_plain_means(each: int) -> None:
    """For three crowds; and the standard errors are those that are made."""
    for seed in (1, 2, 3):
        ratings, truth = crowd(each=each, seed=seed)
        items = rating_scales(ratings).items
        adjusted = items["adjusted"].corr(truth)
        assert adjusted > means(ratings).corr(truth) + 0.03
        # The usual worker's scale has the mean and range of the workers drawn.
        slope = np.polyfit(truth[items.index], items["adjusted"], 1)[0]
        left = items["adjusted"] - items["adjusted"].mean() - truth[items.index] * max(slope, 0.5)
        typical = float(np.sqrt(np.mean(items["error"] ** 2)))
        assert 0.5 * typical < left.std() < 1.6 * typical


def test_workers_are_described_as_they_rate() -> None:
    """Who is lenient, who uses little of the scale, and who rates at random."""
    draw = np.random.default_rng(5)
    rows = []
    for item in range(200):
        truth = draw.normal(0, 1)
        rows += [(f"i{item}", f"usual{n}", truth + draw.normal(0, 0.4)) for n in range(4)]
        rows += [
            (f"i{item}", "lenient", truth + 1.5 + draw.normal(0, 0.4)),
            (f"i{item}", "narrow", 0.3 * truth + draw.normal(0, 0.2)),
            (f"i{item}", "blind", draw.normal(0, 1)),
        ]
    workers = rating_scales(votes_of(*rows)).workers
    shift, wide = workers["shift"].to_dict(), workers["range"].to_dict()
    assert shift["lenient"] - shift["usual0"] == pytest.approx(1.5, abs=0.1)
    assert wide["narrow"] / wide["usual0"] == pytest.approx(0.3, abs=0.06)
    assert wide["blind"] < 0.2
    assert workers["noise"].idxmax() == "blind"


def test_where_workers_do_not_differ_little_is_adjusted() -> None:
    """The order of the items stays that of the means, nearly."""
    ratings, truth = crowd(each=5, seed=4, spread=0.0)
    adjusted = rating_scales(ratings).items["adjusted"]
    assert adjusted.corr(means(ratings)) > 0.995
    assert adjusted.corr(truth) > means(ratings).corr(truth) - 0.005


def test_ratings_without_differences_give_their_value() -> None:
    """And one rating, and none."""
    same = votes_of(*((f"i{n % 3}", f"w{n % 4}", 4.0) for n in range(12)))
    items = rating_scales(same).items
    assert items["adjusted"].tolist() == pytest.approx([4.0, 4.0, 4.0])
    assert (items["error"] < 1e-6).all()
    single = rating_scales(votes_of(("a", "w", 2.0))).items
    assert single["adjusted"].tolist() == pytest.approx([2.0])
    nothing = rating_scales(votes_of()).items
    assert nothing.empty
    assert list(nothing.columns) == ["adjusted", "error"]


def test_only_first_ratings_with_a_value_count() -> None:
    """As for every method on votes."""
    rows = [("a", "x", 1.0), ("a", "y", 3.0), ("b", "x", 2.0), ("b", "y", 5.0)]
    more = [*rows, ("a", "x", 9.0), ("b", "z", float("nan"))]
    pd.testing.assert_frame_equal(
        rating_scales(votes_of(*more)).items, rating_scales(votes_of(*rows)).items
    )


@pytest.mark.parametrize("name", ["", None, UNNAMED])
def test_people_without_a_name_are_usual_workers(name: str | None) -> None:
    """Nobody's shift is learnt from people who may all be different."""
    ratings, _ = crowd(each=4, seed=6)
    # An import gives each assignment that it cannot name another number.
    numbers = [f"{name}{n}" if name else name for n in range(len(ratings))]
    estimated = rating_scales(ratings.assign(worker=pd.Series(numbers)))
    assert estimated.workers.empty
    assert estimated.items["adjusted"].corr(means(ratings)) > 0.9999


@given(st.integers(0, 50), st.floats(-5, 5), st.floats(0.1, 10))
def test_another_scale_gives_the_same_estimate_on_it(seed: int, start: float, width: float) -> None:
    """Adding to all ratings, or stretching the scale, adds to or stretches items."""
    draw = np.random.default_rng(seed)
    rows = votes_of(
        *(
            (f"i{item}", f"w{worker}", float(draw.integers(1, 6)))
            for item in range(12)
            for worker in draw.choice(6, 3, replace=False)
        )
    )
    first = rating_scales(rows).items
    second = rating_scales(rows.assign(value=start + width * rows["value"])).items
    expected = start + width * first["adjusted"]
    assert second["adjusted"].tolist() == pytest.approx(expected.tolist(), abs=2e-2 * width)


def test_the_order_of_ratings_does_not_matter() -> None:
    """Not even in the last digits that a dataset has."""
    ratings, _ = crowd(each=3, seed=7)
    shuffled = ratings.sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(
        rating_scales(shuffled).items, rating_scales(ratings).items, atol=1e-6
    )
