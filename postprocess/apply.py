"""Rules propose, this applies: every change to a worker's words can be taken back.

What a rule is sure of is applied. What it only thinks likely is kept apart, as a
proposal for a person.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import NamedTuple, TypeVar

from domain.edit import Edit
from postprocess.edits import compose, replay, undo
from postprocess.language import candidates, confusions, features, suspects
from postprocess.language.corpus import Corpus, words_by_items
from postprocess.registry import RULES
from postprocess.text import Rule, Text, TextRule, protected_words

__all__ = [
    "Cleaned", "Cleaning", "Text", "clean_and_propose", "clean_text",
    "forget_counts", "forget_texts", "protected_words", "replay", "undo",
]  # fmt: skip

_T = TypeVar("_T")

_MOST_ROUNDS = 50
"""Real texts settle in four to ten; rules that undo each other never would."""

_SELDOM = 100
"""A word written more often than this is judged the same if it is written once less."""


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

    def follow(rule: Rule, near: AbstractSet[str] | None) -> Followed:
        changes = drafts.accept(drafts.propose(rule, corpus, near))
        corpus.replace(*changes)
        return Followed(bool(changes.after), seldom_now(changes.replaced(), corpus))

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
        has_changed: whether any was changed.
        seldom: words that were replaced and are seldom written now: what a rule made of
            the others like them may be another thing now.
    """

    has_changed: bool
    seldom: AbstractSet[str]


def until_settled(
    rules: Sequence[Rule],
    follow: Callable[[Rule, AbstractSet[str] | None], Followed],
) -> None:
    """Have rules follow one another until none has anything left to make.

    A round over all texts is dear, and what it changes makes a rule think anew of few.
    So rounds that look near the changes follow it, until they change nothing. Then all
    texts are looked at again, since each change weighs a little everywhere.

    Args:
        rules: in their order.
        follow: makes the edits of a rule; of the texts where a change or one of some
            words is near, or of all for None (`Drafts.propose`).

    Raises:
        ValueError: they never come to an end.
    """
    latest: deque[Followed] = deque(maxlen=len(rules))
    for _ in range(_MOST_ROUNDS):
        is_of_all = not any(each.has_changed for each in latest)
        for rule in rules:
            words = frozenset(chain.from_iterable(each.seldom for each in latest))
            latest.append(follow(rule, None if is_of_all else words))
        if is_of_all and not any(each.has_changed for each in latest):
            return
    names = ", ".join(rule.NAME for rule in rules)
    raise ValueError(f"these rules keep changing each other's work: {names}")


class Changes(NamedTuple):
    """Texts before and after a rule was followed.

    Attributes:
        items: about how many items more a word is written now, by word.
    """

    before: Sequence[Text]
    after: Sequence[Text]
    items: Mapping[str, int]

    def replaced(self) -> AbstractSet[str]:
        """The words that a text holds less often than before it was changed."""
        pairs = zip(self.before, self.after, strict=True)
        return {word for b, a in pairs for word in Counter(b.words) - Counter(a.words)}


def seldom_now(words: AbstractSet[str], corpus: Corpus) -> AbstractSet[str]:
    """Those of some words that a campaign has seldom or no longer."""
    written = zip(words, corpus.counts[corpus.numbers([*words])].tolist(), strict=True)
    return frozenset(word for word, times in written if times <= _SELDOM)


@dataclass(slots=True)
class Made:
    """What rules have made of texts so far; small where they changed few.

    Attributes:
        edits: from the original to the draft, by text id; absent where they are equal
            and always were.
        drafts: the texts as they are now, of those that were changed.
        unsure: by rule, the edits that it was not sure of when it last looked.
        unseen: by rule, the texts changed since it looked.
    """

    edits: dict[str, tuple[Edit, ...]] = field(default_factory=dict)
    drafts: dict[str, Text] = field(default_factory=dict)
    unsure: dict[str, dict[str, Sequence[Edit]]] = field(default_factory=dict)
    unseen: dict[str, dict[str, None]] = field(default_factory=dict)

    def add(self, other: "Made") -> None:
        """Take in what the same rules made of other texts."""
        self.edits |= other.edits
        self.drafts |= other.drafts
        for rule, unsure in other.unsure.items():
            self.unsure.setdefault(rule, {}).update(unsure)
        for rule, unseen in other.unseen.items():
            self.unseen.setdefault(rule, {}).update(unseen)

    def of(self, text_ids: AbstractSet[str]) -> "Made":
        """What was made of some of the texts."""

        def own(of_text: Mapping[str, _T]) -> dict[str, _T]:
            return {one: of_text[one] for one in of_text if one in text_ids}

        return Made(
            edits=own(self.edits),
            drafts=own(self.drafts),
            unsure={rule: own(of_text) for rule, of_text in self.unsure.items()},
            unseen={rule: own(of_text) for rule, of_text in self.unseen.items()},
        )


class Drafts:
    """Texts as the rules have left them so far: all there are about their items.

    Attributes:
        made: what the rules made of them.
    """

    def __init__(self, texts: Iterable[Text], made: Made | None = None) -> None:
        """Texts, and what was made of them so far."""
        self._originals = {text.text_id: text for text in texts}
        self.made = made or Made()

    @property
    def edits(self) -> Mapping[str, tuple[Edit, ...]]:
        """From the original to the draft, by text id; absent where nothing changed."""
        return self.made.edits

    def texts(self) -> tuple[Text, ...]:
        """The texts as they are now."""
        return tuple(map(self._draft, self._originals))

    def propose(
        self, rule: Rule, corpus: Corpus, near: AbstractSet[str] | None = None
    ) -> Mapping[str, Sequence[Edit]]:
        """The edits of the drafts that a rule is sure of, by text id.

        Args:
            rule: of `postprocess.registry`.
            corpus: the counts of all drafts of the campaign.
            near: look only at items of which a text holds one of these words, or was
                changed since the rule last looked; at all for None.
        """
        unseen = self.made.unseen.get(rule.NAME)
        self.made.unseen[rule.NAME] = {}
        if isinstance(rule, TextRule):
            return self._mended(rule, unseen)
        if near is None or unseen is None:
            texts = self.texts()
        else:
            texts = self._near(near, unseen)
        proposed = rule.propose(texts, corpus) if texts else {}
        sure: dict[str, Sequence[Edit]] = {}
        unsure = self.made.unsure.setdefault(rule.NAME, {})
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

    def accept(self, proposed: Mapping[str, Sequence[Edit]]) -> Changes:
        """Apply edits to the drafts, and say what became of them."""
        before = [self._draft(text_id) for text_id in proposed]
        items = {text.item_id for text in before}
        fewer = words_by_items(self._about(items))
        for text_id, edits in proposed.items():
            draft, original = self._draft(text_id), self._originals[text_id].text
            earlier = self.made.edits.get(text_id, ())
            self.made.edits[text_id] = compose(original, earlier, edits)
            self.made.drafts[text_id] = replace(draft, text=replay(draft.text, edits))
        for unseen in self.made.unseen.values():
            unseen.update(dict.fromkeys(proposed))
        more = words_by_items(self._about(items))
        more.subtract(fewer)
        return Changes(
            before=before,
            after=[self._draft(text_id) for text_id in proposed],
            items={word: number for word, number in more.items() if number},
        )

    def proposals(self) -> dict[str, tuple[Edit, ...]]:
        """What rules were not sure of when they last looked, by text id.

        They point into the originals; what lies on an edit is left out.
        """
        found: dict[str, tuple[Edit, ...]] = {}
        for unsure in self.made.unsure.values():
            for text_id, edits in unsure.items():
                made = self.made.edits.get(text_id, ())
                whole = compose(self._originals[text_id].text, made, edits)
                fresh = [each for each in whole if each.rule in self.made.unsure]
                kept = [each for each in fresh if each not in made]
                found[text_id] = tuple(
                    sorted((*found.get(text_id, ()), *kept), key=lambda e: e.start)
                )
        return found

    def _draft(self, text_id: str) -> Text:
        return self.made.drafts.get(text_id) or self._originals[text_id]

    def _near(
        self, words: AbstractSet[str], changed: Mapping[str, None]
    ) -> tuple[Text, ...]:
        """All texts about the items of those that were changed or hold a word."""
        texts = self.texts()
        items = {
            text.item_id
            for text in texts
            if text.text_id in changed or not words.isdisjoint(text.words)
        }
        return tuple(text for text in texts if text.item_id in items)

    def _about(self, items: AbstractSet[str]) -> Iterable[Text]:
        """The texts about some items as they are now."""
        texts = self.texts() if items else ()
        return (text for text in texts if text.item_id in items)

    def _mended(
        self, rule: TextRule, unseen: Iterable[str] | None
    ) -> Mapping[str, Sequence[Edit]]:
        # Of a text that has not changed since, the rule would say the same again.
        drafts = self.texts() if unseen is None else map(self._draft, unseen)
        proposed = ((draft.text_id, rule.mend(draft.text)) for draft in drafts)
        return {text_id: edits for text_id, edits in proposed if edits}
