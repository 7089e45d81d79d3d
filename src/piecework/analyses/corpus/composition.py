"""What captions consist of: Table 1 of the VizWiz-Captions paper.

Words, nouns, verbs, adjectives and spatial relations: their mean number in a caption,
their mean number in the captions of an image, and how many different ones there are.
The paper does not say what counts as a word or a spatial relation. Here a word is not
punctuation, and a spatial relation is a preposition of place or direction (Landau and
Jackendoff 1993, their list of English spatial prepositions) that the tagger calls a
preposition. Words with punctuation and all prepositions are counted separately: both
probably are what the paper counted (docs/measurements/captions.md).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, get_args

from piecework.analyses.corpus.tagged_captions import TaggedCaption
from piecework.analyses.corpus.tagging import Tagged

Part = Literal[
    "words",
    "words and punctuation",
    "nouns",
    "verbs",
    "adjectives",
    "spatial relations",
    "prepositions",
]
PARTS: tuple[Part, ...] = get_args(Part)

WORD_PARTS = tuple(part for part in PARTS if part != "words and punctuation")
"""The parts that are words, so that different ones can be counted."""

SPATIAL = frozenset(
    {
        "about", "above", "across", "after", "against", "along", "alongside",
        "amid", "amidst", "among", "amongst", "around", "at", "atop", "behind",
        "below", "beneath", "beside", "between", "betwixt", "beyond", "by",
        "down", "from", "in", "inside", "into", "near", "nearby", "off", "on",
        "onto", "opposite", "out", "outside", "over", "past", "through",
        "throughout", "to", "toward", "towards", "under", "underneath", "up",
        "upon", "via", "with", "within", "without",
    }
)  # fmt: skip
"""Landau and Jackendoff, "What" and "where" in spatial language and spatial cognition,
Behavioral and Brain Sciences 16 (1993); the simple ones, "towards" added."""

_PART_OF_KIND: Mapping[str, Part] = {
    "noun": "nouns",
    "verb": "verbs",
    "adjective": "adjectives",
    "preposition": "prepositions",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """What a group of captions consists of.

    Attributes:
        per_caption: mean number in a caption.
        per_image: the mean over images of the mean over the image's captions.
        unique: how many different ones, ignoring case; punctuation has no such number.
    """

    captions: int
    images: int
    per_caption: Mapping[Part, float]
    per_image: Mapping[Part, float]
    unique: Mapping[Part, int]


def compose(captions: Iterable[TaggedCaption]) -> Composition:
    """Compute the composition of captions."""
    counts: dict[str, list[Mapping[Part, int]]] = defaultdict(list)
    unique_words: dict[Part, set[str]] = {part: set() for part in WORD_PARTS}
    for caption in captions:
        parts = parts_of(caption.words)
        counts[caption.image].append(
            {
                "words and punctuation": len(caption.words) + caption.marks,
                **{part: len(words) for part, words in parts.items()},
            }
        )
        for part, words in parts.items():
            unique_words[part].update(words)
    of_captions = [numbers for of_image in counts.values() for numbers in of_image]
    return Composition(
        captions=len(of_captions),
        images=len(counts),
        per_caption={part: _mean(numbers[part] for numbers in of_captions) for part in PARTS},
        per_image={
            part: _mean(
                _mean(numbers[part] for numbers in of_image) for of_image in counts.values()
            )
            for part in PARTS
        },
        unique={part: len(unique_words[part]) for part in WORD_PARTS},
    )


def parts_of(caption: Tagged) -> Mapping[Part, Sequence[str]]:
    """Return the words of one caption by every part that they count as.

    >>> parts_of((("a", "other"), ("red", "adjective"), ("cup", "noun")))["nouns"]
    ['cup']
    """
    parts: dict[Part, list[str]] = {part: [] for part in WORD_PARTS}
    for word, kind in caption:
        parts["words"].append(word)
        if part := _PART_OF_KIND.get(kind):
            parts[part].append(word)
        if kind == "preposition" and word in SPATIAL:
            parts["spatial relations"].append(word)
    return parts


def _mean(values: Iterable[float]) -> float:
    known = [*values]
    return fmean(known) if known else 0.0
