"""Outward acts that happen once: intents are stored before, outcomes after.

A process may die at any point. Between intent and outcome it is not known whether the
call reached the platform, so the next pass **looks** before it acts again. The store
guarantees this, without relying on a cache, a retry or a platform's memory of tokens
(MTurk forgets a token after 24 hours).

Every call that changes a platform goes through `carry_out`. A pool of threads makes the
calls. Only the calling thread reads and writes the store. It writes outcomes in one
transaction with the intents of the next calls, so that durability costs one wait for
the disk per round instead of two per call.
"""

import hashlib
import json
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from piecework.domain.clock import Clock
from piecework.domain.errors import PlatformRefused, StoreError
from piecework.store import bound
from piecework.store.database import Store, from_text, to_text, writing

ActSubject = tuple[Literal["hit", "assignment", "worker", "hit type"], str]
"""Kind and id of what an act is about; for a HIT, its key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """An act outside the store that must happen exactly once.

    Attributes:
        key: stable name of the act, e.g. `publish:birds.b2.r0.0007`. Queries do not
            parse it: they use operation, subject and times.
        operation: the port's verb.
        subject: what the act is about: the key of a HIT, or the id of an assignment,
            worker or HIT type.
        times: number of the act among several that are otherwise equal.
        arguments: further arguments, as plain values.
        amount_cents: the most that it can cost, fees included.
    """

    key: str
    operation: str
    subject: ActSubject
    times: int = 1
    arguments: Mapping[str, str | int] = field(default_factory=dict)
    amount_cents: int = 0

    def token(self, name: str) -> str:
        """Return this intent's own request token: at most 64 characters.

        It depends on the store's `name`, so that two campaigns with equal keys differ.
        """
        named = json.dumps([name, self.key])
        return hashlib.sha256(named.encode()).hexdigest()


def store_name(store: Store) -> str:
    """Return the name under which the platform knows this store's intents."""
    name = bound.read_bound(store).name
    if name is None:
        raise StoreError(f"{store.address}: the store has no name yet")
    return name


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """An intent and how to carry it out.

    Attributes:
        intent: the act, by its stable key.
        do: makes the call; returns the outcome as text (an id, or "done").
        look: asks the platform whether an earlier call got through; returns its outcome
            or `None`. It is called only if an earlier process left the intent open.
        record: writes what follows from the outcome, in the transaction that closes
            the intent; both are stored or neither.
        is_due: whether it still has to be done, called in the transaction that declares
            the intent: a person may have taken back the decision behind it.

    `do` and `look` may be called in any thread and must not use the store.
    """

    intent: Intent
    do: Callable[[], str]
    look: Callable[[], str | None]
    record: Callable[[str], None]
    is_due: Callable[[], bool] = lambda: True


def done(store: Store, operation: str) -> set[str]:
    """Return keys of all intents of an operation that are known to be done."""
    return {
        row["intent_key"]
        for row in store.db.query(
            "SELECT intent_key FROM intents WHERE operation = ? AND done_at IS NOT NULL",
            [operation],
        )
    }


def begun(store: Store, operation: str) -> dict[str, datetime]:
    """Return when the intents of an operation without an outcome were made, by key."""
    return {
        row["intent_key"]: from_text(row["made_at"])
        for row in store.db.query(
            "SELECT intent_key, made_at FROM intents WHERE operation = ? AND done_at IS NULL",
            [operation],
        )
    }


def redate_later(store: Store, operation: str, now: datetime) -> None:
    """Date open intents of an operation that were made after a time at that time."""
    with store.db.atomic():
        store.db.execute(
            "UPDATE intents SET made_at = :now "
            "WHERE operation = :operation AND done_at IS NULL AND made_at > :now",
            {"operation": operation, "now": to_text(now)},
        )


def declared(store: Store, intent_keys: Iterable[str]) -> frozenset[str]:
    """Return which of these acts were begun, with any outcome or none."""
    rows = store.db.execute(
        "SELECT intent_key FROM intents WHERE intent_key IN (SELECT value FROM json_each(?))",
        [json.dumps(list(intent_keys))],
    )
    return frozenset(key for (key,) in rows)


def arguments(store: Store, intent_key: str) -> Mapping[str, str | int]:
    """Return the arguments that an intent was declared with."""
    (text,) = store.db.execute(
        "SELECT arguments FROM intents WHERE intent_key = ?", [intent_key]
    ).fetchone()
    arguments: dict[str, str | int] = json.loads(text)
    return arguments


def outcome(store: Store, intent_key: str) -> str | None:
    """Return how an act ended; `None` if it did not end or was never begun."""
    row = store.db.execute(
        "SELECT outcome FROM intents WHERE intent_key = ? AND done_at IS NOT NULL", [intent_key]
    ).fetchone()
    return row and str(row[0])


PAYMENTS = ("bonus", "compensation", "unreject")
"""Operations with which a person pays people, beside what a pass pays."""
PROMISES = ("publish", *PAYMENTS)
"""Operations that take new money from the requester."""


def open_cents(store: Store, *operations: str, but: Collection[str] = ()) -> int:
    """Return the most that open intents of these operations may cost, without the keys `but`.

    A HIT with a dropped plan is not posted any more, so it is free.
    """
    (cents,) = store.db.execute(
        "SELECT coalesce(sum(amount_cents), 0) FROM intents "
        f"WHERE operation IN ({', '.join('?' for _ in operations)}) "
        "AND done_at IS NULL AND intent_key NOT IN (SELECT value FROM json_each(?)) "
        "AND (operation <> 'publish' OR "
        "EXISTS (SELECT 1 FROM hits WHERE hit_key = subject_id))",
        [*operations, json.dumps(list(but))],
    ).fetchone()
    return int(cents)


def load_intents(store: Store, operation: str, *, is_done: bool) -> list[Intent]:
    """Return all intents of an operation that are done, or all that are open."""
    return [
        Intent(
            key=row["intent_key"],
            operation=operation,
            subject=(row["subject_kind"], row["subject_id"]),
            times=row["times"],
            arguments=json.loads(row["arguments"]),
            amount_cents=row["amount_cents"],
        )
        for row in store.db.query(
            "SELECT * FROM intents WHERE operation = ? "
            f"AND done_at IS {'NOT NULL' if is_done else 'NULL'} ORDER BY rowid",
            [operation],
        )
    ]


def compensation_reasons(store: Store) -> list[str]:
    """Return the reason of each compensation that was paid."""
    return [
        str(intent.arguments["reason"])
        for intent in load_intents(store, "compensation", is_done=True)
    ]


def has_open(store: Store, *operations: str) -> bool:
    """Whether an intent of these operations is open."""
    row = store.db.execute(
        "SELECT 1 FROM intents WHERE done_at IS NULL "
        f"AND operation IN ({', '.join('?' for _ in operations)}) LIMIT 1",
        operations,
    ).fetchone()
    return row is not None


def subjects(store: Store, operation: str, *, outcome: str) -> list[str]:
    """Return the subjects of an operation's intents with this outcome, in order."""
    rows = store.db.execute(
        "SELECT subject_id FROM intents "
        "WHERE operation = ? AND done_at IS NOT NULL AND outcome = ? ORDER BY rowid",
        [operation, outcome],
    )
    return [str(subject) for (subject,) in rows]


def withdraw(store: Store, key: str) -> None:
    """Delete an open intent that was looked for and not found."""
    with store.db.atomic():
        store.db.execute("DELETE FROM intents WHERE intent_key = ? AND done_at IS NULL", [key])


def rename(store: Store, key: str, new_key: str, *, operation: str | None = None) -> None:
    """Give a closed intent and its entries in the ledger another key.

    Args:
        store: the campaign's memory.
        key: the intent's current key.
        new_key: its new key.
        operation: its new operation; `None` keeps the old one.
    """
    with store.db.atomic():
        store.db.execute(
            "INSERT INTO intents (intent_key, operation, subject_kind, subject_id, "
            "times, arguments, amount_cents, made_at, done_at, outcome) "
            "SELECT :new, coalesce(:operation, operation), "
            "subject_kind, subject_id, times, "
            "arguments, amount_cents, made_at, done_at, outcome FROM intents "
            "WHERE intent_key = :old",
            {"new": new_key, "old": key, "operation": operation},
        )
        store.db.execute("UPDATE ledger SET intent_key = ? WHERE intent_key = ?", [new_key, key])
        store.db.execute("DELETE FROM intents WHERE intent_key = ?", [key])


def read_outcome(store: Store, intent: Intent) -> tuple[str | None] | None:
    """Return the outcome of an intent, `(None,)` while open; `None` if not declared."""
    row: tuple[str | None] | None = store.db.execute(
        "SELECT outcome FROM intents WHERE intent_key = ?", [intent.key]
    ).fetchone()
    return row


def declare(store: Store, intent: Intent, clock: Clock) -> None:
    """Store an intent, or replace an open one that was looked for and not found.

    Its details may have changed since (a corrected price, a reworded title): the new
    ones count. Part of the caller's transaction.

    Raises:
        StoreError: another pass closed it meanwhile.
    """
    declared = store.db.execute(
        "INSERT INTO intents (intent_key, operation, subject_kind, subject_id, times, "
        "arguments, amount_cents, made_at) VALUES (:key, :operation, :kind, :subject, "
        ":times, :arguments, :cents, :at) "
        "ON CONFLICT (intent_key) DO UPDATE SET operation = :operation, "
        "subject_kind = :kind, subject_id = :subject, times = :times, "
        "arguments = :arguments, amount_cents = :cents, made_at = :at "
        "WHERE intents.done_at IS NULL",
        {
            "key": intent.key,
            "operation": intent.operation,
            "kind": intent.subject[0],
            "subject": intent.subject[1],
            "times": intent.times,
            "arguments": json.dumps(dict(intent.arguments), sort_keys=True),
            "cents": intent.amount_cents,
            "at": to_text(clock.now()),
        },
    )
    if not declared.rowcount:
        raise _closed_by_another(store, intent)


def close_intent(store: Store, act: Act, outcome: str, clock: Clock) -> None:
    """Store an outcome and what follows from it; part of the caller's transaction.

    Raises:
        StoreError: another pass closed the intent meanwhile.
    """
    act.record(outcome)
    # If `_close` raises, the record is undone: the other pass has already written it.
    _close(store, act.intent, outcome, clock)


def keep_outcome(store: Store, intent: Intent, outcome: str, clock: Clock) -> None:
    """Store an act without a call, and its outcome; part of the caller's transaction.

    Raises:
        StoreError: the act was done before.
    """
    declare(store, intent, clock)
    _close(store, intent, outcome, clock)


def _close(store: Store, intent: Intent, outcome: str, clock: Clock) -> None:
    closed = store.db.execute(
        "UPDATE intents SET done_at = ?, outcome = ? WHERE intent_key = ? AND done_at IS NULL",
        [to_text(clock.now()), outcome, intent.key],
    )
    if not closed.rowcount:
        raise _closed_by_another(store, intent)


def _closed_by_another(store: Store, intent: Intent) -> StoreError:
    return StoreError(
        f"{store.address}: {intent.key} was closed by another pass",
        next_step="run the same command again",
    )


Refusal = tuple[Act, PlatformRefused]


def carry_out(
    store: Store,
    acts: Iterable[Act],
    *,
    clock: Clock,
    most_calls: int = 1,
) -> list[Refusal]:
    """Do every act that was not done before; return what was refused, and why.

    A refused act stays open and does not delay others.

    The acts may run in any order. After an error other than a refusal no further act
    begins; those under way are awaited and recorded first.

    Args:
        store: where intents and outcomes are kept.
        acts: drawn one by one, when there is room; drawing may raise to stop.
        clock: tells when.
        most_calls: the most calls under way at a time.

    Raises:
        StoreError: another pass closed an intent meanwhile; no outcome is recorded
            twice.
        TransientPlatformError: the outcome of a call is unknown; its intent stays open.
    """
    with ThreadPoolExecutor(most_calls, thread_name_prefix="act") as pool:
        work = _Work(store, iter(acts), clock, pool)
        # Declare twice as many in advance, so that no thread waits for the disk.
        room = 2 * most_calls if most_calls > 1 else 1
        while work.go_on(room):
            pass
    if work.fault is not None:
        raise work.fault
    return work.refused


class _Work:
    """Acts under way: `go_on` waits for some, records them and begins others."""

    def __init__(
        self, store: Store, acts: Iterator[Act], clock: Clock, pool: ThreadPoolExecutor
    ) -> None:
        self._store, self._acts, self._clock, self._pool = store, acts, clock, pool
        self._running: dict[Future[str | None], Act] = {}
        self._to_do: deque[Act] = deque()
        self.refused: list[Refusal] = []
        self.fault: BaseException | None = None

    def go_on(self, room: int) -> bool:
        """Do one round in one transaction; return whether calls are still under way."""
        done = wait(self._running, return_when=FIRST_COMPLETED).done
        with writing(self._store):
            for future in [each for each in self._running if each in done]:
                self._write_down(self._running.pop(future), future)
            begun = list(self._begin(room - len(self._running)))
        # A call starts only once its intent is durable.
        for act, call in begun:
            self._running[self._pool.submit(call)] = act
        return bool(self._running)

    def _write_down(self, act: Act, future: "Future[str | None]") -> None:
        fault = future.exception()
        if isinstance(fault, PlatformRefused):
            self.refused.append((act, fault))
        elif fault is not None:
            self.fault = self.fault or fault
        elif (outcome := future.result()) is None:
            self._to_do.append(act)  # looked for, and not found
        else:
            close_intent(self._store, act, outcome, self._clock)

    def _begin(self, room: int) -> Iterator[tuple[Act, Callable[[], str | None]]]:
        while room > 0 and self.fault is None:
            is_missing = bool(self._to_do)
            act = self._to_do.popleft() if is_missing else self._draw()
            if act is None:
                return
            row = None if is_missing else read_outcome(self._store, act.intent)
            if row is None:
                if not act.is_due():
                    continue
                declare(self._store, act.intent, self._clock)
                yield act, act.do
            elif row[0] is None:
                yield act, act.look
            else:
                continue
            room -= 1

    def _draw(self) -> Act | None:
        try:
            return next(self._acts, None)
        except Exception as fault:  # noqa: BLE001 - raised again once all is recorded
            self.fault = fault
            return None
