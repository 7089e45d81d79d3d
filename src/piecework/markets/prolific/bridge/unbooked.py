"""Bonuses of a submission at Prolific that the marketplace's books lack.

They were paid by hand, or by this marketplace after the copy from which its file was
restored.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from piecework.marketplace.state.transaction import Transaction

_BOOKED = (
    "SELECT cents FROM bonus_lines JOIN bonus_batches "
    "ON bonus_batches.id = bonus_lines.batch WHERE visit = ? AND stage = 'Paid'"
)


def unbooked(transaction: Transaction, visit: int, there: Iterable[int]) -> Counter[int]:
    """Return the amounts of bonuses at Prolific that are not booked for a visit.

    Args:
        transaction: the open transaction.
        visit: the visit of the submission.
        there: the amounts of all bonuses of the submission.
    """
    booked = Counter[int](line["cents"] for line in transaction.all(_BOOKED, visit))
    return Counter(there) - booked


def perhaps_paid(transaction: Transaction, line: sqlite3.Row, there: Iterable[int]) -> Counter[int]:
    """Return the amounts at Prolific that may be the bonus of a line.

    They are not booked, and no person has said that they are other bonuses.

    Args:
        transaction: the open transaction.
        line: the waiting bonus.
        there: the amounts of all bonuses of its submission.
    """
    others = Counter[int](json.loads(line["other_bonuses"]))
    return unbooked(transaction, line["visit"], there) - others


def perhaps_paid_before(transaction: Transaction, line: sqlite3.Row) -> Counter[int]:
    """Return what may have been a line's bonus when its submission was last read."""
    return perhaps_paid(transaction, line, json.loads(line["paid_before"] or "[]"))


def keep_other_bonuses(transaction: Transaction, line: sqlite3.Row, others: Counter[int]) -> None:
    """Record a person's statement that a line is not among these bonuses.

    Another line of the submission may still be among them.
    """
    known = json.loads(line["other_bonuses"])
    transaction.execute(
        "UPDATE bonus_lines SET other_bonuses = ? WHERE id = ?",
        json.dumps([*known, *others.elements()]),
        line["id"],
    )


def keep_paid_before(transaction: Transaction, there: Mapping[int, Sequence[int]]) -> None:
    """Record, for each line, the bonuses its submission has before the line is paid."""
    transaction.conn.executemany(
        "UPDATE bonus_lines SET paid_before = ? WHERE id = ?",
        [(json.dumps(amounts), line) for line, amounts in there.items()],
    )
