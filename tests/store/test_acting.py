from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import pairwise
from threading import Barrier, Semaphore

import pytest

from piecework.domain.clock import FixedClock
from piecework.domain.errors import (
    BudgetExceeded,
    PlatformRefused,
    StoreError,
    TransientPlatformError,
)
from piecework.store import intents, ledger
from piecework.store.database import Store, open_store
from piecework.store.intents import Act, Intent, carry_out


class World:
    """The platform of a test: it counts calls, and can lose a reply."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.lose_next_reply = False

    def act(self, name: str) -> Callable[[], str]:
        """Do an act that happens even if its reply is lost."""

        def call() -> str:
            self.done.append(name)
            if self.lose_next_reply:
                self.lose_next_reply = False
                raise TransientPlatformError("the reply was lost")
            return f"id of {name}"

        return call

    def look(self, name: str) -> Callable[[], str | None]:
        """Look whether the act has happened."""
        return lambda: f"id of {name}" if name in self.done else None


def _intent(key: str, cents: int = 0) -> Intent:
    """An intent whose operation is what its key begins with."""
    operation, _, subject = key.partition(":")
    return Intent(key=key, operation=operation, subject=("hit", subject), amount_cents=cents)


def _carry_out(
    store: Store,
    intent: Intent,
    act: Callable[[], str],
    *,
    look: Callable[[], str | None] = lambda: None,
    record: Callable[[str], None] = lambda _: None,
    clock: FixedClock,
) -> str:
    """Carry out one act; return the outcome that is stored."""
    refused = carry_out(store, [Act(intent=intent, do=act, look=look, record=record)], clock=clock)
    if refused:
        raise refused[0][1]
    row = intents.read_outcome(store, intent)
    return str(row[0] if row else None)


def _in_ledger(store: Store, intent: Intent, clock: FixedClock) -> Callable[[str], None]:
    """Record an outcome as the intent's amount, paid as a reward."""
    return lambda _: ledger.move(
        store,
        intent.amount_cents,
        credit="held",
        debit="rewards",
        intent_key=intent.key,
        batch=1,
        at=clock.now(),
    )


def test_an_act_that_is_done_is_not_done_again(store: Store, clock: FixedClock) -> None:
    """The second time, the stored outcome is returned without a call."""
    world, intent = World(), _intent("publish:a")
    first, second = (
        _carry_out(store, intent, world.act("a"), look=world.look("a"), clock=clock)
        for _ in range(2)
    )
    assert (first, second) == ("id of a", "id of a")
    assert world.done == ["a"]


def test_a_lost_reply_is_looked_up_and_not_acted_on_again(store: Store, clock: FixedClock) -> None:
    """An act with a lost reply has happened; the next pass finds it."""
    world = World()
    world.lose_next_reply = True
    again = partial(
        _carry_out, store, _intent("publish:a"), world.act("a"), look=world.look("a"), clock=clock
    )
    with pytest.raises(TransientPlatformError):
        again()
    assert intents.done(store, "publish") == set()
    assert again() == "id of a"
    assert world.done == ["a"]
    assert intents.done(store, "publish") == {"publish:a"}


def test_what_follows_is_stored_with_the_outcome_or_not_at_all(
    store: Store, clock: FixedClock
) -> None:
    """A failure while recording leaves the intent open and the ledger empty."""
    world, intent = World(), _intent("approve:x", 100)

    def half_recorded(outcome: str) -> None:
        _in_ledger(store, intent, clock)(outcome)
        raise RuntimeError("the disk is full")

    with pytest.raises(RuntimeError, match="disk"):
        _carry_out(store, intent, world.act("x"), record=half_recorded, clock=clock)
    assert set(ledger.balances(store).values()) == {0}
    assert intents.done(store, "approve") == set()


def test_an_intent_that_never_got_through_may_be_mended(store: Store, clock: FixedClock) -> None:
    """Refused at one price, wanted at another: the new price is used and stored."""
    world = World()

    def for_cents(cents: int, act: Callable[[], str]) -> str:
        intent = _intent("publish:x", cents)
        return _carry_out(store, intent, act, look=world.look("x"), clock=clock)

    def refused() -> str:
        raise PlatformRefused("too dear", code="InsufficientFunds")

    with pytest.raises(PlatformRefused):
        for_cents(10_000, refused)
    assert for_cents(100, world.act("x")) == "id of x"
    row = store.db.execute("SELECT amount_cents, outcome FROM intents").fetchall()
    assert row == [(100, "id of x")]


def test_an_act_that_got_through_is_never_mended(store: Store, clock: FixedClock) -> None:
    """Done at one price, it stays done at that price, even if another is wanted."""
    world = World()
    for cents in (100, 200):
        intent = _intent("publish:x", cents)
        _carry_out(store, intent, world.act("x"), look=world.look("x"), clock=clock)
    assert world.done == ["x"]
    row = store.db.execute("SELECT amount_cents FROM intents").fetchall()
    assert row == [(100,)]


def test_an_intent_closed_by_another_pass_is_not_recorded_twice(
    store: Store, clock: FixedClock
) -> None:
    """The second pass finds the intent closed, and its ledger entry is undone."""
    intent = _intent("approve:x", 100)
    record = _in_ledger(store, intent, clock)

    def pay(act: Callable[[], str]) -> str:
        return _carry_out(store, intent, act, record=record, clock=clock)

    with pytest.raises(StoreError, match="closed by another pass"):
        # While the first pass waits for its reply, a second one does everything.
        pay(lambda: pay(lambda: "done"))
    assert ledger.balances(store)["rewards"] == 100


def _numbered(store: Store, number: int, do: Callable[[], str], clock: FixedClock) -> Act:
    intent = _intent(f"approve:{number:03}", 1)
    record = _in_ledger(store, intent, clock)
    return Act(intent=intent, do=do, look=lambda: None, record=record)


class _Called(list[int]):
    """The numbers of the acts that were called, each with an error or without."""

    def __init__(self, **errors: Exception) -> None:
        super().__init__()
        self._errors = errors

    def act(self, store: Store, number: int, clock: FixedClock) -> Act:
        """The act of a number, which raises the error at `nNUMBER`, if there is one."""
        return _numbered(store, number, partial(self._do, number), clock)

    def _do(self, number: int) -> str:
        self.append(number)
        if (error := self._errors.get(f"n{number}")) is not None:
            raise error
        return "done"


def test_many_acts_are_under_way_at_once_and_each_is_done_once(
    store: Store, clock: FixedClock
) -> None:
    """Eight wait for each other before any may end; forty are done, each once."""
    together, done = Barrier(8, timeout=30), Counter[int]()

    def do(number: int) -> str:
        together.wait()
        done[number] += 1
        return "done"

    acts = [_numbered(store, n, partial(do, n), clock) for n in range(40)]
    for _ in range(2):
        assert carry_out(store, acts, clock=clock, most_calls=8) == []
    assert done == Counter(range(40))
    assert ledger.balances(store)["rewards"] == 40
    assert len(intents.done(store, "approve")) == 40


def test_every_intent_is_durable_before_its_call(store: Store, clock: FixedClock) -> None:
    """A call finds its own intent on the disk, through a separate connection."""
    missing: list[str] = []

    def do(number: int) -> str:
        with closing(open_store(store.address)) as other:
            row = other.db.execute(
                "SELECT 1 FROM intents WHERE intent_key = ? AND done_at IS NULL",
                [f"approve:{number:03}"],
            ).fetchone()
        if row is None:
            missing.append(str(number))
        return "done"

    acts = (_numbered(store, n, partial(do, n), clock) for n in range(60))
    carry_out(store, acts, clock=clock, most_calls=4)
    assert missing == []
    assert len(intents.done(store, "approve")) == 60


def test_a_fault_lets_nothing_begin_and_what_is_under_way_is_written_down(
    store: Store, clock: FixedClock
) -> None:
    """The fourth of many calls fails: all that succeeded are known, few were begun."""
    begun = _Called(n3=TransientPlatformError("the reply was lost"))
    acts = (begun.act(store, n, clock) for n in range(500))
    with pytest.raises(TransientPlatformError):
        carry_out(store, acts, clock=clock, most_calls=4)
    assert len(begun) < 100
    assert intents.done(store, "approve") == {
        f"approve:{number:03}" for number in begun if number != 3
    }
    assert ledger.balances(store)["rewards"] == len(begun) - 1


def test_a_refused_act_holds_no_other_up(store: Store, clock: FixedClock) -> None:
    """What was refused is named and stays open; all the others are done."""
    late = PlatformRefused("too late", code="InvalidAssignmentState")
    called = _Called(n7=late, n17=late, n27=late)
    acts = [called.act(store, n, clock) for n in range(30)]
    refused = carry_out(store, acts, clock=clock, most_calls=4)
    named = {act.intent.key for act, _ in refused}
    assert named == {"approve:007", "approve:017", "approve:027"}
    assert len(intents.done(store, "approve")) == 27


def test_drawing_an_act_may_stop_the_work(store: Store, clock: FixedClock) -> None:
    """A cap that is reached ends the drawing; acts begun before are recorded."""

    def drawn() -> Iterator[Act]:
        for number in range(10):
            if number == 6:
                raise BudgetExceeded("the cap is reached")
            yield _numbered(store, number, lambda: "done", clock)

    with pytest.raises(BudgetExceeded):
        carry_out(store, drawn(), clock=clock, most_calls=2)
    assert len(intents.done(store, "approve")) == 6


def test_calls_under_way_count_as_if_they_had_got_through(store: Store, clock: FixedClock) -> None:
    """While three calls of one cent are open, the fourth sees three cents taken."""
    seen: list[int] = []
    together = Barrier(3, timeout=30)

    def do() -> str:
        together.wait()
        return "done"

    def drawn() -> Iterator[Act]:
        for number in range(3):
            act = _numbered(store, number, do, clock)
            seen.append(intents.open_cents(store, "approve", but=[act.intent.key]))
            yield act

    carry_out(store, drawn(), clock=clock, most_calls=3)
    assert seen == [0, 1, 2]
    assert intents.open_cents(store, "approve") == 0


def test_tokens_fit_and_differ_by_store_and_key() -> None:
    """MTurk takes 64 characters; equal keys of two stores are two tokens."""
    first, second = (_intent(key).token("7ab1") for key in ("publish:a", "publish:b"))
    assert first != second
    assert len(first) == 64


@pytest.mark.parametrize(("at_once", "room"), [(None, 1), (1, 1), (2, 4), (3, 6)])
def test_as_many_acts_are_begun_as_there_is_room_for(
    store: Store, clock: FixedClock, at_once: int | None, room: int
) -> None:
    """One at a time by default; otherwise each thread has one call and a next one."""
    begun = written = 0
    events: list[tuple[str, int]] = []

    def record(_outcome: str) -> None:
        nonlocal written
        events.append(("written", begun - written))
        written += 1

    def drawn() -> Iterator[Act]:
        nonlocal begun
        for number in range(40):
            begun += 1
            events.append(("begun", begun - written))
            act = _numbered(store, number, lambda: "done", clock)
            yield replace(act, record=record)

    begin = partial(carry_out, most_calls=at_once) if at_once else carry_out
    begin(store, drawn(), clock=clock)
    assert max(under_way for _, under_way in events) == room
    # When calls have returned and acts are left, the room is filled again.
    last_begun = max(place for place, event in enumerate(events) if event[0] == "begun")
    filled = [
        before[1]
        for before, after in pairwise(events[: last_begun + 1])
        if (before[0], after[0]) == ("begun", "written")
    ]
    assert set(filled) == {room}


def test_a_slow_call_holds_no_other_up(store: Store, clock: FixedClock) -> None:
    """The first call ends when all others have ended, and all are recorded."""
    others = Semaphore(0)

    def do(number: int) -> str:
        if number:
            others.release()
        else:
            for _ in range(19):
                assert others.acquire(timeout=30)
        return "done"

    acts = [_numbered(store, n, partial(do, n), clock) for n in range(20)]
    carry_out(store, acts, clock=clock, most_calls=2)
    assert len(intents.done(store, "approve")) == 20


def test_what_is_done_or_not_due_holds_no_other_up(store: Store, clock: FixedClock) -> None:
    """It is skipped without a call, an intent or an entry."""
    called = _Called()
    acts = [called.act(store, n, clock) for n in range(4)]
    carry_out(store, acts[:1], clock=clock)
    acts[1] = replace(acts[1], is_due=lambda: False)
    carry_out(store, acts, clock=clock)
    assert called == [0, 2, 3]
    assert not intents.declared(store, [acts[1].intent.key])


def test_what_was_not_found_is_done_only_while_it_is_due(store: Store, clock: FixedClock) -> None:
    """An open intent is looked for; not found, it is begun again if it is still due."""
    called = _Called()
    acts = [called.act(store, n, clock) for n in range(2)]
    acts[0] = replace(acts[0], is_due=lambda: False)
    with store.db.atomic():
        for act in acts:
            intents.declare(store, act.intent, clock)
    carry_out(store, acts, clock=clock)
    assert called == [1]
    assert intents.read_outcome(store, acts[0].intent) == (None,)


def test_an_open_act_is_looked_up_also_if_it_is_not_due_any_more(
    store: Store, clock: FixedClock
) -> None:
    """It may have been done while it was due; then it is recorded."""
    act = replace(_numbered(store, 0, _never, clock), look=lambda: "done before")
    with store.db.atomic():
        intents.declare(store, act.intent, clock)
    carry_out(store, [replace(act, is_due=lambda: False)], clock=clock)
    assert intents.read_outcome(store, act.intent) == ("done before",)


def _never() -> str:
    raise AssertionError("this call was not to be made")


def test_a_refused_act_stays_open_and_delays_no_other(store: Store, clock: FixedClock) -> None:
    """The next call does it again, and only it."""
    called = _Called(n0=PlatformRefused("no", code="RequestError"))
    acts = [called.act(store, n, clock) for n in range(3)]
    [(act, refusal)] = carry_out(store, acts, clock=clock)
    assert (act, refusal.code) == (acts[0], "RequestError")
    assert called == [0, 1, 2]
    carry_out(store, acts, clock=clock)
    assert called == [0, 1, 2, 0]
