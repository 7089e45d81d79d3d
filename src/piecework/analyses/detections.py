"""How well detectors find objects: average precision and recall by COCO's definition.

`pycocotools`, COCO's own program, matches the detections of each image with people's objects.
From its matches the averages are computed here, for all images and for each resample of them.
Precision at 101 levels of recall is averaged for each category, over the IoU from 0.50 to 0.95
in steps of 0.05. The best 100 detections of a category in an image count. A crowd, a group
of objects that is marked as one, is neither a hit nor a miss (Lin et al., ECCV 2014,
doi:10.1007/978-3-319-10602-1_48).
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from typing import Any, NamedTuple, TypeAlias

from piecework.domain.errors import load_extra
from piecework.domain.late_modules import np, npt

Floats: TypeAlias = "npt.NDArray[np.float64]"
Whole: TypeAlias = "npt.NDArray[np.intp]"
Flags: TypeAlias = "npt.NDArray[np.bool_]"

MOST_DETECTIONS = 100
"""Of a category in an image, those with the highest scores."""

MEASURES = ("AP", "AP50", "AP75", "AR")
"""Average precision; at an IoU of 0.50 and of 0.75; average recall."""

_EXTRA = "detections"
_ANY_AREA = [[0.0, 1e10]]
_AT_50, _AT_75 = 0, 5
"""Places of these IoUs among COCO's ten."""
_TINY = float(2**-52)
_ENDS = (2.5, 97.5)


class Seen(NamedTuple):
    """An object that a person or a detector sees.

    Attributes:
        image: its place among the images, from 0; so of its category.
        box: left, top, width and height in pixels; `None` if it has an outline alone.
        outline: COCO's `segmentation`: polygons or the lengths of runs; `None`: it has none.
        shape: rows and columns of the picture; of an outline.
        score: how sure the detector is.
        is_crowd: whether it is a group of objects that is marked as one.
    """

    image: int
    category: int
    box: Sequence[float] | None = None
    outline: object = None
    shape: tuple[int, int] = (1, 1)
    score: float = 1.0
    is_crowd: bool = False


class Matched(NamedTuple):
    """The detections of one category, the surest first, matched with its objects.

    Attributes:
        image: of each detection.
        is_hit: shape (IoUs, detections): whether an object matches.
        is_counted: the same shape: whether it is a hit or a miss, and not in a crowd.
        objects: how many objects each image has, without crowds.
    """

    image: Whole
    is_hit: Flags
    is_counted: Flags
    objects: Whole


def matched_detections(
    people: Sequence[Seen],
    detector: Sequence[Seen],
    *,
    images: int,
    categories: int,
    by_outline: bool,
) -> list[Matched]:
    """Return the matches of each category.

    Args:
        people: the objects.
        detector: the detections.
        images: how many there are.
        categories: how many there are.
        by_outline: whether outlines are compared, not boxes.

    Raises:
        ConfigError: the library is not installed.
    """
    coco, evaluation, masks = (
        load_extra(f"pycocotools.{name}", extra=_EXTRA, use="a score of detectors")
        for name in ("coco", "cocoeval", "mask")
    )
    with redirect_stdout(io.StringIO()):  # it reports each step
        sides = []
        for listed in (people, detector):
            side = coco.COCO()
            side.dataset = {
                "images": [{"id": n, "width": 1, "height": 1} for n in range(images)],
                "categories": [{"id": n} for n in range(categories)],
                # 0 as an id would mean that there is no match.
                "annotations": [
                    _annotation(n, seen, masks, by_outline=by_outline)
                    for n, seen in enumerate(listed, start=1)
                ],
            }
            side.createIndex()
            sides.append(side)
        library = evaluation.COCOeval(*sides, iouType="segm" if by_outline else "bbox")
        library.params.maxDets = [MOST_DETECTIONS]
        library.params.areaRng, library.params.areaRngLbl = _ANY_AREA, ["all"]
        library.evaluate()
    return [
        _of_category(library.evalImgs[n * images : (n + 1) * images]) for n in range(categories)
    ]


def averages(of: Sequence[Matched], weights: Floats) -> Floats:
    """Return the measures of each category; shape (categories, 4), NaN without an object.

    Args:
        of: the matches of each category.
        weights: how often each image counts.
    """
    return np.array([_averages(each, weights) for each in of]).reshape(len(of), len(MEASURES))


def mean_of(averages_of_categories: Floats) -> Floats:
    """Return the mean measures of the categories that have an object; NaN without any."""
    known = averages_of_categories[~np.isnan(averages_of_categories[:, 0])]
    return known.mean(axis=0) if len(known) else np.full(len(MEASURES), math.nan)


class Resampled(NamedTuple):
    """The measures in resamples of the images.

    Attributes:
        means: shape (resamples, systems, 4).
        categories: shape (resamples, systems, categories): their average precision.
    """

    means: Floats
    categories: Floats


def resampled(
    systems: Sequence[Sequence[Matched]], *, images: int, resamples: int, seed: int
) -> Resampled:
    """Return the measures in resamples, which are the same for all systems."""
    chance = np.random.default_rng(seed)
    count = len(systems[0])
    means = np.empty((resamples, len(systems), len(MEASURES)))
    categories = np.empty((resamples, len(systems), count))
    for n in range(resamples):
        drawn = chance.integers(images, size=images)
        weights = np.bincount(drawn, minlength=images).astype("float64")
        for place, of in enumerate(systems):
            each = averages(of, weights)
            means[n, place], categories[n, place] = mean_of(each), each[:, 0]
    return Resampled(means, categories)


def interval(values: Floats) -> tuple[float, float]:
    """Return the 95 % interval of a measure over resamples; NaN if no resample has it."""
    known = values[~np.isnan(values)]
    low, high = np.percentile(known, _ENDS) if len(known) else (math.nan, math.nan)
    return float(low), float(high)


def _averages(of: Matched, weights: Floats) -> Floats:
    whole = float(weights @ of.objects)
    if not whole:
        return np.full(len(MEASURES), math.nan)
    counts = weights[of.image]
    hits = np.cumsum(of.is_hit * counts, axis=1)
    shown = np.cumsum(of.is_counted * counts, axis=1)
    precision = hits / (shown + _TINY)
    # At a level of recall, the best precision from there on counts.
    best = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
    levels = np.linspace(0.0, 1.0, 101)
    padded = np.column_stack([best, np.zeros(len(best))])
    precisions = np.array(
        [
            line[np.searchsorted(recall, levels, side="left")].mean()
            for line, recall in zip(padded, hits / whole, strict=True)
        ]
    )
    recalls = hits[:, -1] / whole if len(counts) else np.zeros(len(hits))
    return np.array([precisions.mean(), precisions[_AT_50], precisions[_AT_75], recalls.mean()])


_IOUS = 10


def _of_category(of_images: Sequence[Mapping[str, Any] | None]) -> Matched:
    """Join what the library found in each image; `None` without objects and detections."""
    known = [(n, each) for n, each in enumerate(of_images) if each is not None]
    scores = np.concatenate([[], *(each["dtScores"] for _, each in known)])
    # As the library: of equal scores, the earlier image is first.
    order = np.argsort(-scores, kind="mergesort")
    images = np.repeat(
        np.array([n for n, _ in known], dtype="intp"), [len(each["dtScores"]) for _, each in known]
    )
    nothing = np.zeros((_IOUS, 0), dtype="bool")
    is_match = np.concatenate([nothing, *(each["dtMatches"] > 0 for _, each in known)], axis=1)
    is_ignored = np.concatenate(
        [nothing, *(each["dtIgnore"].astype("bool") for _, each in known)], axis=1
    )
    objects = np.zeros(len(of_images), dtype="intp")
    for n, each in known:
        objects[n] = np.count_nonzero(each["gtIgnore"] == 0)
    return Matched(
        image=images[order],
        is_hit=(is_match & ~is_ignored)[:, order],
        is_counted=~is_ignored[:, order],
        objects=objects,
    )


def _annotation(
    number: int,
    seen: Seen,
    masks: Any,  # noqa: ANN401 - a module of the library
    *,
    by_outline: bool,
) -> dict[str, object]:
    annotation: dict[str, object] = {
        "id": number,
        "image_id": seen.image,
        "category_id": seen.category,
        "area": 1.0,  # objects of all sizes count
        "iscrowd": int(seen.is_crowd),
        "score": seen.score,
    }
    if by_outline:
        return {**annotation, "segmentation": _mask(seen, masks)}
    box = masks.toBbox(_mask(seen, masks)).tolist() if seen.box is None else [*seen.box]
    return {**annotation, "bbox": box}


def _mask(seen: Seen, masks: Any) -> Any:  # noqa: ANN401 - see above
    """Return an outline as the library's run lengths."""
    made = masks.frPyObjects(seen.outline, *seen.shape)
    return masks.merge(made) if isinstance(made, list) else made
