"""What a cleaning rule sees: a worker's text, whose it is about, what to leave alone.

A rule looks at one text alone, or judges it among the others of its campaign (a word
that workers wrote about many items is no typo); its type says which.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from piecework.domain.edit import Edit
from piecework.domain.hit import Item
from piecework.postprocess.language.tokens import capitals, folded

if TYPE_CHECKING:  # it counts texts
    from piecework.postprocess.language.corpus import Corpus

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


@runtime_checkable
class TextRule(Protocol):
    """A rule that needs nothing but the text.

    The modules in `piecework.postprocess.rules` are rules.

    Attributes:
        NAME: what its edits are signed with.
        VERSION: one more whenever the same texts may get other edits.
    """

    NAME: str
    VERSION: int

    def mend(self, text: str) -> Sequence[Edit]:
        """Edits that point into the text, in order; empty where nothing is wrong."""
        ...


@runtime_checkable
class CorpusRule(Protocol):
    """A rule that judges a text by what all texts of the campaign say together."""

    NAME: str
    VERSION: int

    def is_sure(self, edit: Edit) -> bool:
        """Whether an edit of the rule is made; of others a person is asked."""
        ...

    def propose(
        self, texts: Sequence[Text], corpus: "Corpus"
    ) -> Mapping[str, Sequence[Edit]]:
        """Edits by text id, each pointing into that text; texts without are absent.

        Pure; the order of `texts` carries no meaning.

        Args:
            texts: all that there are about each of their items.
            corpus: the counts of all texts of the campaign, these included.
        """
        ...


Rule = TextRule | CorpusRule


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
