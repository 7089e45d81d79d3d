"""A column of a dataset's images, from whichever of its files has it."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from piecework.domain.errors import ConfigError
from piecework.postprocess.datasets.image_columns import read_image_column, read_marks_of

_SPLITS = {"a": "train", "b": "test", "c": ""}


def _write(folder: Path, kind: str) -> Path:
    path = folder / f"items.{kind}"
    rows = [{"item_id": image, "split": split} for image, split in _SPLITS.items()]
    if kind == "csv":
        lines = [f"{row['item_id']},{row['split']}" for row in rows]
        path.write_text("\n".join(["item_id,split", *lines]), encoding="utf-8")
    elif kind == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        images = [{"id": row["item_id"], "split": row["split"]} for row in rows]
        path.write_text(json.dumps({"images": images}), encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", ["csv", "parquet", "json"])
def test_every_format_of_a_dataset_has_its_columns(tmp_path: Path, kind: str) -> None:
    """With the same values, empty ones included."""
    assert read_image_column(_write(tmp_path, kind), "split") == _SPLITS


def test_a_folder_is_searched_for_the_column(tmp_path: Path) -> None:
    """A CSV without it does not hide the table that has it."""
    (tmp_path / "captions.csv").write_text("item_id,caption\na,a cup\n")
    _write(tmp_path, "parquet")
    assert read_image_column(tmp_path, "split") == _SPLITS


@pytest.mark.parametrize("kind", ["csv", "parquet", "json"])
def test_a_column_that_is_not_there_is_named(tmp_path: Path, kind: str) -> None:
    """With the files that were searched."""
    path = _write(tmp_path, kind)
    with pytest.raises(ConfigError, match=f"no column 'colour'.*items.{kind}"):
        read_image_column(path, "colour")


@pytest.mark.parametrize(
    ("kind", "fault"), [("parquet", "not a Parquet file"), ("json", "line 1: not JSON")]
)
def test_a_broken_file_is_named(tmp_path: Path, kind: str, fault: str) -> None:
    """With its fault, and the line where there are lines."""
    path = tmp_path / f"items.{kind}"
    path.write_text("{", encoding="utf-8")
    with pytest.raises(ConfigError, match=f"items.{kind}: {fault}"):
        read_image_column(path, "split")


def test_a_cell_may_be_as_long_as_the_file(tmp_path: Path) -> None:
    """A huge caption does not hide the split beside it."""
    path = tmp_path / "captions.csv"
    path.write_text(f"item_id,split,caption\na,test,{'x' * 200_000}\n")
    assert read_image_column(path, "split") == {"a": "test"}


def test_an_unclosed_quote_hides_no_rows(tmp_path: Path) -> None:
    """The rows after it would become one cell, and their images would be missing."""
    path = tmp_path / "items.csv"
    path.write_text('item_id,split\na,"train\nb,test\n')
    with pytest.raises(ConfigError, match="not CSV"):
        read_image_column(path, "split")


def test_marks_of_a_dataset_are_found_beside_answers_that_cannot_be_read(tmp_path: Path) -> None:
    """An answer with more marks than are read is no reason to disown the dataset."""
    points = [{"label": "a", "x": 1, "y": 1}] * 501
    sent = [json.dumps({"keypoints": points[:size]}) for size in (501, 1, 2)]
    rows = [{"item_id": f"i{n}", "note": "{}", "marks": text} for n, text in enumerate(sent)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "answers.parquet")
    read = read_marks_of(tmp_path)
    assert read is not None
    assert read["marks"].tolist() == sent
    pq.write_table(pa.Table.from_pylist([*rows[:1], *rows[:1]]), tmp_path / "answers.parquet")
    assert read_marks_of(tmp_path) is None
