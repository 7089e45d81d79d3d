"""The input of a cleaning rule: a worker's text, its item and protected words."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

from piecework.domain.hit import Item
from piecework.postprocess.language.tokens import capitals, folded

_LETTERS = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text as a worker wrote it.

    Attributes:
        text_id: unique among the texts cleaned together; for answers, the answer id.
        item_id: texts about the same item share its words.
        protected: words that no rule may change, casefolded (`protected_words`).
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
    """Return the words of everything the requester wrote about an item, casefolded.

    >>> from piecework.domain.ids import ItemId
    >>> item = Item(item_id=ItemId("7"), columns={"label": "Gevalia coffee"})
    >>> sorted(protected_words(item))
    ['coffee', 'gevalia']
    """
    return frozenset(
        word.casefold() for value in item.columns.values() for word in _LETTERS.findall(value)
    )
