"""Rules propose, this applies: every change to a worker's words can be taken back."""

from collections.abc import Sequence
from dataclasses import replace

from domain.edit import Edit
from postprocess.edits import compose, replay, undo
from postprocess.registry import RULES
from postprocess.text import Rule, Text, protected_words

__all__ = ["Text", "clean", "protected_words", "replay", "undo"]

_MOST_PASSES = 50
"""Real texts settle in two or three; rules that undo each other never would."""


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
    made: dict[str, tuple[Edit, ...]] = {text.text_id: () for text in texts}
    if len(made) < len(texts):
        raise ValueError("a text id occurs twice among the texts to clean")
    originals = {text.text_id: text for text in texts if not text.is_canned}
    current = {text_id: originals[text_id] for text_id in sorted(originals)}
    waiting = list(rules)
    for step in range(_MOST_PASSES * len(rules)):
        rule = rules[step % len(rules)]
        proposed = rule.propose(tuple(current.values())) if current else {}
        for text_id, edits in proposed.items():
            text = current[text_id]
            made[text_id] = compose(originals[text_id].text, made[text_id], edits)
            current[text_id] = replace(text, text=replay(text.text, edits))
        if proposed:
            waiting = list(rules)
        else:
            waiting.remove(rule)
        if not waiting:
            break
    if waiting:
        names = ", ".join(rule.NAME for rule in rules)
        raise ValueError(f"these rules keep changing each other's work: {names}")
    return made
