"""Frames as a store hands them out become frames that can be summed."""

from dataclasses import replace
from datetime import UTC, datetime

import pandas as pd
import pytest

from piecework.report import formatting
from tests.report.campaign import by_hand


def test_a_frame_without_columns_gets_them() -> None:
    """Nothing collected yet is no reason to fail: the columns are there, empty."""
    mended = formatting.shape_table(pd.DataFrame(), formatting.FINDINGS, name="findings")

    assert [*mended.columns] == [*formatting.FINDINGS]
    assert mended.empty
    assert mended["flag"].dtype == bool


def test_answers_of_another_shape_are_refused_with_every_fault() -> None:
    """The sections count on the columns of the one table of answers."""
    facts = by_hand.small()
    answers = facts.answers.drop(columns="clean_text").astype({"batch": "float64"})

    with pytest.raises(ValueError, match=r"'batch' is float64.*'clean_text' is missing"):
        replace(facts, answers=answers)


def test_all_missing_columns_are_named_at_once() -> None:
    """The sentence says every column that is lacking."""
    frame = pd.DataFrame({"heuristic": ["pasted"], "version": [1], "flag": [True]})

    with pytest.raises(ValueError, match="findings lacks") as refused:
        formatting.shape_table(frame, formatting.FINDINGS, name="findings")

    for column in ("subject_kind", "subject_id", "suspicion", "evidence"):
        assert column in str(refused.value)


@pytest.mark.parametrize(
    ("kind", "stored", "expected"),
    [
        ("truth", [0, 1, None], [False, True, False]),
        ("truth", [False, True, True], [False, True, True]),
        ("truth", [0.0, 1.0, float("nan")], [False, True, False]),
        ("text", ["a", None, float("nan")], ["a", "", ""]),
        ("whole", [3, None, 4], [3, 0, 4]),
    ],
)
def test_values_of_a_store_are_mended(
    kind: formatting.Kind, stored: list[object], expected: list[object]
) -> None:
    """0 and 1 are truth, a missing text is empty, a missing count is none."""
    frame = pd.DataFrame({"x": pd.Series(stored, index=[7, 8, 9], dtype="object")})
    mended = formatting.shape_table(frame, {"x": kind}, name="x")

    assert mended["x"].tolist() == expected
    assert mended.index.tolist() == ["7", "8", "9"]


def test_times_that_have_not_come_stay_missing() -> None:
    """None is no time, and what there is becomes UTC."""
    moment = datetime(2026, 11, 2, 9, tzinfo=UTC)
    frame = pd.DataFrame({"at": [moment, None]})
    mended = formatting.shape_table(frame, {"at": "time"}, name="x")

    assert mended["at"]["0"] == moment
    assert pd.isna(mended["at"]["1"])


def test_the_frame_given_is_not_changed() -> None:
    """Facts are read, never rewritten."""
    frame = pd.DataFrame({"flag": [0, 1]})
    formatting.shape_table(frame, {"flag": "truth"}, name="x")

    assert frame["flag"].tolist() == [0, 1]
