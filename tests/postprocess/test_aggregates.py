"""What several answers say together, counted by hand."""

import math
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from piecework.postprocess.aggregates import item_aggregates
from tests.postprocess.answers_by_hand import TASK, rows

JUDGEMENTS: list[tuple[str, str, dict[str, Any]]] = [
    ("a", "i1", {"fit": "yes", "ticks": ("a", "b"), "place": 10.0, "grade": "1"}),
    ("b", "i1", {"fit": "yes", "ticks": ("b",), "place": 20.0, "grade": "2"}),
    ("c", "i1", {"fit": "no", "ticks": ("b", "c"), "place": 60.0, "grade": "4"}),
    ("a", "i2", {"fit": "yes", "ticks": (), "place": 5.0, "grade": "?"}),
    ("b", "i2", {"fit": "no"}),
]


@pytest.fixture(scope="module")
def summary() -> pd.DataFrame:
    """The items of the small dataset; i3 has no answer."""
    return item_aggregates(rows(JUDGEMENTS), ["i1", "i2", "i3"], TASK.fields, TASK.aggregates)


def test_a_majority_has_its_share_and_a_tie_has_none(summary: pd.DataFrame) -> None:
    """Two of three say yes; one against one is no majority; nobody is nothing."""
    assert summary["answers"].tolist() == [3, 2, 0]
    assert summary["fit"].tolist() == ["yes", "", ""]
    assert summary["fit_votes_yes"].tolist() == [2, 1, 0]
    assert summary["fit_votes_no"].tolist() == [1, 1, 0]
    assert summary["fit_share"].tolist()[:2] == [2 / 3, 1 / 2]
    assert math.isnan(summary["fit_share"].tolist()[2])


def test_a_label_has_its_probability(summary: pd.DataFrame) -> None:
    """Two of three make it likely; without answers there is none."""
    assert summary["fit_likeliest"].tolist()[::2] == ["yes", ""]
    likely, _, none = summary["fit_probability"].tolist()
    assert 0.5 < likely < 0.96
    assert math.isnan(none)
    ticked = summary["ticks_probability_b"].tolist()
    assert ticked[0] > 0.8
    assert ticked[1] < 0.5
    assert math.isnan(ticked[2])


def test_ticks_of_other_items_make_no_tick() -> None:
    """An item's only worker never ticks "b", which all others always tick.

    And they always tick "a", which the others never tick.
    """
    answers: list[tuple[str, str, dict[str, Any]]] = [
        (worker, f"i{item:02}", {"ticks": ("a",) if worker == "e" else ("b",)})
        for worker in "abcde"
        for item in range(40)
    ]
    alone = [("e", "i99", {"ticks": ("a",)})]
    made = item_aggregates(rows([*answers, *alone]), ["i00", "i99"], TASK.fields, TASK.aggregates)
    assert made["ticks_probability_b"].tolist()[0] > 0.7
    assert made["ticks_probability_b"].tolist()[1] < 0.5
    assert made["ticks_probability_a"].tolist()[0] < 0.3
    assert made["ticks_probability_a"].tolist()[1] > 0.5
    assert made["ticks_majority"].tolist() == [("b",), ("a",)]


def test_a_tie_has_a_probability_and_no_label() -> None:
    """Two who contradict each other, once each way round."""
    answers = [
        ("a", "i1", {"fit": "yes"}),
        ("b", "i1", {"fit": "no"}),
        ("a", "i2", {"fit": "no"}),
        ("b", "i2", {"fit": "yes"}),
    ]
    made = item_aggregates(rows(answers), ["i1", "i2"], TASK.fields, TASK.aggregates)
    assert made["fit_likeliest"].tolist() == ["", ""]
    assert made["fit_probability"].tolist() == pytest.approx([0.5, 0.5])


def test_opinions_have_no_probability() -> None:
    """Nobody is wrong about them."""
    fields = [replace(field, is_opinion=True) for field in TASK.fields]
    made = item_aggregates(rows(JUDGEMENTS), ["i1"], fields, TASK.aggregates)
    assert not [name for name in made.columns if "probability" in str(name)]


def test_shares_are_of_those_who_answered(summary: pd.DataFrame) -> None:
    """Three of three tick b; of i2 one ticked nothing and one did not answer."""
    assert summary["ticks_share_a"].tolist()[:2] == [1 / 3, 0.0]
    assert summary["ticks_share_b"].tolist()[:2] == [1.0, 0.0]
    assert summary["ticks_majority"].tolist() == [("b",), (), ()]
    assert math.isnan(summary["ticks_share_a"].tolist()[2])


def test_what_half_of_them_ticked_is_no_majority() -> None:
    """More than half is needed: one of two, and two of four, are not."""
    for number in (2, 4):
        ticked: list[tuple[str, str, dict[str, Any]]] = [
            ("wxyz"[n], "i1", {"ticks": ("a", "b") if 2 * n < number else ("b",)})
            for n in range(number)
        ]
        made = item_aggregates(rows(ticked), ["i1"], TASK.fields, TASK.aggregates)
        assert made["ticks_share_a"].tolist() == [0.5]
        assert made["ticks_majority"].tolist() == [("b",)]


def test_a_mean_has_students_interval(summary: pd.DataFrame) -> None:
    """10, 20 and 60: mean 30, sd sqrt(1400 / 2); t with 2 degrees is 4.303 (tables)."""
    sd = math.sqrt(((10 - 30) ** 2 + (20 - 30) ** 2 + (60 - 30) ** 2) / 2)
    assert summary["place_mean"].tolist()[:2] == [30.0, 5.0]
    assert summary["place_sd"].tolist()[0] == pytest.approx(sd)
    half = 4.303 * sd / math.sqrt(3)
    assert summary["place_low"].tolist()[0] == pytest.approx(30 - half, abs=0.01)
    assert summary["place_high"].tolist()[0] == pytest.approx(30 + half, abs=0.01)
    # One answer has a mean and no spread.
    assert math.isnan(summary["place_sd"].tolist()[1])


def test_what_is_no_grade_is_no_vote_for_one(summary: pd.DataFrame) -> None:
    """1, 2 and 4 have the mean 7/3; "?" is left out."""
    assert summary["grade_mean"].tolist()[0] == 2.333333  # six places, on every processor
    assert summary["grade_votes"].tolist() == [3, 0, 0]


def test_what_is_outside_the_scale_is_no_vote_for_a_mean() -> None:
    """Values outside the options or the scale do not count; both ends of the scale do."""
    outside: list[tuple[str, str, dict[str, Any]]] = [
        ("a", "i1", {"place": 0.0, "grade": "1"}),
        ("b", "i1", {"place": 100.0, "grade": "4"}),
        ("c", "i1", {"place": 4000.0, "grade": "99"}),
        ("d", "i1", {"place": -1.0, "grade": "2.5"}),
    ]
    row = item_aggregates(rows(outside), ["i1"], TASK.fields, TASK.aggregates).loc["i1"]
    assert (row["place_mean"], row["place_votes"]) == (50.0, 2)
    assert (row["grade_mean"], row["grade_votes"]) == (2.5, 2)
    assert (row["place_adjusted"], row["grade_adjusted"]) == pytest.approx((50.0, 2.5))


def test_rejected_and_surplus_answers_do_not_count() -> None:
    """Whatever they say."""
    for flag in ("is_rejected", "is_surplus"):
        frame = rows(JUDGEMENTS, **{flag: True})
        summary = item_aggregates(frame, ["i1"], TASK.fields, TASK.aggregates)
        assert summary["answers"].tolist() == [0]
        assert summary["fit"].tolist() == [""]
