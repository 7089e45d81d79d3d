"""Pictures with known content, so that a rehearsal needs no photographs.

Their readability follows VizWiz-Captions (Gurari et al. 2020, section 3.2): of five
workers, none gave up on 68.5 % of the images, one on 16.7 %, two on 5.9 %, three on 3.6
%, four on 3.1 %, all five on 2.2 %.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from random import Random

from piecework.config.drawn_pictures import scene_id
from piecework.domain.ids import ItemId
from piecework.simulation.pictures.catalogue import KINDS
from piecework.simulation.pictures.places import PLACES
from piecework.simulation.pictures.scene_model import CLEAR, Scene, Thing
from piecework.simulation.seeded_rng import seeded_rng

GIVE_UP_PERCENT = (68.5, 16.7, 5.9, 3.6, 3.1, 2.2)
"""Share of images by the number of workers, of five, who could not recognize
anything."""

_FLAW_WEIGHTS = {"framing": 30, "blur": 30, "dark": 12, "rotation": 12, "obscured": 8, "bright": 8}
"""Framing and blur are the most frequent, as in VizWiz (Chiu et al. 2020, table 1)."""

_HIDING = ("blur", "dark", "bright")
"""The only flaws that can hide an entire picture."""


@lru_cache(maxsize=1)  # read, checked and drawn from the same scenes
def scenes(seed: int, count: int) -> tuple[Scene, ...]:
    """Return the first `count` scenes of a seed, which do not depend on `count`."""
    return tuple(
        _scene(scene_id(number), seeded_rng(seed, "scene", str(number)))
        for number in range(1, count + 1)
    )


def imagined_scenes(seed: int, item_ids: Iterable[ItemId]) -> tuple[Scene, ...]:
    """Return a random scene for each item, unrelated to its actual picture.

    An item's scene depends only on the seed and its id.
    """
    return tuple(_scene(item_id, seeded_rng(seed, "imagined", item_id)) for item_id in item_ids)


def _scene(item_id: ItemId, rng: Random) -> Scene:
    place = rng.choice(list(PLACES))
    severity = _severity(rng)
    things = _things(place, rng)
    flaws = _flaws(severity, rng)
    if "framing" in flaws:
        # Bad framing cuts things at the edge; things left out are not in the scene.
        things = tuple(replace(thing, count=1) for thing in things[:2])
    return Scene(
        item_id=item_id,
        place=place,
        things=things,
        flaws=flaws,
        severity=severity,
        layout_seed=rng.randrange(2**31),
    )


def _things(place: str, rng: Random) -> tuple[Thing, ...]:
    names = rng.sample(PLACES[place].kinds, rng.choice((1, 2, 2, 3, 3)))
    return tuple(_thing(name, rng) for name in names)


def _thing(name: str, rng: Random) -> Thing:
    kind = KINDS[name]
    # One is usual and many are rare: each further one halves the probability.
    count = 1
    while count < kind.at_most and rng.random() < 1 / 3:
        count += 1
    return Thing(
        name=name,
        colour=rng.choice(kind.colours),
        count=count,
        text=rng.choice(kind.texts) if kind.texts else "",
    )


def _severity(rng: Random) -> float:
    """Draw a severity that matches `GIVE_UP_PERCENT`; see `Scene.unreadable_share`."""
    of_five = rng.choices(range(6), GIVE_UP_PERCENT)[0]
    if of_five == 0:
        # Most clear pictures have no flaw worth mentioning.
        return round(max(0.0, rng.uniform(-0.5, 0.42)), 3)
    return round(CLEAR + (1 - CLEAR) * of_five / 5, 3)


def _flaws(severity: float, rng: Random) -> tuple[str, ...]:
    if severity == 0:
        return ()
    names, weights = list(_FLAW_WEIGHTS), list(_FLAW_WEIGHTS.values())
    flaws = {rng.choices(names, weights)[0]}
    if severity >= CLEAR:
        flaws.add(rng.choice(_HIDING))
        flaws -= {"bright"} if "dark" in flaws else set()
    return tuple(sorted(flaws))
