"""English words and how common they are, from two lists that complete each other.

pyspellchecker's dictionary decides what is a word at all, but it lacks `tv`,
`countertop` and `selfie`, and two thirds of its words share one made-up frequency.
wordfreq (zipf scale: 3 is once in a million words) tells how common a word is, but it
holds every misspelling that is common on the web. A word must be spelled as in the
first, or be very common in the second, before anything is corrected **to** it.
"""

from functools import cache

import wordfreq
from spellchecker import SpellChecker

ZIPF_FLOOR = 0.0
"""The zipf value of words that wordfreq has never met; its rarest have 1.01."""

_TARGET_ZIPF = 1.5
"""Dictionary words rarer than this are no likely meaning of a slip."""

_NEW_WORD_ZIPF = 3.0
"""Words only wordfreq knows must be this common to be corrected to."""

_SHORTEST = 3


@cache
def dictionary() -> frozenset[str]:
    """Pyspellchecker's English words, casefolded."""
    return frozenset(SpellChecker(language="en").word_frequency.dictionary)


def is_known(word: str) -> bool:
    """Whether a casefolded word is in the dictionary, as it is or as a possessive.

    >>> is_known("teapot's"), is_known("teapott")
    (True, False)
    """
    plain = word.replace("\u2019", "'")
    return plain in dictionary() or plain.removesuffix("'s") in dictionary()


@cache
def zipf(word: str) -> float:
    """How common a casefolded word is in English, on the zipf scale."""
    centibels = _centibels().get(word)
    return ZIPF_FLOOR if centibels is None else 9.0 - centibels / 100


@cache
def targets() -> tuple[str, ...]:
    """All words that a slip may be corrected to, sorted."""
    new = {word for word in _centibels() if zipf(word) >= _NEW_WORD_ZIPF}
    old = {word for word in dictionary() if zipf(word) >= _TARGET_ZIPF}
    return tuple(sorted(word for word in old | new if _is_plain(word)))


def _is_plain(word: str) -> bool:
    return len(word) >= _SHORTEST and word.isascii() and word.isalpha()


@cache
def _centibels() -> dict[str, int]:
    """Centibels below certainty by word: wordfreq's own bins."""
    bins = wordfreq.get_frequency_list("en", "large")
    return {word: place for place, words in enumerate(bins) for word in words}
