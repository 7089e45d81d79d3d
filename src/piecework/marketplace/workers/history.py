"""A worker's history: open work, assignments with their outcome, daily earnings."""

import sqlite3
from dataclasses import dataclass
from datetime import date

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.languages import sentence
from piecework.marketplace.state import clock, ledger, review_policies
from piecework.marketplace.state.transaction import Transaction
from piecework.marketplace.workers import discovery

SHOWN = 50
DAYS_SHOWN = 31
MESSAGES_SHOWN = 20

STATES = {
    "all": (sentence("Everything"), ()),
    "pending": (sentence("Waiting"), ("Submitted",)),
    "approved": (sentence("Approved"), ("Approved",)),
    "rejected": (sentence("Rejected"), ("Rejected",)),
    "undone": (sentence("Not done"), ("Returned", "Abandoned")),
}
"""The filters of the history, with their names for people."""

_MOST_ANSWERS = 40
_ANSWER_CHARACTERS = 600
_LONGEST_READ = 100_000
_BY_THE_PAGE = {
    *("item", "order", "typing", "shown_ms", "pastes", "keystrokes", "focus_losses", "played_part")
}
"""Names of what piecework's own pages send besides answers."""

_SELECT = (
    "SELECT assignments.*, hit_types.title, hits.reward_cents, "
    "requesters.name AS requester_name, objections.text AS objection, "
    "objections.made_ms AS objected_ms FROM assignments "
    "JOIN hits ON hits.id = assignments.hit "
    "JOIN hit_types ON hit_types.id = hits.hit_type "
    "JOIN requesters ON requesters.id = hits.requester "
    "LEFT JOIN objections ON objections.assignment = assignments.id "
    "WHERE assignments.worker = ? "
)
_BONUSES = (
    "SELECT bonuses.* FROM bonuses WHERE bonuses.worker = ? AND bonuses.assignment = ? "
    "ORDER BY bonuses.id"
)
_DAYS = (
    "SELECT day, sum(pending_cents) AS pending_cents, sum(paid_cents) AS paid_cents, "
    "sum(bonus_cents) AS bonus_cents, sum(submitted) AS submitted, "
    "sum(rejected) AS rejected FROM ("
    "SELECT submitted_ms / 86400000 AS day, "
    "iif(assignments.status = 'Submitted', hits.reward_cents, 0) AS pending_cents, "
    "paid_cents, 0 AS bonus_cents, 1 AS submitted, "
    "iif(assignments.status = 'Rejected', 1, 0) AS rejected "
    "FROM assignments JOIN hits ON hits.id = assignments.hit "
    "WHERE assignments.worker = ? AND submitted_ms IS NOT NULL "
    "UNION ALL SELECT paid_ms / 86400000, 0, 0, cents, 0, 0 FROM bonuses "
    "WHERE worker = ?) GROUP BY day ORDER BY day DESC LIMIT ?"
)


def _beginning(text: str) -> str:
    """Return what fits of a text, which may be of a language without spaces."""
    return text if len(text) <= _ANSWER_CHARACTERS else f"{text[:_ANSWER_CHARACTERS]}…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One of the worker's assignments with its bonuses."""

    row: sqlite3.Row
    bonuses: tuple[sqlite3.Row, ...]

    @property
    def answers(self) -> list[tuple[str, str]]:
        """What the worker wrote or chose, by field; not what the page measured."""
        answer = self.row["answer"] or ""
        sent = review_policies.read_values(answer) if 0 < len(answer) < _LONGEST_READ else {}
        return [
            (name, _beginning(", ".join(sorted(values))))
            for name, values in sent.items()
            if any(values) and name.split(".")[0] not in _BY_THE_PAGE
        ][:_MOST_ANSWERS]


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """A day (in UTC): work by submission time, bonuses by payment time."""

    date: date
    submitted: int
    rejected: int
    paid_cents: int
    pending_cents: int
    bonus_cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Earnings:
    """A worker's earnings and pending earnings."""

    earned_cents: int
    pending_cents: int
    bonus_cents: int


def open_assignments(transaction: Transaction, worker: sqlite3.Row) -> list[sqlite3.Row]:
    """Return the worker's open assignments, most urgent first."""
    return transaction.all(
        f"{_SELECT} AND assignments.status = 'Accepted' ORDER BY assignments.deadline_ms",
        worker["id"],
    )


def latest_work(
    transaction: Transaction, worker: sqlite3.Row, *, state: str = "all", before: int | None = None
) -> list[Entry]:
    """Return the worker's assignments, newest first, one more than `SHOWN` if any.

    Args:
        transaction: the open one.
        worker: the worker.
        state: a key of `STATES`.
        before: only assignments with a smaller row id.
    """
    statuses = STATES[state][1]
    marks = ", ".join("?" * len(statuses))
    among = f"AND assignments.status IN ({marks}) " if statuses else ""
    earlier = "AND assignments.id < ? " if before is not None else ""
    rows = transaction.all(
        f"{_SELECT} {among} {earlier} ORDER BY assignments.id DESC LIMIT ?",
        worker["id"],
        *statuses,
        *([] if before is None else [before]),
        SHOWN + 1,
    )
    return [
        Entry(row=row, bonuses=tuple(transaction.all(_BONUSES, worker["id"], row["id"])))
        for row in rows
    ]


def compensations(transaction: Transaction, worker: sqlite3.Row) -> list[sqlite3.Row]:
    """Return the bonuses without an assignment, newest first."""
    return transaction.all(
        "SELECT * FROM bonuses WHERE worker = ? AND assignment IS NULL ORDER BY id DESC LIMIT ?",
        worker["id"],
        SHOWN,
    )


def by_day(transaction: Transaction, worker: sqlite3.Row) -> list[Day]:
    """Return the latest days with submissions or payments, newest first."""
    rows = transaction.all(_DAYS, worker["id"], worker["id"], DAYS_SHOWN)
    return [
        Day(
            date=clock.to_datetime(row["day"] * clock.DAY).date(),
            submitted=row["submitted"],
            rejected=row["rejected"],
            paid_cents=row["paid_cents"],
            pending_cents=row["pending_cents"],
            bonus_cents=row["bonus_cents"],
        )
        for row in rows
    ]


def earnings(transaction: Transaction, worker: sqlite3.Row) -> Earnings:
    """Return what the worker was paid, and what waits for approval."""
    pending = transaction.value(
        "SELECT coalesce(sum(hits.reward_cents), 0) FROM assignments "
        "JOIN hits ON hits.id = assignments.hit "
        "WHERE assignments.worker = ? AND assignments.status = 'Submitted'",
        worker["id"],
    )
    bonuses = "SELECT coalesce(sum(cents), 0) FROM bonuses WHERE worker = ?"
    return Earnings(
        earned_cents=ledger.balance(transaction, ledger.worker_account(worker["id"])),
        pending_cents=pending,
        bonus_cents=transaction.value(bonuses, worker["id"]),
    )


def messages(transaction: Transaction, worker: sqlite3.Row) -> list[sqlite3.Row]:
    """Return requesters' messages to the worker, newest first."""
    return transaction.all(
        "SELECT messages.*, requesters.name AS requester_name FROM messages "
        "JOIN requesters ON requesters.id = messages.requester "
        "WHERE messages.worker = ? ORDER BY messages.id DESC LIMIT ?",
        worker["id"],
        MESSAGES_SHOWN,
    )


def hits_left(transaction: Transaction, worker: sqlite3.Row, hit_group_id: str) -> int:
    """Return how many more HITs of the group the worker could take now."""
    try:
        group = discovery.visible_group(transaction, worker, hit_group_id)
    except Refusal:
        return 0
    return group.available if group.may_accept else 0
