"""Descriptions with errors of known kinds, and their corrected versions."""

from collections.abc import Iterator, Mapping, Sequence

from piecework.domain.pictures import picture_name
from piecework.simulation.pictures.scenes import Scene
from piecework.simulation.seeded_rng import seeded_rng
from tools.examples.sentences import true_sentence, with_error

Row = Mapping[str, str]

KINDS = ("color", "number", "similar_object", "scene")

_FALSE_ALARM = 9
"""One in this many descriptions has no such error, because annotators err too."""


def corrections_of(scenes: Sequence[Scene], *, each: int, seed: int) -> Iterator[Row]:
    """Yield `each` descriptions per kind of error, one kind after the other."""
    for kind in KINDS:
        number = 0
        for scene in scenes:
            right = true_sentence(scene)
            wrong = with_error(right, kind, scene, seeded_rng(seed, scene.item_id, kind))
            if number == each or not wrong.errors:
                continue
            number += 1
            is_right = number % _FALSE_ALARM == 0
            yield {
                "correction_id": f"{kind}_{number:02}",
                "url": picture_name(scene.item_id),
                "description": right.text if is_right else wrong.text,
                "error": kind,
                "truth.outcome": "no_such_error" if is_right else "corrected",
                "truth.correction": right.text,
                "reference_1": right.text,
                "reference_2": right.text.replace(" next to ", " and "),
            }
