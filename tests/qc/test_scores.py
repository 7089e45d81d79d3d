"""Laws of what heuristics share."""

import math
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest

from piecework.qc.scores import grade, is_first, measure_text, quoted
from tests.qc.tables import START, row, table


def test_suspicion_is_a_half_at_the_limit_and_grows_beyond() -> None:
    """By the formula: 3/4 limit 0, 7/8 limit 1/4, limit 1/2, twice 1 - 1/4, ever 1."""
    measure = [3.0, 3.5, 4.0, 8.0, np.inf]
    flag = np.array([False, False, True, True, True])
    assert grade(measure, 4.0, flag=flag).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_no_measure_is_no_suspicion() -> None:
    """NaN says nothing, and a limit of 0 cannot be compared with."""
    assert grade([np.nan], 1.0, flag=np.array([False])).tolist() == [0.0]
    assert grade([1.0, 0.0], 0.0, flag=np.array([True, False])).tolist() == [0.5, 0.0]


def test_measures_without_end_are_certain() -> None:
    """A huge measure over a limit near zero is 1, and nothing warns."""
    flag = np.array([True, True])
    assert grade([1.7e308, np.inf], 1e-300, flag=flag).tolist() == [1.0, 1.0]


def test_verdict_and_suspicion_never_contradict_each_other() -> None:
    """Who has no flag is at 0.5 at most, however large his measure."""
    flag = np.array([False, True])
    assert grade([9.0, 0.1], 1.0, flag=flag).tolist() == [0.5, 0.5]


def test_the_first_answer_is_the_earliest_and_then_the_least_id() -> None:
    """Submitted first wins; at the same moment, the least answer id."""
    same = {"worker_id": "w", "item_id": "i"}
    late = {"submitted_at": START + timedelta(hours=2)}
    answers = table(row("a", **same, **late), row("c", **same), row("b", **same))
    assert is_first(answers).to_dict() == {"a": False, "b": True, "c": False}


def test_answers_of_unknown_workers_are_all_first() -> None:
    """Two answers without a worker may well come from two people."""
    same = {"worker_id": "", "item_id": "i"}
    assert is_first(table(row("a", **same), row("b", **same))).all()


@pytest.mark.parametrize("text", ["a" * 200, "two\nlines", ""])
def test_quoted_text_is_one_short_line(text: str) -> None:
    """Evidence stays readable whatever was typed."""
    quotation = quoted(text, longest=80)
    assert "\n" not in quotation
    assert len(quotation) <= 82


def test_first_of_an_empty_table_is_empty() -> None:
    """No answers, none of them first."""
    firsts = is_first(table())
    assert isinstance(firsts, pd.Series)
    assert firsts.empty


def test_a_measure_beyond_a_limit_never_reads_as_the_limit() -> None:
    """1.9996 below 2 is told as that, and not as 2.0; at the limit it is the limit."""
    assert measure_text(1.9996, 2.0) == "1.9996"
    assert measure_text(2.0004, 2.0) == "2.0004"
    assert measure_text(2.0, 2.0) == "2.0"
    assert measure_text(0.4, 2.0) == "0.4"
    assert measure_text(math.inf, 2.0) == "inf"
