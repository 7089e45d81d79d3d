"""Agreement about regions of a picture or spans of a text, and regions that several drew.

Boxes have two dimensions and spans have one; otherwise both are handled alike. Regions
match if their labels are equal and they overlap enough: boxes with an IoU (the area that
both share, divided by the area that either covers) of at least 0.5, as in PASCAL VOC
(Everingham et al., IJCV 2010, doi:10.1007/s11263-009-0275-4), and spans with any common
character. Of all ways to match the regions of two workers one to one, the one with the
largest sum of IoU counts.

Regions of all workers are put into clusters, best matches first, with at most one region
of a worker in a cluster. A cluster that at least half of the workers drew becomes one
region; each of its ends is the median, weighted by how far each worker agrees with the
others about the item. So one worker decides alone, and of two workers both count.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple, TypeAlias

from piecework.analyses.votes import votes_that_count
from piecework.domain.field import Regions
from piecework.domain.late_modules import np, npt, pd

MOST = 500
"""An answer with more regions is not read: matching takes the cube of their number."""

_SIZE = "inputImageProperties"
_LEAST: Mapping[Regions, float] = {"boundingBoxes": 0.5, "entities": 1e-9}
_FARTHEST = 1e15
_ROUND = 4
_CLOSE = 1e-9

Floats: TypeAlias = "npt.NDArray[np.float64]"
_Listed = tuple[str, tuple[float, ...]]
"""A label, and the low and high end in each dimension."""

Matches = Mapping[tuple[int, int], Floats]
"""The matched regions of each two workers (`_matches`), by the workers' places."""


@dataclass(frozen=True, kw_only=True)
class Marks:
    """The regions of one answer.

    Attributes:
        labels: of each region; "" if it has none.
        ends: shape (regions, dimensions, 2): the low and the high end of each region, in
            pixels or UTF-16 units.
        size: width and height of the picture in pixels, if the answer states it.
    """

    labels: npt.NDArray[np.object_]
    ends: Floats
    size: tuple[float, float] | None = None

    def __len__(self) -> int:
        return len(self.labels)


class Likeness(NamedTuple):
    """How alike the regions of two workers are.

    Attributes:
        f1: twice the number of matches divided by the number of all regions; 1 if both
            say that there is nothing.
        exact: the same, if only equal regions match.
        overlap: mean IoU of the matches; NaN without a match.
        weight: the sum of IoU of the matches in place of their number.
    """

    f1: float
    exact: float
    overlap: float
    weight: float


def read_marks(text: str, part: Regions) -> Marks | None:
    """Return the regions of an answer as crowd elements send it; `None` if it is unreadable.

    Regions without a size or with ends that are no numbers are left out. An answer with
    more than `MOST` regions counts as unreadable.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    listed = document.get(part) if isinstance(document, dict) else None
    if not isinstance(listed, list) or len(listed) > MOST:
        return None
    regions = [region for entry in listed if (region := _region(entry, part)) is not None]
    ends = np.array([ends for _, ends in regions], dtype="float64")
    size = document.get(_SIZE)
    lengths = _numbers(size, ("width", "height")) if isinstance(size, dict) else None
    return Marks(
        labels=np.array([label for label, _ in regions], dtype=object),
        ends=ends.reshape(len(regions), 1 if part == "entities" else 2, 2),
        size=(lengths[0], lengths[1]) if lengths and min(lengths) > 0 else None,
    )


def marks_in(text: str) -> Marks | None:
    """Return the regions of an answer of either kind; `None` if none is readable."""
    return next(
        (marks for part in _LEAST if (marks := read_marks(text, part)) is not None),
        None,
    )


def f1(first: Marks | None, second: Marks | None) -> float:
    """Return how alike two answers are, as `Likeness.f1`; 0 if one of them is unreadable.

    >>> box = '{"boundingBoxes": [{"label": "a", "left": 0, "top": 0, "width": 9, "height": 9}]}'
    >>> f1(marks_in(box), marks_in(box)), f1(marks_in(box), marks_in('{"boundingBoxes": []}'))
    (1.0, 0.0)
    """
    if first is None or second is None or first.ends.shape[1] != second.ends.shape[1]:
        return 0.0
    count = len(first) + len(second)
    least = _LEAST["entities" if first.ends.shape[1] == 1 else "boundingBoxes"]
    return 2 * len(_matches(overlaps(first, second), least)) / count if count else 1.0


def in_place(marks: Marks, whole: float | None = None) -> Marks:
    """Return regions without their labels, as parts of the picture or text.

    Args:
        marks: boxes of an answer that states no size stay in pixels.
        whole: the end of the text.
    """
    scale = np.array([[1.0], [1.0]])
    if marks.size is not None:
        scale = np.array(marks.size)[:, None]
    if marks.ends.shape[1] == 1:
        scale = np.array([[whole or 1.0]])
    return Marks(labels=np.full(len(marks), "", dtype=object), ends=marks.ends / scale)


def are_alike(first: Marks, second: Marks, *, least: float) -> bool:
    """Return whether each region has its own in the other answer, with at least this IoU.

    >>> box = '{"boundingBoxes": [{"label": "a", "left": 0, "top": 0, "width": 9, "height": 9}]}'
    >>> first, none = marks_in(box), marks_in('{"boundingBoxes": []}')
    >>> are_alike(first, first, least=0.9), are_alike(first, none, least=0.9)
    (True, False)
    """
    return len(first) == len(second) == len(_matches(overlaps(first, second), least))


def overlaps(first: Marks, second: Marks) -> Floats:
    """Return the IoU of each region with each other one; 0 if their labels differ."""
    low = np.maximum(first.ends[:, None, :, 0], second.ends[None, :, :, 0])
    high = np.minimum(first.ends[:, None, :, 1], second.ends[None, :, :, 1])
    common = np.clip(high - low, 0, None).prod(axis=2)
    areas = [(marks.ends[:, :, 1] - marks.ends[:, :, 0]).prod(axis=1) for marks in (first, second)]
    whole = areas[0][:, None] + areas[1][None, :] - common
    shares = np.divide(common, whole, out=np.zeros_like(common), where=whole > 0)
    return np.where(first.labels[:, None] == second.labels[None, :], shares, 0.0)


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
    matches = {
        (i, j): _matches(overlaps(answers[i], answers[j]), _LEAST[part])
        for i, j in combinations(range(len(answers)), 2)
    }
    drawn = [Counter(_listed(marks)) for marks in answers]
    pairs = {(i, j): _likeness(drawn[i], drawn[j], matched) for (i, j), matched in matches.items()}
    weights = np.zeros(len(answers))
    for pair, alike in pairs.items():
        weights[[*pair]] += alike.weight
    return (
        _as_text(_merged(answers, matches, weights, is_of_text=part == "entities"), part),
        _mean(alike.f1 for alike in pairs.values()),
        _mean(alike.exact for alike in pairs.values()),
        _mean(alike.overlap for alike in pairs.values()),
        len(answers),
    )


def _as_text(marks: Marks, part: Regions) -> str:
    """Return regions as the JSON text in which crowd elements send them."""
    document: dict[str, object] = {part: [_entry(*region) for region in _listed(marks)]}
    if marks.size is not None:
        width, height = map(_plain, marks.size)
        document[_SIZE] = {"height": height, "width": width}
    return json.dumps(document, ensure_ascii=False)


def _mean(values: Iterable[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan


def _likeness(first: Counter[_Listed], second: Counter[_Listed], matches: Floats) -> Likeness:
    """Compare the regions of two workers, whose matches are known."""
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


def _merged(
    answers: Sequence[Marks], matches: Matches, weights: Floats, *, is_of_text: bool
) -> Marks:
    """Return the regions that at least half of the workers drew."""
    whole = Marks(
        labels=np.concatenate([marks.labels for marks in answers]),
        ends=np.concatenate([marks.ends for marks in answers]),
    )
    owners = np.repeat(np.arange(len(answers)), [len(marks) for marks in answers])
    starts = np.cumsum([0, *(len(marks) for marks in answers)])
    kept = [
        members
        for members in _clusters(matches, starts, owners)
        if 2 * len(members) >= len(answers)
    ]
    low, high = (
        np.array(
            [_medians(whole.ends[members, :, end], weights[owners[members]]) for members in kept]
        ).reshape(len(kept), whole.ends.shape[1], 2)
        for end in (0, 1)
    )
    # The text that at least half have goes from the low median to the high one.
    ends = np.stack(
        [low[:, :, 0], high[:, :, 1]] if is_of_text else [low.mean(2), high.mean(2)],
        axis=2,
    )
    labels = whole.labels[[members[0] for members in kept]] if kept else whole.labels[:0]
    order = sorted(range(len(kept)), key=lambda n: (ends[n, :, 0].tolist(), labels[n]))
    sizes = [marks.size for marks in answers if marks.size is not None]
    return Marks(
        labels=labels[order],
        ends=ends[order],
        size=max(sizes, key=lambda size: (sizes.count(size), size)) if sizes else None,
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


def _medians(values: Floats, weights: Floats) -> Floats:
    """Return the low and the high weighted median of each column; shape (columns, 2)."""
    if not weights.sum() > 0:
        weights = np.ones_like(weights)
    order = np.argsort(values, axis=0, kind="stable")
    ordered = np.take_along_axis(values, order, axis=0)
    passed = weights[order].cumsum(axis=0) / weights.sum()
    low = (passed >= 0.5 - _CLOSE).argmax(axis=0)
    high = (passed > 0.5 + _CLOSE).argmax(axis=0)
    columns = np.arange(values.shape[1])
    return np.column_stack([ordered[low, columns], ordered[high, columns]])


def _region(entry: object, part: Regions) -> tuple[str, list[tuple[float, float]]] | None:
    """Return the label and the ends of a region; `None` without a size."""
    if not isinstance(entry, dict):
        return None
    if part == "entities":
        numbers = _numbers(entry, ("startOffset", "endOffset"))
        ends = [(numbers[0], numbers[1])] if numbers else []
    else:
        numbers = _numbers(entry, ("left", "top", "width", "height"))
        ends = (
            [(at, at + length) for at, length in zip(numbers[:2], numbers[2:], strict=True)]
            if numbers
            else []
        )
    if not ends or not all(low < high and math.isfinite(high - low) for low, high in ends):
        return None
    label = entry.get("label")
    # JSON may escape half of a character, which no file can hold.
    return (label.encode(errors="replace").decode() if isinstance(label, str) else ""), ends


def _numbers(entry: Mapping[str, object], names: Sequence[str]) -> list[float] | None:
    """Return these members, if all are numbers of a size that can be multiplied."""
    values = [entry.get(name) for name in names]
    if not all(isinstance(value, int | float) and abs(value) < _FARTHEST for value in values):
        return None
    return [float(value) for value in values if isinstance(value, int | float)]


def _listed(marks: Marks) -> Iterator[_Listed]:
    """Yield label and ends of each region."""
    yield from zip(
        marks.labels, map(tuple, (ends.ravel().tolist() for ends in marks.ends)), strict=True
    )


def _entry(label: str, ends: Sequence[float]) -> dict[str, object]:
    if len(ends) == 2:  # noqa: PLR2004 - a span
        return {"endOffset": _plain(ends[1]), "label": label, "startOffset": _plain(ends[0])}
    left, right, top, bottom = ends
    return {
        "height": _plain(bottom - top),
        "label": label,
        "left": _plain(left),
        "top": _plain(top),
        "width": _plain(right - left),
    }


def _plain(number: float) -> int | float:
    return int(number) if number.is_integer() else round(number, _ROUND)
