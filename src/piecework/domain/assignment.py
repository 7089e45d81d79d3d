"""What came back: one worker's work on one HIT, the answers in it, and their document.

The document is MTurk's QuestionFormAnswers of 2005-10-01.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from xml.etree.ElementTree import ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from piecework.domain.ids import AnswerId, AssignmentId, HitId, ItemId, WorkerId
from piecework.domain.typing_record import TypingRecord

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
