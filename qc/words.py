"""The words of a text, in any script, so that texts can be compared.

Case, punctuation and spacing do not count. Scripts that are written without spaces
(Chinese, Japanese, Thai and others) give every two neighbouring characters instead of a
word: their whole sentences would otherwise be one word that no one else uses.
"""

import itertools
import re
import unicodedata
from collections.abc import Sequence

_WORDS = re.compile(r"[^\W_]+")
_ASCII_WORDS = (
    bytes(ord(c.lower()) if c.isalnum() else ord(" ") for c in map(chr, range(128)))
    + bytes(127)
    + b"\n"
)
"""By byte: letters in lower case, digits, spaces for all else; texts end in lines."""

_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
    "|[\U00020000-\U0003ffff]"
)
"""Thai, Lao, Burmese, Khmer, Japanese, Chinese."""


def plain(text: str) -> str:
    """Words only: no case, no punctuation, single spaces.

    >>> plain("  A very wonderful view,my friend. ")
    'a very wonderful view my friend'
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(_WORDS.findall(folded))


def plain_texts(texts: Sequence[str]) -> list[str]:
    """What `plain` makes of each text; those in ASCII take a tenth of the time.

    >>> plain_texts(["Two  cats.", "Zwölf Äpfel!", ""])
    ['two cats', 'zwölf äpfel', '']
    """
    is_ascii = [text.isascii() for text in texts]
    # In latin-1 the last of all characters stands in no text in ASCII.
    joined = "\xff".join(itertools.compress(texts, is_ascii)).encode("latin-1")
    lines = iter(joined.translate(_ASCII_WORDS).decode("ascii").split("\n"))
    return [
        " ".join(next(lines).split()) if simple else plain(text)
        for text, simple in zip(texts, is_ascii, strict=True)
    ]


def different_words(plain_text: str) -> list[str]:
    """The different words of a text without case and punctuation, sorted.

    >>> different_words(plain("A cat, a CAT and 黑色的貓"))
    ['a', 'and', 'cat', '的貓', '色的', '黑色']
    """
    words = plain_text.split()
    if not plain_text.isascii():
        words = [part for word in words for part in _parts(word)]
    return sorted({*words})


def _parts(word: str) -> list[str]:
    if len(word) <= 2 or not _UNSPACED.search(word):  # noqa: PLR2004 - a pair
        return [word]
    return [word[place : place + 2] for place in range(len(word) - 1)]
