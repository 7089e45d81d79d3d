"""What was listed for payment, kept beside the marketplace's database.

A database that is restored from a copy does not know the lists that were made after the
copy, and would list the same people once more. This file is not restored with it. It
has a line (JSON) for each list, before the list's file is written, and a line when that
file is complete. A list that only one of the two knows is refused until a person has
compared it with what the panel paid.
"""

import csv
import hashlib
import io
import json
import os
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SUFFIX = ".pay-lists"


@dataclass(frozen=True, slots=True, kw_only=True)
class Payment:
    """A line of a list.

    Attributes:
        visit: the key of the participation (`arrivals.visit_key`).
        kind: `visit`, `correction` or `bonus`.
        cents: how much.
        reason: of a bonus.
    """

    visit: str
    kind: str
    cents: int
    reason: str = ""


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
        bonuses: how often by participation, cents and reason.
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
                    paid = (payment.visit, payment.cents, payment.reason)
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
