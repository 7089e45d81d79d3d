"""Laws of pairs of conditions: that they differ, and that they do not."""

import math

import numpy as np
import pytest
from hypothesis import given
from scipy import stats

from piecework.analyses.within_subject import equivalence_tests, paired_t_tests
from tests.analyses.measured import Floats, scores_of, simulated, tables
from tests.examples import examples

few = examples(25)


@few
@given(tables)
def test_each_pair_is_scipy_s_paired_test(table: Floats) -> None:
    """Statistic, p-value and interval; Bonferroni multiplies by the number of pairs."""
    tests = paired_t_tests(scores_of(table))
    assert len(tests) == math.comb(table.shape[1], 2)
    for row in tests.to_dict("records"):
        first, other = (table[:, int(str(row[side])[1:])] for side in ("first", "second"))
        if np.ptp(first - other) == 0:
            assert math.isnan(row["t"])
            assert math.isnan(row["p_adjusted"])
            continue
        test = stats.ttest_rel(first, other)
        assert row["t"] == pytest.approx(test.statistic)
        assert row["p_value"] == pytest.approx(test.pvalue)
        assert row["p_adjusted"] == pytest.approx(min(1, test.pvalue * len(tests)))
        interval = test.confidence_interval(0.95)
        assert (row["low"], row["high"]) == pytest.approx((interval.low, interval.high))
        assert row["d"] == pytest.approx(test.statistic / math.sqrt(len(table)))


@few
@given(tables)
def test_each_equivalence_is_two_one_sided_tests(table: Floats) -> None:
    """As scipy's one-sided tests on shifted scores; the interval says the same."""
    margin = 3.0
    tests = equivalence_tests(scores_of(table), margin=margin)
    for row in tests.to_dict("records"):
        first, other = (table[:, int(str(row[side])[1:])] for side in ("first", "second"))
        if np.ptp(first - other) == 0:
            assert math.isnan(row["p_value"])
            continue
        low = stats.ttest_rel(first + margin, other, alternative="greater").pvalue
        high = stats.ttest_rel(first - margin, other, alternative="less").pvalue
        assert row["p_below"] == pytest.approx(low, abs=1e-12)
        assert row["p_above"] == pytest.approx(high, abs=1e-12)
        assert row["p_value"] == pytest.approx(max(low, high), abs=1e-12)
        is_inside = -margin < row["low"] and row["high"] < margin
        assert is_inside == (row["p_value"] < 0.05)


def test_no_difference_found_is_not_the_same_as_shown() -> None:
    """Four people: neither test says anything. Sixty-one: the same is shown."""
    few_people = np.array([[50.0, 52], [40, 45], [61, 55], [33, 30]])
    many = np.repeat(simulated(1)[:, :1], 2, axis=1)
    many[:, 1] += np.random.default_rng(1).normal(0, 2, size=len(many))
    assert paired_t_tests(scores_of(few_people))["p_value"].iloc[0] > 0.05
    small = equivalence_tests(scores_of(few_people), margin=2)
    large = equivalence_tests(scores_of(many), margin=2)
    assert small["p_value"].iloc[0] > 0.05
    assert large["p_value"].iloc[0] < 0.001


def test_one_subject_says_nothing_and_missing_cells_leave_pairs_out() -> None:
    """c0 and c1 were both met by one, c0 and c2 by three, c1 and c2 by one."""
    nan = math.nan
    scores = scores_of([[1, 2, 3], [2, nan, 5], [4, nan, 8]])
    tests = paired_t_tests(scores).set_index(["first", "second"])
    assert tests["pairs"].tolist() == [1, 3, 1]
    assert tests["difference"].tolist() == [-1, -3, -1]
    # Differences -2, -3, -4: sd 1, so t = -3 * root 3.
    assert tests["t"].tolist()[1] == pytest.approx(-3 * math.sqrt(3))
    assert math.isnan(tests["t"].tolist()[0])
    same = equivalence_tests(scores, margin=5)
    assert same["pairs"].tolist() == [1, 3, 1]
    assert math.isnan(same["p_value"].iloc[0])


def test_differences_that_only_rounding_tells_apart_are_equal() -> None:
    """Each a fifth: no spread, so nothing to test, and no tiny p-value."""
    scores = scores_of([[0.1, 0.3], [0.2, 0.4], [0.7, 0.9]])
    assert paired_t_tests(scores)["t"].isna().all()
    assert paired_t_tests(scores)["difference"].tolist() == [pytest.approx(-0.2)]
    assert equivalence_tests(scores, margin=1)["p_value"].isna().all()


def test_a_single_condition_has_no_pairs() -> None:
    """An empty table with its columns."""
    assert paired_t_tests(scores_of([[1], [2]])).empty
    assert equivalence_tests(scores_of([[1], [2]]), margin=1).empty


@pytest.mark.parametrize(("margin", "alpha"), [(0, 0.05), (-1, 0.05), (1, 0.5), (1, 0)])
def test_margins_that_mean_nothing_are_refused(margin: float, alpha: float) -> None:
    """Nothing is nearer than no distance; half leaves no interval."""
    with pytest.raises(ValueError, match="margin must be positive"):
        equivalence_tests(scores_of([[1, 2], [2, 2]]), margin=margin, alpha=alpha)
