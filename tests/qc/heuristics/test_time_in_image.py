"""Laws of outliers in time among the answers about one item."""

import pytest

from piecework.qc.heuristics.time_in_image import Params, score
from piecework.qc.scores import TimeColumn
from tests.qc.tables import NAN, cells, evidence, flagged, row, table


def about_one_item(*seconds: float, **columns: object) -> list[dict[str, object]]:
    """One answer each about the same item, `a` the first."""
    return [
        row(name, item_id="i", shown_seconds=time, **columns)
        for name, time in zip("abcdefgh", seconds, strict=False)
    ]


def test_one_extreme_of_five_is_at_two_sd() -> None:
    """1, 1, 1, 1, 6: mean 2, sd sqrt((4*1 + 16)/5) = 2, so 6 is at 2.00 > 1.95."""
    scores = score(table(*about_one_item(1, 1, 1, 1, 6)), Params())
    assert flagged(scores) == {"e"}
    assert "2.00 standard deviations above" in evidence(scores, "e")


def test_with_four_answers_it_never_fires() -> None:
    """Of four, |z| is at most sqrt(3) = 1.73, however extreme the one is."""
    assert flagged(score(table(*about_one_item(1, 1, 1, 1e9)), Params())) == set()


def test_two_slow_of_five_hide_each_other() -> None:
    """1, 1, 1, 6, 6: mean 3, sd sqrt(30/5) = 2.45, so both 6 are at 1.22."""
    assert flagged(score(table(*about_one_item(1, 1, 1, 6, 6)), Params())) == set()


def test_negative_is_flagged_and_left_out_of_the_mean() -> None:
    """With -5 left out, the other five are judged as if it were not there."""
    scores = score(table(*about_one_item(1, 1, 1, 1, 6, -5)), Params())
    assert flagged(scores) == {"e", "f"}
    assert scores.loc["f", "suspicion"] == 1.0


def test_zero_is_left_out_of_the_mean_but_compared_with_it() -> None:
    """10, 10, 11, 9 have mean 10 and sd 0.71; 0 is at -14.1."""
    scores = score(table(*about_one_item(10, 10, 11, 9, 0)), Params())
    assert flagged(scores) == {"e"}


def test_missing_times_are_no_suspicion() -> None:
    """Who sent no time is not compared."""
    scores = score(table(*about_one_item(1, 1, 1, 1, 6, NAN)), Params())
    assert cells(scores, "f") == (0.0, False, "")


def test_equal_times_are_no_suspicion() -> None:
    """Without spread there is nothing to divide by."""
    assert flagged(score(table(*about_one_item(3, 3, 3, 3, 3)), Params())) == set()


@pytest.mark.parametrize("time", ["shown_seconds", "page_seconds", "market_seconds"])
def test_each_definition_of_time_is_judged_alone(time: TimeColumn) -> None:
    """Only the column that is named decides."""
    same: dict[str, object] = {
        "item_id": "i",
        "shown_seconds": 1.0,
        "page_seconds": 1.0,
        "market_seconds": 1.0,
    }
    rows = [row(name, **same) for name in "abcd"]
    rows.append(row("e", **same | {time: 6.0}))
    scores = score(table(*rows), Params(time=time))
    assert flagged(scores) == {"e"}
    other: TimeColumn = "page_seconds" if time == "shown_seconds" else "shown_seconds"
    assert flagged(score(table(*rows), Params(time=other))) == set()


def test_a_second_answer_has_no_voice() -> None:
    """A worker's second answer neither widens the others' bounds nor is judged."""
    rows = about_one_item(1, 1, 1, 1, 6)
    rows.append(row("z", item_id="i", worker_id="worker-a", shown_seconds=99.0))
    scores = score(table(*rows), Params())
    assert flagged(scores) == {"e"}
    assert cells(scores, "z") == (0.0, False, "")


def test_an_empty_table_has_no_answers() -> None:
    """No answers, no rows."""
    assert score(table(), Params()).empty
