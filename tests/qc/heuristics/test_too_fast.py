"""Laws of answers that were too fast for anybody."""

import pytest

from piecework.qc.heuristics.too_fast import Params, score
from tests.qc.tables import CANNED, NAN, cells, evidence, flagged, row, table


@pytest.mark.parametrize(
    ("seconds", "too_fast"), [(4.99, True), (5.0, False), (60.0, False), (0.0, True), (-3.0, True)]
)
def test_the_line_is_absolute(seconds: float, too_fast: bool) -> None:  # noqa: FBT001 - a case
    """Below five seconds is flagged, at five is not, and a wrong clock is below."""
    scores = score(table(row("a", text="a bird", shown_seconds=seconds)), Params())
    assert scores["flag"].tolist() == [too_fast]


def test_typing_has_a_speed_limit() -> None:
    """Thirty words in ten seconds are three a second, above two; in twenty, 1.5."""
    text = "word " * 30
    fast = row("a", text=text, shown_seconds=10.0)
    scores = score(table(fast, row("b", text=text, shown_seconds=20.0)), Params())
    assert flagged(scores) == {"a"}
    assert "3.0 words a second" in evidence(scores, "a")


def test_the_evidence_states_only_a_limit_that_is_passed() -> None:
    """Ten seconds are enough, so the seconds are no reason; and the other way round."""
    hasty = row("a", text="word " * 30, shown_seconds=10.0)
    short = row("b", text="word " * 4, shown_seconds=3.0)
    both = row("c", text="word " * 30, shown_seconds=3.0)
    scores = score(table(hasty, short, both), Params())
    assert flagged(scores) == {"a", "b", "c"}
    assert "at least" not in evidence(scores, "a")
    assert "at most" in evidence(scores, "a")
    assert "at least" in evidence(scores, "b")
    assert "at most" not in evidence(scores, "b")
    assert "at least" in evidence(scores, "c")
    assert "at most" in evidence(scores, "c")


def test_exactly_the_speed_limit_is_allowed() -> None:
    """Twenty words in ten seconds are two a second."""
    scores = score(table(row("a", text="word " * 20, shown_seconds=10.0)), Params())
    assert flagged(scores) == set()


def test_canned_text_is_one_click() -> None:
    """Nine words of canned text in three seconds are honest; in one second not."""
    honest = row("a", text=CANNED, shown_seconds=3.0)
    scores = score(table(honest, row("b", text=CANNED, shown_seconds=1.0)), Params())
    assert flagged(scores) == {"b"}


def test_all_fast_are_all_found() -> None:
    """Where everybody is fast no outlier rule speaks; this one does."""
    rows = [row(name, shown_seconds=1.0) for name in "abcdef"]
    assert len(flagged(score(table(*rows), Params()))) == 6


def test_the_closest_known_time_decides() -> None:
    """Shown, then page, then market time; a named column is taken as it is."""
    rows = table(
        row("a", shown_seconds=NAN, page_seconds=1.0, market_seconds=60.0),
        row("b", shown_seconds=NAN, page_seconds=NAN, market_seconds=1.0),
        row("c", shown_seconds=60.0, page_seconds=1.0, market_seconds=1.0),
    )
    assert flagged(score(rows, Params())) == {"a", "b"}
    assert flagged(score(rows, Params(time="market_seconds"))) == {"b", "c"}


def test_no_time_is_no_suspicion() -> None:
    """Nothing is known about who sent no time."""
    unknown = dict.fromkeys(("shown_seconds", "page_seconds", "market_seconds"), NAN)
    scores = score(table(row("a", **unknown)), Params())
    assert cells(scores, "a") == (0.0, False, "")


def test_faster_is_more_suspicious() -> None:
    """At half the line suspicion is 3/4, by the common grading."""
    rows = table(
        row("a", text="", shown_seconds=2.5),
        row("b", text="", shown_seconds=4.0),
        *(row(f"c{n}") for n in range(2)),
    )
    suspicions = score(rows, Params())["suspicion"]
    assert suspicions.tolist()[:2] == pytest.approx([0.75, 1 - 0.5 * 4 / 5])


def test_zero_seconds_switches_the_line_off() -> None:
    """A line of zero is passed by a wrong clock alone."""
    params = Params(min_seconds=0.0, max_words_per_second=1e9)
    assert flagged(score(table(row("a", shown_seconds=0.01)), params)) == set()


def test_an_empty_table_has_no_answers() -> None:
    """No answers, no rows."""
    assert score(table(), Params()).empty


def test_where_nothing_is_typed_the_line_is_that_of_a_click() -> None:
    """Three seconds are enough to choose, and none to write."""
    chosen = [row(f"{n}", text="", shown_seconds=3.0) for n in range(4)]
    assert flagged(score(table(*chosen), Params())) == set()
    written = [row(f"w{n}") for n in range(4)]
    fast = flagged(score(table(*chosen, *written), Params()))
    assert fast == {"0", "1", "2", "3"}
