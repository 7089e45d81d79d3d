"""Which other market sends a marketplace its workers: one, for the life of its file.

The tables of visits hold that market's ids, and only its own code knows what they mean.
"""

from piecework.marketplace.state.database_file import WrongDatabaseError
from piecework.marketplace.state.transaction import Transaction

_KEY = "outside market"


def claim(transaction: Transaction, market: str) -> None:
    """Store which market sends the workers.

    Raises:
        WrongDatabaseError: another market sends them already.
    """
    row = transaction.first_row("SELECT value FROM settings WHERE key = ?", _KEY)
    if row is None:
        transaction.execute(
            "INSERT INTO settings (key, value) VALUES (?, ?)", _KEY, market
        )
    elif row["value"] != market:
        raise WrongDatabaseError(
            f"this marketplace's file has visits of people from {row['value']}, so it "
            f"cannot be served for {market}. Name another file (--database)."
        )
