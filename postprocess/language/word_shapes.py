"""How words that are written alike hang together without one being a typo."""

import math
from collections import Counter
from collections.abc import Mapping
from functools import cache

from piecework.postprocess.language import lexicon

_ENDINGS = (
    "s", "es", "ed", "d", "ing", "er", "ers", "r", "y", "ish", "like", "less", "ly",
    "'s", "ness", "able", "ies", "ied",
)  # fmt: skip
_BEGINNINGS = (
    "un", "re", "non", "pre", "multi", "semi", "over", "under", "mini", "anti",
)  # fmt: skip
_MEANT_ENDINGS = frozenset({"s", "es", "d", "ed", "r", "er", "y", "ing", "ly", "n"})
_VARIANTS = (
    ("our", "or"), ("ogue", "og"), ("ise", "ize"), ("isi", "izi"), ("yse", "yze"),
    ("grey", "gray"), ("blonde", "blond"),
)  # fmt: skip
"""British and American ways to write one word."""

_ONE_WAY = ("greyhound",)
"""Begins words that are written alike on both sides, although one could think not."""

_LEAST_PART = 3
_COMMON_ZIPF = 3.0
_COMPOUND_ZIPF = 1.0


@cache
def is_compound(word: str) -> bool:
    """Whether two common words make up the word.

    >>> is_compound("nightstand"), is_compound("teapott")
    (True, False)
    """
    cuts = range(_LEAST_PART, len(word) - _LEAST_PART + 1)
    return any(_is_common(word[:cut]) and _is_common(word[cut:]) for cut in cuts)


@cache
def compounding(word: str) -> float:
    """How usual it is in English to make compounds of the two parts of a word.

    That is the greatest sum, over the ways to cut it into two common words, of the
    logarithms of how many compounds begin with the one and end with the other; 0 where
    no way leads to two common words.

    >>> compounding("snowboot") > compounding("tabletree") > compounding("teapott")
    True
    """
    cuts = range(_LEAST_PART, len(word) - _LEAST_PART + 1)
    return max(
        (
            begins_compounds(word[:cut]) + ends_compounds(word[cut:])
            for cut in cuts
            if _is_common(word[:cut]) and _is_common(word[cut:])
        ),
        default=0.0,
    )


def begins_compounds(word: str) -> float:
    """The logarithm of how many of the dictionary's compounds begin with a word."""
    return math.log1p(_compounds()[0].get(word, 0))


def ends_compounds(word: str) -> float:
    """The logarithm of how many of the dictionary's compounds end with a word."""
    return math.log1p(_compounds()[1].get(word, 0))


@cache
def _compounds() -> tuple[Mapping[str, int], Mapping[str, int]]:
    """How many words of the dictionary are a word and another, by each of the two."""
    parts = frozenset(word for word in lexicon.dictionary() if _may_be_a_part(word))
    begins: Counter[str] = Counter()
    ends: Counter[str] = Counter()
    for word in lexicon.dictionary():
        if lexicon.zipf(word) < _COMPOUND_ZIPF:
            continue
        for cut in range(_LEAST_PART, len(word) - _LEAST_PART + 1):
            if word[:cut] in parts and word[cut:] in parts:
                begins[word[:cut]] += 1
                ends[word[cut:]] += 1
    return begins, ends


def _may_be_a_part(word: str) -> bool:
    return len(word) >= _LEAST_PART and lexicon.zipf(word) >= _COMMON_ZIPF


@cache
def is_inflected(word: str) -> bool:
    """Whether a known word and an ending or a beginning make up the word.

    >>> is_inflected("unfrosted"), is_inflected("tabel")
    (True, False)
    """
    stems = {word.removesuffix(ending) for ending in _ENDINGS}
    stems |= {word.removeprefix(beginning) for beginning in _BEGINNINGS}
    return any(lexicon.is_known(stem) for stem in stems if len(stem) >= _LEAST_PART)


def is_ending(longer: str, shorter: str) -> bool:
    """Whether one word is the other and an ending that may be meant."""
    return longer.startswith(shorter) and longer[len(shorter) :] in _MEANT_ENDINGS


def is_spelling_variant(word: str, other: str) -> bool:
    """Whether British and American English may write `other` as a word is written.

    >>> is_spelling_variant("colourfully", "colorfully")
    True
    >>> is_spelling_variant("grayhound", "greyhound")
    False
    """
    return not other.startswith(_ONE_WAY) and _american(word) == _american(other)


def _is_common(word: str) -> bool:
    return lexicon.zipf(word) >= _COMMON_ZIPF and lexicon.is_known(word)


@cache
def _american(word: str) -> str:
    for british, american in _VARIANTS:
        word = word.replace(british, american)
    return word
