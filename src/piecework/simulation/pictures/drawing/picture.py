"""A scene as one SVG picture: the place, its things in rows, and the photographer's flaws.

Each flaw takes the finished picture and a severity. A mild flaw is visible but leaves the
picture readable; a severity of 1 makes it unreadable.
"""

from collections.abc import Iterable
from functools import lru_cache
from random import Random

from piecework.simulation.pictures.drawing.pen import (
    HEIGHT,
    INKS,
    SHADES,
    WIDTH,
    Paint,
    box,
    draw_place,
    draw_thing,
    oval,
    placed,
    shadow,
)
from piecework.simulation.pictures.scenes import KINDS, PLACES, Scene, Thing
from piecework.simulation.seeded_rng import seeded_rng

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
