"""English words and their frequency, from two complementary lists.

pyspellchecker's dictionary defines what is a word, but it lacks `tv`, `countertop` and
`selfie`, and two thirds of its words share a made-up frequency. wordfreq (zipf scale: 3 is
once in a million words) has real frequencies, but also contains every misspelling that is
common on the web. So corrections lead only **to** words in the first list or very common
words in the second.

A text is foreign if another language explains its words better; no word of it is
corrected. Only texts with many unknown words are checked, so English ones cost no time.
Relations between similar words that do not make one a typo of the other are here too.
"""

import math
import re
from collections import Counter
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
    values = [round(CERTAIN_ZIPF - centibels / 100, 2) for centibels in range(len(bins))]
    return {word: value for value, words in zip(values, bins, strict=True) for word in words}


_LANGUAGES = ("es", "fr", "de", "it", "pt", "nl", "pl", "sv", "id", "tr")
"""Languages in Latin script that marketplace workers most often write in and that
wordfreq covers."""

_LEAST_WORDS = 3
_UNKNOWN_SHARE = 0.3
_ZIPF_AHEAD = 0.5


def is_foreign(words: Sequence[str]) -> bool:
    """Return whether casefolded words are probably not English.

    >>> is_foreign("una lata de sopa sobre la mesa".split())
    True
    >>> is_foreign("a woden tabel with teh can".split())
    False
    """
    if len(words) < _LEAST_WORDS:
        return False
    unknown = sum(not is_surely_right(word) for word in words)
    if unknown < _UNKNOWN_SHARE * len(words):
        return False
    english = sum(map(zipf, words))
    return any(
        sum(_zipfs(language).get(word, 0.0) for word in words) > english + _ZIPF_AHEAD * len(words)
        for language in _LANGUAGES
    )


@cache
def _zipfs(language: str) -> dict[str, float]:
    bins = wordfreq.get_frequency_list(language, "small")
    values = [CERTAIN_ZIPF - centibels / 100 for centibels in range(len(bins))]
    return {word: value for value, words in zip(values, bins, strict=True) for word in words}


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
    parts = frozenset(word for word in dictionary() if _may_be_a_part(word))
    begins: Counter[str] = Counter()
    ends: Counter[str] = Counter()
    values = _zipf_values()
    for word in dictionary():
        if values.get(word, 0.0) < _COMPOUND_ZIPF:
            continue
        for cut in range(_LEAST_PART, len(word) - _LEAST_PART + 1):
            if word[:cut] in parts and word[cut:] in parts:
                begins[word[:cut]] += 1
                ends[word[cut:]] += 1
    return begins, ends


def _may_be_a_part(word: str) -> bool:
    return len(word) >= _LEAST_PART and zipf(word) >= _COMMON_ZIPF


@cache
def is_inflected(word: str) -> bool:
    """Return whether the word is a known one with a prefix or suffix.

    >>> is_inflected("unfrosted"), is_inflected("tabel")
    (True, False)
    """
    stems = {word.removesuffix(ending) for ending in _ENDINGS}
    stems |= {word.removeprefix(beginning) for beginning in _BEGINNINGS}
    return any(is_known(stem) for stem in stems if len(stem) >= _LEAST_PART)


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
        len(stem) >= _LEAST_PART and is_known(stem) and zipf(stem) >= _AGENT_STEM_ZIPF
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
    return zipf(word) >= _COMMON_ZIPF and is_known(word)


@cache
def _american(word: str) -> str:
    first, rest = word[:1], word[1:]
    for british, american in _VARIANTS:
        rest = rest.replace(british, american)
    word = first + rest
    for british, american in _WHOLE_VARIANTS:
        word = word.replace(british, american)
    return word
