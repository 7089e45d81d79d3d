"""Pairs of descriptions of drawn scenes by made-up systems, with their comparison.

Four systems describe each scene: one completely and correctly, one names only one
thing, one makes one error, and one makes two. All but the terse one also describe the
background, in about a hundred words together. The omissions and errors of each are
known, so the grades of a pair follow from them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from piecework.domain.pictures import picture_name
from piecework.simulation.pictures.scenes import Scene
from piecework.simulation.seeded_rng import seeded_rng
from tools.examples.backgrounds import BACKGROUNDS
from tools.examples.sentences import Sentence, true_sentence, with_error

Row = Mapping[str, str]

_ERRORS: Mapping[str, tuple[str, ...]] = {
    "thorough": (),
    "terse": (),
    "hasty": ("color",),
    "dreaming": ("number", "scene"),
}
_NAMES_ONE = ("terse",)
_WORDY = ("thorough", "dreaming")
_SPLITS = (
    (("thorough", "hasty"), ("terse", "dreaming")),
    (("dreaming", "thorough"), ("hasty", "terse")),
    (("terse", "thorough"), ("dreaming", "hasty")),
)
"""The three ways to form two pairs of four systems; each scene uses one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """A system's description of a scene, with its errors."""

    text: str
    mistakes: int
    missing: int


def pairs_of(scenes: Sequence[Scene], *, images: int, seed: int) -> Iterator[Row]:
    """Yield two pairs per scene, skipping scenes where systems agree.

    Args:
        scenes: drawn without flaws.
        images: how many scenes to use.
        seed: the seed of the errors and of the systems' sides.
    """
    used = 0
    for scene in scenes:
        descriptions = _descriptions(scene, seeded_rng(seed, scene.item_id, "systems"))
        if not descriptions:
            continue
        used += 1
        if used > images:
            return
        rng = seeded_rng(seed, scene.item_id, "places")
        for part, pair in enumerate(_SPLITS[used % len(_SPLITS)], start=1):
            sides = rng.sample(pair, 2)
            yield {
                "pair_id": f"image_{used:02}_{part}",
                "image_id": f"image_{used:02}",
                "url": picture_name(scene.item_id),
                "correct": _long(true_sentence(scene).text, scene.place),
                "generated_1": descriptions[sides[0]].text,
                "generated_2": descriptions[sides[1]].text,
                "made_by.generated_1": sides[0],
                "made_by.generated_2": sides[1],
                **_truth(descriptions[sides[0]], descriptions[sides[1]]),
            }


def swapped(row: Row) -> Row:
    """Return the same pair with its sides swapped, as a separate group."""
    turned = {name: str(6 - int(value)) for name, value in row.items() if name.startswith("truth.")}
    return {
        **row,
        **turned,
        "pair_id": f"{row['pair_id']}_again",
        "image_id": f"{row['image_id']}_again",
        "generated_1": row["generated_2"],
        "generated_2": row["generated_1"],
        "made_by.generated_1": row["made_by.generated_2"],
        "made_by.generated_2": row["made_by.generated_1"],
    }


def _descriptions(scene: Scene, rng: Random) -> Mapping[str, Description]:
    """Return all descriptions; empty if two are equal or an error is impossible."""
    whole = true_sentence(scene)
    if whole.object is None:
        return {}
    descriptions = {}
    for system, errors in _ERRORS.items():
        sentence = replace(whole, object=None) if system in _NAMES_ONE else whole
        sentence = _with_errors(sentence, errors, scene, rng)
        text = sentence.text
        if system in _WORDY:
            text = f"The picture shows {text[0].lower()}{text[1:]}"
        if system not in _NAMES_ONE:
            text = _long(text, sentence.place)
        descriptions[system] = Description(
            text=text, mistakes=len(sentence.errors), missing=sentence.object is None
        )
        if len(sentence.errors) < len(errors):
            return {}
    return (
        descriptions
        if len({description.text for description in descriptions.values()}) == len(descriptions)
        else {}
    )


def _long(text: str, place: str) -> str:
    """Return a sentence about things, followed by the background of a place."""
    return f"{text} {BACKGROUNDS[place]}"


def _with_errors(
    sentence: Sentence, categories: Sequence[str], scene: Scene, rng: Random
) -> Sentence:
    for category in categories:
        sentence = with_error(sentence, category, scene, rng)
    return sentence


def _truth(first: Description, second: Description) -> Row:
    mistakes = first.mistakes - second.mistakes
    missing = first.missing - second.missing
    return {
        "truth.mistakes": _grade(mistakes),
        "truth.missing_details": _grade(missing),
        "truth.overall_quality": _grade(mistakes + missing),
    }


def _grade(worse: int) -> str:
    """Grade from 1 to 5 how much worse the first is (two more errors: 5)."""
    return str(3 + max(-2, min(2, worse)))
