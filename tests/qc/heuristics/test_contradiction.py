"""Laws of items that are asked twice."""

from piecework.qc.heuristics.contradiction import Params, score
from tests.qc.rated import choice, ratings, scale, task_of
from tests.qc.tables import cells, flagged, row, table

TASK = task_of(choice("fit", "yes", "no"))
ITEMS = {
    "a": {"twin": "a2"}, "a2": {"twin": "a"},
    "b": {}, "b2": {"twin": "b"},
}  # fmt: skip


def test_two_different_answers_to_the_same_are_flagged() -> None:
    """Both pairs differ; who differs on one of two is at the limit; on none is not."""
    rows = [("both", "a", "yes"), ("both", "a2", "no")]
    rows += [("both", "b", "yes"), ("both", "b2", "no")]
    rows += [("none", name, "yes") for name in ITEMS]
    rows += [("half", name, "no" if name == "b2" else "yes") for name in ITEMS]
    scores = score(ratings(TASK, rows, items=ITEMS), Params())
    assert flagged(scores) == {"both", "half"}
    assert "fit on 2 of 2 pairs" in cells(scores, "both")[2]


def test_a_reversed_twin_wants_the_reversed_answer() -> None:
    """Grades 1 and 4 of a reversed pair agree; 4 and 4 contradict each other."""
    task = task_of(choice("grade", "1", "2", "3", "4"))
    plain: dict[str, dict[str, str]] = {f"{n}": {} for n in range(2)}
    items = plain | {f"{n}r": {"twin": f"{n}", "twin_reversed": "yes"} for n in range(2)}

    def flags(second: str) -> set[str]:
        rows = [("w", f"{n}", "4") for n in range(2)]
        rows += [("w", f"{n}r", second) for n in range(2)]
        return flagged(score(ratings(task, rows, items=items), Params()))

    assert flags("1") == set()
    assert flags("4") == {"w"}


def test_a_scale_is_not_read_to_the_point() -> None:
    """60 and 80 are the same, 60 and 90 are not."""
    task = task_of(scale("s"))

    def flags(second: float) -> set[str]:
        rows = [("w", "a", 60.0), ("w", "a2", second)]
        rows += [("w", "b", 60.0), ("w", "b2", second)]
        return flagged(score(ratings(task, rows, items=ITEMS), Params()))

    assert flags(80.0) == set()
    assert flags(90.0) == {"w"}
    assert flags(85.0) == flags(35.0) == set()
    rows = [("w", f"{n}", float(n)) for n in range(76)]
    rows += [("w", f"{n}r", n + 25.0) for n in range(76)]
    items = {f"{n}r": {"twin": f"{n}"} for n in range(76)}
    scores = score(ratings(task, rows, items=items), Params(min_share=0.01))
    assert flagged(scores) == set()


def test_one_pair_or_none_says_nothing() -> None:
    """An item without its twin is no pair."""
    rows = [("w", "a", "yes"), ("w", "a2", "no"), ("w", "b", "yes")]
    assert flagged(score(ratings(TASK, rows, items=ITEMS), Params())) == set()
    assert score(table(row("a")), Params())["suspicion"].tolist() == [0.0]
    assert score(table(), Params()).empty


def test_the_next_grade_is_no_contradiction() -> None:
    """Of five grades a neighbour is a quarter of the scale off: nearly the same."""
    task = task_of(choice("grade", "1", "2", "3", "4", "5"))

    def flags(second: str) -> set[str]:
        rows = [("w", name, "2" if name in {"a", "b"} else second) for name in ITEMS]
        return flagged(score(ratings(task, rows, items=ITEMS), Params()))

    assert flags("3") == set()
    assert flags("4") == {"w"}
