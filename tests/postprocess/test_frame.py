"""The dataset frame keeps its promises, or says which one is broken."""

from collections.abc import Callable, Mapping

import pytest

from domain.edit import Edit
from postprocess.frame import COLUMNS, check, dataset_frame, novel, set_aside

MakeRow = Callable[..., Mapping[str, object]]
EDIT = Edit(start=2, end=5, before="dgo", after="dog", rule="spelling", reason="slip")


def test_rows_become_a_frame_in_the_order_of_answer_ids(row: MakeRow) -> None:
    """Columns and dtypes are the documented ones, whatever order rows came in."""
    frame = dataset_frame([row("b"), row("a")])
    assert frame.index.tolist() == ["a", "b"]
    assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == COLUMNS
    assert check(frame) == []


def test_an_empty_dataset_is_sound() -> None:
    """No answers yet is no fault."""
    frame = dataset_frame([])
    assert check(frame) == []
    assert len(novel(frame)) == len(set_aside(frame)) == 0
    assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == COLUMNS


def test_columns_beyond_the_documented_ones_stay(row: MakeRow) -> None:
    """A report may carry more along."""
    frame = dataset_frame([{**row("a"), "assignment_id": "as-1"}])
    assert frame.loc["a", "assignment_id"] == "as-1"


def test_each_row_is_novel_or_set_aside_with_its_reason(row: MakeRow) -> None:
    """Nothing is lost, and the strongest reason names a row."""
    frame = dataset_frame(
        [
            row("a"),
            row("b", is_rejected=True, is_precanned=True, is_surplus=True),
            row("c", is_precanned=True, is_surplus=True),
            row("d", is_surplus=True),
        ],
    )
    assert novel(frame).index.tolist() == ["a"]
    assert set_aside(frame)["set_aside"].to_dict() == {
        "b": "rejected",
        "c": "canned",
        "d": "surplus",
    }


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"split": "dev"}, "split is 'dev'"),
        ({"worker": "A1B2C3D4E5F6G7"}, "something else than a keyed hash"),
        ({"url": None}, "column url has missing values"),
        ({"submitted_at": None}, "column submitted_at has missing values"),
        ({"caption": "x", "caption_original": "y"}, "do not lead from the original"),
        ({"caption": "a dog", "edits": (EDIT,)}, "do not lead from the original"),
    ],
)
def test_a_broken_promise_is_named(
    row: MakeRow,
    values: Mapping[str, object],
    fault: str,
) -> None:
    """The sentence says what was found and where."""
    with pytest.raises(ValueError, match=fault):
        dataset_frame([{**row("a"), **values}])


def test_a_plain_worker_id_is_not_repeated_in_the_fault(row: MakeRow) -> None:
    """An error message may end in a log."""
    with pytest.raises(ValueError, match="keyed hash") as caught:
        dataset_frame([row("a", worker="A1PLAINWORKER")])
    assert "A1PLAINWORKER" not in str(caught.value)


def test_edits_lead_from_the_original_to_the_caption(row: MakeRow) -> None:
    """A caption that was mended is sound with the edits that did it."""
    values = {"caption": "a dog", "caption_original": "a dgo", "edits": (EDIT,)}
    assert len(dataset_frame([row("a", **values)])) == 1


def test_a_strange_answer_about_text_counts_as_none(row: MakeRow) -> None:
    """What one worker's program sent must not keep all others from being exported."""
    frame = dataset_frame(
        [row("a", text_detected="<b>"), row("b", text_detected="yes")]
    )
    assert frame["text_detected"].tolist() == ["", "yes"]


def test_a_frame_with_a_strange_answer_is_not_sound(row: MakeRow) -> None:
    """Whoever builds a frame without `dataset_frame` is told."""
    frame = dataset_frame([row("a")])
    frame["text_detected"] = frame["text_detected"].replace("no", "maybe")
    (fault,) = check(frame)
    assert fault.startswith("text_detected is 'maybe'")


def test_an_item_in_two_splits_is_named(row: MakeRow) -> None:
    """Images must not straddle train and test."""
    with pytest.raises(ValueError, match="item img-1 lies in several splits"):
        dataset_frame([row("a", split="train"), row("b", split="test")])


def test_an_answer_that_occurs_twice_is_named(row: MakeRow) -> None:
    """An id stands for one answer."""
    with pytest.raises(ValueError, match="answer a occurs twice"):
        dataset_frame([row("a"), row("a")])


def test_a_missing_column_is_named(row: MakeRow) -> None:
    """A row without a value is a mistake of the caller, not an empty text."""
    short = {name: value for name, value in row("a").items() if name != "flaws"}
    with pytest.raises(ValueError, match="rows of the dataset lack flaws"):
        dataset_frame([short])


def test_wrong_columns_types_and_index_are_all_named(row: MakeRow) -> None:
    """All faults of the shape at once."""
    frame = dataset_frame([row("a")]).rename_axis("id").drop(columns="url")
    frame["batch"] = frame["batch"].astype("float64")
    assert check(frame) == [
        "column url is missing",
        "column batch is float64, but must be int64",
        "the index is named 'id', but must be answer_id",
    ]
