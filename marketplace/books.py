"""The books: every cent that moves is written down twice, and the books balance.

Accounts: `outside` (where money comes from; the only one that may be negative), per
requester `available` and `held`, per worker `worker`, and `fees`. The balances of all
accounts add up to nothing, and so do the entries of each transfer.
"""

from marketplace.exceptions import insufficient_funds
from marketplace.turn import Turn

OUTSIDE = ("outside", 0)
FEES = ("fees", 0)

Account = tuple[str, int]
"""Kind and owner (0 where there is one for all)."""


def available(requester: int) -> Account:
    """What a requester may still spend."""
    return ("available", requester)


def held(requester: int) -> Account:
    """What a requester's HITs may still cost."""
    return ("held", requester)


def worker_purse(worker: int) -> Account:
    """What a worker has earned."""
    return ("worker", worker)


def balance(turn: Turn, account: Account) -> int:
    """The balance of an account in cents; 0 if nothing ever touched it."""
    row = turn.one(
        "SELECT balance_cents FROM accounts WHERE kind = ? AND owner = ?", *account
    )
    return 0 if row is None else int(row[0])


def pay(
    turn: Turn,
    source: Account,
    *,
    legs: dict[Account, int],
    reason: str,
    subject: str,
) -> None:
    """Move money from one account to others, all or nothing.

    Raises:
        Refusal: `InsufficientFunds`, if the source cannot carry it.
    """
    total = sum(legs.values())
    if total == 0:
        return
    present = balance(turn, source)
    if source != OUTSIDE and present < total:
        raise insufficient_funds(needed_cents=total, available_cents=present)
    number = turn.run(
        "INSERT INTO transfers (made_ms, reason, subject) VALUES (?, ?, ?)",
        turn.now_ms,
        reason,
        subject,
    )
    _enter(turn, number, source, cents=-total)
    for account, cents in legs.items():
        _enter(turn, number, account, cents=cents)


def _enter(turn: Turn, number: int, account: Account, *, cents: int) -> None:
    if cents == 0:
        return
    row = turn.one(
        "UPDATE accounts SET balance_cents = balance_cents + ? "
        "WHERE kind = ? AND owner = ? RETURNING id",
        cents,
        *account,
    )
    if row is None:
        account_id = turn.run(
            "INSERT INTO accounts (kind, owner, balance_cents) VALUES (?, ?, ?)",
            *account,
            cents,
        )
    else:
        account_id = row["id"]
    turn.run(
        "INSERT INTO entries (transfer, account, cents) VALUES (?, ?, ?)",
        number,
        account_id,
        cents,
    )
