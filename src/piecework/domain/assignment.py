"""What came back: one worker's work on one HIT, its answers, and how their texts came about.

The document is MTurk's QuestionFormAnswers of 2005-10-01. How the text of a field came
about is recorded by the page's script, `hit_templates/_typing.js`, without its content. A
worker's browser sends the record, so a worker can forge it. `typing_records` therefore reads
only records of the expected shape with numbers in bounds, and nothing else of what was sent
is kept here.
"""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Literal
from xml.etree.ElementTree import ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from piecework.domain.ids import AnswerId, AssignmentId, HitId, ItemId, WorkerId

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
        # `asdict` copies each part, which takes a fifth of a simulated worker's time.
        cells = {name: getattr(self, name) for name in _IN_ORDER}
        return json.dumps({**cells, "kinds": dict(self.kinds)}, separators=(",", ":"))


_IN_ORDER = tuple(field.name for field in fields(TypingRecord))
_NAMES = {*_IN_ORDER}
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
    return (
        isinstance(value, list) and len(value) == 2 and _is_count(value[0]) and _is_count(value[1])  # noqa: PLR2004 - a pair
    )


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= _MOST


AssignmentStatus = Literal["Submitted", "Approved", "Rejected"]

FieldValue = str | tuple[str, ...] | float
"""`text` and `choice` fields hold a string, `choices` a tuple, `number` a float."""

_SHARE_OF_DELAY = 0.75
"""Share of the auto-approval delay; the rest is for late passes and for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """One worker's work on one HIT, as the platform returned it.

    Attributes:
        auto_approved_at: when the platform approves it unless it was decided before;
            `None` if that is not known.
        raw: the platform's answer document, verbatim; empty if loaded from the store,
            which keeps it separately.
        fields: form fields by wire name (`caption.1`), if `raw` could be read.
    """

    assignment_id: AssignmentId
    hit_id: HitId
    worker_id: WorkerId
    status: AssignmentStatus
    accepted_at: datetime
    submitted_at: datetime
    auto_approved_at: datetime | None = None
    raw: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def judge_by(self) -> datetime | None:
        """The latest time to judge it, by what is known then; `None`: with its batch."""
        if self.auto_approved_at is None:
            return None
        return self.submitted_at + _SHARE_OF_DELAY * (self.auto_approved_at - self.submitted_at)

    @property
    def platform_ids(self) -> dict[str, str]:
        """The ids that pages carry along, by MTurk's names."""
        return {
            "assignmentId": self.assignment_id,
            "hitId": self.hit_id,
            "workerId": self.worker_id,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One worker's answer to one item, typed by the task's schema.

    Attributes:
        position: place of the item in the HIT, from 1.
        values: by field name; a field that was not submitted is absent.
        shown_ms: how long the page showed the item, in milliseconds.
        typing: how the texts came about, by field, if the page recorded it.
        problems: names of broken rules and schema errors; the answer is kept anyway.
        place: place of the item on the worker's page, from 1; `None` if the page keeps
            the order of the HIT.
        orders: what the page shuffled inside the item, in the order shown: option
            values by field, columns by arrangement.
        hit_values: what the worker answered once for the whole HIT; the same in all
            answers of an assignment.
        also_sent: what was sent and is no field, or could not be read as its field's
            value, verbatim by name.
    """

    answer_id: AnswerId
    assignment_id: AssignmentId
    item_id: ItemId
    position: int
    values: Mapping[str, FieldValue]
    shown_ms: int | None = None
    pastes: int | None = None
    keystrokes: int | None = None
    focus_losses: int | None = None
    played: int | None = None
    typing: Mapping[str, TypingRecord] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    place: int | None = None
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hit_values: Mapping[str, FieldValue] = field(default_factory=dict)
    also_sent: Mapping[str, str] = field(default_factory=dict)


_NAMESPACE = (
    "{http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
    "2005-10-01/QuestionFormAnswers.xsd}"
)


def fields_of(document: str) -> Mapping[str, str]:
    """Return form fields by name; several selections or answers are joined by `|`."""
    try:
        root = fromstring(document)
    except (ParseError, DefusedXmlException, ValueError):
        return {}
    fields: dict[str, str] = {}
    for answer in root.iter(f"{_NAMESPACE}Answer"):
        name = answer.findtext(f"{_NAMESPACE}QuestionIdentifier")
        if name is None:
            continue
        free_text = answer.findtext(f"{_NAMESPACE}FreeText")
        chosen = [
            selection.text or "" for selection in answer.iter(f"{_NAMESPACE}SelectionIdentifier")
        ]
        other = answer.findtext(f"{_NAMESPACE}OtherSelectionText")
        chosen += [other] if other else []
        text = "|".join(chosen) if free_text is None else free_text
        fields[name] = f"{fields[name]}|{text}" if name in fields else text
    return fields
