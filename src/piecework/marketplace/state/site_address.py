"""Where the site is, as browsers reach it: kept by who serves, read by who invites."""

from piecework.marketplace.state.transaction import Transaction

_KEY = "site_url"


def keep(transaction: Transaction, url: str) -> None:
    """Write down where the site is served now."""
    transaction.execute(
        "INSERT INTO settings (key, value) VALUES (?, ?) "
        "ON CONFLICT (key) DO UPDATE SET value = excluded.value "
        "WHERE value <> excluded.value",
        _KEY,
        url,
    )


def kept(transaction: Transaction) -> str | None:
    """Where the site was served last; `None` if it never was."""
    row = transaction.one("SELECT value FROM settings WHERE key = ?", _KEY)
    return None if row is None else str(row["value"])
