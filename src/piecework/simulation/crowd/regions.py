"""Regions of pictures and spans of texts of a simulated worker, as crowd elements send them.

Simulated workers do not look at pictures. Each item has regions that every careful worker
draws, within a few pixels; a careless worker draws others, and who gives one answer everywhere
draws the same in each picture (`truth` and `own` are then seeded by the worker alone). A picture
whose size is not known counts as 800 by 600 pixels.
"""

import json
import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from random import Random
from struct import pack
from zlib import compress, crc32

from piecework.analyses.masks import distinct_colours
from piecework.hit_templates.own_html.control_kinds import REGIONS, Control

_USUAL_SIZE = 800, 600
_MOST = 3
_TENTHS = 10
"""A region's middle is this part of the shorter side from the edges, and its sides are
between a third and four fifths of that."""
_COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b")
_WORD = re.compile(r"\w+")

Place = tuple[float, float]
Size = tuple[int, int]
Shape = Mapping[str, object]


def regions(
    control: Control,
    truth: Random,
    own: Random,
    *,
    accuracy: float,
    size: Size | None = None,
) -> str:
    """Return an answer in the JSON of the control's element.

    Args:
        control: the element, with its labels and text.
        truth: seeded by the item: what careful workers agree about.
        own: seeded by the worker and the item.
        accuracy: the share of regions that this worker draws as careful workers do.
        size: width and height of the picture in pixels, if they are known.
    """
    labels = [*control.options] or ["object"]
    if control.element == "crowd-entity-annotation":
        return json.dumps({"entities": _spans(control.text, labels, truth, own, accuracy)})
    is_mask = REGIONS[control.element] == "labeledImage"
    # The mask of a large picture would be larger than an answer may be.
    wide, high = _USUAL_SIZE if size is None or is_mask else size
    margin = min(wide, high) / _TENTHS
    drawn = []
    for _ in range(truth.randint(1, _MOST)):
        centre = _place(truth, wide, high, margin)
        label = truth.choice(labels)
        if own.random() > accuracy:
            centre, label = _place(own, wide, high, margin), own.choice(labels)
        x, y = (round(place + own.gauss(0, margin / 30)) for place in centre)
        half = max(1, round(truth.uniform(margin / 3, margin * 5 / 6)))
        drawn.append((label, min(max(x, 0), wide), min(max(y, 0), high), half))
    stated = {"height": high, "width": wide}
    if is_mask:
        return json.dumps({"inputImageProperties": stated, **_mask(control, labels, drawn)})
    shapes = [_SHAPES[control.element](*region) for region in drawn]
    return json.dumps({"inputImageProperties": stated, REGIONS[control.element]: shapes})


def _place(draw: Random, wide: int, high: int, margin: float) -> Place:
    return draw.uniform(margin, wide - margin), draw.uniform(margin, high - margin)


def _spans(
    text: str, labels: list[str], truth: Random, own: Random, accuracy: float
) -> list[Shape]:
    words = [*_WORD.finditer(text)]
    count = min(len(words), truth.randint(1, _MOST))
    chosen = truth.sample(words, count)
    spans: list[Shape] = []
    for word in chosen:
        label = truth.choice(labels)
        if own.random() > accuracy:
            label = own.choice(labels)
        # Offsets count UTF-16 units.
        start, end = (len(text[:at].encode("utf-16-le")) // 2 for at in word.span())
        spans.append({"endOffset": end, "label": label, "startOffset": start})
    return sorted(spans, key=lambda span: str(span["startOffset"]).zfill(9))


def _corners(x: int, y: int, size: int, *, count: int) -> list[dict[str, int]]:
    at = [(x - size, y - size), (x + size, y - size), (x + size, y + size), (x - size, y + size)]
    return [{"x": right, "y": down} for right, down in at[:count]]


def _box(label: str, x: int, y: int, size: int) -> Shape:
    return {
        "height": 2 * size,
        "label": label,
        "left": x - size,
        "top": y - size,
        "width": 2 * size,
    }


def _point(label: str, x: int, y: int, _size: int) -> Shape:
    return {"label": label, "x": x, "y": y}


def _with_corners(count: int) -> Callable[[str, int, int, int], Shape]:
    def drawn(label: str, x: int, y: int, size: int) -> Shape:
        return {"label": label, "vertices": _corners(x, y, size, count=count)}

    return drawn


_SHAPES: Mapping[str, Callable[[str, int, int, int], Shape]] = {
    "crowd-bounding-box": _box,
    "crowd-keypoint": _point,
    "crowd-polygon": _with_corners(4),
    "crowd-polyline": _with_corners(3),
    "crowd-line": _with_corners(2),
}


def _mask(
    control: Control, labels: list[str], regions: list[tuple[str, int, int, int]]
) -> dict[str, object]:
    wide, high = _USUAL_SIZE
    is_instances = control.element == "crowd-instance-segmentation"
    rows = [bytearray(wide) for _ in range(high)]
    for n, (label, x, y, size) in enumerate(regions, 1):
        index = n if is_instances else labels.index(label) + 1
        for row in rows[max(y - size, 0) : y + size]:
            start, end = max(x - size, 0), min(x + size, wide)
            row[start:end] = bytes([min(index, 255)]) * (end - start)
    more = max(len(labels), len(regions)) - len(_COLOURS)
    colours = distinct_colours([*_COLOURS, *[""] * more])
    image = {"labeledImage": {"pngImageData": b64encode(_png(rows, colours)).decode()}}
    if is_instances:
        named = zip(colours, (label for label, *_ in regions), strict=False)
        return {"instances": [{"color": c, "label": label} for c, label in named], **image}
    named = zip(labels, colours, strict=False)
    return {"labelMappings": {label: {"color": c} for label, c in named}, **image}


def _png(rows: list[bytearray], colours: list[str]) -> bytes:
    palette = b"\xff\xff\xff" + b"".join(bytes.fromhex(colour[1:]) for colour in colours)
    pixels = compress(b"".join(b"\0" + row for row in rows))
    head = pack(">IIBBBBB", *_USUAL_SIZE, 8, 3, 0, 0, 0)
    parts = ((b"IHDR", head), (b"PLTE", palette), (b"IDAT", pixels), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        pack(">I", len(content)) + name + content + pack(">I", crc32(name + content))
        for name, content in parts
    )
