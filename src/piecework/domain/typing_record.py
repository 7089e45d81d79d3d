"""How the text of one field came about, as the page recorded it, without its content.

The page's script is `hit_templates/_typing.js`. A worker's browser sends the record, so
a worker can forge it. `typing_records` therefore reads only records of the expected
shape with numbers in bounds, and nothing else of what was sent is kept here.
"""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, fields

TYPING = "typing"
"""The form field of a record, before the position of its item."""

MOST_CHARACTERS = 8_000
"""Longer documents are not read; the page sends about 400 characters for a field."""

_MOST = 10_000_000
_MOST_KINDS = 20
_KIND = re.compile(r"[A-Za-z]{1,30}")

Pair = tuple[int, int]
"""A number of events, and the characters that they brought."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypingRecord:
    """How one text came about. Characters are UTF-16 units, as in the browser.

    Attributes:
        kinds: events and characters by kind of input event: `insertText`,
            `insertFromPaste`, `deleteContentBackward` and so on (W3C, Input Events
            Level 2); kinds that the page does not know are `other`.
        untrusted: events that a script made, and their characters.
        outside: characters that were pasted or dropped, but not copied on this page.
        inside: characters that were copied on this page, then pasted or dropped.
        unseen: characters that appeared without an event.
        bursts: bursts of several characters within one event or ten milliseconds, and
            their characters; without pastes.
        quick: characters of long bursts that came faster than a person speaks.
        pauses: pauses over one second, and those over two seconds.
        intervals: times between keys of at most one second; the page keeps 300.
        median: their median, in milliseconds.
        spread: their upper quartile minus their lower quartile, in milliseconds.
        corrections: events that deleted, undid or replaced something.
        removed: characters that were deleted or replaced.
        start: characters that the field began with.
        length: characters of the text as it was sent.
    """

    kinds: Mapping[str, Pair]
    untrusted: Pair
    outside: int
    inside: int
    unseen: int
    bursts: Pair
    quick: int
    pauses: Pair
    intervals: int
    median: int
    spread: int
    corrections: int
    removed: int
    start: int
    length: int

    def as_json(self) -> str:
        """Return the record as compact JSON; `typing_record` reads it."""
        return json.dumps(asdict(self), separators=(",", ":"))


_NAMES = {field.name for field in fields(TypingRecord)}
_PAIRS = frozenset({"untrusted", "bursts", "pauses"})


def typing_record(text: str) -> TypingRecord | None:
    """Return the record in this JSON; `None` if it is not a record.

    >>> typing_record('{"kinds": "many"}') is None
    True
    """
    return _record(_json(text))


def typing_records(text: str, names: Collection[str]) -> dict[str, TypingRecord] | None:
    """Return the records by field that a page sent; `None` if any is not a record.

    Args:
        text: what was sent.
        names: the fields that may have a record.
    """
    sent = _json(text)
    if not isinstance(sent, dict) or not set(sent) <= set(names):
        return None
    records = {name: _record(value) for name, value in sent.items()}
    known = {name: record for name, record in records.items() if record is not None}
    return known if len(known) == len(records) else None


def _json(text: str) -> object:
    if len(text) > MOST_CHARACTERS:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _record(value: object) -> TypingRecord | None:
    if not isinstance(value, dict) or set(value) != _NAMES:
        return None
    kinds = value["kinds"]
    if not isinstance(kinds, dict) or len(kinds) > _MOST_KINDS:
        return None
    pairs = [value[name] for name in _PAIRS] + [*kinds.values()]
    numbers = [value[name] for name in _NAMES - _PAIRS - {"kinds"}]
    if not all(map(_KIND.fullmatch, kinds)) or not all(map(_is_pair, pairs)):
        return None
    if not all(map(_is_count, numbers)):
        return None
    read = {name: tuple(value[name]) for name in _PAIRS}
    return TypingRecord(
        **{**value, **read, "kinds": {kind: tuple(pair) for kind, pair in kinds.items()}}
    )


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_count, value))  # noqa: PLR2004 - a pair


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= _MOST
