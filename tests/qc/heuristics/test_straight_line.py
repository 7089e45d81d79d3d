"""Laws of one answer for everything."""

from piecework.qc.heuristics.straight_line import Params, score
from tests.qc.rated import choice, ratings, scale, task_of
from tests.qc.tables import cells, flagged, row, table

TASK = task_of(choice("fit", "yes", "no"))


def votes(worker: str, values: str) -> list[tuple[str, str, str]]:
    """One answer an item: y or n."""
    words = {"y": "yes", "n": "no"}
    return [(worker, f"i{n}", words[letter]) for n, letter in enumerate(values)]


def test_a_line_that_is_rare_among_the_others_is_flagged() -> None:
    """Ten yes, where others say yes on half: (11 + 1) / (20 + 2) to the tenth."""
    rows = votes("line", "y" * 10) + votes("a", "yynnyynnyy") + votes("b", "nnyynnyyny")
    # others: 6 + 5 = 11 yes of 20, so 12/22 with one more of each kind; its tenth power
    # is 0.0023: not rarer than a thousandth, rarer than a hundredth.
    scores = score(ratings(TASK, rows), Params())
    assert flagged(scores) == set()
    scores = score(ratings(TASK, rows), Params(rarer_than=2))
    assert flagged(scores) == {"line"}
    sentence = cells(scores, "line")[2]
    for fact in ("fit, yes,", "10 of 10 items", "55.0 %"):
        assert fact in sentence


def test_where_nearly_all_is_alike_a_line_is_no_suspicion() -> None:
    """Others say yes on 19 of 20: ten yes in a row are what most workers send."""
    rows = votes("line", "y" * 10) + votes("a", "y" * 10) + votes("b", "y" * 9 + "n")
    assert cells(score(ratings(TASK, rows), Params()), "line")[:2] == (0.0, False)


def test_few_items_or_a_second_answer_make_no_line() -> None:
    """Nine are too few, and answering one item ten times is one answer."""
    others = votes("a", "n" * 30)
    nine = ratings(TASK, votes("line", "y" * 9) + others)
    again = ratings(TASK, [("line", "i0", "yes")] * 12 + others)
    ten = ratings(TASK, votes("line", "y" * 10) + others)
    assert "line" not in flagged(score(nine, Params()))
    assert "line" not in flagged(score(again, Params()))
    assert "line" in flagged(score(ten, Params()))


def test_what_does_not_apply_says_nothing() -> None:
    """A frame without judgements, a scale, an empty table: no flag, a row a worker."""
    assert score(table(row("a")), Params())["suspicion"].tolist() == [0.0]
    places = ratings(task_of(scale("s")), [("w", f"i{n}", 5.0) for n in range(12)])
    assert flagged(score(places, Params())) == set()
    assert score(table(), Params()).empty
