"""Merged boxes, polygons and masks as COCO's file of objects."""

import io
import json
from base64 import b64encode
from collections import Counter
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from PIL import Image

from piecework.analyses import regions
from piecework.analyses.regions import MOST, MOST_MERGED
from piecework.domain.campaign import formats_of
from piecework.domain.dataset import LICENCES, Publication
from piecework.domain.field import MERGED, Aggregate, AggregateKind, Field
from piecework.postprocess.datasets.coco_json import Objects
from tests.postprocess.answers_by_hand import ITEMS, TASK, rows
from tests.postprocess.datasets.test_fields_layout import FACTS
from tests.postprocess.made_tables import contents

BOXES = Field(name="boxes", kind="text", label="Boxes", regions="boundingBoxes")
BOXED = replace(
    TASK, fields=(BOXES, *TASK.fields), aggregates=(Aggregate(field="boxes", kind="boxes"),)
)


def _drawn(*boxes: tuple[str, float, float, float, float], size: tuple[int, int] | None) -> str:
    keys = ("label", "left", "top", "width", "height")
    entries = [dict(zip(keys, box, strict=True)) for box in boxes]
    if size is None:
        return json.dumps(entries)
    shape = dict(zip(("width", "height"), size, strict=True))
    return json.dumps({"boundingBoxes": entries, "inputImageProperties": shape})


def _files(
    *answers: tuple[str, str, str], publication: Publication = FACTS.publication
) -> tuple[dict[str, Any], dict[str, bytes]]:
    facts = replace(FACTS, task=BOXED, publication=publication)
    table = rows([(worker, item, {"boxes": text}) for worker, item, text in answers], BOXED)
    made = contents(table, ITEMS, facts, formats_of(BOXED))
    return {name: json.loads(text) for name, text in made.items() if "_coco" in name}, made


def test_merged_boxes_are_annotations_of_the_pictures_that_people_saw() -> None:
    """An empty picture is listed, and one without an answer is not."""
    size = (640, 480)
    first = _drawn(("Dog", 10, 20, 30, 40.5), ("Cat", 300, 1, 9, 9), size=size)
    files, made = _files(
        ("a", "i1", first),
        ("b", "i1", first),
        ("a", "i2", _drawn(size=size)),
        publication=replace(FACTS.publication, items_licence=LICENCES["CC-BY-4.0"]),
    )
    whole = files["boxes_coco.json"]
    assert whole["categories"] == [{"id": 1, "name": "Cat"}, {"id": 2, "name": "Dog"}]
    assert [(image["id"], image["item_id"]) for image in whole["images"]] == [(1, "i1"), (2, "i2")]
    assert {(image["width"], image["height"]) for image in whole["images"]} == {size}
    assert {image["license"] for image in whole["images"]} == {whole["licenses"][0]["id"]}
    dog, cat = whole["annotations"]
    assert dog == {
        "id": 1001,
        "image_id": 1,
        "category_id": 2,
        "bbox": [10, 20, 30, 40.5],
        "area": 1215,
        "iscrowd": 0,
    }
    assert cat["bbox"] == [300, 1, 9, 9]
    assert b"boxes_coco.json" in made["README.md"]
    assert b"boxes_coco_val.json" in made["croissant.json"]


def test_each_split_has_its_own_file_with_the_same_numbers() -> None:
    """Together the splits are the whole, and their categories are equal."""
    box = _drawn(("Cat", 1, 2, 30, 40), size=(64, 48))
    files, _ = _files(*(("a", item, box) for item in ("i1", "i2", "i3")))
    whole = files.pop("boxes_coco.json")
    assert {file["info"]["split"] for file in files.values()} == {"train", "val", "test"}
    for key in ("images", "annotations"):
        parts = [entry for file in files.values() for entry in file[key]]
        assert sorted(parts, key=lambda entry: entry["id"]) == whole[key]
    assert all(file["categories"] == whole["categories"] for file in files.values())


def test_answers_without_boxes_make_an_empty_file() -> None:
    """No answer, or none that can be read, is no picture to train on."""
    for answers in ((), (("a", "i1", "no JSON"), ("a", "i2", _drawn(size=None)))):
        files, _ = _files(*answers)
        whole = files["boxes_coco.json"]
        assert (whole["images"], whole["annotations"], whole["categories"]) == ([], [], [])


def test_only_a_task_with_boxes_can_be_written_so() -> None:
    """The formats that fit are the default."""
    assert "coco_json" in formats_of(BOXED)
    assert "coco_json" not in formats_of(TASK)


def _areas(part: str, entries: object, **more: object) -> str:
    return json.dumps({part: entries, "inputImageProperties": {"width": 64, "height": 48}, **more})


def _coco_of(kind: AggregateKind, text: str) -> dict[str, Any]:
    areas = Field(name="areas", kind="text", label="Areas", regions=MERGED[kind])
    task = replace(
        TASK, fields=(areas, *TASK.fields), aggregates=(Aggregate(field="areas", kind=kind),)
    )
    table = rows([("a", "i1", {"areas": text})], task)
    made = contents(table, ITEMS, replace(FACTS, task=task), formats_of(task))
    whole: dict[str, Any] = json.loads(made["areas_coco.json"])
    return whole


def test_merged_polygons_have_their_corners_as_segmentation() -> None:
    """The area is that of the polygon, not of its box."""
    corners = [{"x": x, "y": y} for x, y in ((10, 10), (40, 10), (10, 40))]
    whole = _coco_of("polygons", _areas("polygons", [{"label": "Dog", "vertices": corners}]))
    (dog,) = whole["annotations"]
    assert dog["bbox"] == pytest.approx([10, 10, 30, 30], abs=1.5)
    assert dog["area"] == pytest.approx(450, rel=0.1)
    (ring,) = dog["segmentation"]
    assert len(ring) % 2 == 0
    assert len(ring) >= 6
    assert (whole["images"][0]["width"], whole["images"][0]["height"]) == (64, 48)


def test_no_picture_is_left_out_because_two_workers_drew_much() -> None:
    """Of two workers each mark counts, and the numbers of the next picture stay its own."""
    size = (640, 480)
    grid = [(x, y) for y in range(20) for x in range(25)]
    drawn = [
        _drawn(*((label, x * 20, y * 20, 9, 9) for x, y in grid), size=size)
        for label in ("Dog", "Cat")
    ]
    files, _ = _files(("a", "i1", drawn[0]), ("b", "i1", drawn[1]), ("a", "i2", drawn[0]))
    whole = files["boxes_coco.json"]
    assert [image["item_id"] for image in whole["images"]] == ["i1", "i2"]
    counts = Counter(mark["image_id"] for mark in whole["annotations"])
    assert counts == {1: MOST_MERGED, 2: MOST}
    assert len({mark["id"] for mark in whole["annotations"]}) == MOST_MERGED + MOST


def test_no_picture_is_left_out_because_two_workers_drew_large_polygons(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The cells of both workers' polygons are more than those of an answer."""
    corners = [{"x": x, "y": y} for x, y in ((0, 0), (60, 0), (60, 40), (0, 40))]
    answers = [
        _areas("polygons", [{"label": label, "vertices": corners}]) for label in ("Dog", "Cat")
    ]
    monkeypatch.setattr(regions, "MOST_CELLS", 3_000)
    votes = pd.DataFrame(
        [("i1", f"w{n}", text) for n, text in enumerate(answers)],
        columns=["item_id", "worker", "value"],
    )
    merged = regions.item_regions(votes, "polygons")["merged"]
    assert regions.read_marks(merged["i1"], "polygons") is None, "more than of an answer"
    assert [*Objects.of(merged, (), "polygons").numbers] == ["Cat", "Dog"]


def test_merged_masks_have_their_runs_down_the_columns() -> None:
    """COCO counts pixels of columns, first those outside; their sum is the picture."""
    image = Image.new("P", (64, 48))
    image.putpalette([255, 255, 255, 1, 2, 3])
    image.paste(1, (0, 10, 3, 20))
    image.paste(1, (60, 46, 64, 48))
    file = io.BytesIO()
    image.save(file, "PNG")
    picture = {"pngImageData": b64encode(file.getvalue()).decode()}
    named = [{"color": "#010203", "label": "Dog"}]
    whole = _coco_of("masks", _areas("labeledImage", picture, instances=named))
    (dog,) = whole["annotations"]
    assert dog["segmentation"]["size"] == [48, 64]
    counts = dog["segmentation"]["counts"]
    assert counts[:6] == [10, 10, 38, 10, 38, 10]
    assert sum(counts) == 64 * 48
    assert sum(counts[1::2]) == dog["area"] == 38
    assert dog["bbox"] == [0, 10, 64, 38]
