"""A scene as one SVG picture: the place, its things in rows, and the flaws."""

from functools import lru_cache
from random import Random

from piecework.simulation.pictures.catalogue import KINDS
from piecework.simulation.pictures.drawing.pen import (
    HEIGHT,
    INKS,
    SHADES,
    WIDTH,
    Paint,
    placed,
    shadow,
)
from piecework.simulation.pictures.drawing.spoiling import spoil
from piecework.simulation.pictures.drawing.svg_files import draw_place, draw_thing
from piecework.simulation.pictures.places import PLACES
from piecework.simulation.pictures.scene_model import Scene, Thing
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
