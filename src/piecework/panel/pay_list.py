"""The lists from which a panel pays: each visit and each bonus is on one of them.

A visit is listed when its requester has decided all of its HITs and approved at least
one. A list and its lines are stored in one transaction, and its file is written
afterwards. After a kill in between, the same lines are written again.
"""

import csv
import io
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from piecework.marketplace.state.money import currency
from piecework.marketplace.state.transaction import Transaction
from piecework.panel.arrivals import ids_of
from piecework.panel.exits import WaysOut
from piecework.panel.panel_file import Panel
from piecework.panel.placeholders import filled

_OF_PANEL = "substr(visits.submission_id, 1, length(?1) + 1) = ?1 || '/'"
_DECIDED = (
    "SELECT visits.id AS visit, visits.outcome, "
    "count(*) FILTER (WHERE assignments.status = 'Approved') AS approved, "
    "sum(paid_cents) AS cents, "
    "(SELECT sum(cents) FROM pay_list_lines WHERE visit = visits.id "
    "AND kind <> 'bonus') AS listed_cents FROM visits "
    "JOIN assignments ON assignments.visit = visits.id "
    f"WHERE {_OF_PANEL} AND visits.stage = 'Done' GROUP BY visits.id "
    "HAVING count(*) FILTER (WHERE assignments.status = 'Submitted') = 0 "
    "AND (approved = 0 OR listed_cents IS NULL OR cents > listed_cents) "
    "ORDER BY visits.id"
)
_UNLISTED_BONUSES = (
    "SELECT bonuses.id, bonuses.cents, assignments.visit FROM bonuses "
    "JOIN assignments ON assignments.id = bonuses.assignment "
    "JOIN visits ON visits.id = assignments.visit "
    f"WHERE {_OF_PANEL} AND NOT EXISTS "
    "(SELECT 1 FROM pay_list_lines WHERE bonus = bonuses.id) ORDER BY bonuses.id"
)
_LINES = (
    "SELECT pay_list_lines.id, pay_list_lines.kind, pay_list_lines.cents, "
    "coalesce(bonuses.reason, '') AS reason, visits.submission_id, participant_id, "
    "workers.worker_id "
    "FROM pay_list_lines JOIN visits ON visits.id = pay_list_lines.visit "
    "JOIN participants ON participants.worker = visits.worker "
    "JOIN workers ON workers.id = visits.worker "
    "LEFT JOIN bonuses ON bonuses.id = pay_list_lines.bonus "
    "WHERE list = ? ORDER BY pay_list_lines.id"
)
_GONE = (
    "UPDATE visits SET outcome = 'Gone' WHERE outcome IS NULL "
    f"AND stage NOT IN ('Open', 'Done') AND {_OF_PANEL}"
)
_STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True, kw_only=True)
class PayList:
    """A list for a panel.

    Attributes:
        number: its number in this marketplace.
        file: where it was to be written, as stated.
        is_written: whether its file is known to be complete.
        lines: how many payments it has.
        cents: their sum.
        table: its text (CSV).
    """

    number: int
    file: str
    is_written: bool
    lines: int
    cents: int
    table: str


def make(
    transaction: Transaction,
    panel: Panel,
    ways: WaysOut,
    *,
    file: str,
    sent: Sequence[str] = (),
) -> PayList | None:
    """Store a list of all that is due and not listed; None if nothing is.

    Args:
        transaction: the open one.
        panel: the panel file.
        ways: the panel's exits, which have the codes.
        file: where the list will be written.
        sent: the texts of lists that the database does not know, since it is a restored
            copy; their lines are stored as listed.
    """
    transaction.execute(_GONE, panel.name)
    due: list[tuple[int, int | None, str, int]] = []
    for row in transaction.all(_DECIDED, panel.name):
        if not row["approved"]:
            _settle(transaction, row["visit"], "Rejected")
            continue
        _settle(transaction, row["visit"], "Paid")
        listed = row["listed_cents"]
        kind = "visit" if listed is None else "correction"
        due.append((row["visit"], None, kind, row["cents"] - (listed or 0)))
    due += [
        (row["visit"], row["id"], "bonus", row["cents"])
        for row in transaction.all(_UNLISTED_BONUSES, panel.name)
    ]
    if not due:
        return None
    number = _new_list(transaction, panel, file)
    transaction.conn.executemany(
        "INSERT INTO pay_list_lines (list, visit, bonus, kind, cents) "
        "VALUES (?, ?, ?, ?, ?)",
        [(number, *line) for line in due],
    )
    if sent:
        _set_aside(transaction, panel, ways, number, sent)
    listed = read(transaction, panel, ways, number)
    if listed is not None and listed.lines:
        return listed
    transaction.execute("DELETE FROM pay_lists WHERE id = ?", number)
    return None


def unwritten(transaction: Transaction, panel: Panel, ways: WaysOut) -> PayList | None:
    """Return the list whose writing was interrupted, if there is one."""
    row = transaction.first_row(
        "SELECT id FROM pay_lists WHERE panel = ? AND written_ms IS NULL", panel.name
    )
    return None if row is None else read(transaction, panel, ways, row["id"])


def read(
    transaction: Transaction, panel: Panel, ways: WaysOut, number: int
) -> PayList | None:
    """Return a list of the panel by its number; None for an unknown number."""
    row = transaction.first_row(
        "SELECT * FROM pay_lists WHERE id = ? AND panel = ?", number, panel.name
    )
    if row is None:
        return None
    lines = transaction.all(_LINES, number)
    return PayList(
        number=number,
        file=row["file"],
        is_written=row["written_ms"] is not None,
        lines=len(lines),
        cents=sum(line["cents"] for line in lines),
        table=_table(panel, ways, lines),
    )


def numbers(transaction: Transaction, panel: Panel) -> list[int]:
    """Return the numbers of all lists of the panel."""
    rows = transaction.all(
        "SELECT id FROM pay_lists WHERE panel = ? ORDER BY id", panel.name
    )
    return [int(row["id"]) for row in rows]


def mark_written(transaction: Transaction, number: int) -> None:
    """Store that a list's file is complete."""
    transaction.execute(
        "UPDATE pay_lists SET written_ms = ? WHERE id = ? AND written_ms IS NULL",
        transaction.now_ms,
        number,
    )


def _new_list(transaction: Transaction, panel: Panel, file: str) -> int:
    return transaction.execute(
        "INSERT INTO pay_lists (panel, file, made_ms) VALUES (?, ?, ?)",
        panel.name,
        file,
        transaction.now_ms,
    )


def _set_aside(
    transaction: Transaction,
    panel: Panel,
    ways: WaysOut,
    number: int,
    sent: Sequence[str],
) -> None:
    """Move the lines that stand on lists already sent to a list that is written."""
    known = Counter(
        tuple(row) for text in sent for row in csv.reader(io.StringIO(text, newline=""))
    )
    lines = transaction.all(_LINES, number)
    moved = []
    for line, row in zip(lines, _rows(panel, ways, lines), strict=True):
        if known[tuple(row)]:
            known[tuple(row)] -= 1
            moved.append(line["id"])
    if moved:
        other = _new_list(transaction, panel, "lists sent before")
        mark_written(transaction, other)
        transaction.conn.executemany(
            "UPDATE pay_list_lines SET list = ? WHERE id = ?",
            [(other, line) for line in moved],
        )


def _settle(transaction: Transaction, visit: int, outcome: str) -> None:
    transaction.execute("UPDATE visits SET outcome = ? WHERE id = ?", outcome, visit)


def _table(panel: Panel, ways: WaysOut, lines: Sequence[sqlite3.Row]) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(panel.pay.columns)
    writer.writerows(_rows(panel, ways, lines))
    return text.getvalue()


def _rows(
    panel: Panel, ways: WaysOut, lines: Sequence[sqlite3.Row]
) -> Iterator[list[str]]:
    for line in lines:
        ids = ids_of(line["participant_id"], line["submission_id"])
        values = {
            **ways.values(ids),
            "worker_id": line["worker_id"],
            "kind": line["kind"],
            "amount": currency(line["cents"]),
            "currency": panel.pay.currency,
            "reason": _cell(line["reason"]),
        }
        yield [_cell(filled(cell, values)) for cell in panel.pay.columns.values()]


def _cell(text: str) -> str:
    """Return a text that spreadsheets do not take for a formula.

    >>> _cell("=1+1"), _cell("Thank you")
    ("'=1+1", 'Thank you')
    """
    return f"'{text}" if text.startswith(_STARTS_A_FORMULA) else text
