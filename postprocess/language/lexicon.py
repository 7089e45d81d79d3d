"""English words and how common they are, from two lists that complete each other.

pyspellchecker's dictionary decides what is a word at all, but it lacks `tv`,
`countertop` and `selfie`, and two thirds of its words share one made-up frequency.
wordfreq (zipf scale: 3 is once in a million words) tells how common a word is, but it
holds every misspelling that is common on the web. So nothing is corrected **to** a word
that is not in the first or very common in the second.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache

import wordfreq
from spellchecker import SpellChecker

CERTAIN_ZIPF = 9.0
"""The zipf value of a word that makes up all of a text."""

_TARGET_ZIPF = 1.5
"""Dictionary words rarer than this are no likely meaning of a typo."""

_NEW_WORD_ZIPF = 2.6
"""Words only wordfreq knows must be this common: `countertop` has 2.64."""

_APOSTROPHE_ZIPF = 3.0
_PLAIN = re.compile(r"[a-z]{2,}")
_WITH_APOSTROPHE = re.compile(r"[a-z]{2,}'(?:s|t|re|ll|ve|d)")


@cache
def dictionary() -> frozenset[str]:
    """Pyspellchecker's English words, casefolded."""
    return frozenset(SpellChecker(language="en").word_frequency.dictionary)


def is_known(word: str) -> bool:
    """Whether a casefolded word is in the dictionary, as it is or as a possessive.

    >>> is_known("teapot's"), is_known("teapott")
    (True, False)
    """
    return word in dictionary() or word.removesuffix("'s") in dictionary()


def is_surely_right(word: str) -> bool:
    """Whether a casefolded word is right for sure; all `targets` are."""
    return is_known(word) or zipf(word) >= _NEW_WORD_ZIPF


def zipf(word: str) -> float:
    """How common a casefolded word is in English; 0 for words never met.

    >>> zipf("the"), zipf("teapott")
    (7.73, 0.0)
    """
    return _zipf_values().get(word, 0.0)


@cache
def targets() -> Mapping[int, Sequence[str]]:
    """All words that a typo may be corrected to, by their length, sorted."""
    values = _zipf_values()
    old = {word for word in dictionary() if values.get(word, 0.0) >= _TARGET_ZIPF}
    new = {word for word, value in values.items() if value >= _NEW_WORD_ZIPF}
    by_length: dict[int, list[str]] = {}
    for word in sorted(filter(_may_be_meant, old | new)):
        by_length.setdefault(len(word), []).append(word)
    return by_length


def _may_be_meant(word: str) -> bool:
    if _PLAIN.fullmatch(word):
        return True
    return zipf(word) >= _APOSTROPHE_ZIPF and bool(_WITH_APOSTROPHE.fullmatch(word))


@cache
def _zipf_values() -> dict[str, float]:
    # wordfreq keeps words in bins of one centibel below certainty.
    bins = wordfreq.get_frequency_list("en", "large")
    return {
        word: round(CERTAIN_ZIPF - centibels / 100, 2)
        for centibels, words in enumerate(bins)
        for word in words
    }
