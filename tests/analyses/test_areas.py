"""Merging and comparing the polygons, masks and points of several workers."""

import io
import json
import math
from base64 import b64encode
from collections.abc import Callable, Sequence
from itertools import product
from random import Random

import numpy as np
import pandas as pd
import pytest
from PIL import Image, ImageDraw

from piecework.analyses.areas import MOST_MASKS, Areas, area_within
from piecework.analyses.masks import painted
from piecework.analyses.regions import (
    Extents,
    are_alike,
    f1,
    item_regions,
    marks_in,
    overlaps,
    read_marks,
)
from piecework.domain.field import Regions
from tests.conftest import in_full

WIDE, HIGH = 400, 300
SIZE = {"width": WIDE, "height": HIGH}
COLOURS = {"Cat": (31, 119, 180), "Dog": (255, 127, 14)}

Shape = tuple[str, float, float, float]
"""Label, middle and radius of an object."""


def _polygons(*shapes: Shape, corners: int = 16) -> str:
    turns = [2 * math.pi * n / corners for n in range(corners)]
    listed = [
        {
            "label": label,
            "vertices": [{"x": x + r * math.cos(a), "y": y + r * math.sin(a)} for a in turns],
        }
        for label, x, y, r in shapes
    ]
    return json.dumps({"polygons": listed, "inputImageProperties": SIZE})


def _image(shapes: Sequence[Shape], colours: Sequence[tuple[int, int, int]], mode: str) -> str:
    image = Image.new("RGB", (WIDE, HIGH), "white")
    draw = ImageDraw.Draw(image)
    for (_, x, y, r), colour in zip(shapes, colours, strict=True):
        draw.ellipse((x - r, y - r, x + r, y + r), fill=colour)
    file = io.BytesIO()
    (image.quantize(8, dither=Image.Dither.NONE) if mode == "P" else image.convert(mode)).save(
        file, "PNG"
    )
    return b64encode(file.getvalue()).decode()


def _hex(colour: tuple[int, int, int]) -> str:
    return "#" + bytes(colour).hex()


def _labels(*shapes: Shape, mode: str = "P") -> str:
    image = _image(shapes, [COLOURS[label] for label, *_ in shapes], mode)
    mappings = {label: {"color": _hex(colour)} for label, colour in COLOURS.items()}
    return json.dumps(
        {
            "labelMappings": mappings,
            "labeledImage": {"pngImageData": image},
            "inputImageProperties": SIZE,
        }
    )


def _instances(*shapes: Shape, mode: str = "P") -> str:
    colours = [(40 * n, 255 - 30 * n, 10) for n in range(1, len(shapes) + 1)]
    named = [
        {"color": _hex(colour), "label": label}
        for colour, (label, *_) in zip(colours, shapes, strict=True)
    ]
    return json.dumps(
        {
            "instances": named,
            "labeledImage": {"pngImageData": _image(shapes, colours, mode)},
            "inputImageProperties": SIZE,
        }
    )


def _points(*shapes: Shape) -> str:
    listed = [{"label": label, "x": x, "y": y} for label, x, y, _ in shapes]
    return json.dumps({"keypoints": listed, "inputImageProperties": SIZE})


Draw = Callable[..., str]
KINDS: dict[str, tuple[Draw, Regions]] = {
    "polygons": (_polygons, "polygons"),
    "masks by label": (_labels, "labeledImage"),
    "masks of instances": (_instances, "labeledImage"),
    "points": (_points, "keypoints"),
}
for_each_kind = pytest.mark.parametrize("kind", KINDS)


def _votes(values: Sequence[str], item: str = "i") -> pd.DataFrame:
    rows = [(item, f"w{n}", value) for n, value in enumerate(values)]
    return pd.DataFrame(rows, columns=["item_id", "worker", "value"])


def _near(shape: Shape, chance: Random) -> Shape:
    label, x, y, r = shape
    return label, x + chance.gauss(0, 3), y + chance.gauss(0, 3), r * chance.uniform(0.88, 1.12)


def _with_error(error: str, shapes: list[Shape], chance: Random) -> list[Shape]:
    if error == "shifted":
        return [(label, x + 14, y + 8, r) for label, x, y, r in shapes]
    if error == "misses one":
        return shapes[1:]
    if error == "draws one more":
        return [*shapes, ("Dog", chance.uniform(40, 360), chance.uniform(220, 260), 25.0)]
    return [({"Cat": "Dog", "Dog": "Cat"}[label], x, y, r) for label, x, y, r in shapes]


def _score(text: str, truth: str, part: Regions) -> float:
    drawn, right = read_marks(text, part), read_marks(truth, part)
    shares = overlaps(right, drawn)
    assert shares is not None
    return 2 * float(shares.max(axis=1, initial=0.0).sum()) / sum(shares.shape)


ERRORS = ["shifted", "misses one", "draws one more", "other label"]

# Masks take most of the time, and go through the same merge.
_OFTEN = [(kind, error) for kind in ("polygons", "points") for error in ERRORS]
_OFTEN += [("masks by label", "other label"), ("masks of instances", "misses one")]


@pytest.mark.parametrize(
    ("kind", "error"),
    [*_OFTEN, *in_full(*(case for case in product(KINDS, ERRORS) if case not in _OFTEN))],
)
def test_merged_marks_are_nearer_to_the_truth_than_the_best_worker(kind: str, error: str) -> None:
    """Thirty pictures, five workers; each makes the error in a third of the pictures."""
    draw, part = KINDS[kind]
    chance = Random(error)  # noqa: S311 - drawn for a test
    whole, alone = [], []
    for n in range(30):
        truth: list[Shape] = [
            ("Cat", chance.uniform(60, 140), chance.uniform(60, 140), chance.uniform(25, 45)),
            ("Dog", chance.uniform(260, 340), chance.uniform(60, 140), chance.uniform(25, 45)),
        ]
        drawn = []
        for _ in range(5):
            own = [_near(shape, chance) for shape in truth]
            drawn.append(
                draw(*(_with_error(error, own, chance) if chance.random() < 1 / 3 else own))
            )
        merged = item_regions(_votes(drawn, f"i{n}"), part)["merged"].iloc[0]
        whole.append(_score(merged, draw(*truth), part))
        alone.append([_score(text, draw(*truth), part) for text in drawn])
    assert np.mean(whole) > max(np.mean(alone, axis=0)) + 0.02, (np.mean(whole), alone)


@for_each_kind
def test_the_merged_answer_has_the_shape_of_the_answers(kind: str) -> None:
    """It can be read again, and merged alone it stays what it is."""
    draw, part = KINDS[kind]
    text = draw(("Cat", 100, 100, 40), ("Dog", 300, 120, 30))
    row = item_regions(_votes([text, text, text]), part).iloc[0]
    assert (row["f1"], row["exact"], row["workers"]) == (1, 1, 3)
    assert json.loads(row["merged"]).keys() == json.loads(text).keys()
    assert json.loads(row["merged"])["inputImageProperties"] == SIZE
    again = item_regions(_votes([row["merged"]]), part).iloc[0]
    shares = overlaps(read_marks(text, part), read_marks(again["merged"], part))
    assert shares is not None
    assert shares.max(axis=1).min() > 0.96


@for_each_kind
def test_marks_of_fewer_than_half_of_the_workers_are_left_out(kind: str) -> None:
    """Two of five do not make a mark, three do; nothing is an answer, too."""
    draw, part = KINDS[kind]
    cat, dog = ("Cat", 100, 100, 40), ("Dog", 300, 120, 30)
    answers = [draw(cat, dog), draw(cat, dog), draw(cat), draw(), draw()]
    row = item_regions(_votes(answers), part).iloc[0]
    marks = read_marks(row["merged"], part)
    assert marks is not None
    assert [*marks.labels] == ["Cat"]
    empty = item_regions(_votes([draw(), draw()]), part).iloc[0]
    assert (empty["f1"], empty["workers"]) == (1, 2)
    nothing = read_marks(empty["merged"], part)
    assert nothing is not None
    assert len(nothing) == 0


@for_each_kind
def test_another_label_or_another_place_is_no_match(kind: str) -> None:
    """A cat is no dog, and what is far away is another object."""
    draw, part = KINDS[kind]
    for other in (("Dog", 100, 100, 40), ("Cat", 300, 120, 40)):
        answers = _votes([draw(("Cat", 100, 100, 40)), draw(other)])
        assert item_regions(answers, part)["f1"].iloc[0] == 0


def test_of_two_workers_the_parts_of_both_stay() -> None:
    """A cell that one of two covers has half of the weight."""
    row = item_regions(_votes([_polygons(("Cat", x, 100, 40)) for x in (100, 110)]), "polygons")
    merged = read_marks(row["merged"].iloc[0], "polygons")
    assert isinstance(merged, Areas)
    corners = merged.areas[0].corners
    assert corners[:, 0].min() == pytest.approx(60, abs=2)
    assert corners[:, 0].max() == pytest.approx(150, abs=2)


def test_a_point_matches_within_a_twentieth_of_the_diagonal() -> None:
    """The picture's diagonal has 500 pixels."""
    near, far = (
        item_regions(
            _votes([_points(("Eye", 100, 100, 0)), _points(("Eye", x, 100, 0))]), "keypoints"
        )
        for x in (125, 126)
    )
    assert (near["f1"].iloc[0], far["f1"].iloc[0]) == (1, 0)


def test_masks_are_read_from_any_png() -> None:
    """A palette, colours and transparency give the same areas."""
    shapes = ("Cat", 100, 100, 40), ("Dog", 300, 120, 30)
    read = [
        read_marks(_labels(*shapes, mode=mode), "labeledImage") for mode in ("P", "RGB", "RGBA")
    ]
    for other in read[1:]:
        shares = overlaps(read[0], other)
        assert shares is not None
        assert shares.tolist() == [[1, 0], [0, 1]]


def test_masks_of_a_large_picture_keep_its_size() -> None:
    """Cells of three pixels merge a picture of 5,000 pixels; the PNG has all its pixels."""
    image = Image.new("P", (5_000, 40))
    image.putpalette([255, 255, 255, 1, 2, 3])
    image.paste(1, (100, 0, 2_500, 20))
    file = io.BytesIO()
    image.save(file, "PNG")
    text = json.dumps(
        {
            "instances": [{"color": "#010203", "label": "Cat"}],
            "labeledImage": {"pngImageData": b64encode(file.getvalue()).decode()},
        }
    )
    merged = read_marks(
        item_regions(_votes([text]), "labeledImage")["merged"].iloc[0], "labeledImage"
    )
    assert isinstance(merged, Areas)
    pixels = painted(merged)
    assert pixels.shape == (40, 5_000)
    assert np.count_nonzero(pixels) == pytest.approx(2_400 * 20, rel=0.05)


def _bomb() -> str:
    """Return a PNG of 90,000 by 90,000 white pixels, without its data."""
    head = bytes.fromhex("89504e470d0a1a0a0000000d49484452") + (90_000).to_bytes(4, "big") * 2
    return b64encode(head + bytes((8, 3, 0, 0, 0))).decode()


@pytest.mark.parametrize(
    "image", ["", "?", "aGVsbG8=", "data:image/png;base64,", _bomb(), 7, None, [], "\ud800"]
)
def test_a_mask_without_a_picture_does_not_count(image: object) -> None:
    """Nothing, no PNG, a broken one and one that is too large."""
    whole = {"instances": [], "labeledImage": {"pngImageData": image}}
    assert read_marks(json.dumps(whole), "labeledImage") is None
    assert read_marks(json.dumps({**whole, "labeledImage": image}), "labeledImage") is None


@pytest.mark.parametrize(
    "vertices",
    [
        *([], [{"x": 1, "y": 1}] * 2, [{"x": 1, "y": 1}] * 9, [7, None, "a"], "abc", {"x": 1}),
        [{"x": "1", "y": 1}, {"x": 5, "y": 1}, {"x": 5, "y": 5}],
        [{"x": math.nan, "y": 1}, {"x": 5, "y": 1}, {"x": 5, "y": 5}],
        [{"x": 10**400, "y": 1}, {"x": 5, "y": 1}, {"x": 5, "y": 5}],
        [{"x": -9, "y": -9}, {"x": -5, "y": -9}, {"x": -5, "y": -5}],
    ],
)
def test_a_polygon_without_an_area_in_the_picture_is_left_out(vertices: object) -> None:
    """The other polygons of the answer count."""
    whole = json.loads(_polygons(("Cat", 100, 100, 40)))
    whole["polygons"].append({"label": "Dog", "vertices": vertices})
    marks = read_marks(json.dumps(whole), "polygons")
    assert marks is not None
    assert [*marks.labels] == ["Cat"]


def test_more_cells_than_a_computer_holds_are_not_read() -> None:
    """Hundreds of polygons cover the whole picture, and each needs a bitmap of it."""
    around = [
        {"x": 0, "y": 0},
        {"x": 9_000, "y": 0},
        {"x": 9_000, "y": 9_000},
        {"x": 0, "y": 9_000},
    ]
    whole = {
        "polygons": [{"label": "a", "vertices": around}] * 400,
        "inputImageProperties": {"width": 9_000, "height": 9_000},
    }
    assert read_marks(json.dumps(whole), "polygons") is None


def test_a_crossing_polygon_covers_what_an_odd_number_of_its_lines_surrounds() -> None:
    """As the page fills it."""
    corners = [(10, 10), (50, 50), (50, 10), (10, 50)]
    text = json.dumps(
        {"polygons": [{"label": "a", "vertices": [{"x": x, "y": y} for x, y in corners]}]}
    )
    marks = read_marks(text, "polygons")
    assert isinstance(marks, Areas)
    assert marks.areas[0].cells == pytest.approx(800, rel=0.05)


def test_a_palette_holds_all_masks() -> None:
    """White is one of its 256 colours."""
    assert MOST_MASKS == 255


def test_points_of_an_answer_without_a_size_are_compared_by_their_extent() -> None:
    """The farthest coordinate stands for the picture's sides."""
    text = '{"keypoints": [{"label": "Eye", "x": 90, "y": 40}]}'
    marks = read_marks(text, "keypoints")
    assert isinstance(marks, Extents)
    assert marks.reach == pytest.approx(0.1 * math.hypot(90, 90))


@pytest.mark.parametrize(("wide", "high"), [(50, 1), (3, 3), (10, 10), (30, 30), (2_000, 3)])
def test_one_worker_s_polygon_stays_as_it_is(wide: int, high: int) -> None:
    """Thin and small ones too; and what two drew alike."""
    ends = [(10, 10), (10 + wide, 10), (10 + wide, 10 + high), (10, 10 + high)]
    vertices = [{"x": x, "y": y} for x, y in ends]
    text = json.dumps({"polygons": [{"label": "a", "vertices": vertices}]})
    for values in ([text], [text, text]):
        merged = json.loads(item_regions(_votes(values), "polygons")["merged"].iloc[0])
        assert merged["polygons"] == [{"label": "a", "vertices": vertices}]


def test_polygons_of_several_keep_the_size_of_small_objects() -> None:
    """Corners of a square of thirty pixels are not cut off."""
    texts = [
        json.dumps(
            {
                "polygons": [
                    {
                        "label": "a",
                        "vertices": [
                            {"x": x, "y": y}
                            for x, y in ((n, 0), (30 + n, 0), (30 + n, 30), (n, 30))
                        ],
                    }
                ],
                "inputImageProperties": SIZE,
            }
        )
        for n in (0, 1, 2)
    ]
    merged = read_marks(item_regions(_votes(texts), "polygons")["merged"].iloc[0], "polygons")
    assert isinstance(merged, Areas)
    assert abs(area_within(merged.areas[0].corners)) == pytest.approx(900, rel=0.02)


def test_polygons_without_a_size_are_about_the_same_picture() -> None:
    """A known answer states none, and another worker's farthest corner is elsewhere."""
    stated = _polygons(("Cat", 100, 100, 40))
    bare = json.dumps({"polygons": json.loads(stated)["polygons"]})
    other = json.dumps({"polygons": json.loads(_polygons(("Cat", 102, 101, 41)))["polygons"]})
    assert f1(marks_in(stated), marks_in(bare)) == 1
    assert f1(marks_in(bare), marks_in(other)) == 1
    for values in ([stated, bare, other], [bare, other]):
        row = item_regions(_votes(values), "polygons").iloc[0]
        assert row["f1"] == 1
        assert len(json.loads(row["merged"])["polygons"]) == 1


@pytest.mark.parametrize("far", [1e15, 1e19, 1e300, -1e19])
def test_a_polygon_far_away_is_left_out(far: float) -> None:
    """Numbers that no picture has make no bitmap."""
    vertices = [{"x": far, "y": y} for y in (1, 5, 9)] + [{"x": 1, "y": 1}]
    whole = {"polygons": [{"label": "a", "vertices": vertices}], "inputImageProperties": SIZE}
    assert item_regions(_votes([json.dumps(whole)]), "polygons")["workers"].iloc[0] == 1


@pytest.mark.parametrize("draw", [_polygons, _labels, _instances])
def test_areas_are_compared_as_parts_of_their_pictures(draw: Callable[..., str]) -> None:
    """What is at the same place in two pictures is alike, wherever that place is."""
    right, again, left = (marks_in(draw(("Cat", x, 200, 40))) for x in (WIDE - 60, WIDE - 60, 60))
    assert isinstance(right, Areas)
    assert isinstance(again, Areas)
    assert isinstance(left, Areas)
    assert are_alike(right.in_place(), again.in_place(), least=0.9)
    assert not are_alike(right.in_place(), left.in_place(), least=0.1)
