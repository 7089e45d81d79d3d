"""Laws of answers that follow the place."""

from typing import Any

from piecework.domain.field import Arrangement
from piecework.qc.heuristics.same_place import NAME, Params, score
from piecework.qc.silence import silences
from tests.qc.rated import choice, ratings, task_of
from tests.qc.tables import cells, flagged, row, table

SHUFFLED = task_of(choice("best", "a", "b", "c", shuffled=True))
SIDES = task_of(
    choice("better", "left", "same", "right", mirrored_by="sides"),
    arrangements=(Arrangement(name="sides", columns=("one", "two")),),
)
TURNS = [("a", "b", "c"), ("b", "c", "a"), ("c", "a", "b")]


def shuffled(worker: str, places: list[int]) -> tuple[list[Any], dict[Any, Any]]:
    """A worker who chose what stood at these places, the order turning on."""
    rows, orders = [], {}
    for n, place in enumerate(places):
        order = TURNS[n % 3]
        rows.append((worker, f"i{n}", order[place]))
        orders[worker, f"i{n}"] = {"best": order}
    return rows, orders


def test_always_the_first_of_three_is_flagged() -> None:
    """Ten times of ten: 3 x (1/3)^10, one in 19,683, which is 4.3 powers of ten."""
    rows, orders = shuffled("first", [0] * 10)
    scores = score(ratings(SHUFFLED, rows, orders=orders), Params())
    suspicion, flag, sentence = cells(scores, "first")
    assert flag
    # A measure of 4.294 at a limit of 3 is 1 - 0.5 / (4.294 / 3).
    assert round(suspicion, 3) == round(1 - 0.5 * 3 / 4.294, 3)
    for fact in ("first option of best", "10 of 10 items", "chance gives 3.3"):
        assert fact in sentence


def test_a_small_imbalance_is_chance() -> None:
    """Six firsts of twelve are no habit."""
    rows, orders = shuffled("fair", [0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2])
    scores = score(ratings(SHUFFLED, rows, orders=orders), Params())
    assert flagged(scores) == set()


def test_a_side_is_read_as_it_was_shown() -> None:
    """He favours the second column when it stands left, the first when that does."""
    rows = [("w", f"i{n}", "right" if n % 2 else "left") for n in range(14)]
    orders: dict[Any, Any] = {
        ("w", f"i{n}"): {"sides": ("two", "one") if n % 2 else ("one", "two")} for n in range(14)
    }
    scores = score(ratings(SIDES, rows, orders=orders), Params())
    # 2 x (1/2)^14 is one in 8,192.
    assert flagged(scores) == {"w"}
    sentence = cells(scores, "w")[2]
    assert "the first side in " in sentence
    assert "14 of 14 items" in sentence
    neither = [("w", f"i{n}", "same") for n in range(14)]
    scores = score(ratings(SIDES, neither, orders=orders), Params())
    assert flagged(scores) == set()


def test_without_an_order_there_is_no_place() -> None:
    """Nothing recorded, nothing judged, nothing there: no flag."""
    rows, _ = shuffled("first", [0] * 12)
    assert flagged(score(ratings(SHUFFLED, rows), Params())) == set()
    of_sides = ratings(SIDES, [("w", f"i{n}", "left") for n in range(14)])
    assert of_sides["sides.better"].tolist() == [""] * 14
    assert flagged(score(of_sides, Params())) == set()
    assert "not known" in silences(of_sides, {})[NAME]
    shown: dict[Any, Any] = {("w", "i0"): {"sides": ("one", "two")}}
    known = ratings(SIDES, [("w", f"i{n}", "left") for n in range(14)], orders=shown)
    assert known["sides.better"].tolist() == ["first", *[""] * 13]
    assert "not known" not in silences(known, {}).get(NAME, "")
    assert score(table(row("a")), Params())["suspicion"].tolist() == [0.0]
    assert score(table(), Params()).empty
