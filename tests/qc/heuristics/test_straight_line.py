"""Laws of one answer for everything."""

from piecework.qc.heuristics.straight_line import Params, score
from tests.qc.rated import choice, choices, ratings, scale, task_of
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
