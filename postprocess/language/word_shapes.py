"""Relations between similar words that do not make one a typo of the other."""

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
_AGENT_ENDINGS = ("ers", "er", "ors", "or", "ists", "ist")
_AGENT_STEM_ZIPF = 2.0
_VARIANTS = (
    ("our", "or"), ("ogue", "og"), ("ise", "ize"), ("isi", "izi"), ("yse", "yze"),
)  # fmt: skip
"""British and American spellings of the same endings."""

_WHOLE_VARIANTS = (("grey", "gray"), ("blonde", "blond"))
"""These also begin words."""

_ONE_WAY = ("greyhound",)
"""Beginnings of words that are spelled the same in British and American English."""

_LEAST_PART = 3
_COMMON_ZIPF = 3.0
_COMPOUND_ZIPF = 1.0


@cache
def is_compound(word: str) -> bool:
    """Return whether the word consists of two common words.

    >>> is_compound("nightstand"), is_compound("teapott")
    (True, False)
    """
    cuts = range(_LEAST_PART, len(word) - _LEAST_PART + 1)
    return any(_is_common(word[:cut]) and _is_common(word[cut:]) for cut in cuts)


@cache
def compounding(word: str) -> float:
    """Return how common compounds of a word's two parts are in English.

    For each way to split it into two common words, add the logarithms of the number of
    compounds that begin with the first and end with the second. The result is the
    largest sum, or 0 if there is no such split.

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
    """Return the logarithm of the number of compounds that begin with a word."""
    return math.log1p(_compounds()[0].get(word, 0))


def ends_compounds(word: str) -> float:
    """Return the logarithm of the number of compounds that end with a word."""
    return math.log1p(_compounds()[1].get(word, 0))


@cache
def _compounds() -> tuple[Mapping[str, int], Mapping[str, int]]:
    """Count the dictionary's compounds by their first and by their second word."""
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
    """Return whether the word is a known one with a prefix or suffix.

    >>> is_inflected("unfrosted"), is_inflected("tabel")
    (True, False)
    """
    stems = {word.removesuffix(ending) for ending in _ENDINGS}
    stems |= {word.removeprefix(beginning) for beginning in _BEGINNINGS}
    return any(lexicon.is_known(stem) for stem in stems if len(stem) >= _LEAST_PART)


@cache
def is_agent(word: str) -> bool:
    """Return whether the word names those who do something with a known word.

    >>> is_agent("canoers"), is_agent("paintballers"), is_agent("tabel")
    (True, True, False)
    """
    stems = {word.removesuffix(ending) for ending in _AGENT_ENDINGS if word.endswith(ending)}
    stems |= {stem + "e" for stem in stems}
    stems |= {stem[:-1] for stem in stems if stem[-1:] == stem[-2:-1]}
    return any(
        len(stem) >= _LEAST_PART
        and lexicon.is_known(stem)
        and lexicon.zipf(stem) >= _AGENT_STEM_ZIPF
        for stem in stems
    )


def is_ending(longer: str, shorter: str) -> bool:
    """Return whether one word is the other plus a plausible ending."""
    return longer.startswith(shorter) and longer[len(shorter) :] in _MEANT_ENDINGS


def is_spelling_variant(word: str, other: str) -> bool:
    """Return whether two words are British and American spellings of the same one.

    >>> is_spelling_variant("colourfully", "colorfully")
    True
    >>> is_spelling_variant("grayhound", "greyhound")
    False
    >>> is_spelling_variant("ourange", "orange")
    False
    """
    return not other.startswith(_ONE_WAY) and _american(word) == _american(other)


def _is_common(word: str) -> bool:
    return lexicon.zipf(word) >= _COMMON_ZIPF and lexicon.is_known(word)


@cache
def _american(word: str) -> str:
    first, rest = word[:1], word[1:]
    for british, american in _VARIANTS:
        rest = rest.replace(british, american)
    word = first + rest
    for british, american in _WHOLE_VARIANTS:
        word = word.replace(british, american)
    return word
