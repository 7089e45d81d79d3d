"""The actions of a worker: accept, return and submit HITs."""

import sqlite3
from collections.abc import Iterable
from urllib.parse import urlencode

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.forms.patterns import NO_VERDICTS, Verdicts
from piecework.marketplace.languages import say
from piecework.marketplace.requester import questions
from piecework.marketplace.state import assignments, hits, lifecycle, visits, worker_limits
from piecework.marketplace.state.transaction import Transaction
from piecework.marketplace.workers import discovery, hit_forms
from piecework.marketplace.workers.pages import Origins

NOT_AVAILABLE = "ASSIGNMENT_ID_NOT_AVAILABLE"
"""The assignment id of a preview; such a page must not submit."""

MOST_HELD = 25
"""Accepted HITs that a worker may hold at once, as at MTurk, so that others find work too."""


_ASSIGNMENT = (
    "SELECT assignments.*, hits.hit_id, hits.requester, whole_questions.question, "
    "hit_types.hit_group_id, "
    "hit_types.title, hit_types.description, hits.reward_cents, "
    "hit_types.duration_seconds, hit_types.expected_seconds, "
    "hits.status AS hit_status FROM assignments "
    "JOIN hits ON hits.id = assignments.hit "
    "JOIN whole_questions ON whole_questions.hit = hits.id "
    "JOIN hit_types ON hit_types.id = hits.hit_type"
)


def preview(
    transaction: Transaction, worker: sqlite3.Row, hit_group_id: str, *, hit_id: str | None
) -> sqlite3.Row:
    """Return the HIT that a worker sees before accepting.

    Raises:
        Refusal: no HIT is left (404), or the worker may not see it (403).
    """
    group = discovery.visible_group(transaction, worker, hit_group_id)
    if not group.may_preview:
        raise Refusal("DoesNotMeetRequirements", _lacking(group), status=403)
    if hit_id is None:
        hit = discovery.next_hit(transaction, worker, group.row["id"])
    else:
        hit = _hit_of(transaction, group, hit_id)
        if hit["status"] != "Assignable":
            hit = None  # it has ended or all slots are taken
    shown = None if hit is None else _with_question(transaction, hit)
    if shown is None:
        raise Refusal("NoHitsAvailable", "There is no HIT left for you here.", status=404)
    return shown


def accept(
    transaction: Transaction, worker: sqlite3.Row, hit_group_id: str, *, hit_id: str | None
) -> str:
    """Accept the named HIT of the group, or the oldest new one; return its assignment.

    A HIT that the worker returned or abandoned is accepted again only by name.

    Raises:
        Refusal: the worker may not do it, has done it, holds too many, or no HIT is left (409).
    """
    try:
        group = discovery.visible_group(transaction, worker, hit_group_id)
        named = None if hit_id is None else _hit_of(transaction, group, hit_id)
    except Refusal as refusal:
        # The worker may have just seen it, so a hidden HIT is a conflict.
        raise Refusal(refusal.kind, refusal.message, status=409) from refusal
    if not group.may_accept:
        raise Refusal("DoesNotMeetRequirements", _lacking(group), status=409)
    if named is not None:
        _check_not_done(transaction, worker, named)
    if _held(transaction, worker) >= MOST_HELD:
        message = say(
            "You hold %(most)s HITs. Submit or return some of them before you accept another.",
            most=MOST_HELD,
        )
        raise Refusal("TooManyHits", message, status=409)
    hit = named or discovery.next_hit(transaction, worker, group.row["id"])
    if hit is None or hit["status"] != "Assignable":
        raise Refusal("NoHitsAvailable", "There is no HIT left for you here.", status=409)
    return assignments.accept(transaction, hit=hit, worker=worker)


def give_back(transaction: Transaction, worker: sqlite3.Row, assignment_id: str) -> None:
    """Return an accepted HIT, or all HITs of a visit, for other workers.

    Raises:
        Refusal: the assignment is not this worker's, or not open (404, 409).
    """
    row = open_assignment(transaction, worker, assignment_id)
    if row["visit"] is not None:
        visits.close_visit(transaction, row["visit"], stage="Left")
        return
    assignments.give_back(transaction, row, status="Returned", at_ms=transaction.now_ms)


def submit(
    transaction: Transaction,
    worker: sqlite3.Row,
    fields: Iterable[tuple[str, str]],
    verdicts: Verdicts = NO_VERDICTS,
) -> sqlite3.Row:
    """Submit the form of a question; return the assignment as it was before.

    Raises:
        Refusal: the assignment id is missing (400), the assignment is another worker's
            or closed (409), or the answer is invalid (4xx).
        Unmatched: texts must be matched against patterns first.
    """
    form = list(fields)
    row = open_assignment(transaction, worker, named_assignment(form))
    document = hit_forms.answer_document(row["question"], form, verdicts)
    if row["visit"] is None:
        assignments.submit(transaction, row, answer=document)
    else:
        visits.answer(transaction, row, answer=document)
    return row


def named_assignment(fields: Iterable[tuple[str, str]]) -> str:
    """Return the assignment id in a form, where a second field for it may be empty.

    Raises: Refusal: the form names none or several (400).
    """
    named = {value for name, value in fields if name == "assignmentId" and value}
    if len(named) != 1:
        raise Refusal("BadForm", "The form must name one assignmentId.")
    return named.pop()


def any_assignment(transaction: Transaction, assignment_id: str) -> sqlite3.Row:
    """Return an assignment of any worker; programs may ask if they know its id.

    Raises: Refusal: the assignment does not exist (409).
    """
    if assignment_id == NOT_AVAILABLE:
        raise Refusal(
            "PreviewOnly", "This was a preview. First accept the HIT, then do it.", status=409
        )
    row = transaction.first_row(f"{_ASSIGNMENT} WHERE assignment_id = ?", assignment_id)
    if row is None:
        raise Refusal("NotYours", "This is not one of your assignments.", status=409)
    return row


def own_assignment(
    transaction: Transaction, worker: sqlite3.Row, assignment_id: str
) -> sqlite3.Row:
    """Return the worker's assignment, with its HIT's id and group.

    Raises: Refusal: the worker has no such assignment (404).
    """
    lifecycle.settle_named(transaction, assignment_id=assignment_id)
    row = transaction.first_row(
        f"{_ASSIGNMENT} WHERE assignment_id = ? AND worker = ?", assignment_id, worker["id"]
    )
    if row is None:
        raise Refusal("AssignmentDoesNotExist", "This is not one of your assignments.", status=404)
    return row


def open_assignment(
    transaction: Transaction, worker: sqlite3.Row, assignment_id: str
) -> sqlite3.Row:
    """Return the worker's assignment, if they may still work on it.

    Raises: Refusal: it is not theirs, or no longer open (409).
    """
    try:
        row = own_assignment(transaction, worker, assignment_id)
    except Refusal as refusal:
        raise Refusal("NotYours", refusal.message, status=409) from refusal
    if row["status"] != "Accepted":
        raise not_open(row)
    return row


def not_open(row: sqlite3.Row) -> Refusal:
    """Return the refusal of work on an assignment that is no longer open."""
    return Refusal(
        "AssignmentNotOpen",
        say("This assignment is closed. Its state is: %(state)s.", state=say(row["status"]).lower())
        + (f" {say('Its time has ended.')}" if row["status"] == "Abandoned" else ""),
        status=409,
    )


def may_take_again(transaction: Transaction, worker: sqlite3.Row, row: sqlite3.Row) -> bool:
    """Return whether the worker could accept the HIT of a lost assignment again."""
    try:
        group = discovery.visible_group(transaction, worker, row["hit_group_id"])
        hit = _hit_of(transaction, group, row["hit_id"])
        _check_not_done(transaction, worker, hit)
    except Refusal:
        return False
    return group.may_accept and hit["status"] == "Assignable"


def frame_url(
    hit: sqlite3.Row,
    origins: Origins,
    *,
    assignment_id: str = NOT_AVAILABLE,
    worker_id: str | None = None,
) -> str:
    """Return the address of the question's page, with its parameters in the query."""
    query = {"assignmentId": assignment_id, "hitId": hit["hit_id"]}
    if worker_id is not None:
        query |= {"workerId": worker_id, "turkSubmitTo": origins.site}
    asked = questions.read_stored_question(hit["question"])
    if not asked.url:
        home = origins.frames_of(hit["requester"])
        return f"{home}/frames/{hit['hit_id']}?{urlencode(query)}"
    address, hash_sign, fragment = asked.url.partition("#")
    glue = "&" if "?" in address else "?"
    return f"{address}{glue}{urlencode(query)}{hash_sign}{fragment}"


def _hit_of(transaction: Transaction, group: discovery.Group, hit_id: str) -> sqlite3.Row:
    lifecycle.settle_named(transaction, hit_id=hit_id)
    row = transaction.first_row(
        f"SELECT {hits.COLUMNS} FROM hits "
        "WHERE hit_id = ? AND hit_type = ? AND status <> 'Disposed'",
        hit_id,
        group.row["id"],
    )
    if row is None:
        raise Refusal("HitDoesNotExist", "This HIT is not in this group.", status=404)
    return row


def _with_question(transaction: Transaction, hit: sqlite3.Row) -> sqlite3.Row | None:
    return transaction.first_row(
        f"SELECT {hits.COLUMNS}, whole_questions.question FROM hits "
        "JOIN whole_questions ON whole_questions.hit = hits.id WHERE hits.id = ?",
        hit["id"],
    )


def _check_not_done(transaction: Transaction, worker: sqlite3.Row, hit: sqlite3.Row) -> None:
    row = transaction.first_row(
        "SELECT status FROM assignments WHERE hit = ? AND worker = ? "
        "AND status NOT IN ('Returned', 'Abandoned')",
        hit["id"],
        worker["id"],
    )
    if row is not None:
        raise Refusal(
            "AlreadyDone",
            "You already have or did this HIT. Each worker may do a HIT only once.",
            status=409,
        )
    if not worker_limits.is_free_to_take(transaction, worker, hit["id"]):
        raise Refusal(
            "AlreadyDone",
            "You already did a HIT about the same. Each worker may answer only once.",
            status=409,
        )


def _held(transaction: Transaction, worker: sqlite3.Row) -> int:
    # An assignment past its deadline does not count, even if it is not closed yet.
    held = transaction.value(
        "SELECT count(*) FROM assignments "
        "WHERE worker = ? AND status = 'Accepted' AND deadline_ms > ?",
        worker["id"],
        transaction.now_ms,
    )
    return int(held)


def _lacking(group: discovery.Group) -> str:
    if group.reached:
        return group.reached
    return say("To do this HIT, you need: %(wanted)s.", wanted="; ".join(group.wanted))
