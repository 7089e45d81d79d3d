"""Predictions are read or refused with the place of each fault."""

import json
from pathlib import Path

import pytest

from piecework.domain.errors import ConfigError
from piecework.postprocess.datasets.image_columns import ImageIds
from piecework.postprocess.datasets.predictions import Prediction, read_predictions, with_ids_of
from tests.for_each import for_each


def _write(folder: Path, name: str, content: object) -> Path:
    path = folder / name
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text, encoding="utf-8")
    return path


def _texts(*paths: Path) -> dict[str, dict[str, str]]:
    return {
        system: {image: made.text for image, made in captions.items()}
        for system, captions in read_predictions(paths).items()
    }


def test_coco_results_are_named_after_their_file(tmp_path: Path) -> None:
    """Ids may be numbers or texts."""
    path = _write(
        tmp_path,
        "updown.json",
        [{"image_id": 7, "caption": "a cup"}, {"image_id": "x", "caption": ""}],
    )
    assert _texts(path) == {"updown": {"7": "a cup", "x": ""}}
    second = read_predictions([path])["updown"]["x"]
    assert (second.file, second.place) == (path, "entry 1")


def test_a_table_may_hold_several_systems(tmp_path: Path) -> None:
    """By a column `system`; without it the file's name is the system's."""
    path = _write(
        tmp_path, "all.csv", "system,image_id,caption\nA,1,a cup\nB,1,a mug\n,1,a glass\n"
    )
    assert _texts(path) == {"A": {"1": "a cup"}, "B": {"1": "a mug"}, "all": {"1": "a glass"}}


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.json", "", "is empty"),
        ("a.json", "[]", "holds no captions"),
        ("a.json", "{", "line 1: not JSON"),
        ("a.json", "[" * 100_000, "nested too deeply"),
        ("a.json", {"images": []}, "COCO results are"),
        ("a.json", [{"caption": "x"}], "entry 0: no 'image_id'"),
        ("a.json", [{"image_id": True, "caption": "x"}], "entry 0: no 'image_id'"),
        ("a.json", [{"image_id": 1, "caption": 3}], "entry 0: no text 'caption'"),
        (
            "a.json",
            [{"image_id": 1, "caption": "x"}, {"image_id": "1", "caption": "y"}],
            "entry 1: image '1' has a caption of 'a' already",
        ),
        ("a.csv", "id,text\n1,x\n", "the columns are 'id', 'text'"),
        ("a.csv", "image_id,caption\n1\n", "line 2: no image id"),
        ("a.csv", "image_id,caption\n1,x\n1,y\n", "line 3: image '1'"),
        ("a.csv", "image_id,caption\n", "holds no captions"),
        ("a.txt", "a cup", ".json (COCO results) and .csv"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_a_sentence(
    tmp_path: Path, name: str, content: object, words: str
) -> None:
    """With the file, the place and what is allowed."""
    path = _write(tmp_path, name, content)
    with pytest.raises(ConfigError) as refused:
        read_predictions([path])
    assert str(path) in str(refused.value)
    assert words in str(refused.value)


def test_two_files_of_the_same_name_are_refused(tmp_path: Path) -> None:
    """Else the second system would replace the first without a word."""
    (tmp_path / "two").mkdir()
    caption = [{"image_id": 1, "caption": "x"}]
    paths = [_write(tmp_path, "a.json", caption), _write(tmp_path / "two", "a.json", caption)]
    with pytest.raises(ConfigError, match="'a' was read from another file"):
        read_predictions(paths)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """Not a traceback."""
    with pytest.raises(ConfigError, match="cannot be read"):
        read_predictions([tmp_path / "none.json"])


def test_mixed_ids_stay_as_they_are(tmp_path: Path) -> None:
    """Of B some are item ids, so none is a number; A has a number too many."""
    path = _write(tmp_path, "all.csv", "system,image_id,caption\nA,1,x\nA,9,y\nB,2,x\nB,b,y\n")
    ids = ImageIds(item_of={"1": "a", "2": "b"})
    systems = with_ids_of({"a", "b"}, read_predictions([path]), ids)
    assert {system: [*captions] for system, captions in systems.items()} == {
        "A": ["a", "9"],
        "B": ["2", "b"],
    }


PERMUTED = {"1": "3", "2": "1", "3": "2"}
GAPS = {"1": "2", "2": "4", "3": "6"}


@for_each(
    ("item_of", "is_numbered", "key", "named", "read"),
    [
        # The same name: nothing is converted.
        (PERMUTED, True, "image_id", "123", "123"),
        (PERMUTED, False, "item_id", "123", "123"),
        # Item ids of a dataset in numbers: by their name, or because only they fit.
        (PERMUTED, True, "item_id", "123", "231"),
        (GAPS, True, "image_id", "246", "123"),
        # Numbers of a dataset in item ids, as only they fit; and item ids, as only they do.
        (GAPS, False, "image_id", "123", "246"),
        (GAPS, False, "image_id", "246", "246"),
        # Both fit, and mean the same, or not.
        ({"1": "1", "2": "2"}, False, "image_id", "12", "12"),
        (PERMUTED, False, "image_id", "123", ""),
        # The list is of other images.
        ({"7": "8"}, False, "image_id", "12", "12"),
    ],
)
def test_the_name_of_an_id_says_whose_it_is(
    *, item_of: dict[str, str], is_numbered: bool, key: str, named: str, read: str
) -> None:
    """Item ids may be numbers in another order; what could be either is refused."""
    ids = ImageIds(item_of=item_of, is_numbered=is_numbered, path=Path("set/captions.json"))
    images = {*item_of} if is_numbered else {*item_of.values()}
    made = {
        image: Prediction(text=image, file=Path("a.json"), place="", key=key) for image in named
    }
    if "7" in item_of:
        images = {"1", "2"}
    if not read:
        with pytest.raises(ConfigError, match="number 1 is of the item '3'") as refused:
            with_ids_of(images, {"a": made}, ids)
        assert "score against set/captions.json" in refused.value.next_step
        return
    captions = with_ids_of(images, {"a": made}, ids)["a"]
    assert {image: each.text for image, each in captions.items()} == dict(
        zip(read, named, strict=True)
    )
