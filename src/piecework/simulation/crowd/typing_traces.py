"""How a simulated worker enters a text: the record that a page would send, and the errors.

The numbers fit the text and the worker: a pasted text comes from outside the page, and a text
that was typed has keys, corrections and pauses. Some honest workers dictate, and some write on a
phone whose keyboard composes words, so that a rehearsal shows that neither is flagged.

Of 479 misspelt words found by hand in captions of VizWiz, COCO and Flickr8k, 35 % lack a letter,
19 % have a wrong one, 19 % have an extra one, 10 % have two letters swapped and 4 % lack a
space. The first letter is wrong in only 4 %, so it is never changed. A sentence that the page
refuses is changed as little as necessary, as people do.
"""

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from random import Random
from typing import Literal, NamedTuple

from piecework.domain.assignment import TypingRecord
from piecework.domain.field import FieldScope
from piecework.domain.task import Rule, Task
from piecework.hit_templates.rules import check
from piecework.simulation.crowd.people import Person
from piecework.simulation.seeded_rng import log_normal, seeded_rng

Way = Literal["typed", "pasted", "button"]
"""How a text is entered; the page's button brings the canned text."""

_ON_A_PHONE = 0.2
_DICTATES = 0.05
_KEY_MS = 180.0
_KEYS_OF_A_PASTE = 2
_PHRASE = 25
"""Characters that speech recognition returns at a time."""

_NOTHING = TypingRecord(
    kinds={},
    untrusted=(0, 0),
    outside=0,
    inside=0,
    unseen=0,
    bursts=(0, 0),
    quick=0,
    pauses=(0, 0),
    intervals=0,
    median=0,
    spread=0,
    corrections=0,
    removed=0,
    start=0,
    length=0,
)


class Entered(NamedTuple):
    """How the texts about an item were entered.

    Attributes:
        sent: what the page sends: records of the texts, as JSON by field.
        keys: how many keys were pressed.
    """

    sent: str
    keys: int


def entered(
    texts: Mapping[str, str],
    person: Person,
    rng: Random,
    *,
    way: Way = "typed",
    before: Mapping[str, str] | None = None,
) -> Entered:
    """Return how a person entered the texts about an item.

    Args:
        texts: the texts that the boxes hold at the end; empty ones have no record.
        person: a worker uses the same device for all their work.
        rng: for everything else.
        way: how the texts are entered.
        before: the texts that the boxes began with, if any.
    """
    device = _device_of(person.handle)
    records = {
        name: _record(text, (before or {}).get(name, ""), rng, way=way, device=device)
        for name, text in texts.items()
        if text
    }
    own = [f"{json.dumps(name)}:{record.as_json()}" for name, record in records.items()]
    return Entered(
        sent=f"{{{','.join(own)}}}",
        keys=sum(_keys(record) for record in records.values()),
    )


@lru_cache(maxsize=1000)
def _device_of(handle: str) -> float:
    """Return a number for the device that a person uses, from 0 to 1."""
    return seeded_rng(0, handle, "keyboard").random()


def _keys(record: TypingRecord) -> int:
    """Count a key for each event; two paste a text, and speech needs none."""
    if record.outside:
        return _KEYS_OF_A_PASTE
    is_typed = record.intervals > 0
    return sum(events for events, _ in record.kinds.values()) if is_typed else 0


def _record(text: str, before: str, rng: Random, *, way: Way, device: float) -> TypingRecord:
    changes: dict[str, object] = {"start": _units(before), "length": _units(text)}
    new = max(_units(text) - _units(before), 12 if text != before else 0)
    if way == "button" or not new:
        pass
    elif way == "pasted":
        changes |= {"kinds": {"insertFromPaste": (1, new)}, "outside": new}
    elif device < _DICTATES:
        phrases = 1 + new // _PHRASE
        changes |= {"kinds": {"insertText": (phrases, new)}, "bursts": (phrases, new)}
        changes["pauses"] = (phrases, phrases // 2)
    else:
        changes |= _typed(new, rng, is_phone=device < _DICTATES + _ON_A_PHONE)
    fields = {name: getattr(_NOTHING, name) for name in TypingRecord.__slots__}
    return TypingRecord(**(fields | changes))


def _typed(new: int, rng: Random, *, is_phone: bool) -> dict[str, object]:
    corrections = rng.randrange(0, 2 + new // 12)
    came = new + corrections
    median = round(log_normal(rng, _KEY_MS, spread=0.3))
    pauses = rng.randrange(0, 2 + new // 15)
    completed = came // 8 if is_phone else 0
    return {
        "kinds": {
            "insertCompositionText" if is_phone else "insertText": (came - completed, came),
            "deleteContentBackward": (corrections, 0),
        },
        "bursts": (completed // 4, completed),
        "pauses": (pauses, pauses // 3),
        "intervals": min(300, max(0, came + corrections - 1 - pauses)),
        "median": median,
        "spread": round(median * rng.uniform(0.4, 0.8)),
        "corrections": corrections,
        "removed": corrections,
    }


def _units(text: str) -> int:
    """Return the length of a text as browsers count it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


_MIX: Mapping[str, int] = {
    "lost": 35,
    "wrong": 19,
    "doubled": 12,
    "extra": 7,
    "swapped": 10,
    "run_together": 4,
}

_NEIGHBOURS: Mapping[str, str] = {
    "a": "sqwz", "b": "vghn", "c": "xdfv", "d": "serfcx", "e": "wsdr", "f": "drtgvc",
    "g": "ftyhbv", "h": "gyujnb", "i": "ujko", "j": "huikmn", "k": "jiolm", "l": "kop",
    "m": "njk", "n": "bhjm", "o": "iklp", "p": "ol", "q": "wa", "r": "edft",
    "s": "awedxz", "t": "rfgy", "u": "yhji", "v": "cfgb", "w": "qase", "x": "zsdc",
    "y": "tghu", "z": "asx",
}  # fmt: skip
"""The neighbouring keys of each key on an American keyboard."""

_SHORTEST = 4
"""Shorter words are hardly ever misspelt and would turn into other words."""


def mistype(text: str, rng: Random, *, rate: float) -> str:
    """Return a text with typing errors.

    Args:
        text: the intended text.
        rng: the source of randomness.
        rate: the share of words with an error, from 0 to 1.
    """
    typed: list[str] = []
    is_joined = False
    for word in text.split(" "):
        slip = _slip(word, rng, rate)
        sent = word if slip is None else _SLIPS.get(slip, _kept)(word, rng)
        if is_joined:
            typed[-1] += sent
        else:
            typed.append(sent)
        is_joined = slip == "run_together"
    return " ".join(typed)


def _slip(word: str, rng: Random, rate: float) -> str | None:
    if rng.random() >= rate or len(word) < _SHORTEST or not word.isalpha():
        return None
    return rng.choices(list(_MIX), list(_MIX.values()))[0]


def _kept(word: str, _rng: Random) -> str:
    return word


def _lost(word: str, rng: Random) -> str:
    at = rng.randrange(1, len(word))
    return word[:at] + word[at + 1 :]


def _wrong(word: str, rng: Random) -> str:
    at = rng.randrange(1, len(word))
    return word[:at] + _beside(word[at], rng) + word[at + 1 :]


def _doubled(word: str, rng: Random) -> str:
    at = rng.randrange(1, len(word))
    return word[:at] + word[at] + word[at:]


def _extra(word: str, rng: Random) -> str:
    at = rng.randrange(1, len(word))
    return word[: at + 1] + _beside(word[at], rng) + word[at + 1 :]


def _swapped(word: str, rng: Random) -> str:
    at = rng.randrange(1, len(word) - 1)
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def _beside(letter: str, rng: Random) -> str:
    near = _NEIGHBOURS.get(letter.lower(), letter)
    neighbour = rng.choice(near)
    return neighbour.upper() if letter.isupper() else neighbour


_SLIPS: Mapping[str, Callable[[str, Random], str]] = {
    "lost": _lost,
    "wrong": _wrong,
    "doubled": _doubled,
    "extra": _extra,
    "swapped": _swapped,
}


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


def _fewer_words(text: str, rule: Rule, _rng: Random) -> str:
    return _ended(" ".join(text.split()[: int(str(rule.parameters["maximum"]))]), text)


def _small_letters(text: str, _rule: Rule, _rng: Random) -> str:
    return text.capitalize()


def _one_sentence(text: str, _rule: Rule, _rng: Random) -> str:
    return _BETWEEN_SENTENCES.sub(lambda match: f", {match[1].lower()}", text)


def _another_beginning(text: str, _rule: Rule, _rng: Random) -> str:
    rest = _IDLE_BEGINNING.sub("", text.strip())
    return rest[:1].upper() + rest[1:]


def _shorter(text: str, rule: Rule, _rng: Random) -> str:
    """Keep as many words as fit, without a last one that expects another."""
    room = int(str(rule.parameters["maximum"])) - len(".")
    kept = text[: room + 1].rsplit(maxsplit=1)[0] if len(text) > room else text
    return _ended(kept, text)


def _ended(kept: str, text: str) -> str:
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
    "max_words": _fewer_words,
    "max_capitals": _small_letters,
    "min_words": _longer,
    "one_sentence": _one_sentence,
    "banned_prefixes": _another_beginning,
}
