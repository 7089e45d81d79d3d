"""The marks of all workers of a card, to be drawn in one picture or text."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice, pairwise
from typing import Any, Literal, NamedTuple

from piecework.domain.field import Field
from piecework.domain.text import one_line, regions_in_words, spans_in_characters
from piecework.hit_templates.own_html.page import marked_text
from piecework.results.answers_shown import Work

MOST_DRAWN = 200
"""Marks of an answer that are drawn."""
_MOST_CORNERS = 2_000
_LONGEST_LABEL = 40
_FARTHEST = 1e9
_LETTERS = 26
_COLOURS = 8
"""Colours of workers in the style sheet."""
_BESIDE = 80
"""Characters shown on either side of a mark in a text that is long."""
_LONG = 600

Shape = Literal["area", "line", "point"]
_SHAPES: Mapping[str, Shape] = {
    "boundingBoxes": "area",
    "polygons": "area",
    "polylines": "line",
    "lines": "line",
    "keypoints": "point",
    "labeledImage": "area",
}
_MOST_OUTLINES = 50
"""Parts and holes of a mask that are drawn."""

Corner = tuple[float, float]


class Mark(NamedTuple):
    """A mark in a picture.

    Attributes:
        outlines: the corners of each of its parts in pixels of the picture, as SVG writes them.
        at: where its label is; `is_right`: the label ends there.
    """

    shape: Shape
    label: str
    outlines: Sequence[str]
    at: Corner
    is_right: bool


class Passage(NamedTuple):
    """A part of a text: marked or not, with the labels of the spans that end here."""

    text: str
    is_marked: bool
    labels: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """What a worker marked.

    Attributes:
        letter: tells the worker from the others of the card, also without colours.
        colour: the number of the colour.
        worker: the pseudonym.
        words: the marks in words.
        left_out: how many marks are not drawn: too many, or outside of the picture or text.
        marks: in the picture.
        passages: of each text.
    """

    letter: str
    colour: int
    worker: str
    words: str
    left_out: int
    marks: Sequence[Mark]
    passages: Sequence[Sequence[Passage]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """The marks of some answers about an item.

    Attributes:
        width: of the picture as most workers saw it, in pixels; 0 without marks in it.
        height: the same.
        layers: one for each answer.
    """

    width: float
    height: float
    layers: Sequence[Layer]


def drawing_of(work: Work, rows: Sequence[int]) -> Drawing | None:
    """Return the marks of answers about one item; `None` if its workers mark nothing."""
    answers = [[_Read(field, text) for field, text in work.regions(number)] for number in rows]
    if not any(answers):
        return None
    sizes = Counter(read.size for answer in answers for read in answer if read.size)
    wide, high = max(sizes, key=lambda size: (sizes[size], size)) if sizes else (0.0, 0.0)
    item = work.items.get(work.item_id(rows[0]))
    task = work.opened.campaign.task
    texts = {
        field.name: marked_text(task, field, item) if item else None
        for field in task.item_fields
        if field.regions
    }
    return Drawing(
        width=wide,
        height=high,
        layers=[
            _layer(n, work.pseudonym_of(number), reads, (wide, high), texts)
            for n, (number, reads) in enumerate(zip(rows, answers, strict=True))
        ],
    )


class _Read:
    """The marks of a field of an answer.

    Attributes:
        field: the field.
        words: the marks in words.
        total: how many there are.
        entries: those that are objects; no more than are drawn.
        masks: those of a mask, each with its outlines in pixels.
        size: of the picture that the worker saw; `None` if it is not stated.
    """

    def __init__(self, field: Field, text: str) -> None:
        self.field, self.words = field, regions_in_words(text, field.regions)
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            document = None
        whole: Mapping[str, Any] = document if isinstance(document, dict) else {}
        listed = whole.get(field.regions)
        self.masks = _masks(text) if isinstance(listed, dict) else ()
        listed = listed if isinstance(listed, list) else []
        self.total = len(listed) + len(self.masks)
        self.entries = [entry for entry in listed[:MOST_DRAWN] if isinstance(entry, dict)]
        stated = whole.get("inputImageProperties")
        sides = _numbers(stated, "width", "height") if isinstance(stated, dict) else None
        is_seen = sides is not None and min(sides) > 0
        self.size: Corner | None = (sides[0], sides[1]) if sides and is_seen else None


def _layer(
    n: int, worker: str, reads: Sequence[_Read], size: Corner, texts: Mapping[str, str | None]
) -> Layer:
    marks: list[Mark] = []
    passages = []
    left_out = 0
    for read in reads:
        text = texts.get(read.field.name)
        if read.field.regions in _SHAPES and min(size) > 0:
            drawn = [*_marks(read, size)]
            marks += drawn
            left_out += read.total - len(drawn)
        elif text is not None:
            shown, parts = _passages(read, text)
            passages.append(parts)
            left_out += read.total - shown
    return Layer(
        letter=f"{chr(ord('A') + n % _LETTERS)}{n // _LETTERS + 1 if n >= _LETTERS else ''}",
        colour=n % _COLOURS,
        worker=worker,
        words="; ".join(read.words for read in reads) or "nothing",
        left_out=left_out,
        marks=marks,
        passages=passages,
    )


def _marks(read: _Read, size: Corner) -> Iterator[Mark]:
    """Yield the marks that lie in the picture, in pixels of the size that is shown."""
    wide, high = size
    own = read.size or size
    entries = ((_label(entry), [_corners(entry)]) for entry in read.entries)
    for label, lines in chain(entries, read.masks[:MOST_DRAWN]):
        outlines = [[(x * wide / own[0], y * high / own[1]) for x, y in line] for line in lines]
        corners = outlines[0] if outlines else []
        left, right = (edge(x for x, _ in corners) for edge in (min, max)) if corners else (0, 0)
        top, low = (edge(y for _, y in corners) for edge in (min, max)) if corners else (0, 0)
        if not corners or right < 0 or left > wide or low < 0 or top > high:
            continue
        is_right = max(left, 0) > 0.7 * wide
        yield Mark(
            shape=_SHAPES[read.field.regions],
            label=label,
            # A point is a line without a length, whose round ends are seen at any size.
            outlines=[
                " ".join(f"{x:.6g},{y:.6g}" for x, y in line * (2 if len(line) == 1 else 1))
                for line in outlines
            ],
            at=(round(min(right, wide) if is_right else max(left, 0), 2), round(max(top, 0), 2)),
            is_right=is_right,
        )


@lru_cache(maxsize=64)
def _masks(text: str) -> Sequence[tuple[str, Sequence[Sequence[Corner]]]]:
    """Return label and outlines of each mask of an answer, the largest outline first."""
    # Only such answers need it, and it loads pandas.
    from piecework.analyses.areas import Areas, outlines_of  # noqa: PLC0415
    from piecework.analyses.regions import read_marks  # noqa: PLC0415

    areas = read_marks(text, "labeledImage")
    if not isinstance(areas, Areas):
        return ()
    outlined = (
        (label, islice(outlines_of(area.top, area.left, area.bits), _MOST_OUTLINES))
        for label, area in zip(areas.labels, areas.areas, strict=True)
    )
    return [
        (
            one_line(label, at_most=_LONGEST_LABEL),
            [[(x, y) for x, y in (line * areas.cell).tolist()] for line in lines],
        )
        for label, lines in outlined
    ]


def _corners(entry: Mapping[str, Any]) -> list[Corner]:
    """Return the corners of a mark; none if it has no size or an unreadable corner."""
    if box := _numbers(entry, "left", "top", "width", "height"):
        left, top, width, height = box
        right, low = left + width, top + height
        is_empty = width <= 0 or height <= 0
        return [] if is_empty else [(left, top), (right, top), (right, low), (left, low)]
    listed = entry.get("vertices", [entry])
    if not isinstance(listed, list) or len(listed) > _MOST_CORNERS:
        return []
    corners = [
        _numbers(corner, "x", "y") if isinstance(corner, dict) else None for corner in listed
    ]
    return [(corner[0], corner[1]) for corner in corners if corner] if all(corners) else []


def _passages(read: _Read, text: str) -> tuple[int, list[Passage]]:
    """Return how many spans a text shows, and its parts with what they mark."""
    ends = [
        (numbers[0], numbers[1], _label(entry))
        for entry in read.entries
        if (numbers := _numbers(entry, "startOffset", "endOffset"))
    ]
    places = spans_in_characters(text, ((low, high) for low, high, _ in ends))
    spans = [
        (start, end, label)
        for (start, end), (_, _, label) in zip(places, ends, strict=True)
        if start < end
    ]
    cuts = sorted({0, len(text), *(cut for start, end, _ in spans for cut in (start, end))})
    passages = []
    for begin, stop in pairwise(cuts):
        is_marked = any(start <= begin and stop <= end for start, end, _ in spans)
        part = text[begin:stop]
        if not is_marked and len(text) > _LONG:
            part = _shortened(part, is_first=begin == 0, is_last=stop == len(text))
        labels = [label for _, end, label in spans if end == stop]
        passages.append(Passage(part, is_marked, labels))
    return len(spans), passages


def _shortened(part: str, *, is_first: bool, is_last: bool) -> str:
    before = "" if is_first and not is_last else part[:_BESIDE]
    after = "" if is_last else part[-_BESIDE:]
    return part if len(part) <= len(before) + len(after) + 1 else f"{before} … {after}"


def _label(entry: Mapping[str, Any]) -> str:
    label = entry.get("label")
    return one_line(label, at_most=_LONGEST_LABEL) if isinstance(label, str) else ""


def _numbers(entry: Mapping[str, Any], *names: str) -> list[float] | None:
    """Return these members, if all are numbers that a page can hold."""
    values = [entry.get(name) for name in names]
    are_numbers = all(isinstance(value, int | float) and abs(value) < _FARTHEST for value in values)
    return [float(value or 0) for value in values] if are_numbers else None
