"""A scene as one SVG picture, and the shapes and files that it is drawn with.

A picture has the place, its things in rows, and the photographer's flaws. Each flaw takes the
finished picture and a severity. A mild flaw is visible but leaves the picture readable; a
severity of 1 makes it unreadable.

Each file is an SVG document that a drawing program opens. A colour of the thing is a
variable (`var(--base,#2f66b3)`; also dark, light and ink, shown as if it were blue). A
text with `data-width` holds the words of the thing, squeezed to that width. Places fill
640 by 480 and extend beyond, so that a rotated or shifted photograph shows no border.

Things are drawn with their feet at (0, 0). As always in SVG, y grows downwards, so the
parts above have negative y. Numbers are kept short because a crowd fetches many
pictures.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from html import escape
from pathlib import Path
from random import Random

from piecework.simulation.pictures.scenes import KINDS, PLACES, Scene, Thing
from piecework.simulation.seeded_rng import seeded_rng

WIDTH = 640
HEIGHT = 480

Point = tuple[float, float]
Extent = tuple[float, float, float, float]
"""x, y, width and height; or centre x, centre y and two radii."""

INKS = {
    "red": "#c8342b",
    "blue": "#2f66b3",
    "green": "#3f8f4a",
    "yellow": "#edc02f",
    "orange": "#e5832a",
    "purple": "#7a4a9e",
    "pink": "#e690ae",
    "brown": "#85583a",
    "black": "#33343a",
    "white": "#f3f1ea",
    "gray": "#8e949b",
}

SHADES = (
    '<linearGradient id="round"><stop offset="0" stop-color="#000" stop-opacity=".3"/>'
    '<stop offset=".3" stop-color="#fff" stop-opacity=".3"/>'
    '<stop offset=".55" stop-color="#fff" stop-opacity="0"/>'
    '<stop offset="1" stop-color="#000" stop-opacity=".38"/></linearGradient>'
    '<linearGradient id="fall" x2="0" y2="1">'
    '<stop offset="0" stop-color="#fff" stop-opacity=".28"/>'
    '<stop offset="1" stop-color="#000" stop-opacity=".24"/></linearGradient>'
    '<radialGradient id="ball" cx=".35" cy=".3" r=".8">'
    '<stop offset="0" stop-color="#fff" stop-opacity=".5"/>'
    '<stop offset=".45" stop-color="#fff" stop-opacity="0"/>'
    '<stop offset="1" stop-color="#000" stop-opacity=".42"/></radialGradient>'
    '<radialGradient id="shadow"><stop offset=".2" stop-opacity=".36"/>'
    '<stop offset="1" stop-opacity="0"/></radialGradient>'
)
"""Light and shade over flat colour, referred to by `shade` and `shadow`."""


@dataclass(frozen=True, slots=True)
class Paint:
    """What a thing is painted with.

    Attributes:
        base: the colour of the thing as `#rrggbb`.
        text: the text printed on it.
    """

    base: str
    text: str = ""

    @property
    def dark(self) -> str:
        """Return the colour in the shade."""
        return mix(self.base, "#1c1c28", share=0.4)

    @property
    def light(self) -> str:
        """Return the colour in the light."""
        return mix(self.base, "#ffffff", share=0.45)

    @property
    def ink(self) -> str:
        """Return a text colour that is readable on `base`."""
        return "#22242a" if _brightness(self.base) > 140 else "#fdfbf4"  # noqa: PLR2004 - of 255


def mix(colour: str, other: str, *, share: float) -> str:
    """Mix two colours; `share` is that of the other one.

    >>> mix("#000000", "#ffffff", share=0.5)
    '#808080'
    """
    pairs = zip(_channels(colour), _channels(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def shape(outline: str, fill: str, *, more: str = "") -> str:
    """Return a filled outline from SVG path data."""
    return f'<path d="{outline}" fill="{fill}"{_extra(more)}/>'


def line(outline: str, colour: str, *, width: float = 3) -> str:
    """Return a stroke with round ends."""
    return (
        f'<path d="{outline}" fill="none" stroke="{colour}" stroke-width="{short(width)}" '
        'stroke-linecap="round" stroke-linejoin="round"/>'
    )


def box(extent: Extent, fill: str, *, radius: float = 0, more: str = "") -> str:
    """Return a rectangle, with round corners if `radius` is set."""
    x, y, width, height = extent
    corner = f' rx="{short(radius)}"' if radius else ""
    return (
        f'<rect x="{short(x)}" y="{short(y)}" width="{short(width)}" height="{short(height)}"'
        f'{corner} fill="{fill}"{_extra(more)}/>'
    )


def oval(extent: Extent, fill: str, *, more: str = "") -> str:
    """Return an ellipse given its centre and its two radii."""
    x, y, rx, ry = extent
    return (
        f'<ellipse cx="{short(x)}" cy="{short(y)}" rx="{short(rx)}" ry="{short(ry)}" '
        f'fill="{fill}"{_extra(more)}/>'
    )


def solid(outline: str, fill: str, *, shade: str = "round") -> str:
    """Return a filled outline with light and shade over it."""
    return shape(outline, fill) + shape(outline, f"url(#{shade})")


def block(extent: Extent, fill: str, *, radius: float = 0, shade: str = "fall") -> str:
    """Return a rectangle with light and shade over it."""
    return box(extent, fill, radius=radius) + box(extent, f"url(#{shade})", radius=radius)


def ball(extent: Extent, fill: str, *, shade: str = "ball") -> str:
    """Return an ellipse with light and shade over it."""
    return oval(extent, fill) + oval(extent, f"url(#{shade})")


def shadow(width: float, *, depth: float = 9) -> str:
    """Return the soft shadow under a thing of this width."""
    return oval((4, -1, width * 0.58, depth), "url(#shadow)")


def placed(drawing: str, at: Point, *, scale: float = 1, turn: float = 0) -> str:
    """Move a drawing so that its feet are at a point."""
    turning = f" rotate({short(turn)})" if turn else ""
    size = f" scale({short(scale)})" if scale != 1 else ""
    moving = f"translate({short(at[0])} {short(at[1])})"
    return f'<g transform="{moving}{turning}{size}">{drawing}</g>'


def short(number: float) -> str:
    """Return a number with at most two decimals."""
    text = f"{number:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _extra(more: str) -> str:
    return f" {more}" if more else ""


def _channels(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5))


def _brightness(colour: str) -> float:
    red, green, blue = _channels(colour)
    return 0.299 * red + 0.587 * green + 0.114 * blue


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


_MARGIN = 34

_NO_SHADOW = frozenset({"kite", "seagull"})
"""Things in the air."""


def draw(scene: Scene) -> str:
    """Return the scene as an SVG document; the same scene gives the same text.

    It contains no script, event handler, link or reference to another file, so any page
    can show it safely.
    """
    rng = seeded_rng(scene.layout_seed, "layout")
    picture = draw_place(scene.place) + _things(scene, rng)
    spoilt = spoil(picture, scene.flaws, severity=scene.severity, rng=rng)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}"><defs>{SHADES}</defs>'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#2c2c30"/>{spoilt}</svg>\n'
    )


def _things(scene: Scene, rng: Random) -> str:
    single = [thing for thing in scene.things for _ in range(thing.count)]
    rows = PLACES[scene.place].rows
    behind = [thing for thing in single if KINDS[thing.name].stands_behind]
    before = [thing for thing in single if not KINDS[thing.name].stands_behind]
    # The two rows are shifted apart, so that things in front do not hide those behind.
    lean = 0.35 if behind and before else 0.0
    return "".join(
        _row(things, feet=feet, scale=scale, lean=lean, rng=rng)
        for things, (feet, scale), lean in zip((behind, before), rows, (-lean, lean), strict=True)
    )


def _row(things: list[Thing], *, feet: float, scale: float, lean: float, rng: Random) -> str:
    """Place things side by side with even gaps, scaled down if they do not fit."""
    if not things:
        return ""
    rng.shuffle(things)
    width = sum(KINDS[thing.name].size[0] for thing in things) * scale
    room = WIDTH - 2 * _MARGIN
    if width > room:
        scale, width = scale * room / width, room
    gap = (room - width) / (len(things) + 1)
    x = _MARGIN + gap
    drawn = []
    for thing in things:
        kind = KINDS[thing.name]
        middle = x + kind.size[0] * scale / 2 + gap * (lean + rng.uniform(-0.3, 0.3))
        at = (middle, feet + rng.uniform(-5, 5))
        thing_drawn = _thing(thing.name, thing.colour, thing.text)
        drawn.append(placed(thing_drawn, at, scale=scale))
        x += kind.size[0] * scale + gap
    return "".join(drawn)


@lru_cache(maxsize=4096)
def _thing(name: str, colour: str, text: str) -> str:
    under = "" if name in _NO_SHADOW else shadow(KINDS[name].size[0])
    return under + draw_thing(name, Paint(INKS[colour], text))


_ALL = (-400, -400, WIDTH + 800, HEIGHT + 800)
_MIDDLE = (WIDTH / 2, HEIGHT / 2)


def spoil(picture: str, flaws: Iterable[str], *, severity: float, rng: Random) -> str:
    """Return the picture with all its flaws, the camera's before the light's."""
    wanted = set(flaws)
    side = rng.choice((-1, 1))
    if "rotation" in wanted:
        transaction = side * rng.choice((90, 90, 180, 62))
        moved = placed(picture, (-_MIDDLE[0], -_MIDDLE[1]))
        picture = placed(moved, _MIDDLE, turn=transaction)
    if "framing" in wanted:
        picture = _badly_framed(picture, severity, side)
    if "blur" in wanted:
        picture = _blurred(picture, severity)
    if "dark" in wanted:
        picture += box(_ALL, "#060608", more=f'opacity="{_veil(severity):.2f}"')
    if "bright" in wanted:
        picture += box(_ALL, "#fffdf6", more=f'opacity="{_veil(severity):.2f}"')
    if "obscured" in wanted:
        picture += _finger(severity, side)
    return picture


def _badly_framed(picture: str, severity: float, side: int) -> str:
    # Things are in the middle of the lower half, where an edge cuts them.
    away = WIDTH * (0.2 + 0.08 * severity) * side
    feet = (WIDTH / 2, HEIGHT * 0.75)
    moved = placed(picture, (-feet[0], -feet[1]))
    return placed(moved, (feet[0] + away, feet[1] + 10), scale=1.3)


def _blurred(picture: str, severity: float) -> str:
    # A cubic keeps text legible up to a third of the scale and blurs everything at its
    # end.
    deviation = 1.2 + 34 * severity**3
    return (
        f'<filter id="blur" x="-10%" y="-10%" width="120%" height="120%">'
        f'<feGaussianBlur stdDeviation="{deviation:.1f}"/></filter>'
        f'<g filter="url(#blur)">{picture}</g>'
    )


def _veil(severity: float) -> float:
    return min(0.985, 0.35 + 0.75 * severity)


def _finger(severity: float, side: int) -> str:
    size = 0.6 + 1.3 * severity**2
    finger = (
        oval((0, 0, 150, 116), "#b97f63")
        + oval((-14, -12, 134, 100), "#d39b7c")
        + oval((-40, -34, 70, 50), "#e2b193")
        + '<path d="M-60 60 Q0 84 70 50 M-84 30 Q-10 52 96 14" fill="none" '
        'stroke="#b97f63" stroke-width="4" opacity=".6"/>'
    )
    corner = (WIDTH * (0.03 if side < 0 else 0.97), HEIGHT * 0.86)
    return placed(finger, corner, scale=size)
