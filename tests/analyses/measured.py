"""Scores for tests: every subject under every condition, and frames of them."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

Floats = npt.NDArray[np.float64]

tables = st.tuples(st.integers(4, 9), st.integers(3, 5)).flatmap(
    lambda shape: arrays.arrays("int64", shape, elements=st.integers(0, 20))
)
"""Subjects x conditions."""


def scores_of(table: Floats | Sequence[Sequence[float]]) -> pd.DataFrame:
    """A scores frame of a table of subjects x conditions."""
    rows = [
        (f"s{subject:02}", f"c{condition}", value)
        for subject, values in enumerate(np.asarray(table, dtype="float64"))
        for condition, value in enumerate(values)
    ]
    return pd.DataFrame(rows, columns=["subject", "condition", "value"])


def simulated(seed: int, *, subjects: int = 61) -> Floats:
    """Ratings from 0 to 100 of four conditions whose differences vary unlike."""
    chance = np.random.default_rng(seed)
    person = chance.normal(0, 18, size=(subjects, 1))
    spread = np.array([6.0, 8.0, 14.0, 22.0])
    means = np.array([41.0, 54.0, 47.0, 43.0])
    drawn = means + person + chance.normal(0, 1, size=(subjects, 4)) * spread
    return np.asarray(np.clip(drawn, 0, 100))
