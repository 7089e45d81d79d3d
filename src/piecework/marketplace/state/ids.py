"""Generates ids of upper-case letters and digits, like MTurk's.

In a rehearsal an id derives from the seed and from what it names, so that the same seed
gives the same ids in any order of the workers' actions. Live, ids are cryptographically
random, since a HIT id is also the key to its page.
"""

import hashlib
import hmac
import secrets
import sqlite3

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
