"""The ledger: double-entry bookkeeping of every cent, and the laws that it obeys.

Accounts: `outside` (the source of money; the only one that may be negative), per
requester `available` and `held`, per worker `worker`, and `fees`. The balances of all
accounts add up to zero, and so do the entries of each transfer.

`read_books` returns the complete state as one document. It and the laws read the tables
directly and compute sums differently from the operations, so that they can detect their
errors.
"""

from typing import Any

from piecework.marketplace.exceptions import insufficient_funds
from piecework.marketplace.state.transaction import Transaction

OUTSIDE = ("outside", 0)
FEES = ("fees", 0)

Account = tuple[str, int]
"""Kind and owner (0 for shared accounts)."""


def available(requester: int) -> Account:
    """Return the account with what a requester may still spend."""
    return ("available", requester)


def held(requester: int) -> Account:
    """Return the account with what a requester's HITs may still cost."""
    return ("held", requester)


def worker_account(worker: int) -> Account:
    """Return the account with a worker's earnings."""
    return ("worker", worker)


def balance(transaction: Transaction, account: Account) -> int:
    """Return the balance of an account in cents; 0 if it was never used."""
    query = "SELECT balance_cents FROM accounts WHERE kind = ? AND owner = ?"
    cents: int = transaction.value(query, *account) or 0
    return cents


def spendable(transaction: Transaction, requester: int) -> int:
    """Return what a requester may spend within their balance and the common limit."""
    present = balance(transaction, available(requester))
    if transaction.spend_at_most_cents is None:
        return present
    spent: int = transaction.value(
        "SELECT -coalesce(sum(balance_cents), 0) FROM accounts "
        "WHERE kind IN ('outside', 'available')"
    )
    return max(0, min(present, transaction.spend_at_most_cents - spent))


def pay(
    transaction: Transaction,
    source: Account,
    *,
    credited: dict[Account, int],
    reason: str,
    subject: str,
) -> None:
    """Move money from one account to others, all or nothing.

    Raises:
        Refusal: `InsufficientFunds`, if the source's balance is too low.
    """
    total = sum(credited.values())
    if total == 0:
        return
    kind, owner = source
    present = spendable(transaction, owner) if kind == "available" else balance(transaction, source)
    if source != OUTSIDE and present < total:
        shown = transaction.prices.shown
        raise insufficient_funds(needed=shown(total), available=shown(present))
    number = transaction.insert(
        "transfers", made_ms=transaction.now_ms, reason=reason, subject=subject
    )
    _enter(transaction, number, source, cents=-total)
    for account, cents in credited.items():
        _enter(transaction, number, account, cents=cents)


def _enter(transaction: Transaction, number: int, account: Account, *, cents: int) -> None:
    if cents == 0:
        return
    account_id = transaction.value(
        "UPDATE accounts SET balance_cents = balance_cents + ? "
        "WHERE kind = ? AND owner = ? RETURNING id",
        cents,
        *account,
    )
    if account_id is None:
        kind, owner = account
        account_id = transaction.insert("accounts", kind=kind, owner=owner, balance_cents=cents)
    transaction.insert("entries", transfer=number, account=account_id, cents=cents)


_HITS = (
    "SELECT hit_id, hit_type_id, annotation, max_assignments, status, held_cents "
    "FROM hits JOIN hit_types ON hit_types.id = hits.hit_type ORDER BY hits.id"
)
_ASSIGNMENTS = (
    "SELECT assignment_id, hit_id, worker_id, assignments.status, paid_cents, "
    "assignments.fee_cents FROM assignments JOIN hits ON hits.id = assignments.hit "
    "JOIN workers ON workers.id = assignments.worker ORDER BY assignments.id"
)
_BONUSES = (
    "SELECT assignment_id, worker_id, cents, bonuses.fee_cents, reason FROM bonuses "
    "JOIN assignments ON assignments.id = bonuses.assignment "
    "JOIN workers ON workers.id = bonuses.worker ORDER BY bonuses.id"
)
_COMPENSATIONS = (
    "SELECT name, worker_id, cents, fee_cents, reason FROM bonuses "
    "JOIN workers ON workers.id = bonuses.worker WHERE assignment IS NULL "
    "ORDER BY bonuses.id"
)
_QUALIFICATIONS = (
    "SELECT qualification_type_id, name, worker_id, value, qualifications.status "
    "FROM qualifications JOIN qualification_types "
    "ON qualification_types.id = qualifications.qualification_type "
    "JOIN workers ON workers.id = qualifications.worker ORDER BY qualifications.id"
)
_BLOCKS = (
    "SELECT worker_id, reason FROM blocks "
    "JOIN workers ON workers.id = blocks.worker ORDER BY blocks.id"
)
_BALANCE = "SELECT coalesce(sum(balance_cents), 0) FROM accounts WHERE kind = ?"

LAWS = {
    "all balances add up to zero": (
        "SELECT sum(balance_cents) FROM accounts HAVING sum(balance_cents) <> 0"
    ),
    "the entries of each transfer add up to zero": (
        "SELECT transfer FROM entries GROUP BY transfer HAVING sum(cents) <> 0"
    ),
    "a balance is the sum of its entries": (
        "SELECT accounts.id FROM accounts JOIN entries "
        "ON entries.account = accounts.id GROUP BY accounts.id "
        "HAVING sum(entries.cents) <> accounts.balance_cents"
    ),
    "a requester's HITs together hold what the requester's account holds": (
        "SELECT requesters.id FROM requesters WHERE "
        "(SELECT coalesce(sum(held_cents), 0) FROM hits "
        "WHERE hits.requester = requesters.id) <> "
        "(SELECT coalesce(sum(balance_cents), 0) FROM accounts "
        "WHERE kind = 'held' AND owner = requesters.id)"
    ),
    "a HIT holds reward and fee of each slot that may still be paid": (
        "SELECT hit_id FROM hits WHERE held_cents <> (reward_cents + fee_cents) * "
        "CASE WHEN is_expired THEN accepted + submitted "
        "ELSE max_assignments - approved - rejected END"
    ),
    "a HIT's counters match its assignments": (
        "SELECT hit_id FROM hits WHERE (accepted, submitted, approved, rejected) <> "
        "(SELECT count(*) FILTER (WHERE status = 'Accepted'), "
        "count(*) FILTER (WHERE status = 'Submitted'), "
        "count(*) FILTER (WHERE status = 'Approved'), "
        "count(*) FILTER (WHERE status = 'Rejected') "
        "FROM assignments WHERE assignments.hit = hits.id)"
    ),
    "running totals of states match the rows": (
        "SELECT counted, state FROM state_totals WHERE number <> CASE counted "
        "WHEN 'assignments' THEN "
        "(SELECT count(*) FROM assignments WHERE assignments.status = state) "
        "WHEN 'hits' THEN (SELECT count(*) FROM hits WHERE hits.status = state) "
        "ELSE (SELECT count(*) FROM visits WHERE visits.stage = state) END"
    ),
    "a HIT type's counter matches its assignable HITs": (
        "SELECT hit_type_id FROM hit_types WHERE assignable_hits <> "
        "(SELECT count(*) FROM hits WHERE hits.hit_type = hit_types.id "
        "AND status = 'Assignable')"
    ),
    "a worker earned what assignments and bonuses paid": (
        "SELECT worker_id FROM workers WHERE "
        "(SELECT coalesce(sum(paid_cents), 0) FROM assignments "
        "WHERE assignments.worker = workers.id) + "
        "(SELECT coalesce(sum(cents), 0) FROM bonuses "
        "WHERE bonuses.worker = workers.id) <> "
        "(SELECT coalesce(sum(balance_cents), 0) FROM accounts "
        "WHERE kind = 'worker' AND owner = workers.id)"
    ),
    "exactly the approved assignments are paid": (
        "SELECT assignment_id FROM assignments JOIN hits ON hits.id = assignments.hit "
        "WHERE (paid_cents, assignments.fee_cents) <> "
        "(iif(assignments.status = 'Approved', reward_cents, 0), "
        "iif(assignments.status = 'Approved', hits.fee_cents, 0))"
    ),
}
"""Each law with the query that finds violations."""


def read_books(transaction: Transaction) -> dict[str, Any]:
    """Return everything that a rehearsal compares with its own records."""
    return {
        "hits": _rows(transaction, _HITS),
        "assignments": _rows(transaction, _ASSIGNMENTS),
        "bonuses": _rows(transaction, _BONUSES),
        "compensations": _rows(transaction, _COMPENSATIONS),
        "qualifications": _rows(transaction, _QUALIFICATIONS),
        "blocks": _rows(transaction, _BLOCKS),
        "balance_cents": transaction.value(_BALANCE, "available"),
        "held_cents": transaction.value(_BALANCE, "held"),
        "fees_cents": transaction.value(_BALANCE, "fees"),
    }


def broken_laws(transaction: Transaction) -> list[str]:
    """Return the violated laws; any is a bug in the marketplace."""
    return [law for law, query in LAWS.items() if transaction.first_row(query) is not None]


def _rows(transaction: Transaction, query: str) -> list[dict[str, Any]]:
    return [dict(row) for row in transaction.all(query)]
