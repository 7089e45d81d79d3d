"""Bonuses of a submission at Prolific that the marketplace's books do not have.

They were paid by hand, or by this marketplace after the copy was made from which its
file was brought back.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from marketplace.state.transaction import Transaction

_BOOKED = (
    "SELECT cents FROM bonus_lines JOIN bonus_batches "
    "ON bonus_batches.id = bonus_lines.batch WHERE visit = ? AND stage = 'Paid'"
)


def unbooked(
    transaction: Transaction, visit: int, there: Iterable[int]
) -> Counter[int]:
    """The amounts of bonuses at Prolific that are not booked for a visit.

    Args:
        transaction: the open one.
        visit: whose submission has them.
        there: the amounts of all bonuses of the submission.
    """
    row = transaction.one("SELECT other_bonuses FROM visits WHERE id = ?", visit)
    others = Counter[int](json.loads(row["other_bonuses"]) if row else ())
    booked = Counter[int](line["cents"] for line in transaction.all(_BOOKED, visit))
    return Counter(there) - booked - others


def unbooked_before(transaction: Transaction, line: sqlite3.Row) -> Counter[int]:
    """What was not booked when a line's submission was read last."""
    return unbooked(transaction, line["visit"], json.loads(line["paid_before"] or "[]"))


def keep_other_bonuses(
    transaction: Transaction, line: sqlite3.Row, others: Counter[int]
) -> None:
    """Keep that a person said of these bonuses that they are not from here."""
    row = transaction.one(
        "SELECT other_bonuses FROM visits WHERE id = ?", line["visit"]
    )
    known = json.loads(row["other_bonuses"]) if row else []
    transaction.execute(
        "UPDATE visits SET other_bonuses = ? WHERE id = ?",
        json.dumps([*known, *others.elements()]),
        line["visit"],
    )


def keep_paid_before(
    transaction: Transaction, there: Mapping[int, Sequence[int]]
) -> None:
    """Keep by line which bonuses its submission has before the line is paid."""
    transaction.conn.executemany(
        "UPDATE bonus_lines SET paid_before = ? WHERE id = ?",
        [(json.dumps(amounts), line) for line, amounts in there.items()],
    )
