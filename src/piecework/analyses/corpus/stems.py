"""Words without their endings, by Porter's English stemmer (Snowball)."""

from functools import cache

import snowballstemmer

_STEMMER = snowballstemmer.stemmer("english")


@cache
def stem(word: str) -> str:
    """Return the stem of a lower-case word.

    >>> stem("bottles"), stem("sitting")
    ('bottl', 'sit')
    """
    return str(_STEMMER.stemWord(word))
