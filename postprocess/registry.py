"""The complete list of cleaning rules, in the order in which they run.

A rule looks at each text separately, or compares it with the others of its campaign (a
word that workers wrote about many items is not a typo), depending on its type.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from piecework.domain.edit import Edit
from piecework.postprocess.language.corpus import Corpus
from piecework.postprocess.rules import real_words, spelling, whitespace, windows_signs
from piecework.postprocess.text import Text


@runtime_checkable
class TextRule(Protocol):
    """A rule that needs only the text.

    The modules in `piecework.postprocess.rules` are rules.

    Attributes:
        NAME: the rule's name in its edits.
        VERSION: increased whenever the same texts may get different edits.
    """

    NAME: str
    VERSION: int

    def mend(self, text: str) -> Sequence[Edit]:
        """Return edits of the text, in order; empty if nothing is wrong."""
        ...


@runtime_checkable
class CorpusRule(Protocol):
    """A rule that compares a text with all texts of the campaign."""

    NAME: str
    VERSION: int

    def is_sure(self, edit: Edit) -> bool:
        """Return whether an edit is made without asking a person."""
        ...

    def propose(self, texts: Sequence[Text], corpus: Corpus) -> Mapping[str, Sequence[Edit]]:
        """Return edits by text id, with positions in that text.

        Pure; the order of `texts` has no effect.

        Args:
            texts: all texts about each of their items.
            corpus: the counts of all texts of the campaign, including these.
        """
        ...


Rule = TextRule | CorpusRule

RULES: tuple[Rule, ...] = (windows_signs, whitespace, spelling, real_words)
