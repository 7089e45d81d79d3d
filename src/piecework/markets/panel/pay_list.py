"""What a panel is to pay its people: the list, and the record of what was listed.

A database that is restored from a copy does not know the lists that were made after the
copy, and would list the same people once more. This file is not restored with it. It
has a line (JSON) for each list, before the list's file is written, and a line when that
file is complete. A list that only one of the two knows is refused until a person has
compared it with what the panel paid.

A visit is listed when its requester has decided all of its HITs and approved at least
one. A list and its lines are stored in one transaction, then in the record beside the
database (`pay_record`), and then its file is written. After a kill in between, the same
lines are written again.
"""

import csv
import hashlib
import io
import json
import os
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from piecework.foundation.csv_text import write_csv_rows
from piecework.marketplace.state import clock
from piecework.marketplace.state.money import currency
from piecework.marketplace.state.transaction import Transaction
from piecework.markets.panel.arrivals import WaysOut, ids_of
from piecework.markets.panel.panel_file import Panel, filled_text

SUFFIX = ".pay-lists"


@dataclass(frozen=True, slots=True, kw_only=True)
class Payment:
    """A line of a list.

    Attributes:
        visit: the key of the participation (`arrivals.visit_key`).
        kind: `visit`, `correction` or `bonus`.
        cents: how much.
        reason: of a bonus.
        name: of a compensation, after its requester's: it is paid once, whatever visit
            a restored copy pays it through. "" for other payments.
    """

    visit: str
    kind: str
    cents: int
    reason: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedList:
    """A list in the record.

    Attributes:
        key: its key, which no other list of any copy has.
        panel: the panel's short name.
        number: its number in the database that made it; 0 if a person named its file.
        file: where it was written.
        made: when, in ISO 8601.
        digest: the SHA-256 of its text, in hexadecimal digits.
        payments: its lines; empty if only its rows are known.
        rows: the rows of a file that a person named.
    """

    key: str
    panel: str
    number: int
    file: str
    made: str
    digest: str
    payments: Sequence[Payment] = ()
    rows: Sequence[Sequence[str]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What lists that a database does not know have paid.

    Attributes:
        visits: cents by participation.
        bonuses: how often by participation or a compensation's name, cents and reason.
        rows: how often, in files whose rows alone are known.
    """

    visits: Counter[str] = field(default_factory=Counter)
    bonuses: Counter[tuple[str, int, str]] = field(default_factory=Counter)
    rows: Counter[tuple[str, ...]] = field(default_factory=Counter)


class PayRecord:
    """The record of one marketplace's lists; one process at a time may have it.

    Args:
        file: where it is.

    Raises:
        ValueError: a line is not of a record; the message names file and line.
        OSError: it cannot be read.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._lines: list[dict[str, Any]] = []
        if file.exists():
            self._lines = list(_read(file))

    @classmethod
    def beside(cls, database: Path) -> "PayRecord":
        """Return the record of a database's lists."""
        return cls(database.with_name(database.name + SUFFIX))

    def lists(self, panel: str) -> list[RecordedList]:
        """Return all lists of a panel, oldest first."""
        return [
            RecordedList(
                **{
                    **line["list"],
                    "payments": [Payment(**each) for each in line["list"]["payments"]],
                }
            )
            for line in self._lines
            if "list" in line and line["list"]["panel"] == panel
        ]

    def is_written(self, key: str) -> bool:
        """Return whether the file of a list was complete."""
        return any(line.get("written") == key for line in self._lines)

    def add(self, listed: RecordedList) -> None:
        """Record a list, once, before its file is written."""
        if all(each.key != listed.key for each in self.lists(listed.panel)):
            payments = [_members(each) for each in listed.payments]
            self._put({"list": {**_members(listed), "payments": payments}})

    def add_file(self, panel: str, file: str, text: str, *, made: str) -> str:
        """Record a list that is known by its file alone; return its key."""
        digest = digest_of(text)
        key = digest[:16]
        rows = list(csv.reader(io.StringIO(text, newline="")))[1:]
        self.add(
            RecordedList(
                key=key, panel=panel, number=0, file=file, made=made, digest=digest, rows=rows
            )
        )
        return key

    def note_written(self, key: str) -> None:
        """Record that the file of a list is complete."""
        if not self.is_written(key):
            self._put({"written": key})

    def sent(self, panel: str, *, known: Collection[str]) -> Sent:
        """Return what the lists have paid that a database does not know.

        Args:
            panel: the panel's short name.
            known: the keys of the lists that the database knows.
        """
        sent = Sent()
        for each in self.lists(panel):
            if each.key in known:
                continue
            sent.rows.update(tuple(row) for row in each.rows)
            for payment in each.payments:
                if payment.kind == "bonus":
                    paid = (payment.name or payment.visit, payment.cents, payment.reason)
                    sent.bonuses[paid] += 1
                else:
                    sent.visits[payment.visit] += payment.cents
        return sent

    def _put(self, line: dict[str, Any]) -> None:
        self._lines.append(line)
        replace_file(self.file, "".join(f"{json.dumps(each)}\n" for each in self._lines))


def digest_of(text: str) -> str:
    """Return what identifies the text of a list."""
    return hashlib.sha256(text.encode()).hexdigest()


def replace_file(file: Path, text: str) -> None:
    """Write a private file whole or not at all, so that it survives a power cut."""
    part = file.with_name(f"{file.name}.part")
    part.unlink(missing_ok=True)
    opened = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(opened, "w", encoding="utf-8") as written:
        written.write(text)
        written.flush()
        os.fsync(written.fileno())
    part.replace(file)
    folder = os.open(file.absolute().parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _read(file: Path) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []
    for number, text in enumerate(file.read_text("utf-8").splitlines(), start=1):
        try:
            line = json.loads(text)
            if "list" in line:
                RecordedList(**line["list"])
            else:
                str(line["written"])
        except (ValueError, TypeError, LookupError) as fault:
            raise ValueError(
                f"{file}, line {number}: this is not a line of a record of pay lists"
            ) from fault
        lines.append(line)
    return lines


def _members(value: Payment | RecordedList) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__slots__}


_OF_PANEL = "substr(visits.submission_id, 1, length(?1) + 1) = ?1 || '/'"
_DECIDED = (
    "SELECT visits.id AS visit, visits.outcome, visits.submission_id, "
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
_NAME = "coalesce(requesters.name || ' ' || bonuses.name, '') AS name"
_UNLISTED_BONUSES = (
    f"SELECT bonuses.id, bonuses.cents, coalesce(bonuses.reason, '') AS reason, {_NAME}, "
    "visits.id AS visit, visits.submission_id FROM bonuses "
    # A compensation has no assignment, but a visit that pays it.
    "LEFT JOIN assignments ON assignments.id = bonuses.assignment "
    "LEFT JOIN requesters ON requesters.id = bonuses.requester "
    "JOIN visits ON visits.id = coalesce(assignments.visit, bonuses.paid_visit) "
    f"WHERE {_OF_PANEL} AND NOT EXISTS "
    "(SELECT 1 FROM pay_list_lines WHERE bonus = bonuses.id) ORDER BY bonuses.id"
)
_LINES = (
    "SELECT pay_list_lines.id, pay_list_lines.kind, pay_list_lines.cents, "
    f"coalesce(bonuses.reason, '') AS reason, {_NAME}, visits.submission_id, "
    "participant_id, workers.worker_id "
    "FROM pay_list_lines JOIN visits ON visits.id = pay_list_lines.visit "
    "JOIN participants ON participants.worker = visits.worker "
    "JOIN workers ON workers.id = visits.worker "
    "LEFT JOIN bonuses ON bonuses.id = pay_list_lines.bonus "
    "LEFT JOIN requesters ON requesters.id = bonuses.requester "
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
        recorded: what the record keeps of it.
    """

    number: int
    file: str
    is_written: bool
    lines: int
    cents: int
    table: str
    recorded: RecordedList


def make(
    transaction: Transaction, panel: Panel, ways: WaysOut, *, file: str, sent: Sent | None = None
) -> PayList | None:
    """Store a list of all that is due and not listed; None if nothing is.

    Args:
        transaction: the open one.
        panel: the panel file.
        ways: the panel's exits, which have the codes.
        file: where the list will be written.
        sent: what lists have paid that the database does not know, since it is a
            restored copy.
    """
    transaction.execute(_GONE, panel.name)
    sent = sent or Sent()
    due = [*_due_visits(transaction, panel, sent), *_due_bonuses(transaction, panel, sent)]
    if not due:
        return None
    number = transaction.execute(
        "INSERT INTO pay_lists (panel, file, made_ms) VALUES (?, ?, ?)",
        panel.name,
        file,
        transaction.now_ms,
    )
    transaction.conn.executemany(
        "INSERT INTO pay_list_lines (list, visit, bonus, kind, cents) VALUES (?, ?, ?, ?, ?)",
        [(number, *line) for line in due],
    )
    _take_out_sent(transaction, panel, ways, number, sent)
    listed = read_pay_list(transaction, panel, ways, number)
    if listed is not None and listed.lines:
        return listed
    transaction.execute("DELETE FROM pay_lists WHERE id = ?", number)
    return None


def _due_visits(
    transaction: Transaction, panel: Panel, sent: Sent
) -> Iterator[tuple[int, int | None, str, int]]:
    for row in transaction.all(_DECIDED, panel.name):
        if not row["approved"]:
            _settle(transaction, row["visit"], "Rejected")
            continue
        _settle(transaction, row["visit"], "Paid")
        before = sent.visits[row["submission_id"]]
        cents = row["cents"] - (row["listed_cents"] or 0) - before
        is_listed = row["listed_cents"] is not None or before
        if cents > 0:
            yield row["visit"], None, "correction" if is_listed else "visit", cents


def _due_bonuses(
    transaction: Transaction, panel: Panel, sent: Sent
) -> Iterator[tuple[int, int | None, str, int]]:
    left = Counter(sent.bonuses)
    for row in transaction.all(_UNLISTED_BONUSES, panel.name):
        paid = (row["name"] or row["submission_id"], row["cents"], row["reason"])
        if left[paid]:
            left[paid] -= 1
        else:
            yield row["visit"], row["id"], "bonus", row["cents"]


def unwritten(transaction: Transaction, panel: Panel, ways: WaysOut) -> PayList | None:
    """Return the list whose writing was interrupted, if there is one."""
    row = transaction.first_row(
        "SELECT id FROM pay_lists WHERE panel = ? AND written_ms IS NULL", panel.name
    )
    return None if row is None else read_pay_list(transaction, panel, ways, row["id"])


def read_pay_list(
    transaction: Transaction, panel: Panel, ways: WaysOut, number: int
) -> PayList | None:
    """Return a list of the panel by its number; None for an unknown number."""
    row = transaction.first_row(
        "SELECT * FROM pay_lists WHERE id = ? AND panel = ?", number, panel.name
    )
    if row is None:
        return None
    lines = transaction.all(_LINES, number)
    table = _table(panel, ways, lines)
    return PayList(
        number=number,
        file=row["file"],
        is_written=row["written_ms"] is not None,
        lines=len(lines),
        cents=sum(line["cents"] for line in lines),
        table=table,
        recorded=RecordedList(
            key=row["key"],
            panel=panel.name,
            number=number,
            file=row["file"],
            made=clock.to_datetime(row["made_ms"]).isoformat(timespec="seconds"),
            digest=digest_of(table),
            payments=[
                Payment(
                    visit=line["submission_id"],
                    kind=line["kind"],
                    cents=line["cents"],
                    reason=line["reason"],
                    name=line["name"],
                )
                for line in lines
            ],
        ),
    )


def numbers(transaction: Transaction, panel: Panel) -> list[int]:
    """Return the numbers of all lists of the panel."""
    rows = transaction.all("SELECT id FROM pay_lists WHERE panel = ? ORDER BY id", panel.name)
    return [int(row["id"]) for row in rows]


def mark_written(transaction: Transaction, number: int) -> None:
    """Store that a list's file is complete."""
    transaction.execute(
        "UPDATE pay_lists SET written_ms = ? WHERE id = ? AND written_ms IS NULL",
        transaction.now_ms,
        number,
    )


def keys(transaction: Transaction, panel: Panel) -> set[str]:
    """Return the keys of all lists of the panel that the database knows."""
    rows = transaction.all("SELECT key FROM pay_lists WHERE panel = ?", panel.name)
    return {str(row["key"]) for row in rows}


def compared(transaction: Transaction) -> set[str]:
    """Return the keys of other lists that a person has compared."""
    return {str(row["key"]) for row in transaction.all("SELECT * FROM compared_pay_lists")}


def note_compared(transaction: Transaction, lists: Iterable[str]) -> None:
    """Store that a person has compared lists with what the panel paid."""
    transaction.conn.executemany(
        "INSERT OR IGNORE INTO compared_pay_lists (key) VALUES (?)", [(key,) for key in lists]
    )


def _take_out_sent(
    transaction: Transaction, panel: Panel, ways: WaysOut, number: int, sent: Sent
) -> None:
    """Take lines out that stand in files whose rows alone are known."""
    left = Counter(sent.rows)
    lines = transaction.all(_LINES, number)
    for line, row in zip(lines, _rows(panel, ways, lines), strict=True):
        if left[tuple(row)]:
            left[tuple(row)] -= 1
            transaction.execute("DELETE FROM pay_list_lines WHERE id = ?", line["id"])


def _settle(transaction: Transaction, visit: int, outcome: str) -> None:
    transaction.execute("UPDATE visits SET outcome = ? WHERE id = ?", outcome, visit)


def _table(panel: Panel, ways: WaysOut, lines: Sequence[sqlite3.Row]) -> str:
    text = io.StringIO(newline="")
    write_csv_rows(text, [[*panel.pay.columns], *_rows(panel, ways, lines)])
    return text.getvalue()


def _rows(panel: Panel, ways: WaysOut, lines: Sequence[sqlite3.Row]) -> Iterator[list[str]]:
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
        yield [_cell(filled_text(cell, values)) for cell in panel.pay.columns.values()]


def _cell(text: str) -> str:
    """Return a text that spreadsheets do not take for a formula.

    >>> _cell("=1+1"), _cell("Thank you")
    ("'=1+1", 'Thank you')
    """
    return f"'{text}" if text.startswith(_STARTS_A_FORMULA) else text
