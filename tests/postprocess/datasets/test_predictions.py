"""Predictions are read or refused with the place of each fault."""

import json
from pathlib import Path

import pytest

from piecework.domain.errors import ConfigError
from piecework.postprocess.datasets.predictions import read_predictions, with_ids_of


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


def test_only_a_system_without_any_own_id_gets_the_other_ids(tmp_path: Path) -> None:
    """Numbers may be item ids too, so a known id decides what all ids mean."""
    path = _write(tmp_path, "all.csv", "system,image_id,caption\nA,1,x\nA,9,y\nB,2,x\nB,b,y\n")
    systems = with_ids_of(
        {"a", "b"}, read_predictions([path]), {"1": "a", "2": "b", "a": "1", "b": "2"}
    )
    assert {system: [*captions] for system, captions in systems.items()} == {
        "A": ["a", "9"],
        "B": ["2", "b"],
    }
