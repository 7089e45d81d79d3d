"""Change a sentence that the page refuses as little as necessary, as people do."""

import re
from collections.abc import Callable, Mapping
from random import Random

from piecework.domain.task import FieldScope, Rule, Task
from piecework.hit_templates.rules import check

_MORE = (
    " that can be seen in the picture",
    " in the middle of the picture",
    " shown in full view of the camera",
    " seen from the front in daylight",
    " in the photo that somebody took",
    " with nothing else of importance around",
    " as seen from a short distance",
    " in front of a plain background",
    " and not much else to see",
    " filling most of the whole frame",
    " as far as I can tell",
    " while somebody takes a photo nearby",
)
"""Five words or more, the way people pad a sentence when a counter says "6 of 8"."""

_MOST_ATTEMPTS = 60
"""A rule that asks for many words needs many; no page asks for more than that."""

_IDLE_BEGINNING = re.compile(
    r"^(there (is|are)|this is|these are|th(e|is) (image|picture)|it is|it['\u2019]s)\b"
    r"(\s+(shows?|is|of|has|contains|an image of|a picture of)\b)*[\s,:]*",
    re.IGNORECASE,
)
_BETWEEN_SENTENCES = re.compile(r"\s*[.!?]+\s+(\S)")


def broken_rules(task: Task, text: str, field: str = "") -> tuple[Rule, ...]:
    """Return the page's rules that this text breaks in a field; "": the main text."""
    name = field or task.main_text
    broken = check(task, {name: text}, scope=_scope(task, name))
    return tuple(rule for rule in broken if rule.field == name)


def repair(task: Task, text: str, rng: Random, field: str = "") -> str:
    """Return the text, changed until the page accepts it in a field.

    It may give up, for example on an empty text; the result then still breaks a rule.
    Rules that compare the text with a column of the item are left alone.
    """
    for _ in range(_MOST_ATTEMPTS):
        broken = broken_rules(task, text, field)
        mendable = next((rule for rule in broken if rule.kind in _REPAIRS), None)
        if mendable is None:
            break
        text = _REPAIRS[mendable.kind](text, mendable, rng)
    return text


def _scope(task: Task, name: str) -> FieldScope:
    return next((field.scope for field in task.fields if field.name == name), "item")


def _longer(text: str, _rule: Rule, rng: Random) -> str:
    if not text.strip():
        return text
    more = rng.choice(_MORE)
    return text.rstrip(" .,;") + (more.upper() if text.isupper() else more)


def _one_sentence(text: str, _rule: Rule, _rng: Random) -> str:
    return _BETWEEN_SENTENCES.sub(lambda match: f", {match[1].lower()}", text)


def _another_beginning(text: str, _rule: Rule, _rng: Random) -> str:
    rest = _IDLE_BEGINNING.sub("", text.strip())
    return rest[:1].upper() + rest[1:]


def _shorter(text: str, rule: Rule, _rng: Random) -> str:
    """Keep as many words as fit, without a last one that expects another."""
    room = int(str(rule.parameters["maximum"])) - len(".")
    kept = text[: room + 1].rsplit(maxsplit=1)[0] if len(text) > room else text
    words = kept.rstrip(" ,.;").split()
    while words and words[-1].lower() in _LEADING_ON:
        words.pop()
    return " ".join(words) + "." * text.rstrip().endswith(".")


_LEADING_ON = frozenset(
    {
        *("a", "an", "the", "and", "of", "on", "in", "at", "to", "with", "next", "by"),
        *("beside", "near", "behind", "under", "left", "right", "is", "are", "placed"),
        *("one", "two", "three", "four", "five", "several", "there", "that", "labeled"),
        *("says", "say"),
    }
)
"""Words that cannot end a sentence."""

_REPAIRS: Mapping[str, Callable[[str, Rule, Random], str]] = {
    "max_length": _shorter,
    "min_words": _longer,
    "one_sentence": _one_sentence,
    "banned_prefixes": _another_beginning,
}
