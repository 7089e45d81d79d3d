"""Laws of workers whose texts do not fit their items."""

from piecework.qc.heuristics.texts_off_items import Params, score
from tests.qc.heuristics.test_text_off_item import SUBJECTS, answers
from tests.qc.tables import cells, flagged, row, table


def sent(worker: str, *texts: str) -> list[dict[str, object]]:
    """One text about each of the first items."""
    return [
        row(f"{worker}.{n}", worker_id=worker, item_id=SUBJECTS[n], text=text)
        for n, text in enumerate(texts)
    ]


def test_small_doubts_add_up() -> None:
    """Three texts about nothing that the others saw."""
    texts = ("nice view indeed", "lovely colours everywhere", "wonderful moments today")
    scores = score(answers(*sent("x", *texts)), Params())
    assert flagged(scores) == {"x"}
    assert "0 of 9 different words in 3 texts " in cells(scores, "x")[2]


def test_two_texts_are_too_few() -> None:
    """Below `min_texts` nothing is said of a worker."""
    texts = ("nice view indeed", "lovely colours everywhere")
    assert cells(score(answers(*sent("x", *texts)), Params()), "x") == (0.0, False, "")


def test_one_long_good_text_does_not_wash_off_the_others() -> None:
    """What speaks for a worker counts up to a limit."""
    texts = ("nice view indeed", "lovely colours everywhere", "wonderful moments today")
    praised = sent("x", *texts, "old clock wall a is it here seen")
    assert flagged(score(answers(*praised), Params())) == {"x"}


def test_copies_of_a_text_count_as_one() -> None:
    """By hand: however many copies, odds of at most exp(5) = 148 to 1."""
    copies = score(answers(*sent("x", *["nice view indeed"] * 4)), Params())
    assert flagged(copies) == {"x"}
    assert "odds of 148 to 1" in cells(copies, "x")[2]
    least = Params(min_odds=150)
    assert flagged(score(answers(*sent("x", *["nice view indeed"] * 4)), least)) == set()
    others = ("nice view indeed", "lovely colours everywhere", "wonderful moments today")
    assert flagged(score(answers(*sent("x", *others)), least)) == {"x"}


def test_unknown_workers_and_empty_tables_are_no_suspicion() -> None:
    """Nobody is behind an empty id."""
    texts = ("nice view indeed", "lovely colours everywhere", "wonderful moments today")
    unknown = [{**row, "worker_id": ""} for row in sent("x", *texts)]
    assert flagged(score(answers(*unknown), Params())) == set()
    assert score(table(), Params()).empty
