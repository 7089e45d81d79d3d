"""Laws of one answer for everything."""

import json
from dataclasses import replace

import pytest

from piecework.qc.heuristics.straight_line import Params, score
from tests.qc.rated import boxes, choice, choices, drawn, ratings, scale, task_of
from tests.qc.tables import cells, flagged, row, table

TASK = task_of(choice("fit", "yes", "no"))


def votes(worker: str, values: str) -> list[tuple[str, str, str]]:
    """One answer an item: y or n."""
    words = {"y": "yes", "n": "no"}
    return [(worker, f"i{n}", words[letter]) for n, letter in enumerate(values)]


def test_a_line_where_the_others_differ_is_flagged() -> None:
    """The line says yes twenty times; the others say no about every second item."""
    rows = votes("line", "y" * 20) + votes("a", "yn" * 10) + votes("b", "yn" * 10)
    scores = score(ratings(TASK, rows), Params())
    assert flagged(scores) == {"line"}
    sentence = cells(scores, "line")[2]
    for fact in ("fit, yes,", "20 of 20 items"):
        assert fact in sentence
    # Yes has two thirds of all answers, so it is a little more than half.
    assert 50 < float(sentence.split("about them, ")[1].split(" %")[0]) < 60
    # As often as chance gives it once in a million is no line if that is asked for.
    assert flagged(score(ratings(TASK, rows), Params(rarer_than=7))) == set()


def test_who_met_only_items_without_the_rare_label_gave_no_line() -> None:
    """However many say it everywhere: their votes weigh little beside those of others."""
    truth = "y" + "n" * 9
    rows = [answer for k in range(6) for answer in votes(f"careful {k}", truth * 6)]
    rows += [answer for k in range(3) for answer in votes(f"lazy {k}", "y" * 60)]
    lucky = [("lucky", f"i{n}", "no") for n in range(60) if n % 10]
    scores = score(ratings(TASK, rows + lucky), Params())
    assert flagged(scores) == {"lazy 0", "lazy 1", "lazy 2"}
    # Who met the rare label and never gave it has a line.
    blind = [("blind", f"i{n}", "no") for n in range(60)]
    assert "blind" in flagged(score(ratings(TASK, rows + blind), Params(rarer_than=1)))


def test_a_set_of_ticks_is_compared_on_the_same_items() -> None:
    """Others tick both on every second item, and so would a line, if it looked."""
    task = task_of(choices("flaws", "blur", "dark"))
    both, none = ("blur", "dark"), ("blur",)
    rows = [(w, f"i{n}", both if n % 2 else none) for n in range(20) for w in "ab"]
    line = [("line", f"i{n}", both) for n in range(20)]
    assert flagged(score(ratings(task, rows + line), Params())) == {"line"}
    odd = [("odd", f"i{n}", both) for n in range(1, 20, 2)]
    assert flagged(score(ratings(task, rows + odd), Params())) == set()


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


MARKED = task_of(boxes("boxes"))


def _place(worker: int, n: int) -> tuple[float, float, float, float]:
    """Where careful workers see a bird in picture n, a pixel beside each other."""
    return 5 + 37 * n % 60 + worker, 5 + 23 * n % 50, 20 + 7 * n % 17, 18


def _careful(*, empty: float = 0.0) -> list[tuple[str, str, str]]:
    """The answers of three, who see nothing in this share of twenty pictures."""
    return [
        (f"careful {w}", f"i{n}", drawn(*([_place(w, n)] if n >= 20 * empty else [])))
        for w in range(3)
        for n in range(20)
    ]


@pytest.mark.parametrize(
    ("marks", "sentence"),
    [
        ([], "marks nothing for boxes on 20 of 20 items"),
        ([(0.02, 0.03, 0.97, 0.95)], "marks nearly everything for boxes on 20 of 20 items"),
        ([(0.4, 0.4, 0.2, 0.2)], "marks the same places for boxes on 20 of 20 items"),
        ([(0.1, 0.1, 0.2, 0.2), (0.6, 0.6, 0.2, 0.2)], "marks the same places for boxes"),
    ],
    ids=("nothing", "everything", "a place", "two places"),
)
def test_the_same_places_in_every_picture_are_a_line(
    marks: list[tuple[float, float, float, float]], sentence: str
) -> None:
    """Places are parts of a picture, whatever its size; the other workers mark other places."""
    lazy = []
    for n in range(20):
        wide, high = 100 + 50 * (n % 3), 80 + 40 * (n % 2)
        own = [(x * wide + n % 2, y * high, w * wide, h * high - n % 3) for x, y, w, h in marks]
        lazy.append(("lazy", f"i{n}", drawn(*own, wide=wide, high=high)))
    scores = score(ratings(MARKED, _careful() + lazy), Params())
    assert flagged(scores) == {"lazy"}
    assert sentence in cells(scores, "lazy")[2]
    assert "0 % would" in cells(scores, "lazy")[2]


def test_marks_that_are_usual_for_the_pictures_are_no_line() -> None:
    """Nineteen pictures without a bird, and portraits that all have a face in the middle."""
    lazy = [("lazy", f"i{n}", drawn()) for n in range(20)]
    assert flagged(score(ratings(MARKED, _careful(empty=0.95) + lazy), Params())) == set()
    assert flagged(score(ratings(MARKED, _careful(empty=0.3) + lazy), Params())) == {"lazy"}
    faces = [(w, f"i{n}", drawn((30 + n % 3, 20, 40, 50))) for w in "abcd" for n in range(20)]
    assert flagged(score(ratings(MARKED, faces), Params())) == set()


def test_spans_around_whole_texts_or_at_one_place_are_a_line() -> None:
    """The others mark a word in each text, and the last word is not marked in all."""
    task = task_of(replace(boxes("spans"), regions="entities"))

    def span(start: int, end: int) -> str:
        return json.dumps({"entities": [{"label": "x", "startOffset": start, "endOffset": end}]})

    lengths = [40 + 13 * n % 90 for n in range(20)]
    rows = [
        (f"careful {w}", f"i{n}", span(start := 3 + 11 * n % (length - 12), start + 6))
        for w in range(3)
        for n, length in enumerate(lengths)
    ]
    rows += [("all", f"i{n}", span(0, length)) for n, length in enumerate(lengths)]
    rows += [("first", f"i{n}", span(0, 5)) for n in range(20)]
    scores = score(ratings(task, rows), Params())
    assert flagged(scores) == {"all", "first"}
    assert "marks nearly everything for spans" in cells(scores, "all")[2]


def test_answers_that_cannot_be_read_are_no_marks() -> None:
    """Nothing is measured on them, on boxes without numbers, or on too many boxes."""
    bad = ["[", '{"boundingBoxes": 5}', drawn(*[(1.0, 1.0, 9.0, 9.0)] * 501)]
    rows = [("bad", f"i{n}", bad[n % 3]) for n in range(20)]
    assert flagged(score(ratings(MARKED, _careful() + rows), Params())) == set()
    assert flagged(score(ratings(MARKED, rows), Params())) == set()
