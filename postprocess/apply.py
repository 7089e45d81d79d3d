"""Rules propose, this applies: every change to a worker's words can be taken back."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from domain.edit import Edit
from postprocess.edits import compose, replay, undo
from postprocess.language.corpus import Corpus
from postprocess.registry import RULES
from postprocess.text import Rule, Text, TextRule, protected_words

__all__ = [
    "Cleaned", "Text", "clean", "clean_text", "protected_words", "replay", "undo",
]  # fmt: skip

_MOST_PASSES = 50
"""Real texts settle in two or three; rules that undo each other never would."""


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A text as cleaning leaves it, and the edits that lead to it."""

    text: str
    edits: tuple[Edit, ...]


def clean_text(text: str, rules: Sequence[Rule] = RULES) -> Cleaned:
    """One text cleaned by itself, without a campaign's other texts to judge it by.

    >>> clean_text("a  wooden tabel").text
    'a wooden table'
    >>> [(edit.before, edit.after) for edit in clean_text("a  wooden tabel").edits]
    [('  ', ' '), ('tabel', 'table')]
    """
    edits = clean([Text(text_id="", item_id="", text=text)], rules)[""]
    return Cleaned(replay(text, edits), edits)


def clean(
    texts: Sequence[Text],
    rules: Sequence[Rule] = RULES,
) -> dict[str, tuple[Edit, ...]]:
    """The edits of every text by text id; an empty tuple where nothing is mended.

    Rules follow one another until none has anything left to propose, so cleaning
    what was cleaned changes nothing. The order of `texts` does not matter.

    Raises:
        ValueError: a text id occurs twice, or the rules never come to an end.
    """
    if len({text.text_id for text in texts}) < len(texts):
        raise ValueError("a text id occurs twice among the texts to clean")
    drafts = _Drafts(text for text in texts if not text.is_canned)
    waiting = list(rules)
    for step in range(_MOST_PASSES * len(rules)):
        rule = rules[step % len(rules)]
        proposed = drafts.propose(rule)
        drafts.accept(proposed)
        if proposed:
            waiting = list(rules)
        else:
            waiting.remove(rule)
        if not waiting:
            break
    if waiting:
        names = ", ".join(rule.NAME for rule in rules)
        raise ValueError(f"these rules keep changing each other's work: {names}")
    return {text.text_id: drafts.edits.get(text.text_id, ()) for text in texts}


class _Drafts:
    """Texts as the rules have left them so far, and the counts of their words.

    Attributes:
        edits: from the original to the draft, by text id; absent where they are equal
            and always were.
    """

    def __init__(self, texts: Iterable[Text]) -> None:
        self._drafts = {text.text_id: text for text in texts}
        self._originals: dict[str, str] = {}
        self._corpus: Corpus | None = None
        self._seen: dict[str, set[str]] = {}
        self.edits: dict[str, tuple[Edit, ...]] = {}

    def propose(self, rule: Rule) -> Mapping[str, Sequence[Edit]]:
        """What a rule has to say about the drafts, by text id."""
        if not isinstance(rule, TextRule):
            return rule.propose(tuple(self._drafts.values()), self._counts())
        # Of a text that has not changed since, the rule would say the same again.
        seen = self._seen.setdefault(rule.NAME, set())
        fresh = [draft for draft in self._drafts.values() if draft.text_id not in seen]
        seen.update(draft.text_id for draft in fresh)
        proposed = ((draft.text_id, rule.mend(draft.text)) for draft in fresh)
        return {text_id: edits for text_id, edits in proposed if edits}

    def accept(self, proposed: Mapping[str, Sequence[Edit]]) -> None:
        """Apply edits to the drafts."""
        touched = {self._drafts[text_id].item_id for text_id in proposed}
        before = self._corpus_about(touched)
        for text_id, edits in proposed.items():
            draft = self._drafts[text_id]
            original = self._originals.setdefault(text_id, draft.text)
            earlier = self.edits.get(text_id, ())
            self.edits[text_id] = compose(original, earlier, edits)
            self._drafts[text_id] = replace(draft, text=replay(draft.text, edits))
        for seen in self._seen.values():
            seen.difference_update(proposed)
        if self._corpus is not None:
            self._corpus.subtract(before)
            self._corpus.add(self._corpus_about(touched))

    def _counts(self) -> Corpus:
        if self._corpus is None:
            self._corpus = Corpus(
                (draft.item_id, draft.text) for draft in self._drafts.values()
            )
        return self._corpus

    def _corpus_about(self, item_ids: set[str]) -> Corpus:
        if self._corpus is None or not item_ids:
            return Corpus()
        return Corpus(
            (draft.item_id, draft.text)
            for draft in self._drafts.values()
            if draft.item_id in item_ids
        )
