"""A text that is cleaned, split into words with positions, and what no rule may change."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from itertools import pairwise
from sys import intern
from typing import Any

from piecework.domain.hit import Item

# A letter may be written as one without its accent and a mark after it.
_MARKS = "".join(
    sign for sign in map(chr, range(0x300, 0x10000)) if unicodedata.category(sign)[0] == "M"
)
_LETTERS = re.compile(rf"[^\W\d_]+(?:[{_MARKS}][^\W\d_]*)*")
_WORD = re.compile(rf"{_LETTERS.pattern}(?:['\u2019]{_LETTERS.pattern})*")
_ASCII_WORD = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)*")
_PLAIN_WORD = re.compile(r"[a-z]+(?:'[a-z]+)*")
_PLAIN_CAPITAL = re.compile(r"(?!\A)(?<![A-Za-z])(?<![A-Za-z]')[A-Z][A-Za-z]*(?:'[A-Za-z]+)*")
_RUN = re.compile(r"\S+")
_ADDRESS = re.compile(r"://|@|www\.|(?!\A)\.(?:com|org|net|edu|gov|io|co|uk)\b", re.IGNORECASE)
_MAY_BE_TABOO = re.compile(r"[\"'\u2018\u201c\-@#~/\\]|\.\w|[Ww]\.")
_MARKED = re.compile(r"[#~/\\]\S+")
# Opening characters are not searched for inside: otherwise a text with many unclosed
# ones would be scanned to the end for each.
_QUOTED = re.compile(
    r"\"[^\"]*\"|\u201c[^\u201c\u201d]*\u201d"
    rf"|(?<![\w{_MARKS}])['\u2018][^'\u2019]+['\u2019](?!\w)"
)
# Only beginnings of words are tried: otherwise a long word without a hyphen would be
# scanned to its end from each letter.
_HYPHENED = re.compile(rf"(?<![^\W\d_])(?<![{_MARKS}]){_LETTERS.pattern}(?:-{_LETTERS.pattern})+")
_INFLECTION = re.compile(r"(?<=\w{3})(?:ings?|ed|e?s|er|y)+\Z")
_DOUBLED = re.compile(r"([^\Waeiou\d_])\1\Z")
_ONSET = re.compile(r"\A[^aeiouy]*")
_VOWELS = re.compile(r"[aeiouy]+")
# The last two are invisible, and join the letters beside them in some scripts.
_SIGNS = frozenset("_@#$%&*+=<>^~/\\|\u200c\u200d")
_ENDS_SENTENCE = frozenset(".!?:")
_SHOUTED_SHARE = 0.6
_SHORTEST_ECHO = 3
_REMEMBERED = 16


@dataclass(frozen=True, slots=True)
class Word:
    """A word at its position; `word` is as rules compare it (`key_of`)."""

    start: int
    end: int
    word: str
    is_capital: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What the context of a word says about it.

    Attributes:
        is_fixed: it is not an ordinary word: it has attached digits or signs, is quoted
            or part of an address or an echo (`tick-tocking`), or has inner capitals.
        is_shouted: the whole text is in capitals, so names cannot be told from words.
        is_name_like: it is capitalised where ordinary words are not.
        is_hyphened: a hyphen joins it to another word.
    """

    is_fixed: bool
    is_shouted: bool
    is_name_like: bool
    is_hyphened: bool


def words(text: str) -> list[Word]:
    """Return the words of a text in order.

    >>> [word.word for word in words("A cat's toy, 12oz")]
    ['a', "cat's", 'toy', 'oz']
    """
    return [*map(_word, _matches(text))]


def words_at(text: str, numbers: Sequence[int]) -> list[Word]:
    """Return some of the `words` of a text, by their numbers in ascending order.

    >>> [word.word for word in words_at("A cat's toy, 12oz", [1, 3])]
    ["cat's", 'oz']
    """
    wanted = frozenset(numbers)
    matches = enumerate(_matches(text)) if wanted else ()
    return [_word(match) for number, match in matches if number in wanted]


def _matches(text: str) -> Iterator[re.Match[str]]:
    return (_ASCII_WORD if text.isascii() else _WORD).finditer(text)


def _word(match: re.Match[str]) -> Word:
    surface = match.group()
    return Word(
        start=match.start(),
        end=match.end(),
        word=key_of(surface),
        is_capital=surface[0].isupper(),
    )


def key_of(surface: str) -> str:
    """Return a word as rules compare it: casefolded, composed, with straight apostrophes.

    >>> key_of("Kohl\u2019s")
    "kohl's"
    """
    return unicodedata.normalize("NFC", surface.casefold().replace("\u2019", "'"))


def folded(text: str) -> tuple[str, ...]:
    """Return the casefolded words of a text in order; faster than `words`.

    Equal words are one object, so that many texts need little memory.

    >>> folded("A cat's toy, 12oz")
    ('a', "cat's", 'toy', 'oz')
    """
    if text.isascii():
        return tuple(map(intern, _PLAIN_WORD.findall(text.lower())))
    return tuple(intern(word.word) for word in words(text))


def capitals(text: str) -> list[str]:
    """Return the words with a capital that do not begin the text, casefolded.

    >>> capitals("A can of Coke")
    ['coke']
    """
    if text[1:].islower():
        return []
    if text.isascii():
        return [word.lower() for word in _PLAIN_CAPITAL.findall(text)]
    return [word.word for word in words(text) if word.start and word.is_capital]


def place(text: str, word: Word) -> Place:
    """Return the context of a word in `text`."""
    surface = text[word.start : word.end]
    before, after = text[: word.start], text[word.end :]
    around = before[-1:] + after[:1]
    first = not before.strip("\"'([ ") or _ends_sentence(before)
    is_shouted = word.is_capital and _is_shouted(text)
    return Place(
        is_fixed=any(sign.isdigit() or sign in _SIGNS for sign in around)
        or (any(map(str.isupper, surface[1:])) and not is_shouted)
        or any(low < word.end and word.start < high for low, high in _taboo(text)),
        is_shouted=is_shouted,
        is_name_like=word.is_capital and not first and not is_shouted,
        is_hyphened="-" in around,
    )


def _ends_sentence(before: str) -> bool:
    """Return whether a sentence ends after the last word of a text."""
    for sign in reversed(before):
        if sign in _ENDS_SENTENCE:
            return True
        if sign == "_" or sign.isalnum():
            return False
    return False


@lru_cache(maxsize=_REMEMBERED)
def _taboo(text: str) -> Sequence[tuple[int, int]]:
    """Return the ranges of a text that are addresses, paths, marks, quotes or echoes."""
    if not _MAY_BE_TABOO.search(text):
        return []
    spans = [match.span() for match in _QUOTED.finditer(text)]
    spans += [match.span() for match in _HYPHENED.finditer(text) if is_echo(match.group())]
    for chunk in _RUN.finditer(text):
        if _ADDRESS.search(chunk.group()):
            spans.append(chunk.span())
        elif marked := _MARKED.search(chunk.group()):
            spans.append((chunk.start() + marked.start(), chunk.end()))
    return spans


def is_echo(hyphened: str) -> bool:
    """Return whether a part of a hyphenated word repeats the part before it, as sounds do.

    The parts are equal but for an ending, or for their vowels, or for how they begin.
    No list has such words, and the likeliest word for one part would break the pair.

    >>> [is_echo(word) for word in ("tick-tocking", "choo-choo", "walkie-talkie", "well-lit")]
    [True, True, True, False]
    """
    stems = [_stem(part) for part in key_of(hyphened).split("-")]
    return any(_is_echo(before, stem) for before, stem in pairwise(stems))


def _stem(part: str) -> str:
    return _DOUBLED.sub(r"\1", _INFLECTION.sub("", part))


def _is_echo(before: str, stem: str) -> bool:
    if min(len(before), len(stem)) < _SHORTEST_ECHO:
        return False
    if _VOWELS.sub(".", before) == _VOWELS.sub(".", stem):
        return True
    rhyme = _ONSET.sub("", before)
    return len(rhyme) >= _SHORTEST_ECHO and rhyme == _ONSET.sub("", stem)


def _is_shouted(text: str) -> bool:
    letters = [sign for sign in text if sign.isalpha()]
    return sum(map(str.isupper, letters)) > _SHOUTED_SHARE * len(letters)


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text as a worker wrote it.

    Attributes:
        text_id: unique among the texts cleaned together; for answers, the answer id.
        item_id: texts about the same item share its words.
        protected: words that no rule may change, by `key_of` (`protected_words`).
        is_canned: whether it is the page's own sentence, which is never edited.
        words: its words in order, casefolded; empty for a canned text.
    """

    text_id: str
    item_id: str
    text: str
    protected: frozenset[str] = frozenset()
    is_canned: bool = False
    words: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Split the text into words once, as rules use them repeatedly."""
        words = () if self.is_canned else folded(self.text)
        object.__setattr__(self, "words", words)

    @property
    def capitals(self) -> Iterable[str]:
        """Return its words with a capital that do not begin the text, casefolded."""
        return capitals(self.text)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the fields; the default of dataclasses takes twice as long."""
        return _unpickled, tuple(map(self.__getattribute__, _FIELDS))


_FIELDS = tuple(each.name for each in fields(Text))


def _unpickled(*cells: object) -> Text:
    text = object.__new__(Text)
    for name, cell in zip(_FIELDS, cells, strict=True):
        object.__setattr__(text, name, cell)
    return text


def protected_words(item: Item) -> frozenset[str]:
    """Return the words of everything the requester wrote about an item, by `key_of`.

    The parts of a word beside its apostrophe are words, too.

    >>> from piecework.domain.ids import ItemId
    >>> item = Item(item_id=ItemId("7"), columns={"label": "Gevalia coffee"})
    >>> sorted(protected_words(item))
    ['coffee', 'gevalia']
    """
    return frozenset(
        intern(key_of(word))
        for value in item.columns.values()
        for pattern in (_WORD, _LETTERS)
        for word in pattern.findall(value)
    )
