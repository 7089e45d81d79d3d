"""A scene as one SVG picture: the place, its things in rows, and the flaws."""

from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from random import Random

from piecework.rehearsal.pictures.catalogue import KINDS
from piecework.rehearsal.pictures.drawing import animals, kitchen, outdoors, room, study
from piecework.rehearsal.pictures.drawing.pen import INKS, SHADES, Paint, placed, shadow
from piecework.rehearsal.pictures.drawing.places import HEIGHT, PLACE_DRAWINGS, WIDTH
from piecework.rehearsal.pictures.drawing.spoiling import spoil
from piecework.rehearsal.pictures.places import PLACES
from piecework.rehearsal.pictures.scene_model import Scene, Thing
from piecework.rehearsal.seeded_rng import seeded_rng

_MARGIN = 34

THING_DRAWINGS: Mapping[str, Callable[[Paint], str]] = {
    "mug": kitchen.mug,
    "can": kitchen.can,
    "box": kitchen.carton,
    "bottle": kitchen.bottle,
    "jar": kitchen.jar,
    "bowl": kitchen.bowl,
    "apple": kitchen.apple,
    "banana": kitchen.banana,
    "kettle": kitchen.kettle,
    "laptop": study.laptop,
    "book": study.book,
    "desk lamp": study.lamp,
    "pencil cup": study.pencil_cup,
    "phone": study.smartphone,
    "alarm clock": study.clock,
    "vase": study.vase,
    "candle": study.candle,
    "sofa": room.sofa,
    "armchair": room.armchair,
    "floor lamp": room.floor_lamp,
    "potted plant": room.plant,
    "television": room.television,
    "teddy bear": room.teddy_bear,
    "towel": room.towel,
    "soap dispenser": room.soap_dispenser,
    "toothbrush cup": room.toothbrush_cup,
    "dog": animals.dog,
    "cat": animals.cat,
    "duck": animals.duck,
    "seagull": animals.bird,
    "rubber duck": animals.rubber_duck,
    "car": outdoors.car,
    "bus": outdoors.bus,
    "bicycle": outdoors.bicycle,
    "street sign": outdoors.street_sign,
    "mailbox": outdoors.mailbox,
    "tree": outdoors.tree,
    "bench": outdoors.bench,
    "ball": outdoors.beach_ball,
    "kite": outdoors.kite,
    "flower": outdoors.flower,
    "umbrella": outdoors.umbrella,
    "sailing boat": outdoors.sailing_boat,
    "bucket": outdoors.bucket,
}

_NO_SHADOW = frozenset({"kite", "seagull"})
"""Things in the air."""


def draw(scene: Scene) -> str:
    """Return the scene as an SVG document; the same scene gives the same text.

    It contains no script, event handler, link or reference to another file, so any page
    can show it safely.
    """
    rng = seeded_rng(scene.layout_seed, "layout")
    picture = _place(scene.place) + _things(scene, rng)
    spoilt = spoil(picture, scene.flaws, severity=scene.severity, rng=rng)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}"><defs>{SHADES}</defs>'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#2c2c30"/>{spoilt}</svg>\n'
    )


@cache
def _place(name: str) -> str:
    return PLACE_DRAWINGS[name]()


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
    return under + THING_DRAWINGS[name](Paint(INKS[colour], text))
