"""Laws of repeated measures."""

import math

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from hypothesis import assume, given
from scipy import stats

from piecework.analyses.within_subject import repeated_measures, sphericity
from tests.analyses.measured import Floats, scores_of, simulated, tables
from tests.examples import examples

few = examples(25)


def test_an_analysis_worked_by_hand() -> None:
    """Three subjects, two conditions: (1, 3), (2, 6), (3, 6).

    Means 2 and 5, all 3.5: conditions 3 * 2 * 1.5**2 = 13.5. Subjects 2, 4, 4.5: their
    squares from 3.5 are 2.25, .25 and 1, twice: 7. Total: 6.25 + 2.25 + .25 (the ones)
    + .25 + 6.25 + 6.25 = 21.5; left 1 on 2 degrees: F = 13.5/.5 = 27.
    """
    anova = repeated_measures(scores_of([[1, 3], [2, 6], [3, 6]]))
    assert anova.f == pytest.approx(27)
    assert (anova.df, anova.df_error) == (1, 2)
    assert anova.eta_squared_generalised == pytest.approx(13.5 / 21.5)
    assert anova.eta_squared_partial == pytest.approx(13.5 / 14.5)
    assert anova.conditions["mean"].tolist() == [2, 5]
    assert (anova.sphericity.epsilon, anova.sphericity.w) == (1, 1)
    assert math.isnan(anova.sphericity.p_value)


def f_by_least_squares(table: Floats) -> tuple[float, float, float]:
    """F, generalised eta squared, p: models with and without conditions are fitted."""
    subjects, conditions = table.shape
    who = np.kron(np.eye(subjects), np.ones((conditions, 1)))
    what = np.kron(np.ones((subjects, 1)), np.eye(conditions))
    flat = table.ravel()

    def unexplained(design: npt.NDArray[np.floating]) -> float:
        fitted, *_ = np.linalg.lstsq(design, flat, rcond=None)
        return float(np.square(flat - design @ fitted).sum())

    without, full = unexplained(who), unexplained(np.hstack([who, what]))
    df, df_error = conditions - 1, (conditions - 1) * (subjects - 1)
    f = ((without - full) / df) / (full / df_error)
    everything = float(np.square(flat - flat.mean()).sum())
    return f, (without - full) / everything, float(stats.f.sf(f, df, df_error))


def box_epsilon(table: Floats) -> float:
    """Epsilon as Box prints it, from the covariances of conditions themselves."""
    spread = np.cov(table, rowvar=False)
    k = len(spread)
    above = (k * (np.diag(spread).mean() - spread.mean())) ** 2
    below = (k - 1) * (
        np.square(spread).sum()
        - 2 * k * np.square(spread.mean(axis=1)).sum()
        + k**2 * spread.mean() ** 2
    )
    return float(above / below)


@few
@given(tables)
def test_f_is_what_fitting_two_models_gives(table: Floats) -> None:
    """Sums of squares by means, and by least squares with a column for everybody."""
    anova = repeated_measures(scores_of(table))
    assume(math.isfinite(anova.f))
    f, eta, p_value = f_by_least_squares(table)
    assert anova.f == pytest.approx(f, abs=1e-9)
    assert anova.eta_squared_generalised == pytest.approx(eta, abs=1e-9)
    assert anova.p_value == pytest.approx(p_value, abs=1e-9)


@few
@given(tables)
def test_epsilon_is_box_s_and_within_its_bounds(table: Floats) -> None:
    """From contrasts, and from covariances; from one over the contrasts to one."""
    anova = repeated_measures(scores_of(table))
    epsilon = anova.sphericity.epsilon
    assume(math.isfinite(epsilon))
    assert epsilon == pytest.approx(box_epsilon(table))
    assert 1 / anova.df - 1e-9 <= epsilon <= 1
    assert anova.df_corrected == pytest.approx(anova.df * epsilon)
    assert 0 <= anova.sphericity.w <= 1


@few
@given(tables)
def test_adding_to_a_subject_changes_nothing_but_his_level(table: Floats) -> None:
    """What people differ in altogether is no evidence about conditions."""
    anova = repeated_measures(scores_of(table))
    shifted = repeated_measures(scores_of(table + np.arange(len(table))[:, None]))
    assert shifted.f == pytest.approx(anova.f, nan_ok=True)
    assert shifted.p_corrected == pytest.approx(anova.p_corrected, nan_ok=True, abs=1e-9)


def test_two_conditions_are_a_paired_t_test() -> None:
    """F is t squared, with the same p-value."""
    table = simulated(2, subjects=12)[:, :2]
    anova = repeated_measures(scores_of(table))
    test = stats.ttest_rel(table[:, 0], table[:, 1])
    assert anova.f == pytest.approx(test.statistic**2)
    assert anova.p_value == pytest.approx(test.pvalue)


@pytest.mark.parametrize("shifts", [(0, 50), (0, 50, 1)])
def test_the_same_difference_for_everyone_is_infinitely_unlikely_by_chance(
    shifts: tuple[int, ...],
) -> None:
    """Two conditions are spherical by definition; with three, epsilon is unknown."""
    table = np.array([[20.0], [30.0], [10.0]]) + np.array(shifts)
    anova = repeated_measures(scores_of(table))
    assert (anova.f, anova.p_value, anova.p_corrected) == (math.inf, 0.0, 0.0)
    assert math.isnan(anova.sphericity.epsilon) == (len(shifts) > 2)
    alike = repeated_measures(scores_of(table[:, [0, 0]]))
    assert math.isnan(alike.f)
    assert math.isnan(alike.p_corrected)


def test_sixty_one_people_and_four_conditions() -> None:
    """Simulated; checked against least squares and Box, with corrected degrees."""
    table = simulated(61)
    anova = repeated_measures(scores_of(table))
    f, eta, _ = f_by_least_squares(table)
    epsilon = box_epsilon(table)
    assert (anova.subjects, anova.df, anova.df_error) == (61, 3, 180)
    assert anova.f == pytest.approx(f)
    assert anova.eta_squared_generalised == pytest.approx(eta)
    assert anova.df_error_corrected == pytest.approx(180 * epsilon)
    assert anova.p_corrected == pytest.approx(float(stats.f.sf(f, 3 * epsilon, 180 * epsilon)))
    assert anova.p_value < anova.p_corrected
    assert anova.sphericity.p_value < 0.001


def test_mauchly_is_exact_with_three_conditions() -> None:
    """With two contrasts, W to the power of (subjects - 2)/2 is its p-value."""
    for seed in range(10):
        table = simulated(seed, subjects=20)[:, 1:]
        estimate = sphericity(table)
        assert estimate.p_value == pytest.approx(estimate.w**9, abs=0.005)


def test_mauchly_s_p_values_are_even_where_sphericity_holds() -> None:
    """With few subjects, where the second term matters; one in a hundred would fail."""
    chance = np.random.default_rng(1)
    seen = [sphericity(chance.normal(size=(8, 6))).p_value for _ in range(1500)]
    assert stats.kstest(seen, "uniform").pvalue > 0.01


def test_several_scores_are_averaged_and_incomplete_subjects_left_out() -> None:
    """Subject s00 scores 0 and 2 for its 1; s03 never met c1."""
    scores = scores_of([[1, 3], [2, 6], [3, 6], [9, math.nan]])
    twice = scores.iloc[[0]].assign(value=2.0)
    scores.loc[0, "value"] = 0.0
    anova = repeated_measures(pd.concat([scores, twice]))
    assert anova.f == pytest.approx(27)
    assert (anova.subjects, anova.left_out) == (3, 1)


def test_constants_are_defined() -> None:
    """Nothing varies: F is NaN. Only conditions vary: F is infinite and p is 0."""
    flat = repeated_measures(scores_of(np.full((4, 3), 7.1)))
    assert math.isnan(flat.f)
    assert math.isnan(flat.eta_squared_generalised)
    assert math.isnan(flat.p_corrected)
    sure = repeated_measures(scores_of(np.tile([0.1, 0.2, 0.7], (4, 1))))
    assert (sure.f, sure.p_value) == (math.inf, 0)
    assert math.isnan(sure.sphericity.epsilon)


def test_too_little_to_compare_is_refused() -> None:
    """One subject, one condition, no column, no number."""
    with pytest.raises(ValueError, match="1 subjects met all 3"):
        repeated_measures(scores_of([[1, 2, 3]]))
    with pytest.raises(ValueError, match="met all 1 conditions"):
        repeated_measures(scores_of([[1], [2]]))
    with pytest.raises(ValueError, match="no column subject"):
        repeated_measures(pd.DataFrame({"condition": [], "value": []}))
    with pytest.raises(ValueError, match="finite"):
        repeated_measures(scores_of([[1, math.inf], [2, 3]]))
