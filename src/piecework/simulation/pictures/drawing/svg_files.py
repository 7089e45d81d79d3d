"""Drawings that are files: `things/` with their feet at (0, 0), and `places/`.

Each file is an SVG document that a drawing program opens. A colour of the thing is a
variable (`var(--base,#2f66b3)`; also dark, light and ink, shown as if it were blue). A
text with `data-width` holds the words of the thing, squeezed to that width. Places fill
640 by 480 and extend beyond, so that a rotated or shifted photograph shows no border.
"""

import re
from collections.abc import Iterable
from functools import cache
from html import escape
from pathlib import Path

from piecework.simulation.pictures.drawing.pen import Paint, short

_HERE = Path(__file__).parent
_SLOT = re.compile(r"var\(--(base|dark|light|ink),#[0-9a-f]{6}\)")
_WORDS = re.compile(
    r'<text (?P<place>[^>]*font-size="(?P<size>[^"]+)"[^>]*) data-width="(?P<width>[^"]+)">'
    r"words</text>"
)


def draw_place(name: str) -> str:
    """Return an empty place (`kitchen counter`): the background of a picture."""
    return _elements("places", name)


def draw_thing(name: str, paint: Paint) -> str:
    """Return a thing (`desk lamp`) in these colours, with its words if it has any."""
    drawing = _SLOT.sub(lambda slot: getattr(paint, slot[1]), _elements("things", name))
    return _WORDS.sub(lambda text: _printed(paint.text, text), drawing)


def names_of(kind: str) -> Iterable[str]:
    """Return the names of all `things` or `places`."""
    return (path.stem.replace("_", " ") for path in (_HERE / kind).glob("*.svg"))


@cache
def _elements(kind: str, name: str) -> str:
    text = (_HERE / kind / f"{name.replace(' ', '_')}.svg").read_text(encoding="utf-8")
    body = text.partition("</title>")[2].rpartition("</svg>")[0]
    return "".join(line.strip() for line in body.splitlines())


def _printed(words: str, text: re.Match[str]) -> str:
    if not words:
        return ""
    width = float(text["width"])
    is_wide = len(words) * float(text["size"]) * 0.66 > width
    squeeze = f' textLength="{short(width)}" lengthAdjust="spacingAndGlyphs"' if is_wide else ""
    return f"<text {text['place']}{squeeze}>{escape(words)}</text>"
