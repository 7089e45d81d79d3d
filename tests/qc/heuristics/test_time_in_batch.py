"""Laws of outliers in time within a batch."""

from dataclasses import replace

import pandas as pd
import pytest

from piecework.qc.heuristics.time_in_batch import Params, score
from tests.qc.tables import NAN, evidence, flagged, row, table


def batch(*seconds: float, number: int = 1) -> list[dict[str, object]]:
    """One assignment of one item each, with these times."""
    return [
        row(f"b{number}.{place:02d}", batch=number, market_seconds=time)
        for place, time in enumerate(seconds)
    ]


def ids(*places: int, number: int = 1) -> set[str]:
    """The assignments at these places of a batch."""
    return {f"assignment-b{number}.{place:02d}" for place in places}


HEAVY = (1.0, *[30.0] * 9, *[60.0] * 9, 2000.0)
"""One fast, eighteen ordinary, one very slow: a long tail as real times have."""


def test_raw_times_never_find_the_fast_one() -> None:
    """HEAVY's mean is 2811/20 = 140.55 and its sd 427: the lower bound is negative."""
    answers = table(*batch(*HEAVY))
    assert flagged(score(answers, Params(scale="raw"))) == ids(19)


def test_log_times_find_both_ends() -> None:
    """In logs 1 s and 2000 s lie at 0 and 7.6 around a mean of 3.8, sd 1.3."""
    answers = table(*batch(*HEAVY))
    assert flagged(score(answers, Params(scale="log"))) == ids(0, 19)
    assert flagged(score(answers, Params(scale="either"))) == ids(0, 19)


def test_evidence_gives_both_distances_and_the_deciding_scale() -> None:
    """A reviewer sees on which times it is an outlier, and by which it was judged."""
    sentence = evidence(score(table(*batch(*HEAVY)), Params()), ids(0).pop())
    assert "sd on raw times" in sentence
    assert "sd on log times" in sentence
    assert "limit 1.95 (log)" in sentence


def test_negative_times_are_flagged_and_left_out_of_the_mean() -> None:
    """A wrong clock is a fact of its own and must not widen the others' bounds."""
    clean = table(*batch(*HEAVY))
    wrong = table(*batch(*HEAVY, -9999.0, 0.0, NAN))
    before, after = score(clean, Params()), score(wrong, Params())
    assert flagged(after) == flagged(before) | ids(20)
    assert after.loc["assignment-b1.20", "suspicion"] == 1.0
    assert after.loc[sorted(ids(21, 22)), "suspicion"].tolist() == [0.0, 0.0]
    pd.testing.assert_frame_equal(before, after.loc[before.index])


def test_small_batches_are_not_judged() -> None:
    """Nine times are fewer than the ten that a mean wants; a negative one still is."""
    assert flagged(score(table(*batch(*[30.0] * 8, 9000.0)), Params())) == set()
    assert flagged(score(table(*batch(-1.0)), Params())) == ids(0)


def test_equal_times_are_no_outliers() -> None:
    """Without spread nothing is far from the mean."""
    assert flagged(score(table(*batch(*[30.0] * 12)), Params())) == set()


def test_one_row_an_assignment_whatever_its_items() -> None:
    """Items of an assignment share its time; they do not count five times."""
    five = [
        row(f"x.{place}", assignment_id="x", n_items=5, position=place) for place in range(1, 6)
    ]
    assert score(table(*five), Params()).index.tolist() == ["x"]


def test_batches_are_judged_apart() -> None:
    """What is ordinary in a slow batch is an outlier only in its own."""
    slow = batch(*[2000.0 + place for place in range(12)], number=2)
    answers = table(*batch(*HEAVY), *slow)
    assert not flagged(score(answers, Params(scale="raw"))) & ids(*range(12), number=2)


def test_at_the_limit_is_not_beyond_it() -> None:
    """2, 4, 4, 4, 5, 5, 7, 9 have mean 5 and sd 2, so 9 is at 2 sd exactly."""
    answers = table(*batch(2, 4, 4, 4, 5, 5, 7, 9))
    at_two = Params(outlier_sds=2.0, scale="raw", min_assignments=8)
    at = score(answers, at_two)
    beyond = score(answers, replace(at_two, outlier_sds=1.99))
    assert flagged(at) == set()
    assert flagged(beyond) == ids(7)
    assert at.loc["assignment-b1.07", "suspicion"] == pytest.approx(0.5)


def test_an_empty_table_has_no_assignments() -> None:
    """No answers, no rows."""
    assert score(table(), Params()).empty
