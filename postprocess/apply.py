"""Rules propose, this applies: every change to a worker's words can be taken back.

What a rule is sure of is applied. What it only thinks likely is kept apart, as a
proposal for a person.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from piecework.domain.edit import Edit
from piecework.postprocess.drafts import Drafts, Look, Width
from piecework.postprocess.edits import replay, undo
from piecework.postprocess.language import candidates, confusions, features, suspects
from piecework.postprocess.language.corpus import Corpus
from piecework.postprocess.registry import RULES
from piecework.postprocess.text import Rule, Text, protected_words

__all__ = [
    "Cleaned", "Cleaning", "Text", "clean_and_propose", "clean_text",
    "forget_counts", "forget_texts", "protected_words", "replay", "undo",
]  # fmt: skip

_MOST_ROUNDS = 1_000
"""Real texts settle in some ten, a million in twenty, ten million in seventy, of which
most look at few texts; rules that undo each other never would."""

_TOGETHER = 8
"""Rounds near the changes in which all texts are mended at once; in those that follow
they take turns."""

_FELT = 100
"""Where less than one in so many of a word was replaced, the others are judged the
same."""


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


def clean_text(text: str, rules: Sequence[Rule] = RULES) -> Cleaned:
    """One text cleaned by itself, without a campaign's other texts to judge it by.

    >>> clean_text("a  wooden tabel").text
    'a wooden table'
    >>> for edit in clean_text("a  wooden tabel").edits:
    ...     print(repr(edit.before), "to", repr(edit.after), edit.rule)
    '  ' to ' ' whitespace
    'tabel' to 'table' spelling
    >>> clean_text("Gevalia coffee on a countertop").edits
    ()
    """
    cleaning = clean_and_propose([Text(text_id="", item_id="", text=text)], rules)
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

    def follow(rule: Rule, look: Look) -> Followed:
        proposed = drafts.propose(rule, corpus, look)
        changes = drafts.accept(rule, proposed, look)
        corpus.replace(changes.before, changes.after, changes.items)
        return Followed(
            changes.is_any_left or bool(changes.after),
            rarer_now(changes.replaced(), corpus),
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


class Followed(NamedTuple):
    """What following a rule did to the texts.

    Attributes:
        has_changed: whether any was changed, or waits for its turn to be.
        rarer: words of which so many were replaced that what a rule made of the others
            like them may be another thing now.
    """

    has_changed: bool
    rarer: AbstractSet[str]


def until_settled(
    rules: Sequence[Rule], follow: Callable[[Rule, Look], Followed]
) -> None:
    """Have rules follow one another until none has anything left to make.

    A round over all texts is dear, and what it changes makes a rule think anew of few.
    So rounds that look near the changes follow it. When they change nothing, the next
    looks wider, and at last at all texts again, since each change weighs a little
    everywhere.

    Two texts may each be mended into what the other was, and back in the next round,
    for ever. So after some rounds near the changes texts take turns.

    Args:
        rules: in their order.
        follow: makes the edits of a rule, of the texts that it looks at.

    Raises:
        ValueError: they never come to an end.
    """
    latest: deque[Followed] = deque(maxlen=len(rules))
    width, near = Width.ALL, 0
    for _ in range(_MOST_ROUNDS):
        half = max(0, near - _TOGETHER)
        for rule in rules:
            words = frozenset(chain.from_iterable(each.rarer for each in latest))
            latest.append(follow(rule, Look(width, words, half)))
        if any(each.has_changed for each in latest):
            width, near = Width.NEAR, near + 1
        elif width is Width.ALL:
            return
        else:
            width, near = Width(width + 1), 0
    names = ", ".join(rule.NAME for rule in rules)
    raise ValueError(f"these rules keep changing each other's work: {names}")


def rarer_now(replaced: Mapping[str, int], corpus: Corpus) -> AbstractSet[str]:
    """The words that are felt to be written less, of those that were replaced so often.

    Args:
        replaced: how often, by word.
        corpus: the counts after that.
    """
    written = corpus.counts[corpus.numbers([*replaced])].tolist()
    both = zip(replaced.items(), written, strict=True)
    return frozenset(word for (word, n), now in both if now <= _FELT * n)
