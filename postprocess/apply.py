"""Apply the edits that rules propose; every change to a worker's text can be undone.

Edits that a rule is sure of are applied. Edits that are only likely are kept
separately, as proposals for a person.
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
    """A cleaned text, and the edits that lead to it.

    Attributes:
        text: the cleaned text.
        edits: the edits that were made, ordered by `start`.
        proposals: edits that were not sure enough, with positions in the same original;
            none overlaps an edit.
    """

    text: str
    edits: tuple[Edit, ...]
    proposals: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class Cleaning:
    """The result of cleaning a campaign's texts: edits and proposals by text id.

    Attributes:
        edits: an empty tuple if nothing is corrected.
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
    """Clean a single text, without the campaign's other texts to compare it with.

    Words in `protected` (casefolded) are not changed.

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
    """Return the edits of every text, and the proposals for a person.

    Rules run one after the other until none has an edit left, so cleaning cleaned texts
    changes nothing. The order of `texts` does not matter.

    Raises:
        ValueError: a text id occurs twice, or the rules never finish.
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
    """Clear what rules cache about texts.

    Their knowledge of English stays; the corpus, which they also cache, does not.
    """
    forget_counts()
    for module in (features, suspects):
        module.forget_texts()


def forget_counts() -> None:
    """Clear the last corpus that rules cache."""
    for module in (candidates, confusions):
        module.forget_texts()
