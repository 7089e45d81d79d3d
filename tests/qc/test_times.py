"""Laws of distances from the mean, checked against numpy's own arithmetic."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.qc.scores import logarithm, z_scores


def scored(values: list[float], *, least: int = 1) -> pd.DataFrame:
    """All values in one group."""
    series = pd.Series(values, dtype="float64")
    group = pd.Series(["g"] * len(values), dtype="str")
    return z_scores(series, group, counts=series > 0, least=least)


def test_distances_use_the_population_sd() -> None:
    """Of 2, 4, 4, 4, 5, 5, 7, 9 the mean is 5 and the population sd 2 (by hand)."""
    distances = scored([2, 4, 4, 4, 5, 5, 7, 9])
    assert distances["z"].tolist() == [-1.5, -0.5, -0.5, -0.5, 0.0, 0.0, 1.0, 2.0]


@given(st.lists(st.floats(min_value=0.1, max_value=1e5), min_size=2, max_size=9))
def test_no_distance_passes_the_root_of_n_minus_one(values: list[float]) -> None:
    """Samuelson's inequality: |z| <= sqrt(n - 1) with the population sd."""
    z = scored(values)["z"].abs().dropna()
    assert (z <= np.sqrt(len(values) - 1) + 1e-6).all()


@given(st.lists(st.floats(min_value=1, max_value=1e4), min_size=2, max_size=9))
def test_distances_agree_with_numpy(values: list[float]) -> None:
    """An independent computation finds the same, where there is any spread."""
    array = np.array(values)
    if array.std() > 1e-6 * array.mean():
        expected = (array - array.mean()) / array.std()
        assert scored(values)["z"].to_numpy() == pytest.approx(expected, abs=1e-6)


def test_what_does_not_count_is_still_compared() -> None:
    """0 has no part in the mean of 1 and 3 (2, sd 1), and is 2 sd below it."""
    assert scored([0.0, 1.0, 3.0])["z"].tolist() == [-2.0, -1.0, 1.0]


def test_without_spread_or_company_there_is_no_distance() -> None:
    """Equal values, one value, or fewer than are wanted: NaN."""
    assert scored([0.1, 0.1, 0.1])["z"].isna().all()
    assert scored([5.0])["z"].isna().all()
    assert scored([1.0, 2.0], least=3)["z"].isna().all()


def test_logarithms_are_of_positive_times_alone() -> None:
    """Zero and negative times have no logarithm, and nothing warns."""
    logs = logarithm(pd.Series([-1.0, 0.0, math.e]))
    assert logs.isna().tolist() == [True, True, False]
    assert logs.iloc[2] == pytest.approx(1.0)
