"""Laws of answers that break a rule."""

from piecework.qc.heuristics.rule_violation import Params, score
from tests.qc.tables import cells, evidence, flagged, row, table


def test_any_problem_is_a_flag_with_its_name() -> None:
    """All broken rules are named; an answer without is no suspicion."""
    broken = row("a", problems=("caption_min_words", "caption_one_sentence"))
    scores = score(table(broken, row("b")), Params())
    assert flagged(scores) == {"a"}
    sentence = evidence(scores, "a")
    assert sentence.endswith(": caption_min_words, caption_one_sentence")
    assert cells(scores, "b") == (0.0, False, "")


def test_ignored_rules_do_not_count() -> None:
    """What the campaign lets through is not even named."""
    first, second = row("a", problems=("x",)), row("b", problems=("x", "y"))
    scores = score(table(first, second), Params(ignore=("x",)))
    assert flagged(scores) == {"b"}
    assert evidence(scores, "b").endswith(": y")


def test_an_empty_table_has_no_answers() -> None:
    """No answers, no rows."""
    assert score(table(), Params()).empty


def test_what_the_page_only_asked_about_is_no_fault() -> None:
    """A question that the worker answered by going on is not held against him."""
    answers = table(row("a", problems=("questioned:kept_small",)))
    assert flagged(score(answers, Params())) == set()
