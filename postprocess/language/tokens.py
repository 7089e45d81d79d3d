"""Words of a caption with their places, and which of them nobody may touch."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
_ADDRESS = re.compile(
    r"\S*(?:://|@|www\.)\S*|\S+\.(?:com|org|net|edu|gov|io|co|uk)\b\S*|[#~/\\]\S+",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    r"\"[^\"]*\"|\u201c[^\u201d]*\u201d|(?<!\w)['\u2018][^'\u2019]+['\u2019](?!\w)"
)
_STICKS = frozenset("_@#$%&*+=<>^~/\\|")
_ENDS_SENTENCE = re.compile(r"[.!?:]\W*\Z")
_SHOUTED_SHARE = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """One word where it stands.

    Attributes:
        word: casefolded, with a straight apostrophe.
        is_fixed: something about its place says that it is no ordinary word: digits
            or signs stick to it, it is part of an address or quoted, or it has inner
            capitals.
        is_name_like: capitalised where ordinary words are not.
        opens: first word of the text or of a sentence in it.
    """

    start: int
    end: int
    surface: str
    word: str
    is_fixed: bool
    is_name_like: bool
    opens: bool


def tokens(text: str) -> Iterator[Token]:
    """The words of a text in order.

    >>> [token.word for token in tokens("A cat's toy, 12oz")]
    ['a', "cat's", 'toy', 'oz']
    """
    taboo = [
        match.span() for match in (*_ADDRESS.finditer(text), *_QUOTED.finditer(text))
    ]
    shouted = _is_shouted(text)
    for match in _WORD.finditer(text):
        start, end = match.span()
        surface = match.group()
        opens = (
            start == 0
            or not text[:start].strip()
            or bool(_ENDS_SENTENCE.search(text[:start]))
        )
        yield Token(
            start=start,
            end=end,
            surface=surface,
            word=surface.casefold().replace("\u2019", "'"),
            is_fixed=any(low < end and start < high for low, high in taboo)
            or _is_stuck(text, start, end)
            or (not shouted and _has_inner_capital(surface)),
            is_name_like=surface[0].isupper() and not opens and not shouted,
            opens=opens,
        )


def _is_shouted(text: str) -> bool:
    letters = [character for character in text if character.isalpha()]
    upper = sum(map(str.isupper, letters))
    return upper > _SHOUTED_SHARE * len(letters)


def _is_stuck(text: str, start: int, end: int) -> bool:
    around = text[max(0, start - 1) : start] + text[end : end + 1]
    return any(sign.isdigit() or sign in _STICKS for sign in around)


def _has_inner_capital(surface: str) -> bool:
    return any(map(str.isupper, surface[1:]))
