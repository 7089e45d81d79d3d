"""Regions of Label Studio as marks; and whatever broken files of marks hold."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from piecework.campaign.assembling import load_campaign
from piecework.domain.errors import ConfigError
from piecework.domain.field import MERGED, MarkKind
from piecework.domain.imported import Reading
from piecework.engine.opening import open_to_look
from piecework.importing.readers.recognise import recognise
from piecework.importing.readers.rows import ImportedRow, NotSent, Unreadable
from tests.importing.test_annotation_tools import annotation, task
from tests.importing.test_guessing import understood
from tests.importing.test_importing import done
from tests.importing.test_marks import CATEGORIES, IMAGES, TEXT, box, of_dog, polygon, read

LABELLED: Mapping[str, tuple[dict[str, object], MarkKind, list[dict[str, object]]]] = {
    "box": (
        {"x": 10, "y": 50, "width": 5, "height": 10, "rotation": 0, "rectanglelabels": ["Dog"]},
        "boxes",
        [box("Dog", 60, 200, 30, 40)],
    ),
    "polygon": (
        {"points": [[0, 0], [50, 0], [50, 50]], "polygonlabels": ["Dog"]},
        "polygons",
        [polygon("Dog", (0, 0), (300, 0), (300, 200))],
    ),
    "point": (
        {"x": 10, "y": 50, "width": 0.3, "keypointlabels": ["Eye"]},
        "points",
        [{"label": "Eye", "x": 60, "y": 200}],
    ),
    "span": (
        {"start": 2, "end": 5, "text": "Ada", "labels": ["Person"]},
        "spans",
        [{"label": "Person", "startOffset": 3, "endOffset": 6}],
    ),
    "turned box": (
        {"x": 1, "y": 5, "width": 5, "height": 1, "rotation": 9, "rectanglelabels": ["Dog"]},
        "boxes",
        [],
    ),
}


def test_a_person_who_marks_nothing_says_that_there_is_nothing(tmp_path: Path) -> None:
    """Label Studio has no result then; other annotations show what was asked."""
    value, _, _ = LABELLED["span"]
    whole = task(7, annotation(1, ("seen", value)), annotation(2), annotation(3, ("seen", value)))
    path = tmp_path / "p.json"
    path.write_text(json.dumps([whole]), encoding="utf-8")
    first, second, third = read(path)
    assert json.loads(second.sent["seen"]) == {"entities": []}
    assert first.sent == third.sent != second.sent


BOX, SPAN = ({"x": 1, "y": 5, "width": 5, "height": 1}, {"start": 2, "end": 5, "text": "Ada"})
ABOUT_A_REGION: Mapping[str, dict[str, object]] = {
    "text in a box": {**BOX, "rotation": 0, "text": ["EXIT"]},
    "text as one value": {**BOX, "text": "EXIT"},
    "choice about a box": {**BOX, "choices": ["blurred"]},
    "choice about a span": {**SPAN, "choices": ["positive"]},
    "rating of a labelled box": {**BOX, "rectanglelabels": ["Dog"], "rating": 4},
    "number of a polygon": {"points": [[0, 0], [9, 0], [9, 9]], "number": 4},
}


@pytest.mark.parametrize("value", ABOUT_A_REGION.values(), ids=ABOUT_A_REGION)
def test_what_people_say_about_a_region_stays(value: dict[str, object], tmp_path: Path) -> None:
    """It is the answer, and no mark; of those who said nothing, nothing is claimed."""
    path = tmp_path / "p.json"
    path.write_text(json.dumps([task(7, annotation(1, ("seen", value)), annotation(2))]), "utf-8")
    first, second = read(path)
    assert json.loads(first.sent["seen"]) == value
    assert second.sent == {}
    assert understood(path)["fields"]["seen"].get("marks") is None


def test_a_region_of_another_shape_sets_one_annotation_aside(tmp_path: Path) -> None:
    """With its id and shape; the others are merged. A question of such regions has no marks."""
    value, kind, _ = LABELLED["box"]
    round_one = {"x": 1, "y": 5, "radiusX": 5, "radiusY": 1, "ellipselabels": ["Dog"]}
    values = [value, value, LABELLED["turned box"][0], round_one]
    whole = cast("Any", task(7, *(annotation(n, ("seen", each)) for n, each in enumerate(values))))
    for n, each in enumerate(whole["annotations"]):
        shape = "ellipselabels" if n == 3 else "rectanglelabels"
        each["result"][0] |= {"id": f"r{n}", "type": shape}
        each["result"][0] |= {"original_width": 600, "original_height": 400}
    path = tmp_path / "p.json"
    path.write_text(json.dumps([whole]), encoding="utf-8")
    (source,) = recognise([path])
    first, second, turned, oval = source.rows()
    assert cast("ImportedRow", first).sent == cast("ImportedRow", second).sent
    assert (cast("Unreadable", turned).column, cast("Unreadable", turned).fault) == (
        "seen",
        "region r2 (rectanglelabels, rotated) has no shape of crowd elements",
    )
    assert "region r3 (ellipselabels) has no shape" in cast("Unreadable", oval).fault
    assert understood(path)["fields"]["seen"]["marks"] == kind
    del whole["annotations"][0]
    path.write_text(json.dumps([whole]), encoding="utf-8")
    assert [json.loads(each.sent["seen"]) for each in read(path)[1:]] == values[2:]


def test_a_question_with_several_shapes_becomes_one_for_each(tmp_path: Path) -> None:
    """Also if one person drew several; who drew none of a shape saw none; the rest stays."""
    box_, polygon_, turned = (LABELLED[name][0] for name in ("box", "polygon", "turned box"))
    drawn = [[("seen", box_), ("seen", polygon_)], [("seen", box_)], [("seen", turned)], []]
    whole = cast("Any", task(7, *(annotation(n, *each) for n, each in enumerate(drawn))))
    for each in whole["annotations"]:
        for region in each["result"]:
            region |= {"original_width": 600, "original_height": 400}
    path = tmp_path / "p.json"
    path.write_text(json.dumps([whole]), encoding="utf-8")
    both, first, other, none = ({**row.sent} for row in read(path))
    assert json.loads(both["seen_boxes"])["boundingBoxes"] == LABELLED["box"][2]
    assert json.loads(both["seen_polygons"])["polygons"] == LABELLED["polygon"][2]
    nothing = {"seen_boxes": '{"boundingBoxes": []}', "seen_polygons": '{"polygons": []}'}
    assert first == nothing | {"seen_boxes": both["seen_boxes"]}
    assert json.loads(other.pop("seen")) == turned
    assert other == none == nothing
    del whole["annotations"][2]
    path.write_text(json.dumps([whole]), encoding="utf-8")
    fields = understood(path)["fields"]
    assert {name: each["marks"] for name, each in fields.items()} == {
        "seen_boxes": "boxes",
        "seen_polygons": "polygons",
    }


def whole_export(path: Path, *drawn: Sequence[str]) -> Path:
    """An export of a task with an annotation for each list of names of `LABELLED`."""
    regions = [[("seen", LABELLED[name][0]) for name in names] for names in drawn]
    whole = cast("Any", task(7, *(annotation(n, *each) for n, each in enumerate(regions))))
    for each in whole["annotations"]:
        each["completed_by"] = f"person {each['id']}"
        for region in each["result"]:
            region |= {"original_width": 600, "original_height": 400}
    path.write_text(json.dumps([whole]), encoding="utf-8")
    return path


GROWN: Mapping[str, tuple[list[list[str]], list[list[str]], dict[str, MarkKind]]] = {
    "a second shape": (
        [["box"], ["box"], []],
        [["polygon"], ["box", "polygon"]],
        {"seen": "boxes", "seen_polygons": "polygons"},
    ),
    "a shape that comes before the known one": (
        [["polygon"], []],
        [["box"], []],
        {"seen": "polygons", "seen_boxes": "boxes"},
    ),
    "a third shape": (
        [["box"], ["polygon"], []],
        [["point"], ["box"]],
        {"seen_boxes": "boxes", "seen_polygons": "polygons", "seen_points": "points"},
    ),
}


@pytest.mark.parametrize(("first", "more", "kinds"), GROWN.values(), ids=GROWN)
def test_a_grown_export_renames_no_question(
    first: list[list[str]], more: list[list[str]], kinds: dict[str, MarkKind], tmp_path: Path
) -> None:
    """What is unchanged stays known; each shape keeps its question; every mark is stored."""
    campaign, path = tmp_path / "c.toml", tmp_path / "p.json"
    done("data", "import", whole_export(path, *first), "--as", campaign)
    grown = done("data", "import", whole_export(path, *first, *more), "--as", campaign)
    part = done("data", "import", whole_export(path, *first[:1]), "--as", campaign)
    assert f"imported: {len(more)} assignments; {len(first)} known before" in grown
    assert "1 known before" in part
    assert "kept aside" not in grown + part
    with open_to_look(load_campaign(campaign)) as opened:
        stored = dict(opened.store.db.execute("SELECT assignment_id, raw FROM raw_answers"))
    for number, names in enumerate([*first, *more]):
        sent = json.loads(stored[f"annotation_{number}"])["sent"]
        marked = {name for name, text in sent.items() if json.loads(text)[MERGED[kinds[name]]]}
        assert {kinds[name] for name in marked} == {LABELLED[name][1] for name in names}


def test_exports_of_one_project_call_each_shape_alike(tmp_path: Path) -> None:
    """An earlier export and the grown one, given together in any order."""
    paths = [
        whole_export(tmp_path / "a.json", ["box"]),
        whole_export(tmp_path / "b.json", ["box"], ["polygon"]),
    ]
    for n, order in enumerate((paths, paths[::-1])):
        printed = done("data", "import", *order, "--as", tmp_path / f"c{n}.toml")
        assert "imported: 2 assignments; 1 known before" in printed
        fields = understood(*order)["fields"]
        assert {name: each["marks"] for name, each in fields.items()} == {
            "seen_boxes": "boxes",
            "seen_polygons": "polygons",
        }


@pytest.mark.parametrize(
    ("known", "names"),
    [
        ({"seen": ""}, {"seen"}),
        ({"seen": "points"}, {"seen", "seen_boxes", "seen_polygons"}),
        ({"seen": "", "seen_points": "points"}, {"seen_boxes", "seen_points", "seen_polygons"}),
        ({"other": "boxes"}, {"seen_boxes", "seen_polygons"}),
    ],
)
def test_a_known_question_keeps_its_name(
    known: Mapping[str, str], names: set[str], tmp_path: Path
) -> None:
    """Also if a person stated that it is a text, in which each answer stays as it is."""
    path = whole_export(tmp_path / "p.json", ["box"], ["polygon"])
    (source,) = recognise([path], Reading(marks=known))
    for each in source.rows():
        assert cast("ImportedRow", each).sent.keys() == names


def test_regions_of_a_flat_export_are_marks(tmp_path: Path) -> None:
    """JSON-MIN has the size of the picture beside each region."""
    value, kind, marks = LABELLED["box"]
    size = {"original_width": 600, "original_height": 400}
    rows_of_it = [
        {
            "image": f"http://a/{n // 2}.jpg",
            "id": n // 2,
            "seen": [{**value, **size}],
            "annotator": n % 2,
            "annotation_id": n,
            "lead_time": 4.0 + n,
        }
        for n in range(4)
    ]
    path, columns = tmp_path / "min.json", tmp_path / "columns.toml"
    path.write_text(json.dumps(rows_of_it), encoding="utf-8")
    columns.write_text('answers = { seen = "seen" }\n', encoding="utf-8")
    document = understood(path, "--columns", columns)
    assert document["fields"] == {"seen": {"kind": "text", "marks": kind, "required": True}}
    done("data", "import", path, "--columns", columns, "--as", tmp_path / "c.toml")
    done("export", tmp_path / "c.toml")
    whole = json.loads((tmp_path / "out/c/dataset/seen_coco.json").read_text(encoding="utf-8"))
    drawn_twice = [each["bbox"] for each in whole["annotations"]]
    assert drawn_twice == [[marks[0][side] for side in ("left", "top", "width", "height")]] * 2


def test_one_region_of_another_shape_is_set_aside_in_a_flat_export(tmp_path: Path) -> None:
    """As in the whole one; and a question that an annotation lacks has no marks there."""
    size = {"original_width": 600, "original_height": 400}
    seen = [LABELLED["box"][0], LABELLED["box"][0], LABELLED["turned box"][0], None]
    listed = [
        {
            "image": f"http://a/{n}.jpg",
            "id": n,
            **({"seen": [{**value, **size}]} if value else {}),
            "annotator": n,
            "annotation_id": n,
            "lead_time": 4.0,
        }
        for n, value in enumerate(seen)
    ]
    path = tmp_path / "min.json"
    path.write_text(json.dumps(listed), encoding="utf-8")
    (source,) = recognise([path], Reading(answers={"seen": "seen"}))
    first, second, turned, empty = source.rows()
    assert cast("ImportedRow", first).sent == cast("ImportedRow", second).sent
    assert (cast("Unreadable", turned).column, cast("Unreadable", turned).fault) == (
        "seen",
        "region 1 (rectanglelabels, rotated) has no shape of crowd elements",
    )
    assert cast("ImportedRow", empty).sent == {"seen": '{"boundingBoxes": []}'}


@pytest.mark.parametrize(("value", "kind", "marks"), LABELLED.values(), ids=LABELLED)
def test_regions_of_label_studio_are_marks(
    value: dict[str, object], kind: MarkKind, marks: list[dict[str, object]], tmp_path: Path
) -> None:
    """In pixels and units; what crowd elements cannot draw stays as it is."""
    whole = cast("Any", task(7, annotation(1, ("seen", value))))
    whole["data"] = {"text": TEXT}
    whole["annotations"][0]["result"][0] |= {"original_width": 600, "original_height": 400}
    path = tmp_path / "p.json"
    path.write_text(json.dumps([whole]), encoding="utf-8")
    (imported,) = read(path)
    document = json.loads(imported.sent["seen"])
    assert document.get(MERGED[kind], []) == marks
    assert understood(path)["fields"] == {
        "seen": {"kind": "text", "required": True, **({"marks": kind} if marks else {})}
    }


# --- what is broken -------------------------------------------------------------------
HOSTILE: Sequence[object] = (
    *(None, True, 0, -1, 1.5, 10**400, 1e308, float("nan"), 2**70),
    *("", "x", "P", [], {}, [[]], [{}], {"a": 1}, [1, 2, 3, 4], [1, 2, 3, 4, 5, 6]),
)
_ABOUT = {"human-annotated": "yes", "creation-date": "2026-03-01T12:00:00"}
WHOLE: Mapping[str, object] = {
    "coco.json": {
        "images": IMAGES,
        "categories": CATEGORIES,
        "annotations": [
            of_dog(1, bbox=[1, 2, 3, 4], segmentation=[[1, 2, 3, 4, 5, 6]]),
            of_dog(2, segmentation={"size": [40, 60], "counts": [10, 20, 2370]}, iscrowd=1),
        ],
    },
    "out.manifest": {
        "source-ref": "s3://b/a.jpg",
        "dogs": {
            "image_size": [{"width": 6, "height": 4}],
            "annotations": [{"class_id": 1, "left": 1, "top": 2, "width": 3, "height": 4}],
        },
        "dogs-metadata": {"type": "groundtruth/object-detection", "class-map": {}, **_ABOUT},
        "who": {"annotations": {"entities": [{"startOffset": 0, "endOffset": 3}]}},
        "who-metadata": {"type": "groundtruth/text-span", **_ABOUT},
    },
    "metadata.jsonl": {
        "file_name": "a.jpg",
        "width": 6,
        "height": 4,
        "objects": {"bbox": [[1, 2, 3, 4]], "category": ["Dog"]},
        "others": [{"bbox": [1, 2, 3, 4], "label": 1}],
    },
    "labelled.json": task(
        7, *(annotation(n, (kind, value)) for n, (kind, (value, *_)) in enumerate(LABELLED.items()))
    ),
}


def _changed(document: object) -> Iterator[object]:
    """The document with each of its values replaced by each hostile value."""
    if isinstance(document, dict):
        for name, value in document.items():
            yield from ({**document, name: hostile} for hostile in HOSTILE)
            yield from ({**document, name: inner} for inner in _changed(value))
    elif isinstance(document, list):
        for n, value in enumerate(document):
            yield from ([*document[:n], other, *document[n + 1 :]] for other in HOSTILE)
            yield from ([*document[:n], inner, *document[n + 1 :]] for inner in _changed(value))


@pytest.mark.parametrize("name", WHOLE)
def test_whatever_a_value_is_the_file_is_read_or_refused(name: str, tmp_path: Path) -> None:
    """A row may be set aside, and a file be refused; nothing else ends an import."""
    path = tmp_path / name
    for document in _changed(WHOLE[name]):
        path.write_text(json.dumps(document), encoding="utf-8")
        try:
            (source,) = recognise([path])
            assert all(
                isinstance(each, ImportedRow | NotSent | Unreadable) for each in source.rows()
            )
        except ConfigError:
            continue
