"""The site's address for browsers: stored by the server, used in invitations."""

from piecework.marketplace.state.transaction import Transaction

_KEY = "site_url"


def keep(transaction: Transaction, url: str) -> None:
    """Store the site's current address."""
    transaction.execute(
        "INSERT INTO settings (key, value) VALUES (?, ?) "
        "ON CONFLICT (key) DO UPDATE SET value = excluded.value "
        "WHERE value <> excluded.value",
        _KEY,
        url,
    )


def kept(transaction: Transaction) -> str | None:
    """Return the site's last address; `None` if it was never served."""
    row = transaction.first_row("SELECT value FROM settings WHERE key = ?", _KEY)
    return None if row is None else str(row["value"])
