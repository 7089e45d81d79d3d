"""Laws of assignments that took much less time than their work takes."""

import pytest

from piecework.qc.heuristics.rushed import Params, score
from tests.qc.tables import NAN, cells, flagged, row, table


def timed(*seconds: float) -> list[dict[str, object]]:
    """Assignments with these times of the page, all with the same text."""
    return [row(f"{n:02}", page_seconds=time) for n, time in enumerate(seconds)]


USUAL = (80.0, 84.0, 88.0, 92.0, 96.0, 100.0, 104.0, 110.0, 120.0, 130.0, 140.0)


def test_much_faster_than_the_batch_is_flagged_whatever_the_tail() -> None:
    """One who was away for a day hides nobody, and is no suspicion."""
    scores = score(table(*timed(20.0, *USUAL, 90_000.0)), Params())
    assert flagged(scores) == {"assignment-00"}
    sentence = cells(scores, "assignment-00")[2]
    for fact in ("20.0 seconds", "100.0", "5.0 times", "limit is 2.0"):
        assert fact in sentence


def test_who_types_less_needs_less() -> None:
    """Eleven words are usual; without any, 100 - 11 * 60/52 = 87 seconds are."""
    short = row("short", page_seconds=45.0, text="")
    scores = score(table(short, *timed(*USUAL)), Params())
    assert flagged(scores) == set()
    long = row("long", page_seconds=45.0)
    assert flagged(score(table(long, *timed(*USUAL)), Params())) == {"assignment-long"}


def test_where_half_are_far_apart_the_line_moves_away() -> None:
    """Times from 5 to 100 seconds are this batch's own; none of them is rushed."""
    times = (5.0, 8.0, 12.0, 20.0, 30.0, 45.0, 60.0, 70.0, 80.0, 90.0, 100.0)
    assert flagged(score(table(*timed(*times)), Params())) == set()


@pytest.mark.parametrize("time", [NAN, 0.0, -5.0])
def test_no_time_is_no_suspicion(time: float) -> None:
    """Of page and market; `too_fast` has the impossible ones."""
    own = row("own", page_seconds=time, market_seconds=time)
    scores = score(table(own, *timed(*USUAL)), Params())
    assert cells(scores, "assignment-own") == (0.0, False, "")


def test_a_small_batch_has_no_usual_time() -> None:
    """Nine times are too few; an empty table has none."""
    assert flagged(score(table(*timed(1.0, *USUAL[:8])), Params())) == set()
    assert flagged(score(table(*timed(1.0, *USUAL[:9])), Params())) != set()
    assert score(table(), Params()).empty
