"""Laws of two sides compared in grades."""

import math
from collections.abc import Sequence

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.analyses.paired_comparisons import preferences
from tests.examples import examples


def graded(**criteria: Sequence[float | None]) -> pd.DataFrame:
    """Grades by criterion."""
    rows = [(name, grade) for name, grades in criteria.items() for grade in grades]
    return pd.DataFrame(rows, columns=["criterion", "grade"])


def test_counts_shares_and_the_sign_test_by_hand() -> None:
    """Five decide, all for one side: 2/2**5 is 1/16; three criteria, so 3/16."""
    table = preferences(graded(detail=[2, 1, 1, 1, 2, 0, None], style=[1, -1], tone=[0, 0]))
    counts = table[["judgements", "better", "neutral", "worse"]]
    assert counts.to_numpy().tolist() == [[6, 5, 1, 0], [2, 1, 0, 1], [2, 0, 2, 0]]
    assert table["net"].tolist() == [pytest.approx(5 / 6), 0, 0]
    assert table["mean"].tolist() == [pytest.approx(7 / 6), 0, 0]
    assert table["p_value"].tolist() == [pytest.approx(1 / 16), 1, 1]
    assert table["p_adjusted"].tolist() == [pytest.approx(3 / 16), 1, 1]
    assert math.isnan(table["share"]["tone"])
    # Wilson, 1 of 2 decided: (1 + z*z/2 -+ z*root(1/2 + z*z/4)) / (2 + z*z), z = 1.96.
    assert table["low"]["style"] == pytest.approx(0.0945, abs=0.0001)
    assert table["high"]["style"] == pytest.approx(0.9055, abs=0.0001)


@examples(40)
@given(st.integers(0, 12), st.integers(0, 12))
def test_the_sign_test_counts_ways(better: int, worse: int) -> None:
    """Twice the ways that fall at least as far to the smaller side, of all ways."""
    table = preferences(graded(x=[1.0] * better + [-2.0] * worse + [0.0]))
    decided, fewer = better + worse, min(better, worse)
    ways = sum(math.comb(decided, fallen) for fallen in range(fewer + 1))
    expected = min(1.0, 2 * ways / 2**decided)
    assert table["p_value"]["x"] == pytest.approx(expected)


def test_what_is_no_grade_is_refused() -> None:
    """Infinity, and a frame without grades; an empty one is empty."""
    with pytest.raises(ValueError, match="finite"):
        preferences(graded(x=[math.inf]))
    with pytest.raises(ValueError, match="no column grade"):
        preferences(graded(x=[1])[["criterion"]])
    assert preferences(graded()).empty
