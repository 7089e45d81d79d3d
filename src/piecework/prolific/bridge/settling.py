"""What Prolific took, beside what the marketplace's ledger took for the same.

Prolific pays whole visits and rounds each payment by itself, so the two may differ: by
the reward of a HIT that was rejected in a visit that is paid, and by a penny of fee.
The difference is booked, with a reason of its own, when Prolific has paid: so the
ledger's sum is Prolific's, to the penny.
"""

from piecework.marketplace.state import ledger
from piecework.marketplace.state.transaction import Transaction
from piecework.prolific.bridge.reading import SCREENED_OUT

PAID_EARLY = "(visits.outcome = 'Paid' AND visits.trouble <> '')"
"""Visits that Prolific paid before their requester had decided all of their HITs."""

_VISIT = (
    f"SELECT iif(visits.status = '{SCREENED_OUT}', screen_out_cost_cents, cost_cents) "
    "AS cost_cents, visits.settled_cents, studies.internal_name, "
    "hit_types.requester, "
    "coalesce(sum(assignments.paid_cents + assignments.fee_cents), 0) AS booked_cents "
    "FROM visits JOIN studies ON studies.id = visits.study "
    "JOIN hit_types ON hit_types.id = studies.hit_type "
    "LEFT JOIN assignments ON assignments.visit = visits.id WHERE visits.id = ?"
)
_BATCH = (
    "SELECT bonus_batches.total_cents, studies.internal_name, hit_types.requester, "
    "(SELECT coalesce(sum(iif(bonus_lines.bonus IS NULL, "
    # All HITs of a visit have one reward, so a share of it has that share of fees.
    "bonus_lines.cents + (SELECT bonus_lines.cents * sum(assignments.fee_cents) "
    "/ sum(paid_cents) FROM assignments "
    "WHERE assignments.visit = bonus_lines.visit AND status = 'Approved'), "
    "bonuses.cents + bonuses.fee_cents)), 0) FROM bonus_lines "
    "LEFT JOIN bonuses ON bonuses.id = bonus_lines.bonus "
    "WHERE bonus_lines.batch = bonus_batches.id) AS booked_cents "
    "FROM bonus_batches JOIN studies ON studies.id = bonus_batches.study "
    "JOIN hit_types ON hit_types.id = studies.hit_type WHERE bonus_batches.id = ?"
)

_LENT = (
    "SELECT -coalesce(sum(entries.cents), 0) AS cents FROM transfers "
    "JOIN entries ON entries.transfer = transfers.id "
    "JOIN accounts ON accounts.id = entries.account "
    "WHERE reason = 'outside price' AND subject = ? AND kind = 'outside'"
)


def settle_visit(transaction: Transaction, visit: int) -> None:
    """Book by how much a visit that was paid cost more, or less, than its HITs.

    Again, after another of its HITs was approved, it books what has changed by that.
    """
    row = transaction.one(_VISIT, visit)
    if row is None:
        return
    difference = row["cost_cents"] - row["booked_cents"]
    more_cents = difference - row["settled_cents"]
    if more_cents < 0 < row["settled_cents"]:
        more_cents += _give_back_lent(
            transaction, -more_cents, subject=row["internal_name"]
        )
    _book(transaction, row["requester"], more_cents, subject=row["internal_name"])
    transaction.execute(
        "UPDATE visits SET settled_cents = ? WHERE id = ?", difference, visit
    )


def settle_batch(transaction: Transaction, batch: int) -> None:
    """Book by how much a batch of bonuses cost more, or less, than they were booked."""
    row = transaction.one(_BATCH, batch)
    if row is not None:
        _book(
            transaction,
            row["requester"],
            row["total_cents"] - row["booked_cents"],
            subject=row["internal_name"],
        )


def _give_back_lent(transaction: Transaction, cents: int, *, subject: str) -> int:
    """Give back what was booked where an account was empty; how much that is."""
    row = transaction.one(_LENT, subject)
    lent = min(cents, row["cents"] if row else 0)
    ledger.pay(
        transaction,
        ledger.FEES,
        credited={ledger.OUTSIDE: lent},
        reason="outside price",
        subject=subject,
    )
    return lent


def _book(
    transaction: Transaction, requester: int, more_cents: int, *, subject: str
) -> None:
    """Take more from the requester, or give back what was too much."""
    account = ledger.available(requester)
    if more_cents < 0:
        ledger.pay(
            transaction,
            ledger.FEES,
            credited={account: -more_cents},
            reason="outside price",
            subject=subject,
        )
        return
    # It is spent already, so it is booked even where the account is empty.
    there = min(more_cents, ledger.spendable(transaction, requester))
    for source, cents in ((account, there), (ledger.OUTSIDE, more_cents - there)):
        ledger.pay(
            transaction,
            source,
            credited={ledger.FEES: cents},
            reason="outside price",
            subject=subject,
        )
