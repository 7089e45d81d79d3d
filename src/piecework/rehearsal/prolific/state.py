"""The emulator's state: one SQLite file with one writer, or a database in memory.

It is a file because crash tests kill programs, perhaps this one: after a restart,
everything acknowledged is still there. Every call is one transaction.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

from piecework.domain.clock import Clock
from piecework.rehearsal.prolific import clock
from piecework.rehearsal.prolific.options import Options, Switches

_SCHEMA = Path(__file__).with_name("schema.sql")
_KIND = "prolific-emulator 1"
_UNUSABLE = {
    sqlite3.SQLITE_NOTADB: "is not a database; use another file.",
    sqlite3.SQLITE_BUSY: "is in use; only one emulator can use a file.",
}


class WrongDatabaseError(Exception):
    """The file belongs to something else, or another emulator is using it."""


class State:
    """The state of the emulator.

    Attributes:
        conn: the database, for the code inside a transaction.
        clock: the emulator's time.
        now_ms: the time of the current transaction.
        switches: how the emulator behaves where Prolific's behaviour is unknown.
        lag_ms: how old a study or submission must be to be listed.
        is_strict: whether only what Prolific documents is accepted.
        seed: determines the ids.
        currency: the currency of all money.
        fee_percent: Prolific's fee on a reward.
        vat_percent: the tax on that fee.
        user_id: the account that every token belongs to.
    """

    def __init__(self, options: Options, machine: Clock) -> None:
        self.is_strict = options.is_strict
        self.conn = _opened(options.database)
        if not self.number("SELECT count(*) FROM sqlite_schema"):
            self._make(options, machine)
        elif self._setting("kind") == _KIND:
            self._make_tables()  # A file from an older version lacks some.
        else:
            self.conn.close()
            raise WrongDatabaseError(
                f"{options.database} is not a file of this emulator; use another one."
            )
        self.seed = int(self._setting("seed"))
        self.currency = self._setting("currency")
        self.fee_percent = Decimal(self._setting("fee_percent"))
        self.vat_percent = Decimal(self._setting("vat_percent"))
        self.user_id = self._setting("user_id")
        self.switches = Switches(**json.loads(self._setting("switches")))
        self.clock = self._clock(options, machine)
        self.now_ms = self.clock.now_ms()
        self.lag_ms = 0

    def close(self) -> None:
        """Close the file."""
        self.conn.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit everything done in the block, or nothing if it raises."""
        self.now_ms = self.clock.now_ms()
        self.conn.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.conn.execute("ROLLBACK")
            raise
        self.conn.execute("COMMIT")

    def move_clock(self, moment_ms: int) -> None:
        """Move the clock forward; a reopened file continues from it."""
        self.clock.move_to(moment_ms)
        self.now_ms = self.clock.now_ms()
        self._set("clock", f"{self.clock.offset_ms}")

    def set_switches(self, switches: Switches) -> None:
        """Replace the switches."""
        self._set("switches", json.dumps(switches.document()))
        self.switches = switches

    def new_id(self) -> str:
        """Return a new id like Prolific's: 24 hexadecimal digits from the seed."""
        drawn = int(self._setting("ids")) + 1
        self._set("ids", str(drawn))
        return _id(self.seed, drawn)

    def row(self, query: str, values: Sequence[object] = ()) -> sqlite3.Row | None:
        """Return the first row of a query's result, if any."""
        first_row: sqlite3.Row | None = self.conn.execute(query, values).fetchone()
        return first_row

    def rows(self, query: str, values: Sequence[object] = ()) -> list[sqlite3.Row]:
        """Return all rows of a query's result."""
        return self.conn.execute(query, values).fetchall()

    def number(self, query: str, values: Sequence[object] = ()) -> int:
        """Return the one number in a query's result."""
        return int(self.conn.execute(query, values).fetchone()[0])

    def plan(self, kind: str, subject: str, *, at_ms: int) -> None:
        """Schedule something to happen automatically (`due.py`)."""
        self.conn.execute(
            "INSERT INTO due (at_ms, kind, subject) VALUES (?, ?, ?)",
            (at_ms, kind, subject),
        )

    def _make(self, options: Options, machine: Clock) -> None:
        start = options.start or machine.now()
        ahead = clock.to_ms(start)
        if options.clock_runs:
            ahead -= clock.to_ms(machine.now())
        settings: dict[str, Any] = {
            "kind": _KIND,
            "seed": options.seed,
            "currency": options.currency,
            "fee_percent": options.fee_percent,
            "vat_percent": options.vat_percent,
            "user_id": _id(options.seed, 0),
            "ids": 0,
            "clock": ahead,
            "clock_runs": int(options.clock_runs),
            "switches": json.dumps(
                Switches(
                    errors="documented" if options.is_strict else "wrapped"
                ).document()
            ),
        }
        self.conn.execute("BEGIN IMMEDIATE")
        self._make_tables()
        self.conn.executemany(
            "INSERT INTO setting VALUES (?, ?)",
            [(name, str(value)) for name, value in settings.items()],
        )
        self.conn.execute("COMMIT")

    def _make_tables(self) -> None:
        # Not executescript, which would commit before the settings are written.
        for statement in _SCHEMA.read_text(encoding="utf-8").split(";"):
            self.conn.execute(statement)

    def _clock(self, options: Options, machine: Clock) -> clock.EmulatedClock:
        offset_ms = int(self._setting("clock"))
        did_run = self._setting("clock_runs") == "1"
        if did_run != options.clock_runs:
            # The same time, relative to the machine's clock or to 1970.
            present = clock.to_ms(machine.now())
            offset_ms += present if did_run else -present
            self._set("clock", str(offset_ms))
            self._set("clock_runs", str(int(options.clock_runs)))
        return clock.EmulatedClock(machine if options.clock_runs else None, offset_ms)

    def _setting(self, name: str) -> str:
        try:
            row = self.row("SELECT value FROM setting WHERE name = ?", (name,))
        except sqlite3.OperationalError:
            row = None
        return str(row["value"]) if row else ""

    def _set(self, name: str, value: str) -> None:
        self.conn.execute("UPDATE setting SET value = ? WHERE name = ?", (value, name))


def _opened(database: Path | None) -> sqlite3.Connection:
    # Opened by the starting thread, then used only by the server's thread.
    conn = sqlite3.connect(
        database or ":memory:", isolation_level=None, check_same_thread=False, timeout=1
    )
    conn.row_factory = sqlite3.Row
    try:
        conn.execute("PRAGMA foreign_keys = ON")
        conn.execute("PRAGMA locking_mode = EXCLUSIVE")
        # In WAL mode a commit survives a crash of the process, but not of the machine.
        conn.execute("PRAGMA journal_mode = WAL")
        conn.execute("PRAGMA synchronous = NORMAL")
    except sqlite3.DatabaseError as fault:
        conn.close()
        sentence = _UNUSABLE.get(fault.sqlite_errorcode)
        if sentence is None:
            raise
        raise WrongDatabaseError(f"{database} {sentence}") from fault
    return conn


def _id(seed: int, number: int) -> str:
    return hashlib.sha256(f"prolific {seed} {number}".encode()).hexdigest()[:24]
