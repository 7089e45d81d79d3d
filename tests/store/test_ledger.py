from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Literal

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from piecework.domain.clock import FixedClock
from piecework.domain.ids import AssignmentId, HitKey, WorkerId
from piecework.store import hits, intents, ledger
from piecework.store.database import Store, to_text
from piecework.store.intents import Intent
from piecework.store.ledger import Account, Payout
from tests.store.answered import answered_hits

_ACCOUNTS = st.sampled_from(["requester", "held", "rewards", "bonuses", "fees"])
_MOVES = st.lists(st.tuples(st.integers(0, 10_000), _ACCOUNTS, _ACCOUNTS), max_size=20)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(moves=_MOVES)
def test_all_accounts_always_sum_to_zero(
    store: Store, clock: FixedClock, moves: list[tuple[int, str, str]]
) -> None:
    """Any sequence of entries only moves money: the accounts sum to zero."""
    _declare(store, clock)
    for cents, credit, debit in moves:
        with store.db.atomic():
            ledger.move(
                store,
                cents,
                credit=credit,  # type: ignore[arg-type]  # drawn from the literal's own
                debit=debit,  # type: ignore[arg-type]  # drawn from the literal's own
                intent_key="publish:a",
                batch=1,
                at=clock.now(),
            )
    balances = ledger.balances(store)
    assert sum(balances.values()) == 0
    assert ledger.taken_cents(store) == sum(
        cents for account, cents in balances.items() if account != "requester"
    )


def test_a_day_and_a_month_are_utc_s(store: Store, clock: FixedClock) -> None:
    """A cent a day over new year: 31 in December and January, 28 in February."""
    _declare(store, clock)
    first = datetime(2025, 12, 1, 0, 0, tzinfo=UTC)
    with store.db.atomic():
        for number in range(31 + 31 + 28 + 1):
            moment = first + timedelta(days=number, hours=number % 24)
            ledger.move(
                store,
                1,
                credit="requester",
                debit="held",
                intent_key="publish:a",
                batch=1,
                at=moment,
            )
    for month, cents in ((12, 31), (1, 31), (2, 28), (3, 1), (4, 0)):
        moment = datetime(2025 + (month < 12), month, 15, tzinfo=UTC)
        assert ledger.taken(store, 1, moment).month == cents
        assert ledger.taken(store, 1, moment).day == min(cents, month != 3)
    east = timezone(timedelta(hours=14))
    eve = datetime(2026, 3, 1, 13, 59, tzinfo=east)  # the last day of February in UTC
    assert ledger.taken(store, 1, eve).month == 28
    assert ledger.taken(store, 1, datetime(2026, 3, 2, 13, tzinfo=east)).day
    assert ledger.taken(store, 1, datetime(2026, 3, 2, tzinfo=UTC)).day == 0


def test_an_act_that_is_undone_leaves_every_account_as_it_was(
    store: Store, clock: FixedClock
) -> None:
    """Its batch costs nothing either; what a day promised stays promised."""
    _declare(store, clock)
    with store.db.atomic():
        before = ledger.balances(store)
        paid = {"rewards": 50, "fees": 10}
        ledger.book_payment(
            store,
            paid,  # type: ignore[arg-type]  # of the literal's own
            intent_key="publish:a",
            batch=2,
            at=clock.now(),
        )
        assert ledger.taken_by_batch(store) == {2: 60}
        assert ledger.taken(store, 2, clock.now()) == (60, 60, 60, 60)
        ledger.undo(store, "publish:a", at=clock.now())
    assert ledger.balances(store) == before
    assert ledger.taken(store, 2, clock.now()) == (0, 0, 60, 60)


def test_what_is_undone_undoes_no_other_act(store: Store, clock: FixedClock) -> None:
    """Of two payments the other stays."""
    for name in ("A1", "A2"):
        _book(store, clock, name, ("approve", 50, "requester", "rewards"))
    with store.db.atomic():
        ledger.undo(store, "approve:A1", at=clock.now())
    assert ledger.paid_cents(store, "rewards") == {"A2": 50}
    assert ledger.taken_cents(store) == 50


def test_what_was_paid_outside_is_kept_by_worker_and_label(store: Store, clock: FixedClock) -> None:
    """In their order, each in place of an earlier record, with who recorded it and when."""
    day = date(2026, 3, 1)
    ann, bob = WorkerId("ANN"), WorkerId("BOB")
    first = Payout(bob, "march", 500, day)
    with store.db.atomic():
        ledger.keep_payouts(store, [first, Payout(ann, "bus", 1, day)], by="eve", at=clock.now())
        corrected = first._replace(cents=700, paid_on=date(2026, 3, 2))
        ledger.keep_payouts(store, [corrected], by="dan", at=clock.now())
    kept = ledger.payouts(store)
    assert list(kept) == [(ann, "bus"), (bob, "march")]
    assert kept[bob, "march"] == corrected
    recorded = store.db.execute("SELECT recorded_by, recorded_at FROM payouts WHERE cents = 700")
    assert recorded.fetchall() == [("dan", to_text(clock.now()))]


def test_released_money_is_what_was_held_and_came_back(store: Store, clock: FixedClock) -> None:
    """Not what was paid from it, nor a payment that was taken back."""
    _declare(store, clock)
    moves = (
        (100, "requester", "held"),
        (30, "held", "requester"),
        (50, "held", "rewards"),
        (50, "rewards", "requester"),
    )
    with store.db.atomic():
        for cents, credit, debit in moves:
            ledger.move(
                store,
                cents,
                credit=credit,  # type: ignore[arg-type]  # of the literal's own
                debit=debit,  # type: ignore[arg-type]  # of the literal's own
                intent_key="publish:a",
                batch=1,
                at=clock.now(),
            )
    assert ledger.released_cents(store) == 30
    assert ledger.taken_cents(store) == 20


def test_what_was_spent_on_work_is_told_by_assignment(store: Store, clock: FixedClock) -> None:
    """What was taken back is no pay; a compensation is the worker's."""
    steps: tuple[tuple[str, int, Account, Account], ...] = (
        ("approve", 50, "held", "rewards"),
        ("approve", 10, "held", "fees"),
        ("bonus", 25, "requester", "bonuses"),
        ("bonus", 5, "requester", "fees"),
    )
    first, second = AssignmentId("A1"), AssignmentId("A2")
    for name in (first, second):
        _book(store, clock, name, *steps)
    assert ledger.paid_cents(store, "rewards") == {first: 50, second: 50}
    assert ledger.paid_cents(store, "rewards", "bonuses") == {first: 75, second: 75}
    assert ledger.spent_on(store, first) == {"rewards": 50, "fees": 15, "bonuses": 25}
    _book(
        store,
        clock,
        second,
        ("reverse", 50, "rewards", "requester"),
        ("reverse", 10, "fees", "requester"),
    )
    assert ledger.paid_cents(store, "rewards") == {first: 50}
    assert ledger.paid_cents(store, "rewards", "bonuses") == {first: 75, second: 25}
    assert ledger.spent_on(store, second) == {"fees": 5, "bonuses": 25}


def test_sums_are_told_in_order_to_the_last_cent(store: Store, clock: FixedClock) -> None:
    """By batch and by assignment, whatever was booked first."""
    for name, batch in (("B", 2), ("A", 1)):
        _book(store, clock, name, ("approve", 1, "requester", "rewards"), batch=batch)
    assert list(ledger.taken_by_batch(store).items()) == [(1, 1), (2, 1)]
    assert list(ledger.paid_cents(store, "rewards").items()) == [("A", 1), ("B", 1)]


def test_what_is_held_for_a_hit_is_its_slots_without_decided_work(
    store: Store, clock: FixedClock
) -> None:
    """Two slots and one that was added; another HIT's money is not counted."""
    answered_hits(store, {"H1": (1, "a"), "H2": (1, "b")}, ["ann", "bob"], at=clock.now())
    first, second = hits.load_hits(store)
    more = replace(first, hit_key=HitKey("more"), extends=first.hit_key, hit_id=None)
    hits.plan(store, [replace(more, posted_at=None, collected_at=None)])
    for name, cents in ((first.hit_key, 120), (second.hit_key, 120), ("more", 60)):
        _book(store, clock, name, ("publish", cents, "requester", "held"), kind="hit")
    assert [ledger.held_cents(store, hit) for hit in (first, second)] == [180, 120]
    _book(store, clock, "H1-ann", ("approve", 60, "held", "rewards"))
    assert [ledger.held_cents(store, hit) for hit in (first, second)] == [120, 120]
    _book(store, clock, "H1-bob", ("reject", 60, "held", "requester"))
    _book(store, clock, "H2-bob", ("reject", 60, "held", "requester"))
    assert [ledger.held_cents(store, hit) for hit in (first, second)] == [60, 60]


def _book(
    store: Store,
    clock: FixedClock,
    subject: str,
    *steps: tuple[str, int, Account, Account],
    kind: Literal["assignment", "hit"] = "assignment",
    batch: int = 1,
) -> None:
    """Declare the acts on a subject, and move their money."""
    with store.db.atomic():
        for operation in dict.fromkeys(step[0] for step in steps):
            key = f"{operation}:{subject}"
            act = Intent(key=key, operation=operation, subject=(kind, subject))
            intents.declare(store, act, clock)
        for operation, cents, credit, debit in steps:
            ledger.move(
                store,
                cents,
                credit=credit,
                debit=debit,
                intent_key=f"{operation}:{subject}",
                batch=batch,
                at=clock.now(),
            )


def _declare(store: Store, clock: FixedClock) -> None:
    with store.db.atomic():
        intents.declare(
            store, Intent(key="publish:a", operation="publish", subject=("hit", "S1")), clock
        )
