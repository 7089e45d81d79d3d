"""Workers: blocks, and compensations for those who have no assignment.

A block is the hard kind, which hides all of a requester's HITs. A compensation is a bonus
without an assignment to attach it to. A requester pays it to people whom the requester's
own faults hurt: a page that broke, or a HIT that no worker could submit. It has a name of
the requester's choice. Each name is paid once and never forgotten, and the list of
compensations shows what was paid.
"""

import sqlite3

from piecework.marketplace.exceptions import already_processed, invalid_parameters, request_error
from piecework.marketplace.requester.assignments import pay_bonus
from piecework.marketplace.requester.call import Call, Members
from piecework.marketplace.state import accounts, money

MOST_BLOCKS = 100_000


def create_worker_block(call: Call) -> Members:
    """CreateWorkerBlock: a repeat replaces the reason."""
    worker = accounts.find_worker(call.transaction, call.members["WorkerId"])
    blocked = "SELECT count(*) FROM blocks WHERE requester = ?"
    if call.transaction.value(blocked, call.requester) >= MOST_BLOCKS:
        raise request_error(
            "PermissionDenied", f"A requester may block at most {MOST_BLOCKS} workers."
        )
    call.transaction.upsert(
        "blocks",
        "requester",
        "worker",
        requester=call.requester,
        worker=worker["id"],
        reason=call.members["Reason"],
    )
    return {}


def delete_worker_block(call: Call) -> Members:
    """DeleteWorkerBlock: succeeds even if the worker is not blocked."""
    worker = accounts.find_worker(call.transaction, call.members["WorkerId"])
    call.transaction.execute(
        "DELETE FROM blocks WHERE requester = ? AND worker = ?", call.requester, worker["id"]
    )
    return {}


def list_worker_blocks(call: Call) -> Members:
    """ListWorkerBlocks: oldest first."""
    return call.list(
        "WorkerBlocks",
        lambda row: {"WorkerId": row["worker_id"], "Reason": row["reason"]},
        "blocks",
        "SELECT blocks.id, blocks.reason, workers.worker_id FROM blocks "
        "JOIN workers ON workers.id = blocks.worker WHERE blocks.requester = ?",
        call.requester,
    )


_LONGEST_NAME = 400
_PAGE = 100


def check_compensation_name(member: str, value: object) -> str:
    """Return a compensation's name, or refuse it."""
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_NAME:
        raise invalid_parameters(f"{member} must be a text of 1 to {_LONGEST_NAME} characters.")
    return value


def check_compensation_page(member: str, value: object) -> Members:
    """Return which compensations are wanted, or refuse the value."""
    is_page = (
        isinstance(value, dict)
        and set(value) == {"Prefix", "After"}
        and all(isinstance(text, str) and len(text) <= _LONGEST_NAME for text in value.values())
    )
    if not is_page or not isinstance(value, dict):
        raise invalid_parameters(
            f"{member} must have Prefix and After, texts of at most {_LONGEST_NAME} characters."
        )
    return value


def send_compensation(call: Call, name: str) -> Members:
    """Pay a compensation; the same name a second time is refused.

    Raises:
        Refusal: the worker is unknown, accepted no HIT of this requester, or cannot be
            paid by the market that sent them.
    """
    if "AssignmentId" in call.members:
        raise invalid_parameters("Give either AssignmentId or PieceworkCompensation, not both.")
    if call.transaction.first_row(
        "SELECT 1 FROM bonuses WHERE requester = ? AND name = ?", call.requester, name
    ):
        raise already_processed(call.members.get("UniqueRequestToken") or name)
    worker = accounts.find_worker(call.transaction, call.members["WorkerId"])
    pay_bonus(
        call,
        worker["id"],
        reason="compensation",
        subject=name,
        requester=call.requester,
        name=name,
        paid_visit=_paying_visit(call, worker),
    )
    return {}


def list_compensations(call: Call, asked: Members, reply: Members) -> None:
    """Add compensations whose names have a prefix, by name, a page at most."""
    rows = call.transaction.all(
        "SELECT bonuses.*, worker_id FROM bonuses "
        "JOIN workers ON workers.id = bonuses.worker "
        "WHERE requester = ?1 AND substr(name, 1, length(?2)) = ?2 AND name > ?3 "
        "ORDER BY name LIMIT ?4",
        call.requester,
        asked["Prefix"],
        asked["After"],
        _PAGE,
    )
    reply["PieceworkCompensations"] = [
        {
            "Name": row["name"],
            "WorkerId": row["worker_id"],
            "BonusAmount": money.currency(row["cents"]),
            "Reason": row["reason"],
        }
        for row in rows
    ]


def _paying_visit(call: Call, worker: sqlite3.Row) -> int | None:
    """Return the visit through which another market pays; `None` for own workers.

    Raises:
        Refusal: the worker never worked for this requester.
    """
    if worker["comes_by_visits"]:
        row = call.transaction.first_row(
            "SELECT visits.id FROM visits JOIN studies ON studies.id = visits.study "
            "JOIN hit_types ON hit_types.id = studies.hit_type "
            "WHERE visits.worker = ? AND hit_types.requester = ? "
            "ORDER BY visits.id DESC LIMIT 1",
            worker["id"],
            call.requester,
        )
        if row is None:
            raise request_error(
                "NoSubmission",
                f"Worker {worker['worker_id']} has no submission in a study of this "
                "requester, so the market that sent this person cannot pay them.",
            )
        return int(row["id"])
    if not call.transaction.first_row(
        "SELECT 1 FROM assignments JOIN hits ON hits.id = assignments.hit "
        "WHERE assignments.worker = ? AND hits.requester = ? LIMIT 1",
        worker["id"],
        call.requester,
    ):
        raise request_error(
            "NoHITAccepted", f"Worker {worker['worker_id']} has accepted no HIT of this requester."
        )
    return None
