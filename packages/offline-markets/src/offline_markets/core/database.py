"""An offline market's state: one SQLite file with one writer, or a database in memory.

It is a file because crash tests kill programs, perhaps this one: after a restart,
everything acknowledged is still there. Every call is one transaction.
"""

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any, Generic, TypeVar

from offline_markets.core import clock
from offline_markets.core.switches import Switches

SwitchesT = TypeVar("SwitchesT", bound=Switches)

_UNUSABLE = {
    sqlite3.SQLITE_NOTADB: "is not a database; use another file.",
    sqlite3.SQLITE_BUSY: "is in use; only one emulator can use a file.",
}


class WrongDatabaseError(Exception):
    """The file belongs to something else, or another emulator is using it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What distinguishes the files of one offline market.

    Attributes:
        name: marks its files.
        schema: the SQL file with its tables; `setting` and `due` are among them.
        id_name: goes into its ids, so that two markets share none.
        id_digits: how many hexadecimal digits an id has.
    """

    name: str
    schema: Path
    id_name: str
    id_digits: int

    def id(self, seed: int, number: int) -> str:
        """Return the id with this number."""
        text = f"{self.id_name} {seed} {number}"
        return hashlib.sha256(text.encode()).hexdigest()[: self.id_digits]


class OfflineState(Generic[SwitchesT]):
    """The state of an offline market.

    Args:
        kind: of its file.
        database: the file; None keeps the state in memory.
        settings: written when the file is made, and kept; `seed` is among them.
        switches: those of a new file.
        start: the start of its time; None is the machine's current time.
        clock_runs: whether time passes automatically.
        machine_ms: tells the machine's time.

    Attributes:
        conn: the database, for the code inside a transaction.
        clock: the emulator's time.
        now_ms: the time of the current transaction.
        lag_ms: how old a thing must be to be listed.
        switches: how the emulator behaves where the market's behaviour is unknown.
        seed: determines the ids.
    """

    def __init__(
        self,
        kind: Kind,
        database: Path | None,
        settings: Mapping[str, object],
        switches: SwitchesT,
        *,
        start: datetime | None,
        clock_runs: bool,
        machine_ms: Callable[[], int] = clock.machine_ms,
    ) -> None:
        self._kind = kind
        self.conn = _opened(database)
        if not self.number("SELECT count(*) FROM sqlite_schema"):
            ahead = machine_ms() if start is None else clock.to_ms(start)
            if clock_runs:
                ahead -= machine_ms()
            self._make(
                {
                    **settings,
                    "switches": json.dumps(switches.document()),
                    "clock": ahead,
                    "clock_runs": int(clock_runs),
                }
            )
        elif self.setting("kind") == kind.name:
            # A file from an older version lacks some.
            self.conn.executescript(self._tables())
        else:
            self.conn.close()
            raise WrongDatabaseError(f"{database} is not a file of this emulator; use another one.")
        self.seed = int(self.setting("seed"))
        self.switches = type(switches)(**json.loads(self.setting("switches")))
        self.clock = self._clock(machine_ms, clock_runs=clock_runs)
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
        self.set_setting("clock", f"{self.clock.offset_ms}")

    def set_switches(self, switches: SwitchesT) -> None:
        """Replace the switches."""
        self.set_setting("switches", json.dumps(switches.document()))
        self.switches = switches

    def new_id(self) -> str:
        """Return a new id, from the seed."""
        drawn = int(self.setting("ids")) + 1
        self.set_setting("ids", str(drawn))
        return self._kind.id(self.seed, drawn)

    def rng(self, *names: str) -> Random:
        """Return a generator that depends only on the seed and the names.

        With one stream of random numbers, each event would depend on all earlier ones.
        """
        words = "\x1f".join((str(self.seed), *names))
        return Random(hashlib.sha256(words.encode()).digest())  # noqa: S311 - no secret

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
        """Schedule something to happen automatically (`catch_up`)."""
        self.conn.execute(
            "INSERT INTO due (at_ms, kind, subject) VALUES (?, ?, ?)", (at_ms, kind, subject)
        )

    def setting(self, name: str) -> str:
        """Return a setting; one that is missing is an empty text."""
        try:
            row = self.row("SELECT value FROM setting WHERE name = ?", (name,))
        except sqlite3.OperationalError:
            row = None
        return str(row["value"]) if row else ""

    def set_setting(self, name: str, value: str) -> None:
        """Change a setting."""
        self.conn.execute("UPDATE setting SET value = ? WHERE name = ?", (value, name))

    def _make(self, settings: Mapping[str, object]) -> None:
        # `executescript` commits first, so the script itself begins the transaction.
        self.conn.executescript(f"BEGIN IMMEDIATE; {self._tables()}")
        self.conn.executemany(
            "INSERT INTO setting VALUES (?, ?)",
            [
                (name, str(value))
                for name, value in {"kind": self._kind.name, "ids": 0, **settings}.items()
            ],
        )
        self.conn.execute("COMMIT")

    def _tables(self) -> str:
        return self._kind.schema.read_text(encoding="utf-8")

    def _clock(self, machine_ms: Callable[[], int], *, clock_runs: bool) -> clock.EmulatedClock:
        offset_ms = int(self.setting("clock"))
        did_run = self.setting("clock_runs") == "1"
        if did_run != clock_runs:
            # The same time, relative to the machine's clock or to 1970.
            present = machine_ms()
            offset_ms += present if did_run else -present
            self.set_setting("clock", str(offset_ms))
            self.set_setting("clock_runs", str(int(clock_runs)))
        return clock.EmulatedClock(machine_ms if clock_runs else None, offset_ms)


_State = TypeVar("_State", bound=OfflineState[Any])


def catch_up(state: _State, kinds: Mapping[str, Callable[[_State, str], None]]) -> None:
    """Carry out everything planned until now, the earliest first, at its own time."""
    now_ms = state.now_ms
    while True:
        row = state.row(
            "DELETE FROM due WHERE number = (SELECT number FROM due WHERE at_ms <= ? "
            "ORDER BY at_ms, number LIMIT 1) RETURNING *",
            (now_ms,),
        )
        if row is None:
            break
        state.now_ms = row["at_ms"]
        kinds[row["kind"]](state, row["subject"])
    state.now_ms = now_ms


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
