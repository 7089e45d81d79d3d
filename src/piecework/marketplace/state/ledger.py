"""The ledger: double-entry bookkeeping of every cent.

Accounts: `outside` (the source of money; the only one that may be negative), per
requester `available` and `held`, per worker `worker`, and `fees`. The balances of all
accounts add up to zero, and so do the entries of each transfer.
"""

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
    row = transaction.first_row(
        "SELECT balance_cents FROM accounts WHERE kind = ? AND owner = ?", *account
    )
    return 0 if row is None else int(row[0])


def spendable(transaction: Transaction, requester: int) -> int:
    """Return what a requester may spend within their balance and the common limit."""
    present = balance(transaction, available(requester))
    if transaction.spend_at_most_cents is None:
        return present
    row = transaction.first_row(
        "SELECT -coalesce(sum(balance_cents), 0) FROM accounts "
        "WHERE kind IN ('outside', 'available')"
    )
    left = transaction.spend_at_most_cents - (int(row[0]) if row else 0)
    return max(0, min(present, left))


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
    number = transaction.execute(
        "INSERT INTO transfers (made_ms, reason, subject) VALUES (?, ?, ?)",
        transaction.now_ms,
        reason,
        subject,
    )
    _enter(transaction, number, source, cents=-total)
    for account, cents in credited.items():
        _enter(transaction, number, account, cents=cents)


def _enter(transaction: Transaction, number: int, account: Account, *, cents: int) -> None:
    if cents == 0:
        return
    row = transaction.first_row(
        "UPDATE accounts SET balance_cents = balance_cents + ? "
        "WHERE kind = ? AND owner = ? RETURNING id",
        cents,
        *account,
    )
    if row is None:
        account_id = transaction.execute(
            "INSERT INTO accounts (kind, owner, balance_cents) VALUES (?, ?, ?)", *account, cents
        )
    else:
        account_id = row["id"]
    transaction.execute(
        "INSERT INTO entries (transfer, account, cents) VALUES (?, ?, ?)", number, account_id, cents
    )
