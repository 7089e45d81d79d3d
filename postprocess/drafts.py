"""Drafts: texts as changed by the rules so far."""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from piecework.domain.edit import Edit
from piecework.postprocess.edits import compose, replay
from piecework.postprocess.language.corpus import Corpus, words_by_items
from piecework.postprocess.registry import Rule, TextRule
from piecework.postprocess.rule_rounds import Selection
from piecework.postprocess.text import Text


class Changes(NamedTuple):
    """Texts before and after a rule ran.

    Attributes:
        items: the change in the approximate number of items with a word, by word.
        is_any_left: whether a text waits to be drawn.
    """

    before: Sequence[Text]
    after: Sequence[Text]
    items: Mapping[str, int]
    is_any_left: bool

    def replaced(self) -> Counter[str]:
        """Return how often each word was removed from a text."""
        counts: Counter[str] = Counter()
        for before, after in zip(self.before, self.after, strict=True):
            counts.update(Counter(before.words) - Counter(after.words))
        return counts


@dataclass(slots=True)
class Made:
    """The rules' changes so far; small if they changed few texts.

    Attributes:
        edits: the edits from the original to the draft, by text id; absent for texts
            that never changed.
        drafts: the current texts of those that were changed.
        unsure: by rule, the edits that it was not sure of when it last ran.
        unseen: by rule, the texts changed since it last ran.
    """

    edits: dict[str, tuple[Edit, ...]] = field(default_factory=dict)
    drafts: dict[str, Text] = field(default_factory=dict)
    unsure: dict[str, dict[str, Sequence[Edit]]] = field(default_factory=dict)
    unseen: dict[str, dict[str, None]] = field(default_factory=dict)

    def add(self, other: "Made") -> None:
        """Add the same rules' changes to other texts."""
        self.edits |= other.edits
        self.drafts |= other.drafts
        for rule, unsure in other.unsure.items():
            self.unsure.setdefault(rule, {}).update(unsure)
        for rule, unseen in other.unseen.items():
            self.unseen.setdefault(rule, {}).update(unseen)

    def dealt(
        self, owners: Mapping[str, int], all_owners: Sequence[int]
    ) -> "dict[int, Made]":
        """Return the changes by owner; `owners` maps a text to its owner."""
        parts = {
            owner: Made(
                unsure={rule: {} for rule in self.unsure},
                unseen={rule: {} for rule in self.unseen},
            )
            for owner in all_owners
        }
        for text_id, edits in self.edits.items():
            parts[owners[text_id]].edits[text_id] = edits
        for text_id, draft in self.drafts.items():
            parts[owners[text_id]].drafts[text_id] = draft
        for rule, unsure in self.unsure.items():
            for text_id, doubtful in unsure.items():
                parts[owners[text_id]].unsure[rule][text_id] = doubtful
        for rule, unseen in self.unseen.items():
            for text_id in unseen:
                parts[owners[text_id]].unseen[rule][text_id] = None
        return parts


class Drafts:
    """Texts as changed by the rules so far: all texts about their items.

    Attributes:
        made: the rules' changes.
    """

    def __init__(self, texts: Iterable[Text], made: Made | None = None) -> None:
        """Start from texts and earlier changes to them."""
        self._originals = {text.text_id: text for text in texts}
        self.made = made or Made()

    @property
    def edits(self) -> Mapping[str, tuple[Edit, ...]]:
        """Return the edits to the draft, by text id; absent if nothing changed."""
        return self.made.edits

    def texts(self) -> tuple[Text, ...]:
        """Return the current texts."""
        return tuple(map(self._draft, self._originals))

    def propose(
        self, rule: Rule, corpus: Corpus, selection: Selection
    ) -> Mapping[str, Sequence[Edit]]:
        """Return the edits of the drafts that a rule is sure of, by text id.

        Args:
            rule: a rule of `piecework.postprocess.registry`.
            corpus: the counts of all drafts of the campaign.
            selection: the drafts to process; the first time, all of them.
        """
        unseen = self.made.unseen.get(rule.NAME)
        self.made.unseen[rule.NAME] = {}
        if isinstance(rule, TextRule):
            return self._mended(rule, unseen)
        unsure = self.made.unsure.setdefault(rule.NAME, {})
        if selection.has_all or unseen is None:
            texts = self.texts()
        else:
            again = unsure if selection.has_unsure else {}
            texts = self._about_those_with(selection.words, {**unseen, **again})
        proposed = rule.propose(texts, corpus) if texts else {}
        sure: dict[str, Sequence[Edit]] = {}
        for text in texts:
            unsure.pop(text.text_id, None)
        for text_id, edits in proposed.items():
            made = [edit for edit in edits if rule.is_sure(edit)]
            doubtful = [edit for edit in edits if not rule.is_sure(edit)]
            if made:
                sure[text_id] = made
            if doubtful:
                unsure[text_id] = doubtful
        return sure

    def accept(
        self, rule: Rule, proposed: Mapping[str, Sequence[Edit]], selection: Selection
    ) -> Changes:
        """Apply the edits of a rule to the drafts, and return the changes."""
        left: list[str] = []
        if selection.draw and not isinstance(rule, TextRule):
            left = [text_id for text_id in proposed if not selection.is_drawn(text_id)]
            self.made.unseen[rule.NAME].update(dict.fromkeys(left))
            proposed = {
                text_id: [max(edits, key=lambda each: each.probability)]
                for text_id, edits in proposed.items()
                if text_id not in self.made.unseen[rule.NAME]
            }
        if not proposed:
            return Changes(before=(), after=(), items={}, is_any_left=bool(left))
        before = [self._draft(text_id) for text_id in proposed]
        items = {text.item_id for text in before}
        about = [each for each in self.texts() if each.item_id in items]
        fewer = words_by_items(about)
        for text_id, edits in proposed.items():
            draft, original = self._draft(text_id), self._originals[text_id].text
            earlier = self.made.edits.get(text_id, ())
            self.made.edits[text_id] = compose(original, earlier, edits)
            self.made.drafts[text_id] = replace(draft, text=replay(draft.text, edits))
        for unseen in self.made.unseen.values():
            unseen.update(dict.fromkeys(proposed))
        more = words_by_items(self._draft(each.text_id) for each in about)
        more.subtract(fewer)
        return Changes(
            before=before,
            after=[self._draft(text_id) for text_id in proposed],
            items={word: number for word, number in more.items() if number},
            is_any_left=bool(left),
        )

    def proposals(self) -> dict[str, tuple[Edit, ...]]:
        """Return the edits that rules were not sure of when they last ran, by text id.

        Their positions are in the originals; those that overlap an edit are left out.
        """
        by_text: dict[str, tuple[Edit, ...]] = {}
        for unsure in self.made.unsure.values():
            for text_id, edits in unsure.items():
                made = self.made.edits.get(text_id, ())
                whole = compose(self._originals[text_id].text, made, edits)
                fresh = [each for each in whole if each.rule in self.made.unsure]
                kept = [each for each in fresh if each not in made]
                by_text[text_id] = tuple(
                    sorted((*by_text.get(text_id, ()), *kept), key=lambda e: e.start)
                )
        return by_text

    def new_words(self, text_id: str) -> AbstractSet[str]:
        """Return the words of a draft that its original lacks."""
        original = self._originals[text_id]
        return set(self._draft(text_id).words).difference(original.words)

    def _draft(self, text_id: str) -> Text:
        return self.made.drafts.get(text_id) or self._originals[text_id]

    def _about_those_with(
        self, words: AbstractSet[str], text_ids: Container[str]
    ) -> tuple[Text, ...]:
        """Return all texts about the items of some texts or some words."""
        texts = self.texts()
        items = {
            text.item_id
            for text in texts
            if text.text_id in text_ids or not words.isdisjoint(text.words)
        }
        return tuple(text for text in texts if text.item_id in items)

    def _mended(
        self, rule: TextRule, unseen: Iterable[str] | None
    ) -> Mapping[str, Sequence[Edit]]:
        # For a text that has not changed since, the rule's result would be the same.
        drafts = self.texts() if unseen is None else map(self._draft, unseen)
        proposed = ((draft.text_id, rule.mend(draft.text)) for draft in drafts)
        return {text_id: edits for text_id, edits in proposed if edits}
