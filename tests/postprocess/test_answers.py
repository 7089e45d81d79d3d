"""The table of answers keeps its promises, or says which one is broken."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import pytest

from piecework.domain.edit import Edit
from piecework.postprocess.answers import (
    answer_columns,
    faults,
    set_aside_reasons,
    validate,
    with_edits,
)
from tests.postprocess.made_tables import caption_task, captions_table

MakeRow = Callable[..., Mapping[str, object]]
EDIT = Edit(start=2, end=5, before="dgo", after="dog", rule="spelling", reason="slip")


def test_a_sound_table_has_no_fault(row: MakeRow) -> None:
    """With answers, and without any yet."""
    assert faults(captions_table([row("a"), row("b")]), caption_task()) == []
    assert faults(captions_table([]), caption_task()) == []


def test_each_row_is_kept_or_set_aside_with_its_reason(row: MakeRow) -> None:
    """Nothing is lost, and the strongest reason names a row."""
    answers = captions_table(
        [
            row("a"),
            row("b", is_rejected=True, is_canned=True, is_surplus=True),
            row("c", is_canned=True, is_surplus=True),
            row("d", is_surplus=True),
        ]
    )
    assert set_aside_reasons(answers).to_dict() == {
        "a": "",
        "b": "dropped",
        "c": "canned",
        "d": "surplus",
    }


@pytest.mark.parametrize(
    ("cells", "fault"),
    [
        ({"split": "dev"}, "A split is 'dev'"),
        ({"worker": "A1B2C3D4E5F6G7"}, "something other than a keyed hash"),
        ({"url": None}, "column 'url' has missing values"),
        ({"submitted_at": None}, "column 'submitted_at' has missing values"),
        ({"clean_text": "x", "text": "y"}, "answer a: its edits do not turn"),
        ({"text": "a dog", "edits": (EDIT,)}, "answer a: its edits do not turn"),
        (
            {"text": "a dgo", "clean_text": "a cat", "edits": (EDIT,)},
            "answer a: its edits do not turn",
        ),
    ],
)
def test_a_broken_promise_is_named(row: MakeRow, cells: Mapping[str, object], fault: str) -> None:
    """The sentence says what was found and where."""
    with pytest.raises(ValueError, match=fault):
        validate(captions_table([{**row("a"), **cells}]), caption_task())


def test_a_plain_worker_id_is_not_repeated_in_the_fault(row: MakeRow) -> None:
    """An error message may end in a log."""
    with pytest.raises(ValueError, match="keyed hash") as caught:
        validate(captions_table([row("a", worker="A1PLAINWORKER")]), caption_task())
    assert "A1PLAINWORKER" not in str(caught.value)


def test_a_column_of_worker_ids_is_refused(row: MakeRow) -> None:
    """Such a table was not made to leave the store."""
    answers = captions_table([row("a")]).assign(worker_id="A1")
    with pytest.raises(ValueError, match="must not leave the store"):
        validate(answers, caption_task())


def test_edits_make_the_clean_text(row: MakeRow) -> None:
    """Only texts with edits change, and the edits stay beside them."""
    answers = captions_table([row("a", text="a dgo"), row("b", text="a cat")])
    cleaned = with_edits(answers, {"a": [EDIT]})
    assert cleaned["clean_text"].tolist() == ["a dog", "a cat"]
    assert cleaned["edits"].tolist() == [(EDIT,), ()]
    assert faults(cleaned, caption_task()) == []


def test_edits_of_another_text_are_refused(row: MakeRow) -> None:
    """A clean text that nobody can lead back would be a text that was made up."""
    with pytest.raises(ValueError, match="replaces 'dgo'"):
        with_edits(captions_table([row("a", text="a cat")]), {"a": [EDIT]})


def test_an_item_in_two_splits_is_named(row: MakeRow) -> None:
    """Images must not straddle train and test."""
    answers = captions_table([row("a", split="train"), row("b", split="test")])
    with pytest.raises(ValueError, match="item img-1 is in several splits"):
        validate(answers, caption_task())


def test_an_answer_that_occurs_twice_is_named(row: MakeRow) -> None:
    """An id stands for one answer."""
    with pytest.raises(ValueError, match="repeats 1 answer ids, 'a' first"):
        validate(captions_table([row("a"), row("a")]), caption_task())


def test_of_many_faults_the_first_twenty_are_told(row: MakeRow) -> None:
    """A wrong campaign must not fill a screen with two hundred thousand lines."""
    answers = captions_table([row(f"{n:02d}", clean_text="x") for n in range(30)])
    with pytest.raises(ValueError, match="and 10 more faults") as caught:
        validate(answers, caption_task())
    assert len(str(caught.value).splitlines()) == 21


def test_wrong_columns_types_and_index_are_all_named(row: MakeRow) -> None:
    """All faults of the shape at once."""
    answers = captions_table([row("a")]).rename_axis("id").drop(columns="url")
    answers["batch"] = answers["batch"].astype("float64")
    assert faults(answers, caption_task()) == [
        "The index is named 'id', not 'answer_id'.",
        "The column 'batch' is float64, not int64.",
        "The column 'url' is missing.",
    ]


def test_the_workers_own_id_is_no_column() -> None:
    """What leaves the store has the keyed hash in its place."""
    columns = answer_columns(caption_task())
    assert "worker" in columns
    assert "worker_id" not in columns


def test_times_are_those_of_the_rows(row: MakeRow) -> None:
    """In UTC, to the microsecond."""
    at = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
    assert captions_table([row("a", submitted_at=at)])["submitted_at"].iloc[0] == at
