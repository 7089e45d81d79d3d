"""What captions consist of, and how a dataset's words differ from another's.

Table 1 of the VizWiz-Captions paper: words, nouns, verbs, adjectives and spatial relations,
their mean number in a caption and in the captions of an image, and how many different ones
there are. The paper does not say what counts as a word or a spatial relation. Here a word
is not punctuation, and a spatial relation is a preposition of place or direction (Landau
and Jackendoff 1993, their list of English spatial prepositions) that the tagger calls a
preposition. Words with punctuation and all prepositions are counted separately: both
probably are what the paper counted (docs/internals/measurements/captions.md).

Its supplement (0.C.2): the hundred most common nouns, verbs and adjectives, those that do
not occur in MSCOCO-Captions, and the share of the 3,000 most common words that two corpora
have in common. Words that no list knows (0.A.2) are mostly brands and new words
(docs/internals/measurements/cleaning.md). Larger datasets have more different words, so a
dataset is also compared with a random part of the larger one (section 3.2): the same number
of images, with the same distribution of captions per image.

How similar the captions of one image are is the measure of Jas and Parikh, "Image
Specificity" (CVPR 2015): two captions are as similar as, on average, each word of one and
its best match in the other, with words weighted by tf-idf; an image's specificity is the
mean over all pairs of its captions, 0 to 1. They rate word pairs by paths in WordNet, which
requires a download; here two words match (1) if their stems are equal, else not (0). So
values are lower than theirs, and comparable only with each other.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random
from statistics import fmean
from typing import Literal, TypeVar, get_args

from piecework.analyses.corpus.captions import Tagged, TaggedCaption, stem

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


def word_counts(captions: Iterable[Tagged]) -> Mapping[Part, Counter[str]]:
    """Count the occurrences of each word by part of speech, ignoring case."""
    counts: dict[Part, Counter[str]] = {part: Counter() for part in WORD_PARTS}
    for caption in captions:
        for part, words in parts_of(caption).items():
            counts[part].update(words)
    return counts


def top_words(counts: Counter[str], many: int) -> list[str]:
    """Return the most common words, equally common ones alphabetically.

    >>> top_words(Counter("abbc"), 2)
    ['b', 'a']
    """
    return sorted(counts, key=lambda word: (-counts[word], word))[:many]


def novel_words(here: Counter[str], vocabulary: Iterable[str], many: int) -> Sequence[str]:
    """Return the most common words that the other vocabulary lacks.

    >>> novel_words(Counter("abbc"), "b", 5)
    ['a', 'c']
    """
    known = frozenset(vocabulary)
    novel = {word: number for word, number in here.items() if word not in known}
    return top_words(Counter(novel), many)


COMMONEST = 3000

COMPARED: tuple[Part, ...] = ("words", "nouns", "adjectives", "verbs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """The comparison of two lists of the most common words.

    Attributes:
        compared: length of both lists; below 3,000 if a corpus has fewer words.
        shared: number of words on both lists.
        only_here: the words that the other list lacks, the most common first.
    """

    compared: int
    shared: int
    only_here: Sequence[str]

    @property
    def share(self) -> float:
        """Shared words as a share of either list, 0 to 1; 0 without words."""
        return self.shared / self.compared if self.compared else 0.0


def overlaps(
    here: Mapping[Part, Counter[str]],
    there: Mapping[Part, Counter[str]],
    *,
    commonest: int = COMMONEST,
) -> Mapping[Part, Overlap]:
    """Compute the overlap by part of speech; ties are sorted alphabetically.

    Args:
        here: occurrences of each word (`word_counts`).
        there: those of the other corpus.
        commonest: length of the lists.
    """
    return {part: overlap(here[part], there[part], commonest=commonest) for part in COMPARED}


def overlap(here: Counter[str], there: Counter[str], *, commonest: int) -> Overlap:
    """Compute the overlap of two vocabularies.

    >>> overlap(Counter("aab"), Counter("ac"), commonest=2).share
    0.5
    """
    compared = min(commonest, len(here), len(there))
    commonest_here = top_words(here, compared)
    commonest_there = frozenset(top_words(there, compared))
    only_here = [word for word in commonest_here if word not in commonest_there]
    return Overlap(compared=compared, shared=compared - len(only_here), only_here=only_here)


_LETTERS = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownWords:
    """Words that a word list lacks.

    Attributes:
        captions: captions with such a word.
        of_captions: all captions.
        tokens: occurrences of such words.
        of_tokens: occurrences of all words.
        words: occurrences by word.
    """

    captions: int
    of_captions: int
    tokens: int
    of_tokens: int
    words: Mapping[str, int]


def unknown_words(captions: Iterable[Tagged], is_known: Callable[[str], bool]) -> UnknownWords:
    """Count the words that a list lacks.

    A word with a digit is never unknown. A word with hyphens is known if its parts are.

    Args:
        captions: tokens with their kinds.
        is_known: whether the list has a lower-case word of letters and apostrophes.

    >>> caption = (("a", "other"), ("t-shirt", "noun"), ("zyx", "noun"))
    >>> unknown_words([caption], {"a", "t", "shirt"}.__contains__).words
    {'zyx': 1}
    """
    words: Counter[str] = Counter()
    of_captions = of_tokens = with_any = 0
    for caption in captions:
        unknown = [word for word, _ in caption if not _is_known(word, is_known)]
        words.update(unknown)
        of_captions += 1
        of_tokens += len(caption)
        with_any += bool(unknown)
    return UnknownWords(
        captions=with_any,
        of_captions=of_captions,
        tokens=words.total(),
        of_tokens=of_tokens,
        words=dict(sorted(words.items(), key=lambda pair: (-pair[1], pair[0]))),
    )


def _is_known(word: str, is_known: Callable[[str], bool]) -> bool:
    # "'s" and "n't" are parts of words, and "3d" is no word of a list.
    if "'" in word[:2] or any(map(str.isdigit, word)):
        return True
    return all(map(is_known, _LETTERS.findall(word)))


_Caption = TypeVar("_Caption")


def matched(
    larger: Mapping[str, list[_Caption]], like: Mapping[str, list[_Caption]], *, seed: int
) -> dict[str, list[_Caption]]:
    """Draw images of the larger dataset, and as many captions of each.

    Images that need the most captions are drawn first. The part has fewer images if the
    larger dataset has too few with enough captions.

    >>> matched({"a": [1, 2], "b": [3]}, like={"x": [7, 8]}, seed=0)
    {'a': [1, 2]}
    """
    random = Random(seed)  # noqa: S311 - a sample, not a secret
    wanted = Counter(map(len, like.values()))
    by_size: dict[int, list[str]] = {}
    for image, captions in larger.items():
        by_size.setdefault(len(captions), []).append(image)
    drawn: dict[str, list[_Caption]] = {}
    for size in sorted(wanted, reverse=True):
        enough = [
            image
            for captions, images in by_size.items()
            if captions >= size
            for image in images
            if image not in drawn
        ]
        for image in random.sample(enough, min(wanted[size], len(enough))):
            captions = larger[image]
            places = sorted(random.sample(range(len(captions)), size))
            drawn[image] = [captions[place] for place in places]
    return drawn


Weights = Mapping[str, float]


def specificity(images: Mapping[str, Sequence[Sequence[str]]]) -> dict[str, float]:
    """Return the specificity of each image with at least two tokenised captions.

    >>> specificity({"1": [["red", "cup"], ["red", "cups"]], "2": [["cup"], ["dog"]]})
    {'1': 1.0, '2': 0.0}
    """
    stems = {
        image: [Counter(map(stem, caption)) for caption in captions]
        for image, captions in images.items()
    }
    idf = _idf([*stems.values()])
    return {
        image: fmean(
            likeness(first, second)
            for first, second in combinations([_weighted(counts, idf) for counts in captions], 2)
        )
        for image, captions in stems.items()
        if len(captions) > 1
    }


def likeness(first: Weights, second: Weights) -> float:
    """The mean share of a caption's weight that the other caption has too."""
    shared = first.keys() & second.keys()
    return fmean(_covered(weights, shared) for weights in (first, second))


def _covered(weights: Weights, shared: set[str]) -> float:
    # fsum, since the order of a set differs from process to process.
    whole = math.fsum(weights.values())
    return math.fsum(weights[word] for word in shared) / whole if whole else 0.0


def _idf(images: Sequence[Sequence[Counter[str]]]) -> Weights:
    """log(1 + images / images with the word): never 0, even for one image."""
    images_with = Counter(
        word for captions in images for word in {*(w for caption in captions for w in caption)}
    )
    return {word: math.log(1 + len(images) / many) for word, many in images_with.items()}


def _weighted(counts: Counter[str], idf: Weights) -> Weights:
    return {word: many * idf[word] for word, many in counts.items()}
