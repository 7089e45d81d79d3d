"""Descriptions of drawn scenes by made-up systems, in pairs, and how they compare.

Four systems describe each scene: one leaves nothing out and errs in nothing, one names
only one thing, one errs in one thing, one in two. What is missing and what is wrong is
known of each, so the grades of a pair follow.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from piecework.config.drawn_pictures import picture_name
from piecework.rehearsal.pictures.scene_model import Scene
from piecework.rehearsal.seeded_rng import seeded_rng
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
"""Each scene is seen with one of the three ways to make two pairs of four."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What a system says of a scene, and what is wrong with it."""

    text: str
    mistakes: int
    missing: int


def pairs_of(scenes: Sequence[Scene], *, images: int, seed: int) -> Iterator[Row]:
    """Two pairs for each of so many scenes; scenes where systems agree are left out.

    Args:
        scenes: drawn without flaws.
        images: how many scenes to use.
        seed: of the errors and of the places of the systems.
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
                "correct": true_sentence(scene).text,
                "generated_1": descriptions[sides[0]].text,
                "generated_2": descriptions[sides[1]].text,
                "made_by.generated_1": sides[0],
                "made_by.generated_2": sides[1],
                **_truth(descriptions[sides[0]], descriptions[sides[1]]),
            }


def swapped(row: Row) -> Row:
    """The same pair with its sides exchanged, apart from the others of its image."""
    turned = {
        name: str(6 - int(value))
        for name, value in row.items()
        if name.startswith("truth.")
    }
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
    """What all systems say; nothing where two say the same or an error is not made."""
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
        descriptions[system] = Description(
            text=text, mistakes=len(sentence.errors), missing=sentence.object is None
        )
        if len(sentence.errors) < len(errors):
            return {}
    return (
        descriptions
        if len({description.text for description in descriptions.values()})
        == len(descriptions)
        else {}
    )


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
    """1 to 5 by how much worse the first is: two faults are much."""
    return str(3 + max(-2, min(2, worse)))
