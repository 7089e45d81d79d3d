"""The record that a page would send of how a simulated worker entered a text.

The numbers fit the text and the worker: a pasted text comes from outside the page, and
a text that was typed has keys, corrections and pauses. Some honest workers dictate, and
some write on a phone whose keyboard composes words, so that a rehearsal shows that
neither is flagged.
"""

import json
from collections.abc import Mapping
from random import Random
from typing import Literal, NamedTuple

from piecework.domain.typing_record import TypingRecord
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
    device = seeded_rng(0, person.handle, "keyboard").random()
    records = {
        name: _record(text, (before or {}).get(name, ""), rng, way=way, device=device)
        for name, text in texts.items()
        if text
    }
    own = {name: json.loads(record.as_json()) for name, record in records.items()}
    return Entered(
        sent=json.dumps(own, separators=(",", ":")),
        keys=sum(_keys(record) for record in records.values()),
    )


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
