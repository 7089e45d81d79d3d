"""Where the money is, in cents; an entry moves an amount between two accounts.

`requester` is where money comes from and goes back to, `held` is reserved by posted
HITs, `rewards`, `bonuses` and `fees` are spent. So all accounts always sum to zero.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, get_args

from domain.ids import AssignmentId
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


def pay(
    store: Store, legs: Mapping[Account, int], *, intent_key: str, at: datetime
) -> None:
    """Pay out of what was not held before; part of the caller's transaction."""
    for account, cents in legs.items():
        move(
            store,
            cents,
            credit="requester",
            debit=account,
            intent_key=intent_key,
            at=at,
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


def paid_cents(store: Store, *accounts: Account) -> dict[AssignmentId, int]:
    """What workers got for each assignment, in cents without fees, by these accounts.

    Whichever intent paid: an approval, a rejection that came too late, or one that was
    taken back.
    """
    return {
        AssignmentId(row["subject"]): row["cents"]
        for row in store.db.query(
            "SELECT json_extract(arguments, '$.subject') AS subject, "
            "sum(ledger.amount_cents) AS cents "
            "FROM ledger JOIN intents USING (intent_key) "
            f"WHERE debit IN ({', '.join('?' for _ in accounts)}) GROUP BY subject",
            accounts,
        )
    }
