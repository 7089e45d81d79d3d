"""English words and their frequency, from two complementary lists.

pyspellchecker's dictionary defines what is a word, but it lacks `tv`, `countertop` and
`selfie`, and two thirds of its words share a made-up frequency. wordfreq (zipf scale: 3
is once in a million words) has real frequencies, but also contains every misspelling
that is common on the web. So corrections lead only **to** words in the first list or
very common words in the second.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import wordfreq
from spellchecker import SpellChecker

CERTAIN_ZIPF = 9.0
"""The zipf value of a word if a text consisted only of it."""

_TARGET_ZIPF = 1.5
_LONG_TARGET_ZIPF = 1.0
_LONG_TARGET = 7
"""Dictionary words rarer than this are unlikely corrections; a long word has fewer
similar ones, so it may be rarer."""

_NEW_WORD_ZIPF = 2.3
"""Words that only wordfreq has must be this common: `captcha` has 2.38."""

_NEW_WORD_LETTERS = 5
_SHADOW_ZIPF = 1.0
"""A word ten times rarer than one an edit away may be a misspelling of it."""

_PART_ZIPF = 5.4
_FUNCTION_ZIPF = 5.8
"""Two words this common, the commoner of them a function word, are not one new word:
`eachother` has 3.24 on the web."""

_SHORTEST_PART = 3
_VERY_COMMON_ZIPF = 6.5
"""Both words must be this common if one of them is shorter: `ofthe`, but not
`anwar`."""

_APOSTROPHE_ZIPF = 3.0
_SHORTEST_TYPO = 2
_LONGEST_TYPO = 45
"""The longest word checked, in letters; dictionaries have no longer ones."""

_ORDINARY = re.compile(r"[a-z]+(?:'[a-z]+)?")
_PLAIN = re.compile(r"[a-z]{2,}")
_WITH_APOSTROPHE = re.compile(r"[a-z]{2,}'(?:s|t|re|ll|ve|d)")


@cache
def dictionary() -> frozenset[str]:
    """Return pyspellchecker's English words, casefolded."""
    return frozenset(SpellChecker(language="en").word_frequency.dictionary)


def is_known(word: str) -> bool:
    """Return whether a casefolded word, or the word before `'s`, is in the dictionary.

    >>> is_known("teapot's"), is_known("teapott")
    (True, False)
    """
    return word in dictionary() or word.removesuffix("'s") in dictionary()


@cache
def is_surely_right(word: str) -> bool:
    """Return whether a casefolded word is surely right, as all `targets` are.

    It is a word of the dictionary, or a longer one that is common in English and not a
    misspelling of a much more common one: `countertop`, but not `recieve`, `teh` or
    `eachother`.
    """
    return is_known(word) or _is_new(word)


@cache
def may_be_typo(word: str) -> bool:
    """Return whether a casefolded word is ordinary, but may be misspelled.

    >>> may_be_typo("teapott"), may_be_typo("teapot"), may_be_typo("12oz")
    (True, False, False)
    """
    return (
        _SHORTEST_TYPO <= len(word) <= _LONGEST_TYPO
        and bool(_ORDINARY.fullmatch(word))
        and not is_surely_right(word)
    )


@cache
def is_two_words(word: str) -> bool:
    """Return whether a casefolded word is two very common ones without their space.

    How common it is on the web then only shows how often the space is left out.

    >>> is_two_words("eachother"), is_two_words("ofthe"), is_two_words("countertop")
    (True, True, False)
    """
    return word not in dictionary() and any(
        _are_two_words(word[:cut], word[cut:]) for cut in range(1, len(word))
    )


def _are_two_words(head: str, tail: str) -> bool:
    if head not in dictionary() or tail not in dictionary():
        return False
    rarer, commoner = sorted((zipf(head), zipf(tail)))
    if min(len(head), len(tail)) < _SHORTEST_PART:
        return rarer >= _VERY_COMMON_ZIPF  # names begin or end like short words
    return rarer >= _PART_ZIPF and commoner >= _FUNCTION_ZIPF


def zipf(word: str) -> float:
    """Return how common a casefolded word is in English; 0 for unknown words.

    >>> zipf("the"), zipf("teapott")
    (7.73, 0.0)
    """
    return _zipf_values().get(word, 0.0)


@cache
def targets() -> Mapping[int, Sequence[str]]:
    """Return all words that a typo may be corrected to, by length, sorted."""
    values = _zipf_values()
    old = {
        word
        for word in dictionary()
        if values.get(word, 0.0)
        >= (_TARGET_ZIPF if len(word) < _LONG_TARGET else _LONG_TARGET_ZIPF)
    }
    new = {
        word
        for word, value in values.items()
        if value >= _NEW_WORD_ZIPF and len(word) >= _NEW_WORD_LETTERS
    }
    by_length: dict[int, list[str]] = {}
    for word in sorted(filter(_may_be_meant, old | new)):
        by_length.setdefault(len(word), []).append(word)
    return by_length


def _is_new(word: str) -> bool:
    common = zipf(word)
    if common < _NEW_WORD_ZIPF or len(word) < _NEW_WORD_LETTERS:
        return False
    known = dictionary()
    if is_two_words(word):
        return False
    return not any(
        other in known and zipf(other) >= common + _SHADOW_ZIPF for other in _one_edit_away(word)
    )


def _one_edit_away(word: str) -> Iterator[str]:
    letters = "abcdefghijklmnopqrstuvwxyz'"
    for at in range(len(word) + 1):
        left, right = word[:at], word[at:]
        yield from (left + letter + right for letter in letters)
        if right:
            yield left + right[1:]
            yield from (left + letter + right[1:] for letter in letters)
            yield left + right[1:2] + right[:1] + right[2:]


def _may_be_meant(word: str) -> bool:
    if _PLAIN.fullmatch(word):
        return True
    return zipf(word) >= _APOSTROPHE_ZIPF and bool(_WITH_APOSTROPHE.fullmatch(word))


@cache
def _zipf_values() -> dict[str, float]:
    # wordfreq stores words in bins of one centibel below certainty.
    bins = wordfreq.get_frequency_list("en", "large")
    return {
        word: round(CERTAIN_ZIPF - centibels / 100, 2)
        for centibels, words in enumerate(bins)
        for word in words
    }
