"""Where the money is, in cents; an entry moves an amount between two accounts.

`requester` is where money comes from and goes back to, `held` is reserved by posted
HITs, `rewards`, `bonuses` and `fees` are spent. So all accounts always sum to zero.
"""

from datetime import datetime
from typing import Literal, get_args

from store.database import Store
from store.times import to_text

Account = Literal["requester", "held", "rewards", "bonuses", "fees"]


def move(
    store: Store,
    amount_cents: int,
    *,
    credit: Account,
    debit: Account,
    intent_key: str,
    at: datetime,
) -> None:
    """Move an amount from `credit` to `debit`; part of the caller's transaction."""
    if amount_cents == 0:
        return
    store.db.execute(
        "INSERT INTO ledger (intent_key, credit, debit, amount_cents, at) "
        "VALUES (?, ?, ?, ?, ?)",
        [intent_key, credit, debit, amount_cents, to_text(at)],
    )


def balances(store: Store) -> dict[Account, int]:
    """What each account holds, in cents; `requester` is negative by what was taken."""
    totals: dict[Account, int] = dict.fromkeys(get_args(Account), 0)
    for row in store.db.query(
        "SELECT debit AS account, sum(amount_cents) AS cents FROM ledger GROUP BY debit"
        " UNION ALL "
        "SELECT credit, -sum(amount_cents) FROM ledger GROUP BY credit"
    ):
        totals[row["account"]] += row["cents"]
    return totals


def taken_cents(store: Store) -> int:
    """Spent and held together: what counts against a campaign's cap."""
    return -balances(store)["requester"]


def released_cents(store: Store) -> int:
    """What was held and went back to the requester, in cents."""
    row = store.db.execute(
        "SELECT coalesce(sum(amount_cents), 0) FROM ledger "
        "WHERE credit = 'held' AND debit = 'requester'"
    ).fetchone()
    return int(row[0])


def paid_by_intent(store: Store) -> dict[str, int]:
    """What workers got, in cents without fees, by the intent that paid it."""
    return {
        row["intent_key"]: row["cents"]
        for row in store.db.query(
            "SELECT intent_key, sum(amount_cents) AS cents FROM ledger "
            "WHERE debit IN ('rewards', 'bonuses') GROUP BY intent_key"
        )
    }
