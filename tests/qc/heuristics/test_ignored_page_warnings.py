"""Laws of going on where the page asks."""

from piecework.qc.heuristics.ignored_page_warnings import Params, score
from tests.qc.tables import cells, flagged, row, table

ASKED = ("questioned:small",)


def rows(worker: str, asked: int, of: int) -> list[dict[str, object]]:
    """So many answers of a worker, the first of them questioned."""
    return [
        row(f"{worker}{n}", worker_id=worker, item_id=f"i{n}", problems=ASKED if n < asked else ())
        for n in range(of)
    ]


def test_a_habit_is_flagged_and_exactly_at_the_limit_too() -> None:
    """Three of six is half; two of six is not; one of twelve others is under 30 %."""
    few = table(*rows("half", 3, 6), *rows("a", 1, 6), *rows("b", 0, 6))
    scores = score(few, Params())
    assert flagged(scores) == {"half"}
    sentence = cells(scores, "half")[2]
    assert "3 of 6 items" in sentence
    assert "8.3 %" in sentence
    assert flagged(score(table(*rows("w", 2, 6), *rows("a", 0, 6)), Params())) == set()


def test_a_question_that_everybody_passes_says_nothing() -> None:
    """Four of six others are more than 30 %."""
    scores = score(table(*rows("w", 6, 6), *rows("a", 4, 6)), Params())
    assert flagged(scores) == set()


def test_few_answers_nobody_else_and_an_empty_table_are_no_habit() -> None:
    """Four answers are too few; alone there is nothing to hold them against."""
    assert flagged(score(table(*rows("w", 4, 4), *rows("a", 0, 9)), Params())) == set()
    assert flagged(score(table(*rows("w", 9, 9)), Params())) == set()
    assert score(table(), Params()).empty


def test_broken_rules_are_no_questions() -> None:
    """Another heuristic has them."""
    broken = [{**row, "problems": ("small",)} for row in rows("w", 6, 6)]
    assert flagged(score(table(*broken, *rows("a", 0, 6)), Params())) == set()
