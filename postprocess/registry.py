"""The cleaning rules, in the order they follow one another; this is the whole list.

A rule looks at one text alone, or judges it among the others of its campaign (a word
that workers wrote about many items is no typo); its type says which.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from piecework.domain.edit import Edit
from piecework.postprocess.language.corpus import Corpus
from piecework.postprocess.rules import real_words, spelling, whitespace
from piecework.postprocess.text import Text


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
        self, texts: Sequence[Text], corpus: Corpus
    ) -> Mapping[str, Sequence[Edit]]:
        """Edits by text id, each pointing into that text; texts without are absent.

        Pure; the order of `texts` carries no meaning.

        Args:
            texts: all that there are about each of their items.
            corpus: the counts of all texts of the campaign, these included.
        """
        ...


Rule = TextRule | CorpusRule

RULES: tuple[Rule, ...] = (whitespace, spelling, real_words)
