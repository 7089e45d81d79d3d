"""Messages to workers: an inbox of the marketplace, read on the worker site.

The marketplace does not send mail. Workers find messages when they next sign in.
"""

from piecework.marketplace.state.transaction import Transaction


def send(transaction: Transaction, *, requester: int, worker: int, subject: str, text: str) -> None:
    """Put a message into a worker's inbox."""
    transaction.execute(
        "INSERT INTO messages (worker, requester, subject, text, sent_ms) VALUES (?, ?, ?, ?, ?)",
        worker,
        requester,
        subject,
        text,
        transaction.now_ms,
    )
