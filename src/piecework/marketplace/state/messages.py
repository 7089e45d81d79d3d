"""Messages to workers: a letterbox of the marketplace, read on the worker site.

No mail leaves from here. The worker finds it when next signed in.
"""

from piecework.marketplace.state.transaction import Transaction


def send(
    transaction: Transaction, *, requester: int, worker: int, subject: str, text: str
) -> None:
    """Put a message into a worker's letterbox."""
    transaction.execute(
        "INSERT INTO messages (worker, requester, subject, text, sent_ms) "
        "VALUES (?, ?, ?, ?, ?)",
        worker,
        requester,
        subject,
        text,
        transaction.now_ms,
    )
