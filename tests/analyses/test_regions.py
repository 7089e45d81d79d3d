"""Merging and comparing the boxes and spans of several workers."""

import json
import math
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest

from piecework.analyses.regions import interval_of_mean, item_regions, overlaps, read_marks
from piecework.domain.field import Regions

WIDE, HIGH = 800, 600
LABELS = ("Cat", "Dog")

Box = tuple[str, float, float, float, float]
"""Label, left, top, width, height."""


def _boxes(*drawn: Box) -> str:
    keys = ("label", "left", "top", "width", "height")
    return json.dumps(
        {
            "boundingBoxes": [dict(zip(keys, box, strict=True)) for box in drawn],
            "inputImageProperties": {"width": WIDE, "height": HIGH},
        }
    )


def _spans(*marked: tuple[str, int, int]) -> str:
    entries = [{"label": label, "startOffset": a, "endOffset": b} for label, a, b in marked]
    return json.dumps({"entities": entries})


def _votes(by_item: dict[str, list[str]]) -> pd.DataFrame:
    rows = [
        (item_id, f"w{n}", value)
        for item_id, values in by_item.items()
        for n, value in enumerate(values)
    ]
    return pd.DataFrame(rows, columns=["item_id", "worker", "value"])


def _of_item(*values: str, part: Regions = "boundingBoxes") -> "pd.Series[Any]":
    return item_regions(_votes({"i": list(values)}), part).iloc[0]


def _true_boxes(chance: Random) -> list[Box]:
    """Return one to four boxes, in cells of a grid so that no two are the same object."""
    cells = chance.sample([(x, y) for x in range(3) for y in range(2)], chance.randint(1, 4))
    return [
        (
            chance.choice(LABELS),
            x * 260 + chance.uniform(5, 60),
            y * 290 + chance.uniform(5, 60),
            chance.uniform(70, 190),
            chance.uniform(70, 220),
        )
        for x, y in cells
    ]


def _near(box: Box, chance: Random, spread: float = 6) -> Box:
    label, left, top, width, height = box
    sizes = max(width + chance.gauss(0, spread), 5), max(height + chance.gauss(0, spread), 5)
    return (label, left + chance.gauss(0, spread), top + chance.gauss(0, spread), *sizes)


def _with_error(error: str, drawn: list[Box], chance: Random) -> list[Box]:
    if error == "shifted":
        return [(label, x + 25, y + 25, width, height) for label, x, y, width, height in drawn]
    if error == "too large":
        return [(label, x - 15, y - 15, w + 30, h + 30) for label, x, y, w, h in drawn]
    if error == "misses one":
        return drawn[1:]
    if error == "draws one more":
        return [*drawn, ("Cat", chance.uniform(0, 600), chance.uniform(0, 400), 90.0, 90.0)]
    right = max(left + width for _, left, _, width, _ in drawn)
    bottom = max(top + height for _, _, top, _, height in drawn)
    left, top = min(box[1] for box in drawn), min(box[2] for box in drawn)
    return [(drawn[0][0], left, top, right - left, bottom - top)]


def _score(text: str, truth: str) -> float:
    """Return the sum of IoU of the best box for each true one, with F1's denominator."""
    drawn, right = read_marks(text, "boundingBoxes"), read_marks(truth, "boundingBoxes")
    assert drawn is not None
    assert right is not None
    shares = overlaps(right, drawn)
    assert shares is not None
    best = shares.max(axis=1, initial=0.0)
    return 2 * float(best.sum()) / (len(drawn) + len(right))


@pytest.mark.parametrize(
    "error", ["shifted", "too large", "misses one", "draws one more", "one for all"]
)
def test_merged_boxes_are_nearer_to_the_truth_than_the_best_worker(error: str) -> None:
    """Sixty pictures with five workers each; every worker makes the error in a third of them."""
    chance = Random(error)  # noqa: S311 - drawn for a test
    truth, drawn = {}, {}
    for n in range(60):
        right = _true_boxes(chance)
        truth[f"i{n:02}"] = _boxes(*right)
        drawn[f"i{n:02}"] = [
            _boxes(*(_with_error(error, own, chance) if chance.random() < 1 / 3 else own))
            for own in ([_near(box, chance) for box in right] for _ in range(5))
        ]
    merged = item_regions(_votes(drawn), "boundingBoxes")["merged"]
    whole = np.mean([_score(merged[item_id], truth[item_id]) for item_id in truth])
    alone = [
        np.mean([_score(drawn[item_id][worker], truth[item_id]) for item_id in truth])
        for worker in range(5)
    ]
    assert whole > max(alone) + 0.02, (whole, alone)


def test_agreement_is_one_for_equal_boxes_and_counts_extra_ones() -> None:
    """F1 of one shared box of three is 2 / 3, whatever the order of the boxes."""
    first, second = ("Cat", 10, 10, 50, 50), ("Dog", 200, 100, 60, 60)
    assert _of_item(_boxes(first, second), _boxes(second, first))["f1"] == 1
    row = _of_item(_boxes(first), _boxes(second, first))
    assert row["f1"] == pytest.approx(2 / 3)
    assert row["overlap"] == 1


def test_labels_and_little_overlap_are_no_match() -> None:
    """A cat is no dog, and an IoU below a half is another place."""
    box = (10, 10, 50, 50)
    assert _of_item(_boxes(("Cat", *box)), _boxes(("Dog", *box)))["f1"] == 0
    assert _of_item(_boxes(("Cat", *box)), _boxes(("Cat", 35, 10, 50, 50)))["f1"] == 0


def test_two_workers_who_see_nothing_agree() -> None:
    """No boxes are an answer, and half or more of such answers leave no box."""
    row = _of_item(_boxes(), _boxes())
    assert (row["f1"], row["workers"]) == (1, 2)
    assert json.loads(row["merged"])["boundingBoxes"] == []
    assert _of_item(_boxes(), _boxes(), _boxes(("Cat", 1, 1, 9, 9)))["f1"] == pytest.approx(1 / 3)


def test_a_box_of_fewer_than_half_of_the_workers_is_left_out() -> None:
    """Two of five do not make a box, three do, with the median of each edge."""
    cat = [("Cat", 100 + shift, 100, 80, 80) for shift in (0, 2, 4, 6, 8)]
    dog = ("Dog", 400, 300, 90, 90)
    answers = [_boxes(cat[0], dog), _boxes(cat[1], dog), *(_boxes(box) for box in cat[2:])]
    merged = json.loads(_of_item(*answers)["merged"])
    assert [box["label"] for box in merged["boundingBoxes"]] == ["Cat"]
    assert merged["boundingBoxes"][0]["left"] in {102, 104, 106}
    assert merged["inputImageProperties"] == {"width": WIDE, "height": HIGH}


def test_one_worker_gives_the_own_boxes_and_no_agreement() -> None:
    """There is no pair to compare."""
    row = _of_item(_boxes(("Cat", 1, 2, 30, 40)))
    assert math.isnan(row["f1"])
    assert json.loads(row["merged"])["boundingBoxes"] == [
        {"label": "Cat", "left": 1, "top": 2, "width": 30, "height": 40}
    ]


def test_spans_match_in_part_and_merge_to_what_half_mark() -> None:
    """Exact and partial agreement differ, and most workers' characters are kept."""
    row = _of_item(
        _spans(("City", 0, 8)),
        _spans(("City", 4, 8)),
        _spans(("City", 0, 8), ("Name", 20, 25)),
        part="entities",
    )
    assert row["f1"] == pytest.approx((1 + 2 / 3 + 2 / 3) / 3)
    assert row["exact"] == pytest.approx((0 + 2 / 3 + 0) / 3)
    assert json.loads(row["merged"]) == {
        "entities": [{"label": "City", "startOffset": 0, "endOffset": 8}]
    }


def test_spans_that_touch_stay_two() -> None:
    """Two names without a space between them are not fused."""
    marked = _spans(("Name", 0, 3), ("Name", 3, 6))
    merged = json.loads(_of_item(marked, marked, part="entities")["merged"])
    assert [(e["startOffset"], e["endOffset"]) for e in merged["entities"]] == [(0, 3), (3, 6)]


def _merged_spans(*values: str) -> list[tuple[str, int, int]]:
    merged = json.loads(_of_item(*values, part="entities")["merged"])["entities"]
    return [(each["label"], each["startOffset"], each["endOffset"]) for each in merged]


def test_merged_spans_of_one_label_do_not_overlap() -> None:
    """Two of four workers see one name where the others see two: the text is marked once.

    If two workers differ about the border of two names, the first name has what is between.
    """
    parted, whole = _spans(("A", 0, 10), ("A", 11, 20)), _spans(("A", 0, 20))
    assert _merged_spans(parted, parted, whole, whole) == [("A", 0, 20)]
    borders = [_spans(("A", 0, cut), ("A", cut, 20)) for cut in (10, 12)]
    assert _merged_spans(*borders) == [("A", 0, 12), ("A", 12, 20)]
    chance = Random(7)  # noqa: S311 - drawn for a test
    for workers in (2, 3, 4) * 30:
        answers = []
        for _ in range(workers):
            cuts = sorted(chance.sample(range(40), 6))
            pairs = zip(cuts[::2], cuts[1::2], strict=True)
            answers.append(_spans(*((chance.choice("AB"), *pair) for pair in pairs)))
        merged = _merged_spans(*answers)
        for label in "AB":
            ends = [(low, high) for own, low, high in merged if own == label]
            assert all(high <= low for (_, high), (low, _) in pairwise(ends)), answers


def test_spans_that_workers_nest_stay_nested() -> None:
    """Other tools let a worker mark a name within a name."""
    nested = _spans(("A", 0, 20), ("A", 5, 8))
    both = [("A", 0, 20), ("A", 5, 8)]
    assert _merged_spans(nested) == _merged_spans(nested, nested) == both
    assert _merged_spans(_spans(("A", 0, 20)), _spans(("B", 5, 8))) == [("A", 0, 20), ("B", 5, 8)]


def test_the_interval_is_over_items_and_repeats_with_its_seed() -> None:
    """Full agreement has no width; a mixture has the mean inside."""
    scores = np.array([0.0, 1.0] * 20)
    low, high = interval_of_mean(scores, seed=7, resamples=1000)
    assert 0.3 < low < 0.5 < high < 0.7
    assert (low, high) == interval_of_mean(scores, seed=7, resamples=1000)
    assert interval_of_mean(np.ones(40), seed=7, resamples=100) == (1.0, 1.0)
    assert np.isnan(interval_of_mean(scores[:0], seed=7, resamples=100)).all()


@pytest.mark.parametrize(
    "text",
    [
        *("not JSON", "[]", "7", "null", '{"boundingBoxes": {}}', "[" * 5_000, "9" * 5_000),
        '{"polygons": [{"label": "a", "vertices": []}]}',
        '{"labeledImage": {"pngImageData": "?"}, "instances": []}',
        _boxes(*[("Cat", 1, 1, 9, 9)] * 5_000),
    ],
)
def test_an_answer_that_cannot_be_read_does_not_count(text: str) -> None:
    """The other workers decide, and alone it merges to nothing."""
    alone = _of_item(text)
    assert (alone["merged"], alone["workers"]) == ("", 0)
    assert _of_item(text, _boxes(("Cat", 1, 1, 9, 9)))["workers"] == 1


@pytest.mark.parametrize(
    "entry",
    [
        *("null", "7", "[]", "{}", '{"label": ["Cat"]}', '{"left": 1, "top": 1}'),
        '{"label": "Cat", "left": 1, "top": 1, "width": 0, "height": 5}',
        '{"label": "Cat", "left": NaN, "top": 1, "width": 5, "height": 5}',
        '{"label": "Cat", "left": 1, "top": 1, "width": Infinity, "height": 5}',
        '{"label": "Cat", "left": "1", "top": 1, "width": 5, "height": 5}',
        '{"label": "Cat", "left": 1, "top": 1, "width": -5, "height": 5}',
        '{"label": "Cat", "left": 1' + "0" * 400 + ', "top": 1, "width": 5, "height": 5}',
    ],
)
def test_a_box_without_a_size_is_left_out(entry: str) -> None:
    """The other boxes of the answer count."""
    right = '{"label": "Cat", "left": 1, "top": 1, "width": 5, "height": 5}'
    row = _of_item(f'{{"boundingBoxes": [{entry}, {right}]}}')
    assert len(json.loads(row["merged"])["boundingBoxes"]) == 1
    assert "NaN" not in row["merged"]


def test_labels_of_any_characters_are_written() -> None:
    """Half of a surrogate pair becomes a question mark, and texts that differ stay two."""
    box = ("left", "top", "width", "height")
    entries = [{"label": label, **dict.fromkeys(box, 9)} for label in ("\ud800", "a", "a\0", "色")]
    merged = _of_item(json.dumps({"boundingBoxes": entries}))["merged"]
    assert merged.encode()
    assert [box["label"] for box in json.loads(merged)["boundingBoxes"]] == ["?", "a", "a\0", "色"]


def test_no_answers_give_an_empty_table() -> None:
    """The columns and their types stay."""
    table = item_regions(_votes({}), "boundingBoxes")
    assert table.empty
    assert str(table["f1"].dtype) == "float64"
    assert str(table["workers"].dtype) == "int64"
