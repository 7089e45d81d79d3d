"""Qualifications for a worker: held ones, offers, requests and tests.

A request is granted at once, by the requester, or by a test. An attempt at a test counts
from its beginning, even if the worker does not send it in time. The next is possible after
the type's retry delay since its end, and never if the type has no delay.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.forms.answer_key import read_answer_key
from piecework.marketplace.forms.form import Choice, Form, Question
from piecework.marketplace.forms.patterns import Verdicts
from piecework.marketplace.forms.schema import read_form
from piecework.marketplace.languages import say
from piecework.marketplace.requester.qualifications import grant_qualification
from piecework.marketplace.state import lifecycle, visits
from piecework.marketplace.state.clock import SECOND, to_datetime
from piecework.marketplace.state.qualification_types import SHOWN as SHOWN_TYPES
from piecework.marketplace.state.transaction import Transaction, next_number
from piecework.marketplace.workers import hit_forms

SHOWN = 50

_KINDS = (
    "SELECT qualification_types.*, tests.duration_seconds, "
    "requesters.name AS requester_name FROM qualification_types "
    "JOIN requesters ON requesters.id = qualification_types.requester "
    "LEFT JOIN tests ON tests.id = qualification_types.test "
)
_OFFERED = (
    f"{_KINDS} WHERE deleted_ms IS NULL AND is_requestable = 1 "
    "AND qualification_types.status = 'Active' "
)
_OFFERED_TYPES = (
    f"{_OFFERED} AND qualification_types.id < ? AND {SHOWN_TYPES} "
    "AND instr(lower(name_and_words), lower(?)) > 0 "
    "ORDER BY qualification_types.id DESC LIMIT ?"
).replace(
    "name_and_words",
    "qualification_types.name || ' ' || description || ' ' || coalesce(keywords, '')",
)
_HELD = (
    "SELECT qualification_type_id, qualification_types.name, value, granted_ms, "
    "requesters.name AS requester_name FROM qualifications "
    "JOIN qualification_types "
    "ON qualification_types.id = qualifications.qualification_type "
    "JOIN requesters ON requesters.id = qualification_types.requester "
    "WHERE worker = ? AND qualifications.status = 'Granted' "
    f"AND qualification_types.deleted_ms IS NULL AND {SHOWN_TYPES} "
    "ORDER BY granted_ms DESC, "
    "qualifications.id DESC LIMIT ?"
)
_ATTEMPT = (
    "SELECT test_attempts.*, qualification_type_id, qualification_types.name, "
    "description, form, answer_key, duration_seconds FROM test_attempts "
    "JOIN qualification_types "
    "ON qualification_types.id = test_attempts.qualification_type "
    "JOIN tests ON tests.id = test_attempts.test "
    "WHERE worker = ? AND qualification_type_id = ? AND deleted_ms IS NULL "
    "ORDER BY test_attempts.id DESC LIMIT 1"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A qualification type that is offered to a worker.

    Attributes:
        row: the row of `qualification_types`, with its requester's name.
        refusal: what keeps the worker from requesting it, or None.
    """

    row: sqlite3.Row
    refusal: Refusal | None

    @property
    def is_begun(self) -> bool:
        """Whether the worker is taking the test."""
        return self.refusal is not None and self.refusal.kind == "TestBegun"

    def to_json(self) -> dict[str, Any]:
        """Return the offer as JSON data."""
        return {
            "qualification_type_id": self.row["qualification_type_id"],
            "name": self.row["name"],
            "description": self.row["description"],
            "keywords": self.row["keywords"],
            "requester": self.row["requester_name"],
            "has_test": self.row["test"] is not None,
            "test_duration_seconds": self.row["duration_seconds"],
            "auto_granted": bool(self.row["auto_granted"]),
            "retry_delay_seconds": self.row["retry_delay_seconds"],
            "may_request": self.refusal is None or self.is_begun,
            "why_not": self.refusal.kind if self.refusal else None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of a test: a value at once, or a request to the requester.

    Attributes:
        status: `Granted` or `Pending`.
        value: the qualification's value.
        right: how many questions have their best score.
        graded: how many questions the key grades.
    """

    status: str
    value: int | None = None
    right: int = 0
    graded: int = 0


def list_offers(
    transaction: Transaction, worker: sqlite3.Row, *, words: str = "", before: int = 2**63 - 1
) -> list[Offer]:
    """Return offered types, newest first, one more than `SHOWN` if there are more."""
    rows = transaction.all(_OFFERED_TYPES, before, words, SHOWN + 1)
    return [Offer(row=row, refusal=why_not_requestable(transaction, worker, row)) for row in rows]


def list_held(transaction: Transaction, worker: sqlite3.Row) -> list[sqlite3.Row]:
    """Return a worker's granted qualifications, latest first."""
    return transaction.all(_HELD, worker["id"], SHOWN)


def find_offer(transaction: Transaction, worker: sqlite3.Row, type_id: str) -> Offer:
    """Return one offered type.

    Raises: Refusal: the type is not offered (404).
    """
    row = transaction.first_row(f"{_OFFERED} AND qualification_type_id = ?", type_id)
    if row is None:
        raise Refusal(
            "QualificationTypeDoesNotExist", "This qualification cannot be requested.", status=404
        )
    return Offer(row=row, refusal=why_not_requestable(transaction, worker, row))


def find_attempt(transaction: Transaction, worker: sqlite3.Row, type_id: str) -> sqlite3.Row:
    """Return the worker's open attempt at a test.

    Raises:
        Refusal: no attempt was begun, or its time is over (409).
    """
    lifecycle.settle_tests(transaction, worker)
    row = transaction.first_row(_ATTEMPT, worker["id"], type_id)
    if row is not None and row["status"] == "Open":
        return row
    if row is not None and row["status"] == "Late":
        ended = to_datetime(row["ended_ms"])
        raise Refusal(
            "TestTimeOver",
            say(
                "The time for this test ended at %(time)s UTC. It counts as an "
                "attempt. Your answers were not saved.",
                time=f"{ended:%H:%M:%S}",
            ),
            status=409,
        )
    raise Refusal("TestNotBegun", "You have not begun this test.", status=409)


def submit_test(
    transaction: Transaction,
    worker: sqlite3.Row,
    type_id: str,
    fields: Sequence[tuple[str, str]],
    verdicts: Verdicts,
) -> Outcome:
    """Take a test: grade it if there is a key, else leave it to the requester.

    The visit of another market's participant for this test is done with it: they may
    never look at another page.

    Raises:
        UnfinishedForm: the form is incomplete; the attempt continues (422).
        Refusal: no attempt was begun, or its time is over (409).
        Unmatched: texts must be matched against patterns first.
    """
    row = find_attempt(transaction, worker, type_id)
    form = read_form(row["form"])
    taken = hit_forms.finished_answer(form, hit_forms.typed_values(fields), verdicts)
    document = hit_forms.form_answer_xml(taken.answers)
    transaction.execute(
        "UPDATE test_attempts SET status = 'Submitted', ended_ms = ? WHERE id = ?",
        transaction.now_ms,
        row["id"],
    )
    visits.finish_test(transaction, worker, row["qualification_type"])
    key_text = row["answer_key"]
    outcome = Outcome(status="Pending")
    if key_text is not None:
        answer_key = read_answer_key(key_text)
        value = answer_key.grade(taken.chosen)
        grant_qualification(transaction, row["qualification_type"], worker["id"], value=value)
        right, graded = answer_key.count_right(taken.chosen)
        outcome = Outcome(status="Granted", value=value, right=right, graded=graded)
    file_request(
        transaction,
        worker,
        row["qualification_type"],
        status=outcome.status,
        test=row["test"],
        answer=document,
    )
    return outcome


def questions_to_json(form: Form) -> list[dict[str, Any]]:
    """Return a form's questions, for programs."""
    return [_question_to_json(question) for question in form.questions]


def _question_to_json(question: Question) -> dict[str, Any]:
    field = {"identifier": question.key, "required": question.is_required}
    if not isinstance(question.answer, Choice):
        return {**field, "kind": "text"}
    return {
        **field,
        "kind": "choice",
        "selections": [selection.key for selection in question.answer.selections],
        "least": question.answer.least,
        "most": question.answer.most,
        "other": question.other_field if question.answer.other else None,
    }


_LAST = (
    "SELECT status, at_ms FROM ("
    "SELECT status, requested_ms AS at_ms, 0 AS kind, id FROM qualification_requests "
    "WHERE worker = ?1 AND qualification_type = ?2 UNION ALL "
    "SELECT status, coalesce(ended_ms, started_ms), 1, id FROM test_attempts "
    "WHERE worker = ?1 AND qualification_type = ?2 AND status <> 'Submitted') "
    "ORDER BY at_ms DESC, kind DESC, id DESC LIMIT 1"
)


def request_qualification(
    transaction: Transaction, worker: sqlite3.Row, qualification_type_id: str
) -> str:
    """Request a type: `Granted` if the type allows it, `Pending`, or `Testing`.

    Raises:
        Refusal: the type cannot be requested (404), is held, requested already, or too
            soon (409).
    """
    offer = find_offer(transaction, worker, qualification_type_id)
    if offer.is_begun:
        return "Testing"
    if offer.refusal is not None:
        raise offer.refusal
    kind = offer.row
    if kind["test"] is not None:
        _begin_test(transaction, worker, kind)
        return "Testing"
    if kind["auto_granted"]:
        file_request(transaction, worker, kind["id"], status="Granted")
        grant_qualification(transaction, kind["id"], worker["id"], value=kind["auto_granted_value"])
        return "Granted"
    file_request(transaction, worker, kind["id"], status="Pending")
    return "Pending"


def why_not_requestable(
    transaction: Transaction, worker: sqlite3.Row, kind: sqlite3.Row
) -> Refusal | None:
    """Return what keeps a worker from requesting an offered type, or None."""
    lifecycle.settle_tests(transaction, worker)
    last = transaction.first_row(_LAST, worker["id"], kind["id"])
    if last is not None and last["status"] == "Open":
        return Refusal("TestBegun", "You have begun this test.", status=409)
    if last is not None and last["status"] == "Pending":
        return Refusal(
            "QualificationRequestPending", "Your request is waiting for an answer.", status=409
        )
    delay = kind["retry_delay_seconds"]
    if _holds_already(transaction, worker, kind) and (kind["test"] is None or delay is None):
        return Refusal(
            "QualificationAlreadyExists", "You already have this qualification.", status=409
        )
    return None if last is None else _too_soon(transaction, last, delay)


def file_request(
    transaction: Transaction,
    worker: sqlite3.Row,
    qualification_type: int,
    *,
    status: str,
    test: int | None = None,
    answer: str | None = None,
) -> None:
    """Store a request, with the answered test if any."""
    transaction.insert(
        "qualification_requests",
        qualification_request_id=transaction.id_generator.entity(
            "request", next_number(transaction.conn, "qualification_requests")
        ),
        qualification_type=qualification_type,
        worker=worker["id"],
        status=status,
        requested_ms=transaction.now_ms,
        test=test,
        answer=answer,
    )


def _too_soon(transaction: Transaction, last: sqlite3.Row, delay: int | None) -> Refusal | None:
    if delay is None:
        return Refusal(
            "QualificationTypeDoesNotAllowRetake",
            "You can request this qualification only once.",
            status=409,
        )
    if transaction.now_ms < last["at_ms"] + delay * SECOND:
        return Refusal(
            "QualificationTypeRetryDelayNotElapsed",
            "It is too early to request it again.",
            status=409,
        )
    return None


def _begin_test(transaction: Transaction, worker: sqlite3.Row, kind: sqlite3.Row) -> None:
    transaction.insert(
        "test_attempts",
        qualification_type=kind["id"],
        worker=worker["id"],
        test=kind["test"],
        status="Open",
        started_ms=transaction.now_ms,
        deadline_ms=transaction.now_ms + kind["duration_seconds"] * SECOND,
    )


def _holds_already(transaction: Transaction, worker: sqlite3.Row, kind: sqlite3.Row) -> bool:
    return transaction.has(
        "SELECT 1 FROM qualifications WHERE qualification_type = ? AND worker = ? "
        "AND status = 'Granted'",
        kind["id"],
        worker["id"],
    )
