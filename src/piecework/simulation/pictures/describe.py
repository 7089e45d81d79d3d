"""Write what an honest worker might say about a drawn scene.

A small grammar chooses which things are named and in which order, how each is named and
joined, where they are located, and how the sentence is built. Details are wrong at a
given rate, as with people.
"""

from dataclasses import replace
from random import Random

from piecework.simulation.pictures.scenes import KINDS, PLACES, Place, Scene, Thing

_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five"}
_FEWEST_WORDS = 9
"""One more than pages require, since a missing space loses one."""

_BESIDE = ("next to", "beside", "along with", "together with", "near", "and")
_OUTDOORS = frozenset({"street", "park", "beach"})
_SELDOM_NAMED = 0.2


def describe(scene: Scene, rng: Random, *, accuracy: float = 1.0) -> str:
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
