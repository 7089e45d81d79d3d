"""Descriptions of drawn scenes with planted errors of known categories.

Judgement tasks need sentences with a known truth. A sentence names one or two things
and the place. An error of a known category is then planted in it, with the categories
of van Miltenburg's *Guidelines for image description error analysis* (2017): the
subject is the thing named first, the object the thing named next.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from random import Random

from piecework.simulation.pictures.scenes import KINDS, PLACES, Scene, Thing

_NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five"}

_LOOKS_LIKE: Mapping[str, str] = {
    "mug": "bowl", "bowl": "mug", "can": "jar", "jar": "can", "box": "book",
    "book": "box", "bottle": "vase", "vase": "bottle", "apple": "ball",
    "ball": "apple", "kettle": "vase", "laptop": "television", "television": "laptop",
    "desk lamp": "floor lamp", "floor lamp": "desk lamp", "phone": "book",
    "sofa": "armchair", "armchair": "sofa", "bench": "sofa", "dog": "cat",
    "cat": "dog", "duck": "seagull", "seagull": "duck", "rubber duck": "duck",
    "car": "bus", "bus": "car", "bucket": "mug", "umbrella": "kite",
    "kite": "umbrella", "flower": "potted plant", "potted plant": "flower",
    "tree": "potted plant", "candle": "can", "soap dispenser": "bottle",
}  # fmt: skip
"""The kind of thing each kind could be mistaken for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """The content of a sentence about a picture, true or not.

    Attributes:
        subject: the thing it names first.
        place: the name of a place in the catalogue.
        errors: the categories of its errors, in the order they were planted.
    """

    subject: Thing
    object: Thing | None
    place: str
    errors: tuple[str, ...] = ()
    extra: Thing | None = None

    @property
    def text(self) -> str:
        """Return the sentence as text."""
        named = [_phrase(self.subject)]
        if self.extra is not None:
            named.append(f"and {_phrase(self.extra)}")
        if self.object is not None:
            named.append(f"next to {_phrase(self.object)}")
        words = f"{' '.join(named)} {PLACES[self.place].phrases[0]}."
        return words[0].upper() + words[1:]


def true_sentence(scene: Scene) -> Sentence:
    """Return a correct description of the scene."""
    things = scene.things
    second = things[1] if len(things) > 1 else None
    return Sentence(subject=things[0], object=second, place=scene.place)


def with_error(sentence: Sentence, category: str, scene: Scene, rng: Random) -> Sentence:
    """Plant an error in a sentence; return it unchanged if that is impossible.

    Args:
        sentence: the sentence.
        category: a key of `CATEGORIES`.
        scene: the actual scene, so that the error is not true by chance.
        rng: the source of randomness.
    """
    changed = CATEGORIES[category](sentence, scene, rng)
    if changed is None or changed == sentence:
        return sentence
    return replace(changed, errors=(*sentence.errors, category))


def _phrase(thing: Thing) -> str:
    kind = KINDS[thing.name]
    if thing.count > 1:
        return f"{_NUMBERS.get(thing.count, 'several')} {thing.colour} {kind.plural}"
    article = "an" if thing.colour[0] in "aeiou" else "a"
    return f"{article} {thing.colour} {thing.name}"


def _color(sentence: Sentence, scene: Scene, rng: Random) -> Sentence | None:
    own = {t.colour for t in scene.things if t.name == sentence.subject.name}
    others = [c for c in KINDS[sentence.subject.name].colours if c not in own]
    if not others:
        return None
    return replace(sentence, subject=replace(sentence.subject, colour=rng.choice(others)))


def _number(sentence: Sentence, _scene: Scene, rng: Random) -> Sentence | None:
    count = sentence.subject.count
    others = [n for n in (count - 1, count + 1, count + 2) if n >= 1]
    return replace(sentence, subject=replace(sentence.subject, count=rng.choice(others)))


def _similar_subject(sentence: Sentence, scene: Scene, _rng: Random) -> Sentence | None:
    other = _similar(sentence.subject, scene)
    return None if other is None else replace(sentence, subject=other)


def _similar_object(sentence: Sentence, scene: Scene, _rng: Random) -> Sentence | None:
    other = None if sentence.object is None else _similar(sentence.object, scene)
    return None if other is None else replace(sentence, object=other)


def _inexistent_subject(sentence: Sentence, scene: Scene, rng: Random) -> Sentence | None:
    return replace(sentence, subject=_absent(scene, rng))


def _inexistent_object(sentence: Sentence, scene: Scene, rng: Random) -> Sentence | None:
    if sentence.object is None:
        return None
    return replace(sentence, object=_absent(scene, rng))


def _extra_subject(sentence: Sentence, scene: Scene, rng: Random) -> Sentence | None:
    return replace(sentence, extra=_absent(scene, rng))


def _location(sentence: Sentence, scene: Scene, rng: Random) -> Sentence | None:
    others = [name for name in PLACES if name != scene.place]
    return replace(sentence, place=rng.choice(others))


def _similar(thing: Thing, scene: Scene) -> Thing | None:
    name = _LOOKS_LIKE.get(thing.name)
    if name is None or name in {thing.name for thing in scene.things}:
        return None
    return replace(thing, name=name, text="")


def _absent(scene: Scene, rng: Random) -> Thing:
    """Return a thing from another place that resembles nothing in the picture."""
    there = {thing.name for thing in scene.things}
    like = {_LOOKS_LIKE.get(name, name) for name in there}
    here = set(PLACES[scene.place].kinds)
    names = [name for name in KINDS if name not in there | like | here]
    name = rng.choice(names)
    return Thing(name=name, colour=rng.choice(KINDS[name].colours))


CATEGORIES: Mapping[str, Callable[[Sentence, Scene, Random], Sentence | None]] = {
    "color": _color,
    "number": _number,
    "similar_subject": _similar_subject,
    "similar_object": _similar_object,
    "inexistent_subject": _inexistent_subject,
    "inexistent_object": _inexistent_object,
    "extra_subject": _extra_subject,
    "scene": _location,
}
"""The errors by category of the guidelines."""
