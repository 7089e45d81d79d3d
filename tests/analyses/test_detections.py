"""Average precision of detectors, against COCO's own program on random scenes."""

import io
import random
from collections.abc import Sequence
from contextlib import redirect_stdout
from typing import Any

import numpy as np
import pytest
from pycocotools import mask as masks
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from piecework.analyses.detections import (
    MEASURES,
    Matched,
    Seen,
    averages,
    interval,
    matched_detections,
    mean_of,
    resampled,
)
from piecework.analyses.masks import pixels_of, run_lengths, runs_in

IMAGES, CATEGORIES, SIDE = 12, 4, 60
ALL = np.ones(IMAGES)


def _box(chance: random.Random, near: Sequence[float] | None = None) -> list[float]:
    """A box of whole pixels, which overlaps others often; near another, or anywhere."""
    if near is None:
        x, y = (chance.randrange(SIDE - 12) for _ in "xy")
        return [x, y, chance.randrange(6, 12), chance.randrange(6, 12)]
    return [max(0, side + chance.randrange(-2, 3)) for side in near[:2]] + [*near[2:]]


def _outline(box: Sequence[float], *, are_runs: bool) -> object:
    """An outline in a box: a triangle and what the box has to the right of it, or a mask."""
    x, y, width, height = box
    if not are_runs:
        return [[x, y, x + width, y, x, y + height], [x + width, y, x + width, y + 5, x + 3, y + 5]]
    pixels = np.zeros((SIDE, SIDE), dtype="bool")
    pixels[int(y) : int(y + height), int(x) : int(x + width)] = True
    return run_lengths(pixels)


def scene(seed: int) -> tuple[list[Seen], list[Seen]]:
    """Objects and detections: misses, doubles, equal scores, crowds, more than 100 of a kind."""
    chance = random.Random(seed)  # noqa: S311 - scenes, no secrets
    people, detector = list[Seen](), list[Seen]()
    for image in range(IMAGES):
        for _ in range(chance.randrange(8)):
            category, box = chance.randrange(CATEGORIES - 1), _box(chance)
            are_runs = chance.random() < 0.5
            seen = Seen(
                image=image,
                category=category,
                box=box,
                outline=_outline(box, are_runs=are_runs),
                shape=(SIDE, SIDE),
                is_crowd=are_runs and chance.random() < 0.3,
            )
            people.append(seen)
            for _ in range(chance.choice([0, 1, 1, 1, 3])):
                moved = _box(chance, box)
                detector.append(
                    seen._replace(
                        box=moved,
                        outline=_outline(moved, are_runs=chance.random() < 0.5),
                        score=round(chance.random(), 1),
                        category=chance.choice([category, category, CATEGORIES - 1]),
                        is_crowd=False,
                    )
                )
    crowded = detector[0]
    detector += [crowded._replace(score=n / 200) for n in range(150)]
    return people, detector


def by_library(
    people: Sequence[Seen], detector: Sequence[Seen], *, images: int, by_outline: bool
) -> tuple[list[float], list[list[float]]]:
    """COCO's AP, AP50, AP75 and AR of 100 detections; of all, and AP of each category."""
    annotations: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for n, seen in enumerate(people, start=1):
        entry = {"id": n, "image_id": seen.image, "category_id": seen.category, "area": 1}
        shape = {"bbox": seen.box, "segmentation": seen.outline, "iscrowd": int(seen.is_crowd)}
        annotations.append({**entry, **shape})
    for seen in detector:
        made: Any = masks.frPyObjects(seen.outline, SIDE, SIDE)
        whole = masks.merge(made) if isinstance(made, list) else made
        shape = {"segmentation": whole} if by_outline else {"bbox": [*(seen.box or ())]}
        results.append(
            {"image_id": seen.image, "category_id": seen.category, "score": seen.score, **shape}
        )
    with redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = {
            "info": {},
            "images": [{"id": n, "width": SIDE, "height": SIDE} for n in range(images)],
            "categories": [{"id": n} for n in range(CATEGORIES)],
            "annotations": annotations,
        }
        truth.createIndex()
        library = COCOeval(truth, truth.loadRes(results), "segm" if by_outline else "bbox")
        # Detections of any size: COCO ignores what is beyond the limits of "all".
        library.evaluate()
        library.accumulate()
        library.summarize()
    precision = library.eval["precision"][:, :, :, 0, -1]
    recall = library.eval["recall"][:, :, 0, -1]
    each = [
        [
            float(precision[:, :, n].mean()),
            float(precision[0, :, n].mean()),
            float(precision[5, :, n].mean()),
            float(recall[:, n].mean()),
        ]
        for n in range(CATEGORIES)
    ]
    return [float(library.stats[place]) for place in (0, 1, 2, 8)], each


def ours(
    people: Sequence[Seen], detector: Sequence[Seen], *, by_outline: bool = False
) -> list[Matched]:
    """The matches of a scene."""
    return matched_detections(
        people, detector, images=IMAGES, categories=CATEGORIES, by_outline=by_outline
    )


@pytest.mark.parametrize("by_outline", [False, True], ids=["boxes", "outlines"])
@pytest.mark.parametrize("seed", range(4))
def test_the_averages_are_those_of_coco(seed: int, *, by_outline: bool) -> None:
    """Of all categories and of each; one category has detections, but no object."""
    people, detector = scene(seed)
    of_categories = averages(ours(people, detector, by_outline=by_outline), ALL)
    whole, each = by_library(people, detector, images=IMAGES, by_outline=by_outline)
    assert mean_of(of_categories) == pytest.approx(whole, abs=1e-9)
    for place, values in enumerate(each):
        if values[0] == -1:
            assert np.isnan(of_categories[place]).all()
        else:
            assert of_categories[place] == pytest.approx(values, abs=1e-9)
    assert np.isnan(of_categories[-1]).all()


@pytest.mark.parametrize("seed", range(3))
def test_an_image_that_is_drawn_twice_counts_as_two(seed: int) -> None:
    """So a resample has the averages of COCO's program on these images."""
    people, detector = scene(seed)
    # Without equal scores, whose order the copies would change.
    detector = [seen._replace(score=(n * 7919 % 1009) / 1009) for n, seen in enumerate(detector)]
    drawn = np.random.default_rng(seed).integers(IMAGES, size=IMAGES).tolist()
    weights = np.bincount(drawn, minlength=IMAGES).astype("float64")
    copies = [
        [
            seen._replace(image=place)
            for place, image in enumerate(sorted(drawn))
            for seen in listed
            if seen.image == image
        ]
        for listed in (people, detector)
    ]
    whole, _ = by_library(*copies, images=IMAGES, by_outline=False)
    of_categories = averages(ours(people, detector), weights)
    assert mean_of(of_categories) == pytest.approx(whole, abs=1e-9)


def test_a_perfect_detector_has_one_and_a_silent_one_nought() -> None:
    """Whatever the resample, so the interval has no width."""
    people, _ = scene(5)
    alone = [seen for seen in people if not seen.is_crowd]
    perfect, silent = ours(alone, alone), ours(alone, [])
    assert mean_of(averages(perfect, ALL)) == pytest.approx([1] * len(MEASURES))
    assert mean_of(averages(silent, ALL)) == pytest.approx([0] * len(MEASURES))
    drawn = resampled([perfect, silent], images=IMAGES, resamples=50, seed=3)
    assert interval(drawn.means[:, 0, 0]) == pytest.approx((1, 1))
    assert interval(drawn.means[:, 1, 0]) == pytest.approx((0, 0))


def test_the_interval_holds_the_average_and_depends_on_the_seed_alone() -> None:
    """Equal seeds draw equal images."""
    people, detector = scene(6)
    of = ours(people, detector)
    first, again, other = (
        resampled([of], images=IMAGES, resamples=200, seed=seed) for seed in (1, 1, 2)
    )
    assert np.array_equal(first.means, again.means)
    assert not np.array_equal(first.means, other.means)
    low, high = interval(first.means[:, 0, 0])
    assert low < mean_of(averages(of, ALL))[0] < high
    assert all(np.isnan(interval(np.array([np.nan]))))


@pytest.mark.parametrize("seed", range(20))
def test_run_lengths_of_the_library_are_read_as_the_same_pixels(seed: int) -> None:
    """Compressed, as a list, and written again."""
    chance = np.random.default_rng(seed)
    shape = tuple(chance.integers(1, 300, size=2).tolist())
    pixels = chance.random(shape) < chance.choice([0, 0.01, 0.5, 1])
    encoded = masks.encode(np.asfortranarray(pixels.astype("uint8")))
    runs, size = runs_in({"size": encoded["size"], "counts": encoded["counts"].decode()})
    assert size == shape
    assert np.array_equal(pixels_of(runs, size), pixels)
    listed, _ = runs_in(run_lengths(pixels))
    assert np.array_equal(pixels_of(listed, size), pixels)
