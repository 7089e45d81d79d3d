"""Agreement about marks in a picture or text, and the marks that several workers share.

Marks match if their labels are equal and they are alike enough: boxes, polygons and masks
with an IoU (the area that both share, divided by the area that either covers) of at least
0.5, as in PASCAL VOC (Everingham et al., IJCV 2010, doi:10.1007/s11263-009-0275-4); spans
with any common character; points that are at most a twentieth of the picture's diagonal
apart (ours). Of all ways to match the marks of two workers one to one, the one with the
largest sum of likenesses counts.

Marks of all workers are put into clusters, best matches first, with at most one mark of a
worker in a cluster. A cluster that at least half of the workers drew becomes one mark. Each
end of a box, point or span is the median, weighted by how far each worker agrees with the
others about the item; so are the cells of polygons and masks (`piecework.analyses.areas`).
So one worker decides alone, and of two workers both count. Merged spans of one label do not
overlap, unless a worker drew two that do.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple, TypeAlias

from piecework.analyses.areas import (
    MOST_CELLS,
    Areas,
    TooLargeError,
    aligned,
    label_of,
    merged_areas,
    plain_number,
    polygons_document,
    read_polygons,
)
from piecework.analyses.masks import masks_document, read_masks
from piecework.analyses.spans import cut_apart
from piecework.analyses.votes import votes_that_count, weighted_medians
from piecework.domain.field import Regions
from piecework.domain.late_modules import np, npt, pd

MOST = 500
"""An answer with more regions is not read: matching takes the cube of their number."""

MOST_MERGED = 2 * MOST
"""No merged answer has more regions: of two workers, each of both may count."""

_SIZE = "inputImageProperties"
_LEAST: Mapping[Regions, float] = {
    "boundingBoxes": 0.5,
    "entities": 1e-9,
    "keypoints": 0.5,
    "polygons": 0.5,
    "labeledImage": 0.5,
}
_REACH = 0.1
"""Points this part of the picture's diagonal apart are not alike at all."""
_FARTHEST = 1e15

Floats: TypeAlias = "npt.NDArray[np.float64]"

Matches = Mapping[tuple[int, int], Floats]
"""The matched marks of each two workers (`_matches`), by the workers' places."""


@dataclass(frozen=True, kw_only=True)
class Extents:
    """The boxes, points or spans of one answer.

    Attributes:
        labels: of each mark; "" if it has none.
        ends: shape (marks, dimensions, 2): the low and the high end of each mark, in pixels
            or UTF-16 units. Both ends of a point are the point.
        size: width and height of the picture in pixels, if the answer states it.
        reach: how far apart points are not alike at all; 0 for boxes and spans.
    """

    labels: npt.NDArray[np.object_]
    ends: Floats
    size: tuple[float, float] | None = None
    reach: float = 0.0

    @property
    def is_of_text(self) -> bool:
        """Whether they are spans of a text."""
        return bool(self.ends.shape[1] == 1)

    def __len__(self) -> int:
        return len(self.labels)

    def listed(self) -> Iterator[tuple[str, tuple[float, ...]]]:
        """Yield the label, and the low and high end in each dimension, of each mark."""
        for label, ends in zip(self.labels, self.ends, strict=True):
            yield label, tuple(ends.ravel().tolist())

    def covers_most(self, share: float) -> bool:
        """Whether a mark covers more than this share of the picture or text."""
        sizes = (self.ends[:, :, 1] - self.ends[:, :, 0]).prod(axis=1)
        return bool(sizes.max(initial=0) > share and self.ends.max() < 1 / share)

    def overlaps(self, other: Extents) -> Floats:
        """Return how alike each mark is to each other one; 0 if their labels differ.

        The IoU; of points, 1 less their distance divided by the reach.
        """
        reach = max(self.reach, other.reach)
        if reach:
            apart = self.ends[:, None, :, 0] - other.ends[None, :, :, 0]
            shares = np.clip(1 - np.sqrt((apart**2).sum(axis=2)) / reach, 0, None)
        else:
            low = np.maximum(self.ends[:, None, :, 0], other.ends[None, :, :, 0])
            high = np.minimum(self.ends[:, None, :, 1], other.ends[None, :, :, 1])
            common = np.clip(high - low, 0, None).prod(axis=2)
            own, others = (
                (each.ends[:, :, 1] - each.ends[:, :, 0]).prod(axis=1) for each in (self, other)
            )
            whole = own[:, None] + others[None, :] - common
            shares = np.divide(common, whole, out=np.zeros_like(common), where=whole > 0)
        return np.where(self.labels[:, None] == other.labels[None, :], shares, 0.0)

    def in_place(self, whole: float | None = None) -> Extents:
        """Return the marks without their labels, as parts of the picture or text.

        Args:
            whole: the end of the text. Boxes of an answer that states no size stay in pixels.
        """
        scale = np.array([[1.0], [1.0]])
        if self.size is not None:
            scale = np.array(self.size)[:, None]
        if self.is_of_text:
            scale = np.array([[whole or 1.0]])
        return Extents(
            labels=np.full(len(self), "", dtype=object),
            ends=self.ends / scale,
            reach=self.reach and (_REACH * math.sqrt(2) if self.size else self.reach),
        )


Marks: TypeAlias = Extents | Areas
"""The marks of one answer."""


class Likeness(NamedTuple):
    """How alike the marks of two workers are.

    Attributes:
        f1: twice the number of matches divided by the number of all marks; 1 if both say
            that there is nothing.
        exact: the same, if only equal marks match.
        overlap: mean IoU of the matches (of points, their mean nearness); NaN without a match.
        weight: the sum of these in place of their number.
    """

    f1: float
    exact: float
    overlap: float
    weight: float


def merged_extents(text: str, part: Regions) -> Extents | None:
    """Return boxes, points or spans as `merged_marks` does; `None` for areas, too."""
    marks = merged_marks(text, part)
    return marks if isinstance(marks, Extents) else None


def merged_marks(text: str, part: Regions) -> Marks | None:
    """Return the marks that `item_regions` merged; `None` for "", where nobody answered."""
    return read_marks(text, part, is_merged=True)


def read_marks(text: str, part: Regions, *, is_merged: bool = False) -> Marks | None:
    """Return the marks of an answer as crowd elements send it; `None` if it is unreadable.

    Marks without a size or with ends that are no numbers are left out. An answer with more
    than `MOST` marks counts as unreadable, but not a known one or what was merged of several.
    """
    try:
        return _read(text, part, is_merged=is_merged)
    except TooLargeError:
        return None


def is_too_large(text: str) -> bool:
    """Return whether `marks_in` reads no marks because there are more than are read."""
    try:
        for part in _LEAST:
            _read(text, part)
    except TooLargeError:
        return True
    return False


def _read(text: str, part: Regions, *, is_merged: bool = False) -> Marks | None:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    listed = document.get(part) if isinstance(document, dict) else None
    stated = document.get(_SIZE) if isinstance(document, dict) else None
    lengths = _numbers(stated, ("width", "height")) if isinstance(stated, dict) else None
    size = (lengths[0], lengths[1]) if lengths and min(lengths) > 0 else None
    most, most_cells = (math.inf, math.inf) if is_merged else (MOST, MOST_CELLS)
    if not isinstance(listed, dict if part == "labeledImage" else list):
        return None
    if isinstance(listed, dict):
        return read_masks(document, size, most_cells=most_cells)
    if len(listed) > most:
        raise TooLargeError
    if part == "polygons":
        return read_polygons(listed, size, most_cells=most_cells)
    regions = [region for entry in listed if (region := _region(entry, part)) is not None]
    ends = np.array([ends for _, ends in regions], dtype="float64")
    wide, high = size or (float(ends.max(initial=1.0)),) * 2
    return Extents(
        labels=np.array([label for label, _ in regions], dtype=object),
        ends=ends.reshape(len(regions), 1 if part == "entities" else 2, 2),
        size=size,
        reach=_REACH * math.hypot(wide, high) if part == "keypoints" else 0.0,
    )


def marks_in(text: str, *, is_merged: bool = False) -> Marks | None:
    """Return the marks of an answer of any kind; `None` as in `read_marks`."""
    read = (read_marks(text, part, is_merged=is_merged) for part in _LEAST)
    return next((marks for marks in read if marks is not None), None)


def overlaps(first: Marks | None, second: Marks | None) -> Floats | None:
    """Return how alike each mark is to each other one; `None` for marks of two kinds."""
    if isinstance(first, Areas) and isinstance(second, Areas):
        own, other = aligned([first, second])
        return own.overlaps(other)
    if isinstance(first, Extents) and isinstance(second, Extents):
        is_same = first.is_of_text == second.is_of_text and bool(first.reach) == bool(second.reach)
        return first.overlaps(second) if is_same else None
    return None


def f1(first: Marks | None, second: Marks | None) -> float:
    """Return how alike two answers are, as `Likeness.f1`; 0 if one of them is unreadable.

    >>> box = '{"boundingBoxes": [{"label": "a", "left": 0, "top": 0, "width": 9, "height": 9}]}'
    >>> f1(marks_in(box), marks_in(box)), f1(marks_in(box), marks_in('{"boundingBoxes": []}'))
    (1.0, 0.0)
    """
    counts = matched(first, second)
    if counts is None:
        return 0.0
    matches, *whole = counts
    return 2 * matches / sum(whole) if any(whole) else 1.0


def matched(first: Marks | None, second: Marks | None) -> tuple[int, int, int] | None:
    """Return how many marks of two answers match, and the number of each; `None` as `overlaps`."""
    shares = overlaps(first, second)
    if shares is None:
        return None
    is_of_text = isinstance(first, Extents) and first.is_of_text
    least = _LEAST["entities" if is_of_text else "boundingBoxes"]
    return len(_matches(shares, least)), *shares.shape


def are_alike(first: Marks, second: Marks, *, least: float) -> bool:
    """Return whether each mark has its own in the other answer, with at least this IoU.

    >>> box = '{"boundingBoxes": [{"label": "a", "left": 0, "top": 0, "width": 9, "height": 9}]}'
    >>> first, none = marks_in(box), marks_in('{"boundingBoxes": []}')
    >>> are_alike(first, first, least=0.9), are_alike(first, none, least=0.9)
    (True, False)
    """
    if len(first) != len(second):
        return False
    shares = overlaps(first, second)
    return shares is not None and len(first) == len(_matches(shares, least))


def item_regions(votes: pd.DataFrame, part: Regions) -> pd.DataFrame:
    """Merge the regions of each item, and measure how far its workers agree.

    Args:
        votes: columns `item_id`, `worker`, `value` (see `piecework.analyses.votes`);
            values are JSON texts. Unreadable ones do not count.
        part: the part of the answers that is read.

    Returns:
        One row per item with votes, index `item_id`, sorted. Columns `merged` (JSON text of
        the same shape; "" if no answer is readable), `f1`, `exact` and `overlap` (float64:
        means over pairs of workers, see `Likeness`; NaN with one worker), `workers`
        (int64).
    """
    rows = {}
    for item_id, values in votes_that_count(votes).groupby("item_id", sort=True)["value"]:
        answers = [marks for text in values if (marks := read_marks(str(text), part)) is not None]
        rows[item_id] = _item(answers, part)
    table = pd.DataFrame.from_dict(
        rows, orient="index", columns=["merged", "f1", "exact", "overlap", "workers"]
    ).rename_axis("item_id")
    return table.astype(
        {"merged": "str", "f1": "float64", "exact": "float64", "overlap": "float64",
         "workers": "int64"}
    )  # fmt: skip


def interval_of_mean(scores: Floats, *, seed: int, resamples: int) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of a mean over items; NaN without draws."""
    chance = np.random.default_rng(seed)
    draws = resamples if len(scores) else 0
    drawn = [scores[chance.integers(len(scores), size=len(scores))].mean() for _ in range(draws)]
    low, high = np.percentile(drawn, [2.5, 97.5]) if drawn else (math.nan, math.nan)
    return float(low), float(high)


def _item(answers: Sequence[Marks], part: Regions) -> tuple[str, float, float, float, int]:
    if not answers:
        return "", math.nan, math.nan, math.nan, 0
    areas = [marks for marks in answers if isinstance(marks, Areas)]
    answers = aligned(areas) if areas else answers
    matches = {
        (i, j): _matches(shares, _LEAST[part])
        for i, j in combinations(range(len(answers)), 2)
        if (shares := overlaps(answers[i], answers[j])) is not None
    }
    drawn = [Counter(marks.listed()) for marks in answers]
    pairs = {(i, j): _likeness(drawn[i], drawn[j], matched) for (i, j), matched in matches.items()}
    weights = np.zeros(len(answers))
    for pair, alike in pairs.items():
        weights[[*pair]] += alike.weight
    return (
        marks_text(_merged(answers, matches, weights), part),
        _mean(alike.f1 for alike in pairs.values()),
        _mean(alike.exact for alike in pairs.values()),
        _mean(alike.overlap for alike in pairs.values()),
        len(answers),
    )


def marks_text(marks: Marks, part: Regions) -> str:
    """Return marks as the JSON text in which crowd elements send them."""
    document: dict[str, object]
    if isinstance(marks, Areas):
        write = masks_document if part == "labeledImage" else polygons_document
        document = write(marks)
    else:
        document = {part: [_entry(label, ends, part) for label, ends in marks.listed()]}
    if marks.size is not None:
        width, height = map(plain_number, marks.size)
        document[_SIZE] = {"height": height, "width": width}
    return json.dumps(document, ensure_ascii=False)


def _mean(values: Iterable[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan


def _likeness(first: Counter[Hashable], second: Counter[Hashable], matches: Floats) -> Likeness:
    """Compare the marks of two workers, whose matches are known."""
    count = first.total() + second.total()
    if count == 0:
        return Likeness(1.0, 1.0, math.nan, 1.0)
    shares = matches[:, 0]
    return Likeness(
        f1=2 * len(shares) / count,
        exact=2 * (first & second).total() / count,
        overlap=float(shares.mean()) if len(shares) else math.nan,
        weight=2 * float(shares.sum()) / count,
    )


def _matches(shares: Floats, least: float) -> Floats:
    """Return a best matching; columns IoU, place in the first, place in the second."""
    # Commands that only check a campaign's rules load this module too.
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415

    enough = np.where(shares >= least, shares, 0.0)
    rows, columns = linear_sum_assignment(enough, maximize=True)
    matches = np.column_stack([enough[rows, columns], rows, columns])
    return matches[matches[:, 0] > 0]


def _merged(answers: Sequence[Marks], matches: Matches, weights: Floats) -> Marks:
    """Return the marks that at least half of the workers drew."""
    owners = np.repeat(np.arange(len(answers)), [len(marks) for marks in answers])
    starts = np.cumsum([0, *(len(marks) for marks in answers)])
    kept = [
        members
        for members in _clusters(matches, starts, owners)
        if 2 * len(members) >= len(answers)
    ]
    areas = [marks for marks in answers if isinstance(marks, Areas)]
    if areas:
        places = [
            [(int(owners[n]), int(n - starts[owners[n]])) for n in members] for members in kept
        ]
        return merged_areas(areas, places, weights)
    extents = [marks for marks in answers if isinstance(marks, Extents)]
    labels = np.concatenate([marks.labels for marks in extents])
    ends = np.concatenate([marks.ends for marks in extents])
    low, high = (
        np.array(
            [weighted_medians(ends[members, :, end], weights[owners[members]]) for members in kept]
        ).reshape(len(kept), ends.shape[1], 2)
        for end in (0, 1)
    )
    labels = labels[[members[0] for members in kept]] if kept else labels[:0]
    left: Sequence[int] = range(len(kept))
    if extents[0].is_of_text:
        # The text that at least half have goes from the low median to the high one.
        merged = np.stack([low[:, 0, 0], high[:, 0, 1]], axis=1)
        drawn = [{int(owners[n]): ends[n, 0].tolist() for n in members} for members in kept]
        ends, left = cut_apart(merged, labels, drawn)
    else:
        ends = np.stack([low.mean(2), high.mean(2)], axis=2)
    order = sorted(left, key=lambda n: (ends[n, :, 0].tolist(), labels[n]))
    sizes = [marks.size for marks in extents if marks.size is not None]
    return Extents(
        labels=labels[order],
        ends=ends[order],
        size=max(sizes, key=lambda size: (sizes.count(size), size)) if sizes else None,
        reach=extents[0].reach,
    )


def _clusters(
    matches: Matches, starts: npt.NDArray[np.intp], owners: npt.NDArray[np.intp]
) -> Collection[list[int]]:
    """Return the regions of each cluster, by their place among all."""
    near = [
        np.column_stack([pairs[:, 0], pairs[:, 1] + starts[i], pairs[:, 2] + starts[j]])
        for (i, j), pairs in matches.items()
    ]
    pairs = np.concatenate([np.empty((0, 3)), *near])
    order = np.lexsort((pairs[:, 2], pairs[:, 1], -pairs[:, 0]))
    cluster_of = {n: [n] for n in range(len(owners))}
    workers = {n: {int(owner)} for n, owner in enumerate(owners)}
    for first, second in pairs[order, 1:].astype("int64").tolist():
        left, right = cluster_of[first], cluster_of[second]
        if left is right or not workers[left[0]].isdisjoint(workers[right[0]]):
            continue
        workers[left[0]] |= workers[right[0]]
        left += right
        cluster_of |= dict.fromkeys(right, left)
    return list({id(members): members for members in cluster_of.values()}.values())


def _region(entry: object, part: Regions) -> tuple[str, list[tuple[float, float]]] | None:
    """Return the label and the ends of a mark; `None` without a size."""
    if not isinstance(entry, dict):
        return None
    least = 0.0
    if part == "keypoints":
        least = -1.0  # a point has no size
        numbers = _numbers(entry, ("x", "y"))
        ends = [(at, at) for at in numbers or ()]
    elif part == "entities":
        numbers = _numbers(entry, ("startOffset", "endOffset"))
        ends = [(numbers[0], numbers[1])] if numbers else []
    else:
        numbers = _numbers(entry, ("left", "top", "width", "height"))
        ends = (
            [(at, at + length) for at, length in zip(numbers[:2], numbers[2:], strict=True)]
            if numbers
            else []
        )
    if not ends or not all(least < high - low < math.inf for low, high in ends):
        return None
    return label_of(entry), ends


def _numbers(entry: Mapping[str, object], names: Sequence[str]) -> list[float] | None:
    """Return these members, if all are numbers of a size that can be multiplied."""
    values = [entry.get(name) for name in names]
    if not all(isinstance(value, int | float) and abs(value) < _FARTHEST for value in values):
        return None
    return [float(value) for value in values if isinstance(value, int | float)]


def _entry(label: str, ends: Sequence[float], part: Regions) -> dict[str, object]:
    if part == "entities":
        return {
            "endOffset": plain_number(ends[1]),
            "label": label,
            "startOffset": plain_number(ends[0]),
        }
    left, right, top, bottom = ends
    if part == "keypoints":
        return {"label": label, "x": plain_number(left), "y": plain_number(top)}
    return {
        "height": plain_number(bottom - top),
        "label": label,
        "left": plain_number(left),
        "top": plain_number(top),
        "width": plain_number(right - left),
    }
