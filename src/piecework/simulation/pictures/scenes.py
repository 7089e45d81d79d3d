"""Scenes of things and places, and sentences that describe them.

Most scenes are readable, as in VizWiz-Captions (section 3.2). The same seed gives the same
scenes, and more scenes never change earlier ones.

A small grammar chooses which things are named and in which order, how each is named and
joined, where they are located, and how the sentence is built. Details are wrong at a
given rate, as with people.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

from piecework.domain.ids import ItemId
from piecework.domain.pictures import scene_id
from piecework.simulation.seeded_rng import seeded_rng

_ANY_COLOUR = ("red", "blue", "green", "yellow", "orange", "purple", "pink", "white")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of thing.

    Attributes:
        size: width and height in the picture's pixels at scale 1.
        texts: the texts that may be printed on it; if there are any, one always is.
        at_most: the largest count in one picture.
        stands_behind: whether it belongs to the back row.
    """

    name: str
    plural: str
    size: tuple[float, float]
    colours: tuple[str, ...] = _ANY_COLOUR
    texts: tuple[str, ...] = ()
    at_most: int = 3
    stands_behind: bool = False


def read_tables(name: str) -> Mapping[str, dict[str, Any]]:
    """Return the tables of a TOML file next to this module, with lists as tuples."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return {
        key: {field: _fixed(value) for field, value in table.items()}
        for key, table in tomllib.loads(text).items()
    }


def _fixed(value: object) -> object:
    return tuple(map(_fixed, value)) if isinstance(value, list) else value


KINDS: Mapping[str, Kind] = {
    name: Kind(name=name, **table) for name, table in read_tables("catalogue.toml").items()
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A place where pictures are taken.

    Attributes:
        noun: the place as a noun phrase ("a wooden desk").
        phrases: the location of things there ("on a desk").
        backdrops: what else is visible there; all true of the drawing.
        rows: the rows of things from back to front: the height of their feet in the
            picture and their scale.
        kinds: names of the kinds of things found there.
    """

    name: str
    noun: str
    phrases: tuple[str, ...]
    backdrops: tuple[str, ...]
    rows: tuple[tuple[float, float], ...]
    kinds: tuple[str, ...]


PLACES: Mapping[str, Place] = {
    name: Place(name=name, **table) for name, table in read_tables("places.toml").items()
}


CLEAR = 0.5
"""Up to this severity everyone can read a picture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """One or more identical objects in a picture.

    Attributes:
        name: the singular name in the catalogue (`mug`).
        text: the text printed on each of them, if any.
    """

    name: str
    colour: str
    count: int = 1
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A picture and its complete true content.

    Attributes:
        place: the place's name in the catalogue (`kitchen counter`).
        flaws: wire values of the flaws drawn; empty for a good picture.
        severity: how much the flaws hide, from 0 (nothing) to 1 (everything); see
            `unreadable_share`.
        layout_seed: decides where things are placed.
    """

    item_id: ItemId
    place: str
    things: tuple[Thing, ...]
    flaws: tuple[str, ...] = ()
    severity: float = 0.0
    layout_seed: int = 0

    @property
    def text(self) -> str:
        """Return all text printed in the picture, joined by spaces."""
        return " ".join(thing.text for thing in self.things if thing.text)

    @property
    def unreadable_share(self) -> float:
        """Return the share of honest people who give up on this picture, from 0 to 1.

        It is 0 up to a severity of `CLEAR`, then rises linearly to 1 at 1.0: at a
        severity of 0.6 one in five people gives up, at 0.9 four in five.
        """
        return max(0.0, min(1.0, (self.severity - CLEAR) / (1 - CLEAR)))


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


_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five"}
_FEWEST_WORDS = 9
"""One more than pages require, since a missing space loses one."""

_BESIDE = ("next to", "beside", "along with", "together with", "near", "and")
_OUTDOORS = frozenset({"street", "park", "beach"})
_SELDOM_NAMED = 0.2


def describe_scene(scene: Scene, rng: Random, *, accuracy: float = 1.0) -> str:
    """Return a sentence of at least nine words about what the scene shows.

    Args:
        scene: the scene.
        rng: the source of randomness.
        accuracy: the probability that colour and count of a thing are right; at 1 every
            word of the sentence is true.
    """
    place = PLACES[scene.place]
    named = [_noun_phrase(_seen(t, rng, accuracy), rng) for t in _named(scene, rng)]
    is_plural = len(named) > 1 or named[0].startswith(("two ", "three ", "four ", "fi"))
    sentence = _sentence(named, place, is_plural=is_plural, rng=rng)
    if len(sentence.split()) < _FEWEST_WORDS or rng.random() < 1 / 3:
        sentence += " " + rng.choice(place.backdrops)
    return _finished(sentence, rng)


def _named(scene: Scene, rng: Random) -> list[Thing]:
    things = list(scene.things)
    rng.shuffle(things)
    if len(things) > 1 and rng.random() < _SELDOM_NAMED:
        things.pop()
    return things


def _seen(thing: Thing, rng: Random, accuracy: float) -> Thing:
    if rng.random() < accuracy:
        return thing
    others = [colour for colour in KINDS[thing.name].colours if colour != thing.colour]
    if others and rng.random() < 2 / 3:
        return replace(thing, colour=rng.choice(others))
    return replace(thing, count=thing.count + 1)


def _noun_phrase(thing: Thing, rng: Random) -> str:
    kind = KINDS[thing.name]
    name = thing.name if thing.count == 1 else kind.plural
    words = f"{thing.colour} {name}"
    if thing.text:
        words = _with_text(words, thing, rng)
    if thing.count == 1:
        return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"
    return f"{_NUMBERS.get(thing.count, 'several')} {words}"


def _with_text(words: str, thing: Thing, rng: Random) -> str:
    written = rng.choice((thing.text, thing.text.capitalize(), thing.text.lower()))
    forms = [
        f"{words} with the word {written}",
        f"{words} with {written} written on it",
        f"{words} that says {written}",
        f"{words} labeled {written}",
    ]
    if thing.name in {"can", "jar", "box", "bottle"}:
        forms += [f"{words} of {thing.text.lower()}"] * 2
    form = rng.choice(forms)
    if thing.count > 1:
        return form.replace(" says ", " say ").replace(" on it", " on them")
    return form


def _sentence(named: list[str], place: Place, *, is_plural: bool, rng: Random) -> str:
    everything = _joined(named, rng)
    where = rng.choice(place.phrases)
    verb = _verb(is_plural=is_plural, rng=rng)
    forms = [
        f"{everything} {verb} {where}",
        f"{everything} {where}",
        f"{where}, {everything} {'are' if is_plural else 'is'} visible",
        f"{where} {verb} {everything}",
        f"{place.noun} with {everything}",
        f"a view of {everything} {where}",
        f"a picture of {everything} {where}",
        f"{everything} can be seen {where}",
    ]
    if place.name not in _OUTDOORS:
        forms.append(f"somebody has put {everything} {where}")
    if len(named) > 1:
        first, rest = named[0], _joined(named[1:], rng)
        beside = rng.choice(_BESIDE[:-1])
        verb = _verb(is_plural=not first.startswith(("a ", "an ")), rng=rng)
        forms += [
            f"{first} {beside} {rest} {where}",
            f"{first} {verb} {where} {beside} {rest}",
            f"{where}, {first} {verb} {beside} {rest}",
        ]
    return rng.choice(forms)


def _verb(*, is_plural: bool, rng: Random) -> str:
    be = "are" if is_plural else "is"
    return rng.choice((be, f"{be} placed", "can be found"))


def _joined(named: list[str], rng: Random) -> str:
    if len(named) == 1:
        return named[0]
    beside = rng.choice(_BESIDE)
    if len(named) == 2:  # noqa: PLR2004 - two things
        return f"{named[0]} {beside} {named[1]}"
    return f"{', '.join(named[:-1])} {beside} {named[-1]}"


def _finished(sentence: str, rng: Random) -> str:
    if rng.random() < 0.85:  # noqa: PLR2004 - most people begin with a capital
        sentence = sentence[0].upper() + sentence[1:]
    return sentence + ("." if rng.random() < 0.7 else "")  # noqa: PLR2004 - or stop
