"""A rough phonetic key: people who cannot spell a word write what they hear."""

import re
from functools import lru_cache

_HEARD = (
    ("'", ""), ("ph", "f"), ("ght", "t"), ("wh", "w"), ("tch", "ch"), ("sc", "s"),
    ("ce", "se"), ("ci", "si"), ("cy", "sy"), ("z", "s"), ("ck", "k"), ("ch", "x"),
    ("c", "k"), ("q", "k"), ("dg", "j"), ("ge", "je"), ("gi", "ji"), ("gy", "jy"),
)  # fmt: skip
"""A simplified version of Philips' Metaphone (1990), which keeps the consonants
heard."""

_SILENT = str.maketrans("", "", "aeiouyhw")
_DOUBLED = re.compile(r"(.)\1+")


@lru_cache(maxsize=50_000)
def sound(word: str) -> str:
    """Return the first letter and, roughly, the consonants heard after it.

    >>> sound("hefeweizen") == sound("hefewiezen"), sound("frisbie")
    (True, 'frsb')
    """
    for written, heard in _HEARD:
        word = word.replace(written, heard)
    first = "a" if word[:1] in "aeiouy" else word[:1]
    return _DOUBLED.sub(r"\1", first + word[1:].translate(_SILENT))
