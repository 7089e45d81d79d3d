"""Rules propose, this applies: every change to a worker's words can be taken back.

What a rule is sure of is applied. What it only thinks likely is kept apart, as a
proposal for a person.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from domain.edit import Edit
from postprocess.edits import compose, replay, undo
from postprocess.language import candidates, confusions, features, suspects
from postprocess.language.corpus import Corpus
from postprocess.registry import RULES
from postprocess.text import Rule, Text, TextRule, protected_words

__all__ = [
    "Cleaned", "Cleaning", "Text", "clean_and_propose", "clean_text",
    "forget_texts", "protected_words", "replay", "undo",
]  # fmt: skip

_MOST_PASSES = 50
"""Real texts settle in two or three; rules that undo each other never would."""


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

    def follow(rule: Rule) -> bool:
        before, after = drafts.accept(drafts.propose(rule, corpus))
        corpus.replace(before, after)
        return bool(after)

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
    for module in (candidates, confusions, features, suspects):
        module.forget_texts()


def until_settled(rules: Sequence[Rule], follow: Callable[[Rule], bool]) -> None:
    """Have rules follow one another until none has anything left to make.

    Args:
        rules: in their order.
        follow: makes the edits of a rule, and says whether there were any.

    Raises:
        ValueError: they never come to an end.
    """
    waiting = list(rules)
    for step in range(_MOST_PASSES * len(rules)):
        rule = rules[step % len(rules)]
        if follow(rule):
            waiting = list(rules)
        else:
            waiting.remove(rule)
        if not waiting:
            return
    names = ", ".join(rule.NAME for rule in rules)
    raise ValueError(f"these rules keep changing each other's work: {names}")


@dataclass(slots=True)
class Made:
    """What rules have made of texts so far; small where they changed few.

    Attributes:
        edits: from the original to the draft, by text id; absent where they are equal
            and always were.
        drafts: the texts as they are now, of those that were changed.
        unsure: by rule, the edits that it was not sure of when it last looked.
        unseen: by rule that looks at one text alone, those changed since it looked.
    """

    edits: dict[str, tuple[Edit, ...]] = field(default_factory=dict)
    drafts: dict[str, Text] = field(default_factory=dict)
    unsure: dict[str, dict[str, Sequence[Edit]]] = field(default_factory=dict)
    unseen: dict[str, dict[str, None]] = field(default_factory=dict)


class Drafts:
    """Texts as the rules have left them so far: all there are about their items.

    Attributes:
        made: what the rules made of them.
    """

    def __init__(self, texts: Iterable[Text], made: Made | None = None) -> None:
        """Texts, asked for when they are needed, and what was made of them."""
        self._texts = texts
        self.made = made or Made()

    @cached_property
    def _originals(self) -> Mapping[str, Text]:
        return {text.text_id: text for text in self._texts}

    @property
    def edits(self) -> Mapping[str, tuple[Edit, ...]]:
        """From the original to the draft, by text id; absent where nothing changed."""
        return self.made.edits

    def texts(self) -> tuple[Text, ...]:
        """The texts as they are now."""
        return tuple(map(self._draft, self._originals))

    def propose(self, rule: Rule, corpus: Corpus) -> Mapping[str, Sequence[Edit]]:
        """The edits of the drafts that a rule is sure of, by text id.

        Args:
            rule: of `postprocess.registry`.
            corpus: the counts of all drafts of the campaign.
        """
        if isinstance(rule, TextRule):
            return self._mended(rule)
        proposed = rule.propose(self.texts(), corpus)
        sure: dict[str, Sequence[Edit]] = {}
        unsure = self.made.unsure[rule.NAME] = {}
        for text_id, edits in proposed.items():
            made = [edit for edit in edits if rule.is_sure(edit)]
            doubtful = [edit for edit in edits if not rule.is_sure(edit)]
            if made:
                sure[text_id] = made
            if doubtful:
                unsure[text_id] = doubtful
        return sure

    def accept(
        self, proposed: Mapping[str, Sequence[Edit]]
    ) -> tuple[list[Text], list[Text]]:
        """Apply edits to the drafts; those that changed, before and after."""
        before = [self._draft(text_id) for text_id in proposed]
        for text_id, edits in proposed.items():
            draft, original = self._draft(text_id), self._originals[text_id].text
            earlier = self.made.edits.get(text_id, ())
            self.made.edits[text_id] = compose(original, earlier, edits)
            self.made.drafts[text_id] = replace(draft, text=replay(draft.text, edits))
        for unseen in self.made.unseen.values():
            unseen.update(dict.fromkeys(proposed))
        return before, [self._draft(text_id) for text_id in proposed]

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

    def _mended(self, rule: TextRule) -> Mapping[str, Sequence[Edit]]:
        # Of a text that has not changed since, the rule would say the same again.
        unseen = self.made.unseen.get(rule.NAME)
        self.made.unseen[rule.NAME] = {}
        drafts = self.texts() if unseen is None else map(self._draft, unseen)
        proposed = ((draft.text_id, rule.mend(draft.text)) for draft in drafts)
        return {text_id: edits for text_id, edits in proposed if edits}
