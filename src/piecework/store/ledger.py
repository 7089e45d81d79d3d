"""Where the money is, in cents; an entry moves an amount between two accounts.

Money comes from `requester` and returns to it, `held` is reserved by posted HITs, and
`rewards`, `bonuses`, `compensations` and `fees` are spent. So all accounts always sum
to zero. Triggers of the tables update the balances, the cost of each batch and what was
promised on each day, so a query takes the same time with a ledger of any length.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from typing import Literal, NamedTuple, get_args

from piecework.domain.hit import PlannedHit
from piecework.domain.ids import AssignmentId, WorkerId
from piecework.store.database import Store, insert, to_text

Account = Literal["requester", "held", "rewards", "bonuses", "compensations", "fees"]


def move(
    store: Store,
    amount_cents: int,
    *,
    credit: Account,
    debit: Account,
    intent_key: str,
    batch: int | None,
    at: datetime,
) -> None:
    """Move an amount from `credit` to `debit`; part of the caller's transaction.

    Args:
        store: the campaign's memory.
        amount_cents: zero adds no entry.
        credit: where it is taken.
        debit: where it goes.
        intent_key: the act that moves it.
        batch: the batch that it is a cost of; `None`: of no batch.
        at: when.
    """
    book_payment(
        store, {debit: amount_cents}, credit=credit, intent_key=intent_key, batch=batch, at=at
    )


def book_payment(
    store: Store,
    cents_by_account: Mapping[Account, int],
    *,
    intent_key: str,
    batch: int | None,
    at: datetime,
    credit: Account = "requester",
) -> None:
    """Pay amounts, by default such as were not held before.

    Zero adds no entry. Part of the caller's transaction.
    """
    entries = [
        {
            "intent_key": intent_key,
            "credit": credit,
            "debit": account,
            "amount_cents": cents,
            "batch": batch,
            "at": to_text(at),
        }
        for account, cents in cents_by_account.items()
        if cents
    ]
    insert(store, "ledger", entries)


def undo(store: Store, intent_key: str, *, at: datetime) -> None:
    """Reverse what an act has moved; part of the caller's transaction."""
    rows = store.db.query(
        "SELECT credit, debit, amount_cents, batch FROM ledger WHERE intent_key = ?", [intent_key]
    )
    for row in list(rows):
        move(
            store,
            row["amount_cents"],
            credit=row["debit"],
            debit=row["credit"],
            intent_key=intent_key,
            batch=row["batch"],
            at=at,
        )


def balances(store: Store) -> dict[Account, int]:
    """Return each account's balance in cents; `requester` is minus what was taken."""
    totals: dict[Account, int] = dict.fromkeys(get_args(Account), 0)
    totals.update(store.db.execute("SELECT account, cents FROM balances").fetchall())
    return totals


def taken_cents(store: Store) -> int:
    """Return spent and held cents together, which count against a campaign's cap."""
    return -balances(store)["requester"]


def taken_by_batch(store: Store) -> dict[int, int]:
    """Return spent and held cents of each batch, which count against its cap."""
    rows = store.db.execute("SELECT batch, cents FROM batch_costs ORDER BY batch")
    return dict(rows.fetchall())


class Taken(NamedTuple):
    """What counts against each cap, in cents.

    Attributes:
        campaign: spent and held.
        batch: the same of a batch.
        day: what left `requester` on a UTC day. What came back on that day is not
            subtracted: it was still promised on that day.
        month: the same for a UTC month.
    """

    campaign: int
    batch: int
    day: int
    month: int


def taken(store: Store, batch: int, moment: datetime) -> Taken:
    """Return what counts against the caps of a batch, and of the UTC day of a time."""
    day = moment.astimezone(UTC).date().isoformat()
    row = store.db.execute(
        "SELECT (SELECT coalesce(-sum(cents), 0) FROM balances WHERE account = 'requester'), "
        "(SELECT coalesce(sum(cents), 0) FROM batch_costs WHERE batch = :batch), "
        "(SELECT coalesce(sum(cents), 0) FROM day_promises WHERE day = :day), "
        "(SELECT coalesce(sum(cents), 0) FROM day_promises WHERE day BETWEEN :first AND :last)",
        {"batch": batch, "day": day, "first": f"{day[:7]}-01", "last": f"{day[:7]}-31"},
    ).fetchone()
    return Taken(*map(int, row))


def released_cents(store: Store) -> int:
    """Return what was held and went back to the requester, in cents."""
    (cents,) = store.db.execute(
        "SELECT coalesce(sum(amount_cents), 0) FROM ledger "
        "WHERE credit = 'held' AND debit = 'requester'"
    ).fetchone()
    return int(cents)


_OF_ASSIGNMENT = (
    "FROM ledger JOIN intents USING (intent_key) "
    "WHERE subject_kind = 'assignment' AND subject_id = :id"
)


def paid_cents(store: Store, *accounts: Account) -> dict[AssignmentId, int]:
    """Return what workers got for each assignment from these accounts, without fees.

    A compensation has no assignment; it is listed under the worker's id.

    Any intent may have paid: an approval, a rejection that came too late, or one that
    was taken back. Work that the platform has lost counts as unpaid.
    """
    wanted = ", ".join("?" for _ in accounts)
    return {
        AssignmentId(row["subject_id"]): row["cents"]
        for row in store.db.query(
            "SELECT subject_id, "
            f"sum(iif(debit IN ({wanted}), 1, -1) * ledger.amount_cents) AS cents "
            "FROM ledger JOIN intents USING (intent_key) "
            f"WHERE debit IN ({wanted}) OR credit IN ({wanted}) "
            "GROUP BY subject_id ORDER BY subject_id",
            [*accounts, *accounts, *accounts],
        )
        if row["cents"] > 0
    }


def spent_on(store: Store, assignment_id: AssignmentId) -> dict[Account, int]:
    """Return what was spent on an assignment, in cents, by account."""
    rows = store.db.execute(
        "SELECT account, sum(cents) FROM ("
        "SELECT debit AS account, ledger.amount_cents AS cents "
        f"{_OF_ASSIGNMENT} UNION ALL "
        f"SELECT credit, -ledger.amount_cents {_OF_ASSIGNMENT}) AS moves "
        "WHERE account IN ('rewards', 'fees', 'bonuses') "
        "GROUP BY account HAVING sum(cents) > 0",
        {"id": assignment_id},
    )
    return dict(rows.fetchall())


def held_cents(store: Store, hit: PlannedHit) -> int:
    """Return what is held for a HIT, including its added slots, in cents."""
    (cents,) = store.db.execute(
        "SELECT coalesce(sum(iif(debit = 'held', 1, -1) * amount_cents), 0) "
        "FROM ledger WHERE 'held' IN (credit, debit) AND intent_key IN ("
        "SELECT intent_key FROM hits CROSS JOIN intents WHERE operation = 'publish' "
        "AND subject_kind = 'hit' AND subject_id = hit_key "
        "AND :key IN (hit_key, extends) "
        "UNION SELECT intent_key FROM assignments CROSS JOIN intents "
        "WHERE operation IN ('approve', 'reject') AND subject_kind = 'assignment' "
        "AND subject_id = assignment_id AND hit_id = :id)",
        {"key": hit.hit_key, "id": hit.hit_id},
    ).fetchone()
    return int(cents)


class Payout(NamedTuple):
    """What a person paid a worker outside the marketplace, and recorded.

    Attributes:
        label: distinguishes it from the worker's other payouts.
        cents: 0 once the record was taken back.
        paid_on: the day on which the worker got it.
    """

    worker_id: WorkerId
    label: str
    cents: int
    paid_on: date


def payouts(store: Store) -> dict[tuple[WorkerId, str], Payout]:
    """Return what was paid outside the marketplace, by worker and label."""
    rows = store.db.execute(
        "SELECT worker_id, label, cents, paid_on FROM payouts ORDER BY worker_id, label"
    )
    return {
        (WorkerId(worker), label): Payout(
            WorkerId(worker), label, cents, date.fromisoformat(paid_on)
        )
        for worker, label, cents, paid_on in rows
    }


def keep_payouts(store: Store, paid: Iterable[Payout], *, by: str, at: datetime) -> None:
    """Store payouts, each in place of the one with its label; part of the caller's transaction."""
    store.db.executemany(
        "INSERT INTO payouts (worker_id, label, cents, paid_on, recorded_by, recorded_at) "
        "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (worker_id, label) DO UPDATE SET "
        "cents = excluded.cents, paid_on = excluded.paid_on, "
        "recorded_by = excluded.recorded_by, recorded_at = excluded.recorded_at",
        [
            (each.worker_id, each.label, each.cents, each.paid_on.isoformat(), by, to_text(at))
            for each in paid
        ],
    )
