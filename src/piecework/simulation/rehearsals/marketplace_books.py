"""What a rehearsal's marketplace has booked, for comparison with other ledgers."""

from piecework.marketplace.state.transaction import Transaction


def spent_cents(transaction: Transaction) -> int:
    """Return what requesters have spent: workers' pay and fees."""
    return _sum(transaction, "worker") + _sum(transaction, "fees")


def fees_cents_of(transaction: Transaction, market: str) -> int:
    """Return the fees on rewards and bonuses of people from one market."""
    row = transaction.first_row(
        "SELECT (SELECT coalesce(sum(fee_cents), 0) FROM assignments "
        "JOIN participants USING (worker) "
        "WHERE market = ?1 AND status = 'Approved') + "
        "(SELECT coalesce(sum(fee_cents), 0) FROM bonuses "
        "JOIN participants USING (worker) WHERE market = ?1)",
        market,
    )
    return int(row[0]) if row else 0


def outside_price_cents(transaction: Transaction) -> int:
    """Return the part of the fees that was booked after the other market had paid."""
    row = transaction.first_row(
        "SELECT coalesce(sum(cents), 0) FROM entries "
        "JOIN transfers ON transfers.id = entries.transfer "
        "JOIN accounts ON accounts.id = entries.account "
        "WHERE reason = 'outside price' AND kind = 'fees'"
    )
    return int(row[0]) if row else 0


def _sum(transaction: Transaction, kind: str) -> int:
    row = transaction.first_row(
        "SELECT coalesce(sum(balance_cents), 0) FROM accounts WHERE kind = ?", kind
    )
    return int(row[0]) if row else 0
