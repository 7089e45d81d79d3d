"""What a cleaning rule sees: a worker's text, its item, and what to leave alone."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

from piecework.domain.hit import Item
from piecework.postprocess.language.tokens import capitals, folded

_LETTERS = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """One text as a worker wrote it.

    Attributes:
        text_id: unique among the texts cleaned together; for answers, the answer id.
        item_id: texts about the same item know its words from each other.
        protected: words that no rule may change, casefolded (`protected_words`).
        is_canned: it is the page's own sentence, not the worker's; never touched.
        words: its words in order, casefolded; none of a canned text.
    """

    text_id: str
    item_id: str
    text: str
    protected: frozenset[str] = frozenset()
    is_canned: bool = False
    words: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Read the words once; rules ask for them again and again."""
        words = () if self.is_canned else folded(self.text)
        object.__setattr__(self, "words", words)

    @property
    def capitals(self) -> Iterable[str]:
        """Those of its words that have a capital inside it, casefolded."""
        return capitals(self.text)

    def __reduce__(self) -> tuple[Any, ...]:
        """Its fields: what dataclasses pickle by themselves takes twice as long."""
        return _unpickled, tuple(map(self.__getattribute__, _FIELDS))


_FIELDS = tuple(each.name for each in fields(Text))


def _unpickled(*cells: object) -> Text:
    text = object.__new__(Text)
    for name, cell in zip(_FIELDS, cells, strict=True):
        object.__setattr__(text, name, cell)
    return text


def protected_words(item: Item) -> frozenset[str]:
    """The words of everything the requester wrote about an item, casefolded.

    >>> from piecework.domain.ids import ItemId
    >>> item = Item(item_id=ItemId("7"), columns={"label": "Gevalia coffee"})
    >>> sorted(protected_words(item))
    ['coffee', 'gevalia']
    """
    return frozenset(
        word.casefold()
        for value in item.columns.values()
        for word in _LETTERS.findall(value)
    )
