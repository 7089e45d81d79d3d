"""`piecework data score` of detectors: tables, page and JSON; bad files end in a sentence."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from piecework.cli.main import main

IMAGES = [
    {"id": n, "item_id": f"i{n}", "file_name": f"{n}.jpg", "width": 60, "height": 40}
    for n in (1, 2, 3)
]
DOG, CAT = {"id": 7, "name": "Dog"}, {"id": 9, "name": "Cat"}
BOX, OTHER = [2, 2, 20, 20], [30, 5, 20, 20]
CORNERS = [[2, 2, 22, 2, 22, 22, 2, 22]]


def _people(folder: Path, *, name: str = "boxes_coco.json", **more: object) -> Path:
    """Two dogs and a cat; a crowd of cats; the third image shows nothing."""
    shape = {"iscrowd": 0, **more}
    annotations = [
        {"id": 1, "image_id": 1, "category_id": 7, "bbox": BOX, **shape},
        {"id": 2, "image_id": 2, "category_id": 7, "bbox": BOX, **shape},
        {"id": 3, "image_id": 1, "category_id": 9, "bbox": OTHER, **shape},
        {"id": 4, "image_id": 2, "category_id": 9, "bbox": OTHER, **shape, "iscrowd": 1},
    ]
    document = {"images": IMAGES, "annotations": annotations, "categories": [DOG, CAT]}
    path = folder / name
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def _detected(
    image: object, category: int, box: list[int], score: float, **more: object
) -> dict[str, object]:
    return {"image_id": image, "category_id": category, "bbox": box, "score": score, **more}


def _results(folder: Path, name: str, *entries: object) -> Path:
    path = folder / f"{name}.json"
    path.write_text(json.dumps([*entries]), encoding="utf-8")
    return path


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """All objects, a crowd, by the other names of images; and an image of another dataset."""
    return _results(
        tmp_path,
        "good",
        _detected("i1", 7, BOX, 0.9),
        _detected("2.jpg", 7, BOX, 0.8),
        _detected(1, 9, OTHER, 0.7),
        _detected(2, 9, OTHER, 0.95),
        _detected(99, 9, OTHER, 0.5),
    )


@pytest.fixture
def poor(tmp_path: Path) -> Path:
    """Half of the dogs, after a false alarm; no cat."""
    return _results(tmp_path, "poor", _detected(3, 7, BOX, 0.9), _detected(1, 7, BOX, 0.5))


def _score(*words: object) -> Result:
    return CliRunner().invoke(main, ["data", "score", *map(str, words)], catch_exceptions=False)


def _document(*words: object) -> dict[str, Any]:
    result = _score(*words, "--json", "--resamples", "100")
    assert result.exit_code == 0, result.output
    document: dict[str, Any] = json.loads(result.output)
    return document


def test_detectors_are_scored_and_compared(tmp_path: Path, good: Path, poor: Path) -> None:
    """By hand: half of the dogs behind a false alarm, and no cat; a crowd changes nothing."""
    _people(tmp_path)
    document = _document(good, poor, "--against", tmp_path)
    first, second = document["scores"]
    assert (document["marks"], document["images"], document["objects"]) == ("boxes", 3, 3)
    assert (document["crowds"], first["system"], second["system"]) == (1, "good", "poor")
    assert [each["score"] for each in first["scores"].values()] == pytest.approx([100] * 4)
    # Precision is a half up to a recall of a half: 51 of 101 levels. The cats have 0.
    of_dogs = 50 * 51 / 101
    assert second["categories"][0]["AP"] == pytest.approx(of_dogs)
    assert second["scores"]["AP"]["score"] == pytest.approx(of_dogs / 2)
    assert second["scores"]["AR"]["score"] == pytest.approx(25)
    (pair,) = document["differences"]
    assert pair["difference"] == pytest.approx(100 - of_dogs / 2)
    assert pair["low"] <= pair["difference"] <= pair["high"]
    assert document["remarks"] == [
        "good: 1 detection in images that boxes_coco.json does not list do not count."
    ]


def test_the_terminal_and_the_page_show_the_same(tmp_path: Path, good: Path, poor: Path) -> None:
    """Equal seeds give equal numbers."""
    path, page = _people(tmp_path), tmp_path / "page.html"
    words = (good, poor, "--against", path, "--resamples", 100, "--html", page)
    printed = _score(*words).output
    for part in ("Scores on all images", "Differences in AP", "Scores of each category", "100.0"):
        assert part in printed
        assert part in page.read_text(encoding="utf-8")
    assert printed == _score(*words).output


def test_outlines_are_compared_if_all_files_have_them(tmp_path: Path) -> None:
    """A half of the dog has a box of its size, but not its outline."""
    path = _people(tmp_path, segmentation=CORNERS)
    half = [[2, 2, 22, 2, 2, 22]]
    outlined = _results(
        tmp_path, "outlined", *(_detected(n, 7, BOX, 0.9, segmentation=half) for n in (1, 2))
    )
    boxed = _results(tmp_path, "boxed", *(_detected(n, 7, BOX, 0.9) for n in (1, 2)))
    by_outline = _document(outlined, "--against", path)
    assert by_outline["marks"] == "outlines"
    assert by_outline["scores"][0]["categories"][0]["AP75"] == 0
    by_box = _document(outlined, boxed, "--against", path)
    assert by_box["marks"] == "boxes"
    assert by_box["scores"][0]["categories"][0]["AP75"] == pytest.approx(100)
    assert "boxed has no outline of some detections" in by_box["remarks"][0]


FAULTS: Mapping[str, tuple[dict[str, object], str]] = {
    "no score": ({"score": "high"}, "entry 0: no number 'score'"),
    "an infinite score": ({"score": float("inf")}, "entry 0: no number 'score'"),
    "another category": ({"category_id": 8}, "entry 0: category_id 8 is not among"),
    "no image": ({"image_id": None}, "entry 0: no 'image_id'"),
    "a broken box": ({"bbox": [1, 2]}, "entry 0: bbox is not [x, y, width, height]"),
    "run lengths that lie": (
        {"segmentation": {"size": [40, 60], "counts": [0, 10**7]}},
        "entry 0: segmentation: its counts do not add up",
    ),
    "an endless edge": (
        {"segmentation": [[-9e5, -9e5, 9e5, 9e5, 0, 0] * 99]},
        "entry 0: its segmentation reaches far beyond the image",
    ),
    "another dataset": ({"image_id": 99}, "none of its images is among those of"),
}


@pytest.mark.parametrize(
    "images",
    [
        [{**IMAGES[0], "file_name": "2.jpg"}, *IMAGES[1:]],
        [{**IMAGES[0], "item_id": "2.jpg"}, *IMAGES[1:]],
    ],
    ids=["a file's name twice", "a file's name that is an item"],
)
def test_a_name_of_several_images_is_a_fault(
    images: list[dict[str, object]], tmp_path: Path, good: Path
) -> None:
    """A detection there could be about either; other names of these images still count."""
    people = _people(tmp_path)
    document = json.loads(people.read_text(encoding="utf-8"))
    people.write_text(json.dumps({**document, "images": images}), encoding="utf-8")
    refused = _score(good, "--against", people)
    assert refused.exit_code
    assert "entry 1: image_id '2.jpg' is the name of several images" in " ".join(
        refused.output.split()
    )
    fair = _results(tmp_path, "fair", _detected(2, 7, BOX, 0.8), _detected("3.jpg", 7, BOX, 0.1))
    assert not _score(fair, "--against", people).exit_code


@pytest.mark.parametrize(("changed", "words"), FAULTS.values(), ids=FAULTS)
def test_a_bad_detection_is_named_in_a_sentence(
    changed: dict[str, object], words: str, tmp_path: Path
) -> None:
    """Before the library sees it."""
    path = _people(tmp_path)
    bad = _results(tmp_path, "bad", _detected(1, 7, BOX, 0.9) | changed)
    refused = _score(bad, "--against", path)
    assert refused.exit_code == 2
    assert words in " ".join(refused.output.split())


def test_a_bad_dataset_is_named_in_a_sentence(tmp_path: Path, good: Path) -> None:
    """With the id of the annotation, or the files that a folder has."""
    for change, words in (
        ({"bbox": None}, "annotation 1: has neither a bbox nor a segmentation"),
        ({"image_id": 5}, "annotation 1: image_id 5 is not among the images"),
        ({"iscrowd": 1}, "holds no object that a detector could find"),
    ):
        path = _people(tmp_path, **change)
        refused = _score(good, "--against", path)
        assert refused.exit_code == 2
        assert words in " ".join(refused.output.split())
    _people(tmp_path, name="masks_coco.json")
    refused = _score(good, "--against", tmp_path)
    assert "it has boxes_coco.json, masks_coco.json" in " ".join(refused.output.split())
    unused = _score(good, "--against", _people(tmp_path), "--vizwiz", "--by", "split")
    assert "--by, --vizwiz: no use with detectors" in " ".join(unused.output.split())


def test_a_missing_library_is_named_with_its_extra(
    tmp_path: Path, good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Captions need no extra."""
    monkeypatch.setitem(sys.modules, "pycocotools.coco", None)
    refused = _score(good, "--against", _people(tmp_path))
    assert refused.exit_code == 2
    assert "pip install 'piecework[detections]'" in " ".join(refused.output.split())
