"""Apply the edits that rules propose; every change to a worker's text can be undone.

Rules judge what workers wrote. All words are counted before the first edit, and every
rule looks at each text once, so an edit never becomes evidence for another. Edits that
a rule is sure of are applied. Edits that are only likely are kept separately, as
proposals for a person.

`RULES` is the complete list, in the order in which they run. A rule looks at each text
separately, or compares it with the others of its campaign (a word that workers wrote
about many items is not a typo), depending on its type.
"""

from bisect import bisect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import wordfreq

from piecework.domain.edit import Edit
from piecework.postprocess.edits import compose, replay, undo
from piecework.postprocess.language import (
    candidates,
    channel,
    confusions,
    features,
    lexicon,
    tokens,
)
from piecework.postprocess.language.corpus import Corpus
from piecework.postprocess.language.tokens import Text, protected_words
from piecework.postprocess.rules import real_words, spelling, whitespace, windows_signs

__all__ = [
    "Cleaned",
    "Cleaning",
    "Text",
    "Tidied",
    "clean_and_propose",
    "clean_text",
    "forget_counts",
    "forget_language",
    "forget_texts",
    "judged",
    "protected_words",
    "replay",
    "tidied",
    "undo",
]


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

    def least_sure(self, corpus: Corpus) -> float:
        """Return the lowest probability of an edit that is made without asking a person."""
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
    text: str, rules: Sequence[Rule] = RULES, *, protected: frozenset[str] = frozenset()
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


def clean_and_propose(texts: Sequence[Text], rules: Sequence[Rule] = RULES) -> Cleaning:
    """Return the edits of every text, and the proposals for a person.

    The order of `texts` does not matter. Cleaning cleaned texts may change more,
    because they are other texts with other counts.

    Raises:
        ValueError: a text id occurs twice.
    """
    if len({text.text_id for text in texts}) < len(texts):
        raise ValueError("a text id occurs twice among the texts to clean")
    tidy = tidied((text for text in texts if not text.is_canned), rules)
    cleaning = judged(tidy, Corpus(tidy.texts), rules)
    ids = [text.text_id for text in texts]
    return Cleaning(
        edits={text_id: cleaning.edits.get(text_id, ()) for text_id in ids},
        proposals={text_id: cleaning.proposals.get(text_id, ()) for text_id in ids},
    )


@dataclass(frozen=True, slots=True)
class Tidied:
    """Texts after the rules that need no other text.

    Attributes:
        texts: what the other rules count and judge.
        changes: by text id, the text as the worker wrote it, and the edits from there to the
            one in `texts`; texts without edits are absent.
    """

    texts: list[Text]
    changes: dict[str, tuple[str, tuple[Edit, ...]]]


def tidied(texts: Iterable[Text], rules: Sequence[Rule] = RULES) -> Tidied:
    """Follow the rules that need no other text, in each text."""
    # Whether a module follows a protocol takes as long to find out as cleaning a text.
    text_rules = [rule for rule in rules if isinstance(rule, TextRule)]
    tidy = Tidied([], {})
    for text in texts:
        draft, edits = text, tuple[Edit, ...]()
        for rule in text_rules:
            if new := rule.mend(draft.text):
                edits = compose(text.text, edits, new)
                draft = replace(draft, text=replay(draft.text, new))
        tidy.texts.append(draft)
        if draft is not text:
            tidy.changes[text.text_id] = (text.text, edits)
    return tidy


def judged(tidy: Tidied, corpus: Corpus, rules: Sequence[Rule] = RULES) -> Cleaning:
    """Let all rules judge texts; texts without edits are absent from the result.

    Args:
        tidy: all texts about each of their items.
        corpus: the counts of these texts, and of all others of the campaign.
        rules: where two want to change the same words, the first one is followed.
    """
    sure: dict[str, list[Edit]] = {}
    unsure: dict[str, list[Edit]] = {}
    judges = [rule for rule in rules if isinstance(rule, CorpusRule)]
    for rule in judges:
        least = rule.least_sure(corpus)
        for text_id, edits in rule.propose(tidy.texts, corpus).items():
            for edit in edits:
                into = sure if edit.probability >= least else unsure
                into.setdefault(text_id, []).append(edit)
    names = {rule.NAME for rule in judges}
    all_edits: dict[str, tuple[Edit, ...]] = {}
    proposals: dict[str, tuple[Edit, ...]] = {}
    for text in tidy.texts:
        text_id = text.text_id
        if not (text_id in tidy.changes or text_id in sure or text_id in unsure):
            continue
        original, early = tidy.changes.get(text_id, (text.text, ()))
        made = _apart(sure.get(text_id, ()), ())
        if edits := compose(original, early, made):
            all_edits[text_id] = edits
        likely = _apart(unsure.get(text_id, ()), made)
        whole = compose(original, early, likely)
        if proposed := tuple(edit for edit in whole if edit.rule in names):
            proposals[text_id] = proposed
    return Cleaning(edits=all_edits, proposals=proposals)


def _apart(edits: Iterable[Edit], others: Sequence[Edit]) -> tuple[Edit, ...]:
    """Return the edits, in order, that overlap no other and no earlier one."""
    kept: list[Edit] = []
    taken = sorted((other.start, other.end) for other in others)
    for edit in edits:
        place = (edit.start, edit.end)
        at = bisect(taken, place)
        is_after = at == 0 or taken[at - 1][1] <= edit.start
        if is_after and (at == len(taken) or edit.end <= taken[at][0]):
            taken.insert(at, place)
            kept.append(edit)
    return tuple(sorted(kept, key=lambda edit: edit.start))


def forget_texts() -> None:
    """Clear what rules cache about texts.

    Their knowledge of English stays; the corpus, which they also cache, does not.
    """
    forget_counts()
    features.forget_texts()


def forget_language() -> None:
    """Clear all that rules cache: about texts and words, and their knowledge of English.

    That is 200 MiB or so. The next cleaning reads it again, which takes some seconds.
    """
    forget_texts()
    for module in (tokens, lexicon, channel, candidates, confusions, features, wordfreq):
        for cached in vars(module).values():
            if callable(clear := getattr(cached, "cache_clear", None)):
                clear()


def forget_counts() -> None:
    """Clear the last corpus that rules cache."""
    for module in (candidates, confusions):
        module.forget_texts()
