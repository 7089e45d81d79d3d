"""Laws of mean ratings."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from scipy import stats

from piecework.analyses.condition_scores import mean_ratings
from tests.analyses.measured import Floats, tables
from tests.examples import examples


def ratings_of(table: Floats) -> pd.DataFrame:
    """Items x ratings of one condition."""
    rows = [(f"i{item}", "c", value) for item, values in enumerate(table) for value in values]
    return pd.DataFrame(rows, columns=["item_id", "condition", "value"])


@examples(25)
@given(tables)
def test_the_interval_is_student_s_over_items(table: Floats) -> None:
    """As scipy's one-sample test of the items' means has it."""
    row = mean_ratings(ratings_of(table)).loc["c"]
    assert row["mean"] == pytest.approx(table.mean())
    assert row["sd"] == pytest.approx(table.std(ddof=1))
    assert (row["ratings"], row["items"]) == (table.size, len(table))
    means = table.mean(axis=1)
    if np.ptp(means) == 0:
        assert row["low"] == pytest.approx(row["high"])
    else:
        interval = stats.ttest_1samp(means, 0).confidence_interval(0.95)
        assert (row["low"], row["high"]) == pytest.approx((interval.low, interval.high))


def test_an_item_counts_once_however_often_it_was_rated() -> None:
    """Item a five times 5, item b once 1: the mean is 3; a missing one is no rating."""
    frame = pd.DataFrame(
        {"item_id": ["a"] * 5 + ["b", "c"], "condition": "x", "value": [5.0] * 5 + [1.0, math.nan]}
    )
    row = mean_ratings(frame).loc["x"]
    assert (row["mean"], row["ratings"], row["items"]) == (3, 6, 2)


def test_one_item_has_no_interval_and_a_frame_needs_its_columns() -> None:
    """NaN ends, the mean itself; what is missing is named."""
    table = mean_ratings(ratings_of(np.array([[1.0, 2.0]])))
    assert table["mean"].tolist() == [1.5]
    assert table["low"].isna().all()
    with pytest.raises(ValueError, match="no column condition"):
        mean_ratings(pd.DataFrame({"item_id": [], "value": []}))
