"""Whether sphericity holds between conditions, and how to correct if it does not.

The F test of repeated measures assumes that all contrasts of conditions have the same
variance and do not correlate (sphericity). Mauchly's W tests it; Greenhouse and
Geisser's epsilon says by how much to reduce the degrees of freedom.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats
from scipy.linalg import helmert

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sphericity:
    """How far a table of subjects by conditions is from sphericity.

    Attributes:
        epsilon: Greenhouse and Geisser's, from 1 / (conditions - 1) to 1 (spherical);
            NaN if nothing varies.
        w: Mauchly's, from 0 to 1 (spherical); always 1 with two conditions.
        p_value: the p-value of W; NaN with two conditions (nothing to test), if nothing
            varies, or with fewer subjects than conditions.
    """

    epsilon: float
    w: float
    p_value: float


def sphericity(table: Floats) -> Sphericity:
    """Compute epsilon and Mauchly's test.

    S. W. Greenhouse and S. Geisser, Psychometrika 24 (1959), doi:10.1007/BF02289823;
    J. W. Mauchly, Annals of Mathematical Statistics 11 (1940),
    doi:10.1214/aoms/1177731915, with the second-order term of its distribution
    (T. W. Anderson, An Introduction to Multivariate Statistical Analysis, 10.7).

    Args:
        table: subjects x conditions, at least two of each, nothing missing.
    """
    subjects, conditions = table.shape
    size = conditions - 1
    contrasts = table @ helmert(conditions).T
    spread = np.atleast_2d(np.cov(contrasts, rowvar=False))
    trace = float(np.trace(spread))
    if trace <= np.finfo(float).eps * float(np.square(table).sum()):
        return Sphericity(epsilon=float("nan"), w=float("nan"), p_value=float("nan"))
    epsilon = trace**2 / (size * float(np.square(spread).sum()))
    w = float(np.linalg.det(spread * (size / trace)))
    w = min(max(w, 0.0), 1.0)
    p_value = float("nan")
    if size > 1 and subjects > conditions - 1:
        p_value = _p_value(w, subjects - 1, size)
    return Sphericity(epsilon=min(epsilon, 1.0), w=w, p_value=p_value)


def _p_value(w: float, freedom: int, size: int) -> float:
    if w == 0.0:
        return 0.0
    rho = 1.0 - (2 * size**2 + size + 2) / (6 * size * freedom)
    second = ((size + 2) * (size - 1) * (size - 2) * (2 * size**3 + 6 * size**2 + 3 * size + 2)) / (
        288 * (freedom * size * rho) ** 2
    )
    z = -freedom * rho * np.log(w)
    terms = size * (size + 1) / 2 - 1
    first = stats.chi2.sf(z, terms)
    return float(np.clip(first + second * (stats.chi2.sf(z, terms + 4) - first), 0, 1))
