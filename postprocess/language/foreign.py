"""Detect texts that are not in English, where no word is corrected.

A text is foreign if another language explains its words better. Only texts with many
unknown words are checked, so English ones cost no time.
"""

from collections.abc import Sequence
from functools import cache

import wordfreq

from piecework.postprocess.language import lexicon

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
    unknown = sum(not lexicon.is_surely_right(word) for word in words)
    if unknown < _UNKNOWN_SHARE * len(words):
        return False
    english = sum(map(lexicon.zipf, words))
    return any(
        sum(_zipfs(language).get(word, 0.0) for word in words) > english + _ZIPF_AHEAD * len(words)
        for language in _LANGUAGES
    )


@cache
def _zipfs(language: str) -> dict[str, float]:
    bins = wordfreq.get_frequency_list(language, "small")
    return {
        word: lexicon.CERTAIN_ZIPF - centibels / 100
        for centibels, words in enumerate(bins)
        for word in words
    }
