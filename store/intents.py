"""Doing outward acts once: an intent is durable before the call, its outcome after.

A process may die at any point. Between intent and outcome nobody knows whether the call
reached the platform, so the next pass **looks** before it acts again. The promise is
the store's, not that of a cache, a retry or a platform's memory of tokens (MTurk
forgets a token after 24 hours).
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from domain.clock import Clock
from domain.errors import StoreError
from store.database import Store
from store.times import to_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """One outward act that must happen once.

    Attributes:
        key: stable name of the act, e.g. `publish:birds.b2.r0.0007`.
        operation: the port's verb.
        arguments: what it is done with, as plain values.
        amount_cents: the most that it can cost, fees included.
    """

    key: str
    operation: str
    arguments: Mapping[str, str | int] = field(default_factory=dict)
    amount_cents: int = 0

    def token(self, store: Store) -> str:
        """A request token that is this intent's own: at most 64 characters.

        It holds the store's own name, so that two campaigns with equal keys differ.
        """
        named = json.dumps([store_name(store), self.key])
        return hashlib.sha256(named.encode()).hexdigest()


def store_name(store: Store) -> str:
    """The name under which this store's intents are known to the platform."""
    row = store.db.execute("SELECT value FROM about WHERE key = 'name'").fetchone()
    if row is None:
        raise StoreError(f"{store.path}: the store has no name yet")
    return str(row[0])


def carry_out(
    store: Store,
    intent: Intent,
    *,
    act: Callable[[], str],
    look: Callable[[], str | None],
    record: Callable[[str], None],
    clock: Clock,
) -> str:
    """Do an outward act unless it was done; its outcome either way.

    Args:
        store: where intent and outcome are kept.
        intent: the act, by its stable key.
        act: makes the call; gives the outcome as text (an id, or "done").
        look: asks the platform whether an earlier call got through; its outcome, or
            `None`. Asked only when an earlier process left the intent open.
        record: writes what follows from the outcome, in the transaction that closes
            the intent; both are stored or neither.
        clock: tells when.

    Raises:
        StoreError: another pass closed the intent meanwhile; nothing is recorded twice.
        PlatformRefused, TransientPlatformError: from `act`; the intent stays open.
    """
    row = _read(store, intent)
    if row is not None and row.outcome is not None:
        return row.outcome
    outcome = None
    if row is None:
        _declare(store, intent, clock)
    else:
        outcome = look()
        if outcome is None and not row.means(intent):
            # The earlier call never got through, and what is wanted has changed since
            # (a price was mended, a title reworded): the new meaning is the one to do.
            _declare(store, intent, clock)
    if outcome is None:
        outcome = act()
    with store.db.atomic():
        record(outcome)
        closed = store.db.execute(
            "UPDATE intents SET done_at = ?, outcome = ? "
            "WHERE intent_key = ? AND done_at IS NULL",
            [to_text(clock.now()), outcome, intent.key],
        )
        if closed.rowcount != 1:
            # Undoes the record: whoever closed it has written it already.
            raise StoreError(f"{store.path}: {intent.key} was closed by another pass")
    return outcome


def done(store: Store, operation: str) -> set[str]:
    """Keys of all intents of an operation that are known to be done."""
    return {
        row["intent_key"]
        for row in store.db.query(
            "SELECT intent_key FROM intents "
            "WHERE operation = ? AND done_at IS NOT NULL",
            [operation],
        )
    }


@dataclass(frozen=True, slots=True)
class _Row:
    operation: str
    arguments: str
    amount_cents: int
    outcome: str | None

    def means(self, intent: Intent) -> bool:
        """Whether the stored intent is this one, to the cent."""
        return (self.operation, self.arguments, self.amount_cents) == (
            intent.operation,
            _arguments(intent),
            intent.amount_cents,
        )


def _read(store: Store, intent: Intent) -> _Row | None:
    row = store.db.execute(
        "SELECT operation, arguments, amount_cents, outcome FROM intents "
        "WHERE intent_key = ?",
        [intent.key],
    ).fetchone()
    return None if row is None else _Row(*row)


def _declare(store: Store, intent: Intent, clock: Clock) -> None:
    with store.db.atomic():
        store.db.execute(
            "INSERT OR REPLACE INTO intents "
            "(intent_key, operation, arguments, amount_cents, made_at) "
            "VALUES (?, ?, ?, ?, ?)",
            [
                intent.key,
                intent.operation,
                _arguments(intent),
                intent.amount_cents,
                to_text(clock.now()),
            ],
        )


def _arguments(intent: Intent) -> str:
    return json.dumps(dict(intent.arguments), sort_keys=True)
