"""Rules propose, this applies: every change to a worker's words can be taken back.

What a rule is sure of is applied. What it only thinks likely is kept apart, as a
proposal for a person.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from piecework.domain.edit import Edit
from piecework.postprocess.drafts import Drafts
from piecework.postprocess.edits import replay, undo
from piecework.postprocess.language import candidates, confusions, features, suspects
from piecework.postprocess.language.corpus import Corpus
from piecework.postprocess.registry import RULES, Rule
from piecework.postprocess.rule_rounds import (
    Followed,
    Selection,
    rarer_words,
    until_settled,
)
from piecework.postprocess.text import Text, protected_words

__all__ = [
    "Cleaned", "Cleaning", "Text", "clean_and_propose", "clean_text",
    "forget_counts", "forget_texts", "protected_words", "replay", "undo",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A text as cleaning leaves it, and the edits that lead to it.

    Attributes:
        proposals: edits that were not sure enough, pointing into the same original;
            none overlaps an edit.
    """

    text: str
    edits: tuple[Edit, ...]
    proposals: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class Cleaning:
    """What became of a campaign's texts: edits and proposals by text id.

    Attributes:
        edits: an empty tuple where nothing is mended.
        proposals: likewise; see `Cleaned.proposals`.
    """

    edits: dict[str, tuple[Edit, ...]]
    proposals: dict[str, tuple[Edit, ...]]


def clean_text(
    text: str,
    rules: Sequence[Rule] = RULES,
    *,
    protected: frozenset[str] = frozenset(),
) -> Cleaned:
    """One text cleaned by itself, without a campaign's other texts to judge it by.

    Words that are `protected` (casefolded) stay as they are.

    >>> clean_text("a  wooden tabel").text
    'a wooden table'
    >>> for edit in clean_text("a  wooden tabel").edits:
    ...     print(repr(edit.before), "to", repr(edit.after), edit.rule)
    '  ' to ' ' whitespace
    'tabel' to 'table' spelling
    >>> clean_text("Gevalia coffee on a countertop").edits
    ()
    """
    alone = Text(text_id="", item_id="", text=text, protected=protected)
    cleaning = clean_and_propose([alone], rules)
    edits = cleaning.edits[""]
    return Cleaned(replay(text, edits), edits, cleaning.proposals[""])


def clean_and_propose(
    texts: Sequence[Text],
    rules: Sequence[Rule] = RULES,
) -> Cleaning:
    """The edits of every text, and what a person should be asked about.

    Rules follow one another until none has anything left to make, so cleaning what was
    cleaned changes nothing. The order of `texts` does not matter.

    Raises:
        ValueError: a text id occurs twice, or the rules never come to an end.
    """
    if len({text.text_id for text in texts}) < len(texts):
        raise ValueError("a text id occurs twice among the texts to clean")
    drafts = Drafts(text for text in texts if not text.is_canned)
    corpus = Corpus(drafts.texts())

    def follow(rule: Rule, selection: Selection) -> Followed:
        proposed = drafts.propose(rule, corpus, selection)
        changes = drafts.accept(rule, proposed, selection)
        corpus.replace(changes.before, changes.after, changes.items)
        return Followed(
            changes.is_any_left or bool(changes.after),
            rarer_words(changes.replaced(), corpus),
        )

    until_settled(rules, follow)
    ids = [text.text_id for text in texts]
    proposals = drafts.proposals()
    return Cleaning(
        edits={text_id: drafts.edits.get(text_id, ()) for text_id in ids},
        proposals={text_id: proposals.get(text_id, ()) for text_id in ids},
    )


def forget_texts() -> None:
    """Let go of what rules remember of texts, so that they need not look twice.

    What they know of English stays; the corpus, which they also hold, does not.
    """
    forget_counts()
    for module in (features, suspects):
        module.forget_texts()


def forget_counts() -> None:
    """Let go of the corpus that rules looked at last."""
    for module in (candidates, confusions):
        module.forget_texts()
