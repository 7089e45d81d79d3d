"""Whether conditions differ, if every subject met all of them (one-way, within)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from piecework.analyses.scores import cells
from piecework.analyses.sphericity import Sphericity, sphericity


@dataclass(frozen=True, kw_only=True)
class RepeatedMeasures:
    """The table of an analysis of variance with repeated measures.

    Attributes:
        conditions: index `condition`, sorted: `mean`, `sd` (n - 1) over subjects.
        subjects: the number of subjects that met all conditions.
        left_out: the number of subjects that did not, and do not count.
        f: NaN if neither conditions nor residuals vary; infinite if only conditions do.
        df: degrees of freedom of the conditions, their number less one.
        df_error: degrees of freedom of the residuals.
        p_value: of `f`, if sphericity holds.
        sphericity: Greenhouse and Geisser's epsilon, and Mauchly's test.
        df_corrected: `df` times epsilon.
        df_error_corrected: `df_error` times epsilon.
        p_corrected: of `f` with corrected degrees of freedom: the one to report.
        eta_squared_generalised: the conditions' share of all sums of squares, including
            subjects: comparable between designs.
        eta_squared_partial: the conditions' share of their own and the residual sum of
            squares.
    """

    conditions: pd.DataFrame
    subjects: int
    left_out: int
    f: float
    df: int
    df_error: int
    p_value: float
    sphericity: Sphericity
    df_corrected: float
    df_error_corrected: float
    p_corrected: float
    eta_squared_generalised: float
    eta_squared_partial: float


def repeated_measures(scores: pd.DataFrame) -> RepeatedMeasures:
    """Run a one-way analysis of variance with repeated measures.

    Generalised eta squared: S. Olejnik and J. Algina, Psychological Methods 8 (2003),
    doi:10.1037/1082-989X.8.4.434; R. Bakeman, Behavior Research Methods 37 (2005),
    doi:10.3758/BF03192707.

    Args:
        scores: columns `subject`, `condition`, `value` (see
            `piecework.analyses.scores`); subjects that lack a condition are left out.

    Raises:
        ValueError: there are fewer than two conditions, or than two subjects that met
            all.
    """
    table = cells(scores)
    complete = table.dropna()
    subjects, conditions = complete.shape
    if subjects < 2 or conditions < 2:  # noqa: PLR2004 - nothing to compare
        raise ValueError(
            f"{subjects} subjects met all {conditions} conditions; two each are needed"
        )
    values = complete.to_numpy("float64")
    between, within, error = _sums_of_squares(values)
    df, df_error = conditions - 1, (conditions - 1) * (subjects - 1)
    f = _ratio(between / df, error / df_error)
    shape = sphericity(values)
    cut = shape.epsilon
    return RepeatedMeasures(
        conditions=pd.DataFrame({"mean": complete.mean(), "sd": complete.std()}),
        subjects=subjects,
        left_out=len(table) - subjects,
        f=f,
        df=df,
        df_error=df_error,
        p_value=float(stats.f.sf(f, df, df_error)),
        sphericity=shape,
        df_corrected=df * cut,
        df_error_corrected=df_error * cut,
        p_corrected=float(stats.f.sf(f, df * cut, df_error * cut)),
        eta_squared_generalised=_ratio(between, between + within + error),
        eta_squared_partial=_ratio(between, between + error),
    )


def _sums_of_squares(values: npt.NDArray[np.float64]) -> tuple[float, float, float]:
    """Sums of squares of conditions, subjects and residuals; rounding errors are 0."""
    subjects, conditions = values.shape
    mean = values.mean()
    by_condition, by_subject = values.mean(axis=0), values.mean(axis=1)
    residuals = values - by_condition[None, :] - by_subject[:, None] + mean
    sums = (
        subjects * float(np.square(by_condition - mean).sum()),
        conditions * float(np.square(by_subject - mean).sum()),
        float(np.square(residuals).sum()),
    )
    noise = np.finfo(float).eps * float(np.square(values).sum())
    between, within, error = (total if total > noise else 0.0 for total in sums)
    return between, within, error


def _ratio(above: float, below: float) -> float:
    if below == 0.0:
        return float("nan") if above == 0.0 else float("inf")
    return above / below
