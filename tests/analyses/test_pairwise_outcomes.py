"""Judgements of pairs as comparisons of systems."""

import pandas as pd

from piecework.analyses.page_effects import first_side_advantages
from piecework.analyses.paired_comparisons import comparisons
from piecework.domain.field import Arrangement, Field, Option
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId

SIDES = Arrangement(name="sides", columns=("one", "other"))
FIELD = Field(
    name="overall",
    kind="choice",
    label="",
    options=tuple(Option(value=str(n), label=str(n)) for n in range(1, 6)),
    mirrored_by="sides",
)
ITEMS = [
    Item(item_id=ItemId("a"), columns={"made_by.one": "north", "made_by.other": "south"}),
    Item(item_id=ItemId("b"), columns={"made_by.one": "north"}),
]


def frame(*rows: tuple[str, object, bool, bool]) -> pd.DataFrame:
    """Item, value, whether the sides were exchanged, whether it was rejected."""
    return pd.DataFrame(
        {
            "item_id": [item for item, _, _, _ in rows],
            "worker": [f"w{n}" for n in range(len(rows))],
            "value.overall": [value for _, value, _, _ in rows],
            "order.sides": [
                ("other", "one") if turned else ("one", "other") for _, _, turned, _ in rows
            ],
            "is_rejected": [rejected for _, _, _, rejected in rows],
            "is_surplus": False,
        }
    )


def test_a_grade_is_about_the_systems_and_its_side_about_the_page() -> None:
    """1 says that the first column is much better, wherever the page showed it."""
    outcomes = comparisons(
        frame(
            ("a", "1", False, False),
            ("a", "1", True, False),
            ("a", "4", True, False),
            ("a", "3", False, False),
        ),
        ITEMS,
        [FIELD],
        [SIDES],
    )
    assert set(outcomes["first"]) == {"north"}
    assert set(outcomes["second"]) == {"south"}
    # Five grades: steps from the middle one, above 0 for the first column.
    assert list(outcomes["grade"]) == [2, 2, -1, 0]
    assert list(outcomes["outcome"]) == ["first", "first", "second", "tie"]
    assert list(outcomes["side"]) == ["first", "second", "first", "tie"]


def test_a_judgement_whose_order_is_not_known_favours_no_side() -> None:
    """Imported answers come without it; systems are compared, sides are not."""
    known = frame(("a", "1", False, False), ("a", "1", True, False), ("a", "1", False, False))
    orders = [*known["order.sides"][:2], ()]
    outcomes = comparisons(known.assign(**{"order.sides": orders}), ITEMS, [FIELD], [SIDES])
    assert list(outcomes["outcome"]) == ["first"] * 3
    assert list(outcomes["side"]) == ["first", "second", ""]
    (row,) = first_side_advantages(outcomes).to_dict("records")
    assert (row["first_side_wins"], row["ties"], row["second_side_wins"]) == (1, 0, 1)
    assert first_side_advantages(outcomes.assign(side="")).empty


def test_rejected_answers_missing_grades_and_unknown_systems_compare_nothing() -> None:
    """Only what counts and says something about two known systems is a row."""
    outcomes = comparisons(
        frame(("a", "1", False, True), ("a", None, False, False), ("b", "1", False, False)),
        ITEMS,
        [FIELD],
        [SIDES],
    )
    assert outcomes.empty
    assert comparisons(frame(("a", "1", False, False)).iloc[:0], ITEMS, [FIELD], [SIDES]).empty
