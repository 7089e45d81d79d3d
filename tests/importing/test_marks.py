"""Marks of other tools: boxes, polygons, masks and spans, read as a page would send them."""

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from piecework.analyses.areas import Areas
from piecework.analyses.mark_texts import masks_text, spans_text
from piecework.analyses.masks import painted, run_lengths
from piecework.analyses.regions import MOST, Marks, read_marks
from piecework.domain.campaign import Campaign, formats_of
from piecework.domain.errors import ConfigError
from piecework.domain.field import MERGED, Aggregate, Field, MarkKind
from piecework.importing.readers.recognise import READERS, recognise
from piecework.importing.readers.rows import ImportedRow, Unreadable
from piecework.postprocess.datasets.coco_json import Objects
from piecework.results.augmented_manifest import augmented_manifest
from tests.importing.batches import row, write
from tests.importing.test_guessing import otherwise, understood
from tests.importing.test_importing import done, piecework
from tests.postprocess.answers_by_hand import ITEMS, TASK, rows
from tests.postprocess.datasets.test_fields_layout import FACTS
from tests.postprocess.made_tables import contents

SIZE = {"height": 40, "width": 60}
TEXT = "😀 Ada met Bob\nin New York, 東京!"
KINDS: tuple[MarkKind, ...] = ("boxes", "polygons", "masks", "spans")


def drawn(kind: MarkKind, *marks: Mapping[str, object]) -> str:
    """An answer with these marks in a picture of 60 by 40 pixels."""
    return json.dumps({MERGED[kind]: [*marks], "inputImageProperties": SIZE})


def box(label: str, left: float, top: float, width: float, height: float) -> dict[str, object]:
    """A box as a page sends it."""
    return {"label": label, "left": left, "top": top, "width": width, "height": height}


def polygon(label: str, *corners: tuple[float, float]) -> dict[str, object]:
    """A polygon as a page sends it."""
    return {"label": label, "vertices": [{"x": x, "y": y} for x, y in corners]}


def mask(*areas: tuple[str, slice, slice]) -> str:
    """An answer of masks, as a page sends it."""
    whole = []
    for label, rows_of_it, columns in areas:
        pixels = np.zeros((40, 60), dtype="bool")
        pixels[rows_of_it, columns] = True
        runs = np.array(run_lengths(pixels)["counts"], dtype="int64")
        whole.append((label, runs))
    return masks_text(whole, (40, 60))


FIRST: Mapping[str, str] = {
    "boxes": drawn("boxes", box("Dog", 1, 2, 30, 20), box("Cat", 3, 4, 5, 6)),
    "polygons": drawn(
        "polygons",
        polygon("Dog", (1, 1), (20, 1), (10.5, 30)),
        polygon("Cat", (30, 3), (50, 3), (50, 30)),
    ),
    "masks": mask(("Dog", slice(2, 30), slice(3, 40)), ("Cat", slice(5, 9), slice(50, 60))),
    "spans": spans_text([("Person", (2, 5)), ("Person", (10, 13)), ("Place", (17, 25))], TEXT),
}
NONE: Mapping[str, str] = {
    "boxes": drawn("boxes"),
    "polygons": drawn("polygons"),
    "masks": mask(),
    "spans": spans_text([], "nothing here"),
}
MARKED = replace(
    TASK,
    fields=(
        *(Field(name=kind, kind="text", label=kind, regions=MERGED[kind]) for kind in KINDS),
        *TASK.fields,
    ),
    aggregates=tuple(Aggregate(field=kind, kind=kind) for kind in KINDS),
)


def exported(folder: Path) -> dict[str, Path]:
    """All files of marks that piecework writes, of two items: one with marks, one without."""
    texts = {("spans", "i1"): TEXT, ("spans", "i2"): "nothing here"}
    publication = replace(FACTS.publication, pictures="files")
    facts = replace(FACTS, task=MARKED, marked_texts=texts, publication=publication)
    table = rows([("a", "i1", FIRST), ("a", "i2", NONE)], MARKED)
    made = contents(table, ITEMS, facts, formats_of(MARKED))
    listed = pq.read_table(io.BytesIO(made["items.parquet"])).to_pylist()
    made["labels.manifest"] = augmented_manifest(
        cast("Campaign", SimpleNamespace(task=MARKED, name="m", pictures=None)),
        [{**each, "url": f"s3://b/{each['item_id']}.jpg"} for each in listed[:2]],
        "2026-03-01T12:00:00+00:00",
    )
    paths = {}
    for name, content in made.items():
        paths[name] = folder / name
        paths[name].parent.mkdir(parents=True, exist_ok=True)
        paths[name].write_bytes(content)
    return paths


def read(path: Path) -> list[ImportedRow]:
    """The rows of a file, all of which can be read."""
    (source,) = recognise([path])
    listed_rows = [*source.rows()]
    assert all(isinstance(each, ImportedRow) for each in listed_rows), listed_rows
    return [each for each in listed_rows if isinstance(each, ImportedRow)]


def comparable(text: str, kind: MarkKind) -> object:
    """The marks of an answer, so that those of two answers can be compared."""
    marks: Marks | None = read_marks(text, MERGED[kind])
    assert marks is not None, text
    if isinstance(marks, Areas) and kind == "masks":
        pixels = painted(marks)
        return {
            label: (pixels == n).tobytes() for n, label in enumerate(marks.labels, 1)
        }, marks.size
    return sorted(marks.listed(), key=str), marks.size


@pytest.mark.parametrize(
    ("name", "kind", "column"),
    [
        ("boxes_coco.json", "boxes", "boxes"),
        ("polygons_coco.json", "polygons", "polygons"),
        ("masks_coco.json", "masks", "masks"),
        ("spans_brat.zip", "spans", "spans"),
        ("labels.manifest", "boxes", "boxes"),
    ],
)
def test_what_is_exported_is_read_again_as_the_same_marks(
    name: str, kind: MarkKind, column: str, tmp_path: Path
) -> None:
    """Each file of one worker, with an answer about each item, also about the empty one."""
    first, second = read(exported(tmp_path)[name])
    assert comparable(first.sent[column], kind) == comparable(FIRST[kind], kind)
    assert len(cast("Any", comparable(second.sent[column], kind))[0]) == 0
    assert {first.worker_id, second.worker_id} == {f"file:{name}"}
    if kind == "spans":
        assert first.shown["text"] == TEXT
    else:
        assert first.shown["item_id"] == "i1"


def test_the_list_of_an_imagefolder_has_the_boxes_without_the_size(tmp_path: Path) -> None:
    """It says nothing about the size of a picture."""
    first, second = read(exported(tmp_path)["images/metadata.jsonl"])
    marks, _ = cast("Any", comparable(first.sent["objects"], "boxes"))
    assert marks == cast("Any", comparable(FIRST["boxes"], "boxes"))[0]
    assert comparable(second.sent["objects"], "boxes") == ([], None)


def test_columns_of_tags_have_the_same_words_with_the_same_labels(tmp_path: Path) -> None:
    """The text is the tokens with spaces, as the file has no others."""
    first, second = read(exported(tmp_path)["spans.conll"])
    units = first.shown["text"].encode("utf-16-le")
    entities = json.loads(first.sent["spans"])["entities"]
    words = [
        (each["label"], units[2 * each["startOffset"] : 2 * each["endOffset"]].decode("utf-16-le"))
        for each in entities
    ]
    assert words == [("Person", "Ada"), ("Person", "Bob"), ("Place", "New York")]
    assert (first.shown["item_id"], second.sent) == ("i1", {"spans": '{"entities": []}'})


def test_imported_marks_are_merged_and_written_like_collected_ones(tmp_path: Path) -> None:
    """Two people's files about one picture: fields of boxes, and COCO's file of the dataset."""
    source = exported(tmp_path / "made")["boxes_coco.json"]
    other = tmp_path / "third.json"
    other.write_text(source.read_text(encoding="utf-8").replace("[1.0, 2.0", "[3.0, 2.0"), "utf-8")
    assert understood(source)["fields"] == {
        "boxes": {"kind": "text", "marks": "boxes", "required": True}
    }
    assert 'fields.boxes.kind = "text"' in otherwise(understood(source))
    campaign = tmp_path / "c.toml"
    done("data", "import", source, other, "--as", campaign)
    assert 'marks = "boxes"' in (tmp_path / "c.columns.toml").read_text(encoding="utf-8")
    again = done("data", "import", source, "--as", campaign)
    assert "imported: 0 assignments; 2 known before" in again
    done("data", "assess", campaign)
    done("export", campaign)
    written = json.loads((tmp_path / "out/c/dataset/boxes_coco.json").read_text(encoding="utf-8"))
    drawn_in_first = [each["bbox"] for each in written["annotations"] if each["image_id"] == 1]
    assert sorted(drawn_in_first) == [[2, 2, 30, 20], [3, 4, 5, 6]]
    assert [image["width"] for image in written["images"]] == [60, 60]


def test_the_agreement_of_marks_is_analysed(tmp_path: Path) -> None:
    """Of a campaign and of a file: one box of three is the second person's alone.

    F1 of the first image is 2 * 1 / 3; neither marked the second, so it is 1.
    """
    dog = of_dog(1, bbox=[1, 1, 10, 10])
    first = coco(tmp_path / "a.json", dog)
    second = coco(tmp_path / "b.json", dog, of_dog(2, bbox=[30, 20, 5, 5]))
    campaign = tmp_path / "c.toml"
    done("data", "import", first, second, "--as", campaign)
    campaign.write_text(campaign.read_text().replace('by = "person"', 'by = "policy"'))
    analysis = json.loads(done("data", "analyse", campaign, "--json"))
    (marks,) = analysis["marks"]
    assert marks["agreement"] == pytest.approx((2 / 3 + 1) / 2)
    assert marks["measure"] == "F1 of boxes"
    assert (marks["items"], marks["answers"]) == (2, 4)
    assert analysis["remarks"] == []
    assert "F1 of boxes" in done("data", "analyse", campaign)
    (remark,) = json.loads(done("data", "analyse", first, "--json"))["remarks"][-1:]
    assert "if an item has two answers" in remark


def test_imported_spans_are_written_with_their_text(tmp_path: Path) -> None:
    """The column `text` of an item, which readers of marked texts show."""
    campaign = tmp_path / "c.toml"
    done("data", "import", exported(tmp_path / "made")["spans_brat.zip"], "--as", campaign)
    done("export", campaign)
    archive = zipfile.ZipFile(tmp_path / "out/c/dataset/spans_brat.zip")
    texts = [archive.read(name).decode() for name in archive.namelist() if name.endswith(".txt")]
    assert sorted(texts) == sorted([TEXT, "nothing here"])
    notes = "".join(
        archive.read(name).decode() for name in archive.namelist() if name.endswith(".ann")
    )
    assert "T1\tPerson 2 5\tAda\n" in notes


# --- COCO -----------------------------------------------------------------------------
CATEGORIES = [{"id": 7, "name": "Dog"}, {"id": 9, "name": "Cat"}]
IMAGES = [
    {"id": 1, "file_name": "a.jpg", "width": 60, "height": 40},
    {"id": 2, "file_name": "b.jpg", "width": 60, "height": 40},
]


def coco(path: Path, *annotations: Mapping[str, object], **more: object) -> Path:
    """A file of COCO's with these annotations of two images."""
    document = {"images": IMAGES, "annotations": [*annotations], "categories": CATEGORIES}
    path.write_text(json.dumps({**document, **more}), encoding="utf-8")
    return path


def of_dog(number: int, image: int = 1, **more: object) -> dict[str, object]:
    """An annotation of a dog."""
    return {"id": number, "image_id": image, "category_id": 7, **more}


def compressed(runs: list[int]) -> str:
    """Run lengths in COCO's text, as its `rleToString` writes them."""
    text = ""
    for n, length in enumerate(runs):
        rest = length - (runs[n - 2] if n > 2 else 0)
        more = True
        while more:
            part, rest = rest & 0x1F, rest >> 5
            more = rest != (-1 if part & 0x10 else 0)
            text += chr(48 + part + 0x20 * more)
    return text


@pytest.mark.parametrize("form", ["list", "text"])
def test_masks_are_read_from_both_forms_of_run_lengths(form: str, tmp_path: Path) -> None:
    """And a crowd, which nobody counted, is a field of its own."""
    pixels = np.zeros((40, 60), dtype="bool")
    pixels[3:30, 2:50] = True
    pixels[9, 55] = True
    runs = run_lengths(pixels)["counts"]
    written: dict[str, object] = {
        "size": [40, 60],
        "counts": compressed(runs) if form == "text" else runs,
    }
    path = coco(
        tmp_path / "m.json",
        of_dog(1, segmentation=written, iscrowd=0),
        of_dog(2, segmentation=written, iscrowd=1),
    )
    first, second = read(path)
    assert first.sent.keys() == second.sent.keys() == {"masks", "crowd_masks"}
    named, size = cast("Any", comparable(first.sent["masks"], "masks"))
    assert (named, size) == ({"Dog": pixels.tobytes()}, (60, 40))
    assert comparable(second.sent["masks"], "masks") == ({}, (60, 40))


def test_a_polygon_in_parts_stays_one_object(tmp_path: Path) -> None:
    """A line of no width joins its parts; its pixels are those of both."""
    parts = [[1, 1, 11, 1, 11, 11, 1, 11], [30, 5, 50, 5, 50, 25, 30, 25]]
    first, _ = read(coco(tmp_path / "p.json", of_dog(1, segmentation=parts)))
    marks = read_marks(first.sent["polygons"], "polygons")
    assert isinstance(marks, Areas)
    (area,) = marks.areas
    assert area.cells == 10 * 10 + 20 * 20


def square(left: int, top: int, side: int, turn: int) -> list[int]:
    """The corners of a square, in one direction or the other."""
    right, bottom = left + side, top + side
    return [[left, top, right, top, right, bottom, left, bottom],
            [left, top, left, bottom, right, bottom, right, top]][turn]  # fmt: skip


PARTS: Mapping[str, tuple[list[list[int]], float]] = {
    "apart, drawn alike": ([square(1, 1, 10, 0), square(30, 5, 20, 0)], 500),
    "apart, drawn in opposite directions": ([square(1, 1, 10, 0), square(30, 5, 20, 1)], 500),
    "overlapping": ([square(2, 2, 20, 0), square(12, 12, 20, 0)], 700),
    "overlapping, in opposite directions": ([square(2, 2, 20, 0), square(12, 12, 20, 1)], 700),
    "one in another": ([square(2, 2, 20, 0), square(7, 7, 10, 1)], 400),
    "around a hole": (
        [[5, 5, 35, 5, 35, 15, 5, 15], [5, 25, 35, 25, 35, 35, 5, 35],
         [5, 10, 15, 10, 15, 30, 5, 30], [25, 10, 25, 30, 35, 30, 35, 10]],
        800,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("parts", "area"), PARTS.values(), ids=PARTS)
def test_a_polygon_in_parts_has_the_area_of_their_union(
    parts: list[list[int]], area: float, tmp_path: Path
) -> None:
    """As COCO counts it: in the imported answer, and in the file written from that."""
    path = coco(tmp_path / "p.json", of_dog(1, segmentation=parts))
    answer = read(path)[0].sent["polygons"]
    marks = read_marks(answer, "polygons")
    assert isinstance(marks, Areas)
    assert marks.areas[0].cells == pytest.approx(area, rel=0.01)
    (written,) = Objects.of(pd.Series([answer]), ["Dog"], "polygons").drawn
    assert written is not None
    assert written.outlines[0][1] == pytest.approx(area, rel=0.02)


def test_crowds_are_crowds_again_in_the_file_of_their_field(tmp_path: Path) -> None:
    """So that programs which train on the file do not take a group for one object."""
    of_images = [of_dog(1, bbox=[1, 1, 9, 9]), of_dog(2, bbox=[2, 2, 30, 30], iscrowd=1)]
    done("data", "import", coco(tmp_path / "p.json", *of_images), "--as", tmp_path / "c.toml")
    done("export", tmp_path / "c.toml")
    for name, is_crowd in (("boxes", 0), ("crowd_boxes", 1)):
        written = (tmp_path / f"out/c/dataset/{name}_coco.json").read_text(encoding="utf-8")
        assert [each["iscrowd"] for each in json.loads(written)["annotations"]] == [is_crowd]


FAULTY: Mapping[str, tuple[dict[str, object], str]] = {
    "no shape": (of_dog(5), "has neither a bbox nor a segmentation"),
    "a box of words": (of_dog(5, bbox=["a", 1, 2, 3]), "bbox is not [x, y, width, height]"),
    "a box without numbers": (of_dog(5, bbox=[float("nan"), 1, 2, 3]), "bbox is not"),
    "a negative box": (of_dog(5, bbox=[1, 1, -2, 3]), "bbox is not"),
    "another category": (of_dog(5, bbox=[1, 1, 2, 3], category_id=[]), "category_id [] is not"),
    "two corners": (of_dog(5, segmentation=[[1, 1, 2, 2]]), "neither run lengths nor a list"),
    "another size": (
        of_dog(5, segmentation={"size": [60, 40], "counts": [2400]}),
        "not of the picture's size, 40 rows and 60 columns",
    ),
    "runs beyond the picture": (
        of_dog(5, segmentation={"size": [40, 60], "counts": [0, 2401]}),
        "do not add up",
    ),
    "runs that go back": (
        of_dog(5, segmentation={"size": [40, 60], "counts": [2401, -1]}),
        "do not add up",
    ),
    "a text that is cut": (
        of_dog(5, segmentation={"size": [40, 60], "counts": "P"}),
        "end inside a number",
    ),
    "a huge picture": (
        of_dog(5, segmentation={"size": [10**6, 10**6], "counts": [10**12]}),
        "more than 64,000,000 pixels",
    ),
}


@pytest.mark.parametrize(("faulty", "words"), FAULTY.values(), ids=FAULTY)
def test_a_faulty_annotation_sets_its_image_aside(
    faulty: dict[str, object], words: str, tmp_path: Path
) -> None:
    """In a sentence with its id; the other image is imported."""
    path = coco(tmp_path / "f.json", faulty, of_dog(6, 2, bbox=[1, 1, 2, 3]))
    printed = piecework("data", "import", path, "--as", tmp_path / "c.toml").output
    sentence = " ".join(printed.split())
    assert f"{path}: line 1, column annotation 5: " in sentence.replace("f.json : ", "f.json: ")
    assert words in sentence
    assert "imported: 1 assignment; 1 row kept aside" in sentence


def test_what_is_no_file_of_objects_is_refused_in_a_sentence(tmp_path: Path) -> None:
    """An id twice; more marks than an answer may have; an image that is not there."""
    twice = coco(tmp_path / "t.json", of_dog(1, bbox=[1, 1, 2, 2]), images=[IMAGES[0], IMAGES[0]])
    refused = piecework("data", "import", twice, "--dry-run")
    assert refused.exit_code
    assert "images: the id 1 occurs twice" in " ".join(refused.output.split())
    many = coco(
        tmp_path / "m.json",
        *(of_dog(n, bbox=[1, 1, 2, 2]) for n in range(MOST + 1)),
        of_dog(900, 3, bbox=[1, 1, 2, 2]),
    )
    (source,) = recognise([many])
    aside = [each for each in source.rows() if isinstance(each, Unreadable)]
    assert [each.column for each in aside] == ["image 1", "annotation 900"]
    assert "501 marks; of an item at most 500 are read" in aside[0].fault
    captions = coco(tmp_path / "c.json", {"id": 1, "image_id": 1, "caption": "A dog."})
    document = json.loads(captions.read_text(encoding="utf-8"))
    del document["categories"]
    captions.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ConfigError, match="unknown format"):
        recognise([captions])


def test_a_long_file_is_recognised_by_its_beginning(tmp_path: Path) -> None:
    """As COCO writes it: a list of many images first, categories last."""
    images = [{"id": n, "file_name": f"{n:012}.jpg", "license": 1} for n in range(30_000)]
    path = coco(tmp_path / "long.json", of_dog(1, 9, bbox=[1, 1, 2, 3]), images=images)
    assert path.stat().st_size > 1 << 20
    (source,) = recognise([path])
    assert source.format_name == "COCO"
    filled = [each for each in source.rows() if "Dog" in cast("ImportedRow", each).sent["boxes"]]
    assert len(filled) == 1


# --- the other formats ----------------------------------------------------------------
def test_other_people_s_imagefolders_are_read(tmp_path: Path) -> None:
    """As the Hub documents it, with numbers for categories, or a list of objects."""
    lines = [
        {
            "file_name": "a.png",
            "objects": {"bbox": [[1, 2, 3, 4], [5, 6, 7, 8]], "categories": [0, 1]},
        },
        {"file_name": "b.png", "objects": [{"bbox": [1, 2, 3, 4], "category": "Dog"}]},
        {"file_name": "c.png", "objects": {"bbox": [[1, 2, 3, 4]], "categories": [0, 1]}},
    ]
    path = tmp_path / "metadata.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    (source,) = recognise([path])
    first, second, third = source.rows()
    assert isinstance(first, ImportedRow)
    assert isinstance(second, ImportedRow)
    assert [each["label"] for each in json.loads(first.sent["objects"])["boundingBoxes"]] == [
        "0",
        "1",
    ]
    assert json.loads(second.sent["objects"])["boundingBoxes"] == [box("Dog", 1, 2, 3, 4)]
    assert isinstance(third, Unreadable)
    assert third.fault == "has 1 bbox and 2 categories"


def test_a_manifest_of_ground_truth_has_boxes_spans_and_labels(tmp_path: Path) -> None:
    """What a model labelled is no answer."""
    made = {"human-annotated": "yes", "creation-date": "2026-03-01T12:00:00.5"}
    boxes: dict[str, Any] = {
        "image_size": [{"width": 60, "height": 40, "depth": 3}],
        "annotations": [{"class_id": 1, "left": 1, "top": 2, "width": 3, "height": 4}],
    }
    about = {"type": "groundtruth/object-detection", "class-map": {"1": "Dog"}, **made}
    span = {"startOffset": 0, "endOffset": 3, "label": "Person"}
    lines: list[dict[str, object]] = [
        {"source-ref": "s3://b/a.jpg", "dogs": boxes, "dogs-metadata": about},
        {
            "source": "Ada ran",
            "who": {"annotations": {"entities": [span], "labels": []}},
            "who-metadata": {"type": "groundtruth/text-span", **made},
        },
        {
            "source": "Rain",
            "kind": 1,
            "kind-metadata": {
                "type": "groundtruth/text-classification",
                "class-name": "weather",
                **made,
            },
        },
        {
            "source-ref": "s3://b/d.jpg",
            "dogs": boxes,
            "dogs-metadata": {**about, "human-annotated": "no"},
        },
        {"source-ref": "s3://b/e.jpg", "dogs": {"annotations": [{}]}, "dogs-metadata": about},
        {
            "source-ref": "s3://b/f.jpg",
            "dogs": {"annotations": [{**boxes["annotations"][0], "left": 10**400}]},
            "dogs-metadata": about,
        },
    ]
    path = tmp_path / "out.manifest"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    (source,) = recognise([path])
    first, second, third, by_model, faulty, far = source.rows()
    assert isinstance(first, ImportedRow)
    assert json.loads(first.sent["dogs"])["boundingBoxes"] == [box("Dog", 1, 2, 3, 4)]
    assert first.submitted_at is not None
    assert json.loads(cast("ImportedRow", second).sent["who"]) == {"entities": [span]}
    assert cast("ImportedRow", third).sent == {"kind": "weather"}
    assert cast("Any", by_model).why == "labelled by a model"
    assert isinstance(faulty, Unreadable)
    assert "annotation 1 has not left" in faulty.fault
    assert isinstance(far, Unreadable)


TAGS = """-DOCSTART- -X- -X- O

EU NNP B-NP B-ORG
rejects VBZ B-VP O
" " O O
Bob NNP B-NP I-PER
Jones NNP I-NP I-PER
York NNP I-NP B-PER

Ada\tS-PER
New\tB-LOC
York\tE-LOC
City\tI-LOC

Ada PER
"""


@pytest.mark.parametrize("between", [" ", "\t"])
def test_a_hash_is_a_token_and_a_comment_is_none(between: str, tmp_path: Path) -> None:
    """With its tag; comments may end like a line with a tag."""
    path = tmp_path / "t.conll"
    comments = "# item_id = Plan O\n# text = Plan O\n# tag X = B-X\n# as it was\n"
    lines = [("Room", "B-Place"), ("#", "I-Place"), ("9", "I-Place"), ("#", "O")]
    path.write_text(comments + "".join(f"{between.join(each)}\n" for each in lines), "utf-8")
    (only,) = read(path)
    assert only.shown == {"item_id": "Plan O", "text": "Room # 9 #"}
    assert entities(only) == [("Place", "Room # 9")]


def test_columns_of_tags_of_other_programs_are_read(tmp_path: Path) -> None:
    """With more columns, spaces or tabs, without a first B, and with the letters E and S."""
    path = tmp_path / "eng.conll"
    path.write_text(TAGS, encoding="utf-8")
    with pytest.raises(ConfigError, match="unknown format"):
        recognise([path])
    path.write_text(TAGS.replace("Ada PER", "Ada O"), encoding="utf-8")
    first, second, third = read(path)
    assert first.shown == {"text": 'EU rejects " Bob Jones York'}
    assert entities(first) == [("ORG", "EU"), ("PER", "Bob Jones"), ("PER", "York")]
    assert entities(second) == [("PER", "Ada"), ("LOC", "New York"), ("LOC", "City")]
    assert entities(third) == []


def entities(read_row: ImportedRow) -> list[tuple[str, str]]:
    """The spans of a row, whose text has one unit for each character."""
    text = read_row.shown["text"]
    listed = json.loads(read_row.sent["spans"])["entities"]
    return [(each["label"], text[each["startOffset"] : each["endOffset"]]) for each in listed]


def test_each_folder_of_brat_is_a_person(tmp_path: Path) -> None:
    """A span in pieces over lines is one; what is not about its text is set aside."""
    text = "Ada met\nBob in York"
    people = {
        "ada": "T1\tPerson 0 3\tAda\nT2\tMeeting 4 7;8 11\tmet Bob\nR1\tIn Arg1:T1 Arg2:T2\n",
        "bob": "T1\tPlace 15 19\tYork\nT2\tPair 0 3;15 19\tAda York\n#1\tNote T1\tsure\n",
        "cy": "T1\tPlace 14 18\tYork\n",
    }
    for name, notes in people.items():
        (tmp_path / "data" / name).mkdir(parents=True)
        (tmp_path / "data" / name / "d1.txt").write_text(text, encoding="utf-8")
        (tmp_path / "data" / name / "d1.ann").write_text(notes, encoding="utf-8")
    (source,) = recognise([tmp_path / "data"])
    ada, bob, cy = source.rows()
    assert isinstance(ada, ImportedRow)
    assert isinstance(bob, ImportedRow)
    assert entities(ada) == [("Person", "Ada"), ("Meeting", "met\nBob")]
    assert entities(bob) == [("Place", "York"), ("Pair", "Ada"), ("Pair", "York")]
    assert ada.shown == bob.shown == {"document": "d1", "text": text}
    assert (ada.worker_id, bob.worker_id) == ("file:data/ada", "file:data/bob")
    assert isinstance(cy, Unreadable)
    (tmp_path / "data" / "cy" / "d1.txt").unlink()
    *_, lost = source.rows()
    assert isinstance(lost, Unreadable)
    assert (lost.column, lost.fault) == ("cy/d1.ann", "has no d1.txt beside it")
    assert (cy.column, cy.fault) == ("cy/d1.ann", "T1 is about 'York', but there is ' Yor'")


def test_marks_of_a_batch_are_one_answer(tmp_path: Path) -> None:
    """MTurk writes the parts of a crowd element as columns."""
    sent = {
        "annotatedResult.boundingBoxes": json.dumps([box("Dog", 1, 2, 3, 4)]),
        "annotatedResult.inputImageProperties.height": "40",
        "annotatedResult.inputImageProperties.width": "60",
    }
    path = write(tmp_path / "b.csv", [row(1, "W1", shown={"url": "http://a/1.jpg"}, sent=sent)])
    assert understood(path)["fields"] == {
        "annotatedResult": {"kind": "text", "marks": "boxes", "required": True}
    }
    done("data", "import", path, "--as", tmp_path / "c.toml")
    done("export", tmp_path / "c.toml")
    (written,) = (tmp_path / "out/c/dataset").glob("*_coco.json")
    (drawn_once,) = json.loads(written.read_text(encoding="utf-8"))["annotations"]
    assert drawn_once["bbox"] == [1, 2, 3, 4]


def test_a_picture_without_objects_says_so(tmp_path: Path) -> None:
    """In each member that lists objects in other lines, also in the first line of a file."""
    path = tmp_path / "metadata.jsonl"
    objects = [{"bbox": [1, 2, 3, 4], "label": "Dog"}]
    lines: list[dict[str, object]] = [
        {"file_name": "1.jpg", "objects": [], "cats": [], "notes": []},
        {"file_name": "2.jpg", "objects": objects, "cats": objects, "notes": ["x"]},
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    first, second = read(path)
    assert first.sent == dict.fromkeys(("objects", "cats"), '{"boundingBoxes": []}')
    assert second.sent.keys() == {"objects", "cats"}


@pytest.mark.parametrize("kind", ["COCO", "brat"])
def test_files_of_one_name_are_not_one_person(kind: str, tmp_path: Path) -> None:
    """The second person's marks would be known before; one's own name is needed."""
    paths = [tmp_path / name / "ann.json" for name in "ab"]
    for path in paths:
        path.parent.mkdir()
        if kind == "COCO":
            coco(path, of_dog(1, bbox=[1, 1, 2, 2]))
        else:
            path.mkdir()
            (path / "d.txt").write_text("Ada", encoding="utf-8")
            (path / "d.ann").write_text("T1\tPerson 0 3\tAda\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="do not say who made them") as refused:
        recognise(paths)
    assert all(str(path) in str(refused.value) for path in paths)
    paths[1] = paths[1].rename(tmp_path / "b" / "other.json")
    assert len(recognise(paths)) == 2


def manifest(path: Path, left: int, made: str) -> Path:
    """A job's manifest with a box of one picture."""
    boxes = {"annotations": [{"class_id": 1, "left": left, "top": 1, "width": 2, "height": 2}]}
    about = {"type": "groundtruth/object-detection", "class-map": {"1": "Dog"}}
    about |= {"human-annotated": "yes", "creation-date": made}
    line = {"source-ref": "s3://b/a.jpg", "dogs": boxes, "dogs-metadata": about}
    path.write_text(json.dumps(line), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["ann.json", "output.manifest"])
def test_a_later_file_of_one_name_hides_no_other_person(name: str, tmp_path: Path) -> None:
    """Other marks of the same image are kept aside with the way out, not lost; more are added.

    Also if the files say when they were made.
    """
    campaign, paths = tmp_path / "c.toml", [tmp_path / folder / name for folder in "abc"]
    for n, (path, left) in enumerate(zip(paths, (1, 2, 1), strict=True)):
        path.parent.mkdir()
        if name == "ann.json":
            coco(path, of_dog(left, bbox=[left, 1, 2, 2]), images=IMAGES[:1])
        else:
            manifest(path, left, f"2026-03-0{n + 1}T12:00:00")
    done("data", "import", paths[0], "--as", campaign)
    again = done("data", "import", paths[1], "--as", campaign)
    assert "imported: 0 assignments; 1 row kept aside" in again
    assert "another person's file, rename it" in again
    assert "1 known before" in done("data", "import", paths[2], "--as", campaign)
    other = paths[1].rename(paths[1].with_name(f"other{path.suffix}"))
    assert "imported: 1 assignment" in done("data", "import", other, "--as", campaign)


def test_a_grown_file_sets_no_untouched_image_aside(tmp_path: Path) -> None:
    """Its first polygon or mask asks all images for them; one that has a new mark differs."""
    campaign, path = tmp_path / "c.toml", tmp_path / "ann.json"
    dog = of_dog(1, bbox=[1, 1, 2, 2])
    filled: dict[str, object] = {"size": [40, 60], "counts": [10, 20, 2370]}
    done("data", "import", coco(path, dog), "--as", campaign)
    third = {**IMAGES[0], "id": 3, "file_name": "c.jpg"}
    drawn_there = [
        of_dog(2, 3, segmentation=[[1, 2, 3, 4, 5, 6]]),
        of_dog(3, 3, segmentation=filled),
    ]
    coco(path, dog, *drawn_there, images=[*IMAGES, third])
    again = done("data", "import", path, "--as", campaign)
    assert "imported: 1 assignment; 2 known before" in again
    assert "kept aside" not in again
    coco(path, dog, *drawn_there, of_dog(4, 2, bbox=[1, 1, 2, 2]), images=[*IMAGES, third])
    again = done("data", "import", path, "--as", campaign)
    assert "imported: 0 assignments; 2 known before; 1 row kept aside" in again


def test_no_two_readers_claim_one_file(tmp_path: Path) -> None:
    """Each file that piecework writes has one reader."""
    for path in exported(tmp_path).values():
        try:
            (source,) = recognise([path])
        except ConfigError:
            continue
        assert [reader.NAME for reader in READERS if reader.fits(source.head)] == [
            source.format_name
        ]
