"""The words of a text, in any script, so that texts can be compared.

Case, punctuation and spacing do not count. Scripts that are written without spaces
(Chinese, Japanese, Thai and others) give every two neighbouring characters instead of a
word: their whole sentences would otherwise be one word that no one else uses.
"""

import re
import unicodedata

_WORDS = re.compile(r"[^\W_]+")
_ASCII_WORDS = bytes(
    ord(chr(code).lower()) if chr(code).isalnum() else ord(" ") for code in range(128)
) + bytes(128)
"""For texts in ASCII, most in English: an eighth of the time."""

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
    if text.isascii():
        words = text.encode("ascii").translate(_ASCII_WORDS).split()
        return b" ".join(words).decode("ascii")
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(_WORDS.findall(folded))


def different_words(text: str) -> list[str]:
    """The different words of a text, sorted.

    >>> different_words("A cat, a CAT and 黑色的貓")
    ['a', 'and', 'cat', '的貓', '色的', '黑色']
    """
    if text.isascii():
        spaced = text.encode("ascii").translate(_ASCII_WORDS).decode("ascii")
        return sorted({*spaced.split()})
    return sorted({part for word in plain(text).split() for part in _parts(word)})


def _parts(word: str) -> list[str]:
    if len(word) <= 2 or not _UNSPACED.search(word):  # noqa: PLR2004 - a pair
        return [word]
    return [word[place : place + 2] for place in range(len(word) - 1)]
