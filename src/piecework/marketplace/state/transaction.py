"""A transaction of the marketplace's writer, and the settings that the file keeps by name.

Every operation of either side takes a `Transaction` and values and returns values. It
never commits, reads a clock or sees a request.

Ids have upper-case letters and digits, like MTurk's. In a rehearsal an id derives from the
seed and from what it names, so that the same seed gives the same ids in any order of the
workers' actions. Live, ids are cryptographically random, since a HIT id is also the key to
its page.

Own keys are created when first needed and never leave the file. The server stores the
site's address for browsers, and invitations use it.
"""

import hashlib
import hmac
import secrets
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from piecework.marketplace.state.money import MTURK, PriceList

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_ID_LENGTH = 30
_WORKER_LENGTH = 13


class IdGenerator:
    """Makes ids; `seed` is None for a live marketplace."""

    def __init__(self, seed: int | None) -> None:
        self._seed = seed

    def entity(self, kind: str, *parts: object) -> str:
        """Return 30 characters: a HIT, type, group, assignment or qualification."""
        return "3" + self._letters(_ID_LENGTH - 1, kind, *parts)

    def worker(self, handle: str) -> str:
        """Return a worker id: `A` and 13 characters."""
        return "A" + self._letters(_WORKER_LENGTH, "worker", handle)

    def token(self, handle: str) -> str:
        """Return a worker's session token; only a rehearsal can repeat it."""
        if self._seed is None:
            return secrets.token_urlsafe(32)
        return self._digest("token", handle).hex()[:43]

    def request(self) -> str:
        """Return a request id, which need not be reproducible."""
        return secrets.token_hex(16)

    def _letters(self, length: int, *parts: object) -> str:
        if self._seed is None:
            # One call of the system instead of one for each letter.
            number = secrets.randbelow(len(_ALPHABET) ** length)
        else:
            number = int.from_bytes(self._digest(*parts), "big")
        letters = []
        for _ in range(length):
            number, rest = divmod(number, len(_ALPHABET))
            letters.append(_ALPHABET[rest])
        return "".join(letters)

    def _digest(self, *parts: object) -> bytes:
        words = "\x1f".join(str(part) for part in parts)
        return hmac.digest(str(self._seed).encode(), words.encode(), hashlib.sha256)


def next_number(conn: sqlite3.Connection, name: str) -> int:
    """Return the next value of a counter in the database, from 1."""
    row = conn.execute(
        "INSERT INTO counters (name, value) VALUES (?, 1) "
        "ON CONFLICT (name) DO UPDATE SET value = value + 1 RETURNING value",
        (name,),
    ).fetchone()
    return int(row[0])


def keep_setting(conn: sqlite3.Connection, key: str, value: str) -> None:
    """Store a setting of the database; it replaces the one before."""
    conn.execute(
        "INSERT INTO settings (key, value) VALUES (?, ?) "
        "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (key, value),
    )


_NO_END = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """The resources of an operation.

    Attributes:
        conn: the connection, in this transaction.
        now_ms: the current time.
        counted_ms: the time of a clock that cannot be set and stands while no process
            runs; two readings give at most the elapsed time.
        id_generator: makes new ids.
        held_ms: how far due work is held back behind the current time; 0 if the clock
            is trusted.
        has_backlog: whether due work is left.
        lag_ms: the age at which a HIT is listed; only a rehearsal's fault script sets
            it.
        prices: the currency of all amounts, and the fees.
        spend_at_most_cents: the spending limit of all requesters together, if any.
    """

    conn: sqlite3.Connection
    now_ms: int
    counted_ms: int
    id_generator: IdGenerator
    held_ms: int = 0
    has_backlog: bool = False
    lag_ms: int = 0
    prices: PriceList = MTURK
    spend_at_most_cents: int | None = None

    @property
    def due_ms(self) -> int:
        """The time up to which due work is done."""
        return self.now_ms - self.held_ms

    @property
    def listed_ms(self) -> int:
        """The creation time up to which HITs are listed.

        HITs created under a clock that was ahead are later than now and listed too.
        """
        return self.now_ms - self.lag_ms if self.lag_ms else _NO_END

    def first_row(self, sql: str, *values: object) -> sqlite3.Row | None:
        """Return the first row, if any."""
        row: sqlite3.Row | None = self.conn.execute(sql, values).fetchone()
        return row

    def value(self, sql: str, *values: object) -> Any:  # noqa: ANN401 - a column's value
        """Return the first column of the first row; `None` without a row."""
        row = self.first_row(sql, *values)
        return None if row is None else row[0]

    def has(self, sql: str, *values: object) -> bool:
        """Return whether the query has a row."""
        return self.first_row(sql, *values) is not None

    def all(self, sql: str, *values: object) -> list[sqlite3.Row]:
        """Return all rows."""
        return self.conn.execute(sql, values).fetchall()

    def execute(self, sql: str, *values: object) -> int:
        """Execute one statement, and return the id of a row that it created."""
        return self.conn.execute(sql, values).lastrowid or 0

    def insert(self, table: str, **columns: object) -> int:
        """Insert a row with these columns, and return its row id."""
        return self.conn.execute(_insertion(table, columns), columns).lastrowid or 0

    def insert_new(self, table: str, **columns: object) -> None:
        """Insert a row, unless a row with one of its unique columns exists."""
        self.conn.execute(f"{_insertion(table, columns)} ON CONFLICT DO NOTHING", columns)

    def upsert(self, table: str, *key: str, **columns: object) -> None:
        """Insert a row, or set these columns of the row with the same `key` columns."""
        changes = ", ".join(f"{name} = excluded.{name}" for name in columns if name not in key)
        conflict = f"ON CONFLICT ({', '.join(key)}) DO UPDATE SET {changes}"
        self.conn.execute(f"{_insertion(table, columns)} {conflict}", columns)


def _insertion(table: str, columns: Iterable[str]) -> str:
    names = tuple(columns)
    places = ", ".join(f":{name}" for name in names)
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places})"


_OWN_KEY_BYTES = 32
_SETTING = "SELECT value FROM settings WHERE key = ?"


def own_key(transaction: Transaction, name: str) -> bytes:
    """Return the key of this name, which stays the same for the life of the file."""
    kept: str | None = transaction.value(_SETTING, name)
    if kept is not None:
        return bytes.fromhex(kept)
    key = secrets.token_bytes(_OWN_KEY_BYTES)
    transaction.insert("settings", key=name, value=key.hex())
    return key


_SITE_ADDRESS, _RECRUITS = "site_url", "recruits"


def keep_site(transaction: Transaction, url: str, *, recruits: bool) -> None:
    """Store the site's current address, and whether people of a market are paid to come."""
    if site_address(transaction) != url:
        keep_setting(transaction.conn, _SITE_ADDRESS, url)
    if is_recruiting(transaction) != recruits:
        keep_setting(transaction.conn, _RECRUITS, str(recruits))


def is_recruiting(transaction: Transaction) -> bool:
    """Return whether the marketplace, as it was served last, pays people of a market."""
    return bool(transaction.value(_SETTING, _RECRUITS) == str(True))


def site_address(transaction: Transaction) -> str | None:
    """Return the site's last address; `None` if it was never served."""
    address: str | None = transaction.value(_SETTING, _SITE_ADDRESS)
    return address
