"""Intents in the store: queries, and what may be overwritten."""

import hashlib
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from piecework.domain.clock import FixedClock
from piecework.domain.errors import StoreError
from piecework.domain.hit import PlannedHit
from piecework.domain.ids import AssignmentId, HitKey, ItemId
from piecework.store import bound, decisions, hits, intents, last_pass, ledger, tables
from piecework.store.database import Store, from_text, open_store
from piecework.store.intents import Act, ActSubject, Intent

MONDAY = datetime(2026, 1, 5, 9, tzinfo=UTC)
TUESDAY = datetime(2026, 1, 6, 9, tzinfo=UTC)
FIRST = Intent(key="bonus:1", operation="bonus", subject=("assignment", "A1"))


Row = tuple[str, str, tuple[str, str, int], str, int, datetime, datetime | None, str | None]


def intent_rows(store: Store) -> list[Row]:
    """Return all columns of the store's intents, in the order of creation."""
    return [
        (
            *(*row[:2], row[2:5], *row[5:7]),
            *(from_text(row[7]), row[8] and from_text(row[8]), row[9]),
        )
        for row in store.db.execute("SELECT * FROM intents ORDER BY rowid")
    ]


def _subject(key: str) -> ActSubject:
    """An intent names its HIT by the HIT's key."""
    operation, _, name = key.partition(":")
    if operation == "publish":
        return "hit", name
    return "assignment", f"of {key}"


def _declare(store: Store, intent: Intent, at: datetime = MONDAY) -> None:
    with store.db.atomic():
        intents.declare(store, intent, FixedClock(at))


def _close(store: Store, intent: Intent, outcome: str = "done", at: datetime = MONDAY) -> None:
    act = Act(intent=intent, do=lambda: outcome, look=lambda: None, record=lambda _: None)
    with store.db.atomic():
        intents.close_intent(store, act, outcome, FixedClock(at))


@pytest.fixture
def kept(store: Store) -> Store:
    """Open and closed intents of several operations, not created in key order."""
    made = [
        # key, operation, cents, outcome ("" while it is open)
        ("publish:planned", "publish", 1, ""),
        ("publish:given-up", "publish", 2, ""),
        ("publish:posted", "publish", 4, "HIT1"),
        ("bonus:b", "bonus", 8, ""),
        ("bonus:a", "bonus", 16, ""),
        ("bonus:d", "bonus", 32, "sent"),
        ("bonus:c", "bonus", 64, "sent"),
        ("bonus:e", "bonus", 128, "gone"),
        ("approve:a", "approve", 256, "sent"),
        ("approve:b", "approve", 512, ""),
    ]
    for minute, (key, operation, cents, outcome) in enumerate(made):
        intent = Intent(
            key=key,
            operation=operation,
            subject=_subject(key),
            arguments={"cents": cents},
            amount_cents=cents,
        )
        _declare(store, intent, MONDAY.replace(minute=minute))
        if outcome:
            _close(store, intent, outcome)
    hits.plan(
        store,
        [
            PlannedHit(
                hit_key=HitKey(name),
                batch=1,
                round=0,
                max_assignments=1,
                reward_cents=1,
                fee_cents=0,
                item_ids=(ItemId("p1"),),
            )
            for name in ("planned", "posted")
        ],
    )
    return store


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Store]:
    """A store of another name."""
    opened = open_store(tmp_path / "other.db", create=True)
    yield opened
    opened.close()


def test_the_same_key_in_two_stores_has_two_tokens(store: Store, other: Store) -> None:
    """A platform that knows one campaign's token treats the other's as a new act."""
    bound.bind(other, "name", "another test")
    names = [intents.store_name(store), intents.store_name(other)]
    assert FIRST.token(names[0]) != FIRST.token(names[1])


def test_a_token_is_made_as_ever() -> None:
    """A token is the same before and after an upgrade."""
    text = json.dumps(["a test", "bonus:1"]).encode()
    assert FIRST.token("a test") == hashlib.sha256(text).hexdigest()


def test_without_a_name_a_store_has_no_tokens(other: Store) -> None:
    """Two stores without a name would share their tokens."""
    with pytest.raises(StoreError, match=r"other\.db: the store has no name yet"):
        intents.store_name(other)


def test_a_closed_intent_is_not_declared_again(store: Store) -> None:
    """A closed intent stays as it is, and the second pass gets an error."""
    _declare(store, FIRST)
    _close(store, FIRST, "sent")
    before = intent_rows(store)
    again = Intent(key="bonus:1", operation="bonus", subject=("assignment", "S1"), amount_cents=500)
    with pytest.raises(StoreError, match="bonus:1 was closed by another pass"):
        _declare(store, again, TUESDAY)
    assert intent_rows(store) == before


def test_a_closed_intent_is_not_closed_again(store: Store) -> None:
    """The first outcome and its time stay, and the error names store and intent."""
    _declare(store, FIRST)
    _close(store, FIRST, "sent")
    before = intent_rows(store)
    with pytest.raises(StoreError, match=f"{re.escape(str(store.address))}: bonus:1 was"):
        _close(store, FIRST, "sent twice", TUESDAY)
    assert intent_rows(store) == before


def test_an_open_intent_is_declared_over_with_the_new_meaning(store: Store) -> None:
    """Operation, subject, arguments, amount and time are the second one's."""
    _declare(store, Intent(key="bonus:2", operation="bonus", subject=("assignment", "S1")))
    _declare(store, FIRST)
    changed = Intent(
        key="bonus:1",
        operation="unreject",
        subject=("worker", "A2"),
        times=2,
        arguments={"reason": "Late."},
        amount_cents=7,
    )
    _declare(store, changed, TUESDAY)
    assert intent_rows(store) == [
        ("bonus:2", "bonus", ("assignment", "S1", 1), "{}", 0, MONDAY, None, None),
        ("bonus:1", "unreject", ("worker", "A2", 2), '{"reason": "Late."}', 7, TUESDAY, None, None),
    ]


def test_closing_touches_the_intent_that_is_closed_and_no_other(store: Store) -> None:
    """Outcome and time are stored with it; its neighbour stays open."""
    neighbour = Intent(key="bonus:2", operation="bonus", subject=("assignment", "S1"))
    _declare(store, FIRST)
    _declare(store, neighbour)
    _close(store, FIRST, "sent", TUESDAY)
    assert intents.read_outcome(store, FIRST) == ("sent",)
    assert intents.read_outcome(store, neighbour) == (None,)
    assert (
        intents.read_outcome(
            store, Intent(key="bonus:3", operation="bonus", subject=("assignment", "S1"))
        )
        is None
    )
    assert [row[6:] for row in intent_rows(store)] == [(TUESDAY, "sent"), (None, None)]


def test_what_is_recorded_with_an_outcome_gets_that_outcome(store: Store) -> None:
    """The record of an act is written once, with the text that the call returned."""
    _declare(store, FIRST)
    recorded: list[str] = []
    act = Act(intent=FIRST, do=lambda: "", look=lambda: None, record=recorded.append)
    with store.db.atomic():
        intents.close_intent(store, act, "sent", FixedClock(MONDAY))
    assert recorded == ["sent"]


def test_an_act_is_due_unless_it_says_otherwise() -> None:
    """Most acts stay due until they are done."""
    act = Act(intent=FIRST, do=str, look=lambda: None, record=lambda _: None)
    assert act.is_due()
    assert (FIRST.amount_cents, Intent(key="a", operation="b", subject=("hit", "c")).arguments) == (
        0,
        {},
    )


def test_done_and_begun_are_the_intents_of_an_operation_by_state(kept: Store) -> None:
    """Each intent of the operation is in one of them; other operations' are absent."""
    assert intents.done(kept, "bonus") == {"bonus:c", "bonus:d", "bonus:e"}
    assert intents.begun(kept, "bonus") == {
        "bonus:b": MONDAY.replace(minute=3),
        "bonus:a": MONDAY.replace(minute=4),
    }


def test_an_intent_is_declared_whether_it_is_open_or_closed(kept: Store) -> None:
    """An act that was never begun is not declared."""
    declared = intents.declared(kept, ["bonus:a", "bonus:c", "bonus:z"])
    assert declared == {"bonus:a", "bonus:c"}


def test_arguments_are_those_of_the_intent_that_is_named(kept: Store) -> None:
    """As they were declared."""
    assert intents.arguments(kept, "bonus:d")["cents"] == 32


def test_open_cents_are_those_of_what_may_still_be_spent(kept: Store) -> None:
    """Closed intents, other operations, the named key and dropped plans do not count.

    Open are publish 1 and 2 (the plan of 2 was dropped), bonus 8 and 16, and approve
    512.
    """
    every = ("publish", "bonus", "approve")
    assert intents.open_cents(kept, *every) == 1 + 8 + 16 + 512
    assert intents.open_cents(kept, "publish", "bonus", but=["bonus:a"]) == 1 + 8
    assert intents.open_cents(kept, "bonus", but=["publish:planned"]) == 8 + 16
    assert intents.open_cents(kept, "unreject") == 0


def test_intents_are_loaded_whole_and_in_the_order_in_which_they_were_made(kept: Store) -> None:
    """All that are done, or all that are open; never both."""
    assert intents.load_intents(kept, "bonus", is_done=False) == [
        Intent(
            key=key,
            operation="bonus",
            subject=_subject(key),
            arguments={"cents": cents},
            amount_cents=cents,
        )
        for key, cents in (("bonus:b", 8), ("bonus:a", 16))
    ]
    assert [intent.key for intent in intents.load_intents(kept, "bonus", is_done=True)] == [
        "bonus:d",
        "bonus:c",
        "bonus:e",
    ]


def test_an_operation_is_open_while_an_intent_of_it_is(kept: Store) -> None:
    """One open intent of any of the operations is enough."""
    assert intents.has_open(kept, "unreject", "bonus")
    assert not intents.has_open(kept, "unreject")
    _close(kept, Intent(key="approve:b", operation="approve", subject=("assignment", "S1")))
    assert not intents.has_open(kept, "approve")


def test_an_outcome_belongs_to_its_operation(store: Store) -> None:
    """Another operation's outcome, another outcome and an open intent do not count."""
    _declare(store, FIRST)
    # An outcome without a time does not close an intent; only a damaged file has one.
    store.db.execute("UPDATE intents SET outcome = 'sent'")
    assert intents.subjects(store, "bonus", outcome="sent") == []
    _close(store, FIRST, "sent")
    assert intents.subjects(store, "bonus", outcome="sent") == [FIRST.subject[1]]
    assert intents.subjects(store, "bonus", outcome="gone") == []
    assert intents.subjects(store, "approve", outcome="sent") == []


def test_subjects_are_those_whose_intents_ended_so_in_order(kept: Store) -> None:
    """Those of one operation and one outcome, in the order of creation."""
    assert intents.subjects(kept, "bonus", outcome="sent") == ["of bonus:d", "of bonus:c"]
    assert intents.subjects(kept, "bonus", outcome="gone") == ["of bonus:e"]
    assert intents.subjects(kept, "approve", outcome="sent") == ["of approve:a"]


def test_only_an_open_intent_is_withdrawn(kept: Store) -> None:
    """A closed one stays, and so do all others."""
    before = intent_rows(kept)
    intents.withdraw(kept, "bonus:c")
    assert intent_rows(kept) == before
    intents.withdraw(kept, "bonus:a")
    assert intent_rows(kept) == [row for row in before if row[0] != "bonus:a"]


def test_a_renamed_intent_takes_its_entries_in_the_ledger_along(kept: Store) -> None:
    """Its other columns stay, and other intents keep their keys and entries."""
    for key in ("bonus:c", "bonus:d"):
        ledger.move(
            kept, 5, credit="requester", debit="bonuses", intent_key=key, batch=1, at=MONDAY
        )
    before = intent_rows(kept)
    renamed = next(row for row in before if row[0] == "bonus:c")
    intents.rename(kept, "bonus:c", "bonus:new")
    others = [row for row in before if row is not renamed]
    assert intent_rows(kept) == [*others, ("bonus:new", *renamed[1:])]
    entries = kept.db.execute("SELECT intent_key FROM ledger ORDER BY entry_id")
    assert [key for (key,) in entries] == ["bonus:new", "bonus:d"]


def test_what_takes_new_money_is_named(kept: Store) -> None:
    """Approving pays what was held when the HIT was posted, not new money."""
    assert set(intents.PROMISES) == {"publish", "bonus", "compensation", "unreject"}
    assert intents.open_cents(kept, *intents.PROMISES) == 1 + 8 + 16


@pytest.mark.parametrize("address", ["file"], indirect=True)
def test_intents_of_a_subject_are_found_by_their_index(kept: Store) -> None:
    """With any number of intents, a query about one HIT or worker reads few."""
    asked: list[str] = []
    kept.db.conn.set_trace_callback(asked.append)
    tables.read_rounds(kept)
    decisions.unsettled(kept, "exclude")
    hits.lost_ids(kept)
    hits.filled_hits(kept, 1)
    last_pass.older_hits(kept.db)
    ledger.spent_on(kept, AssignmentId("A1"))
    ledger.held_cents(kept, hits.load_hits(kept)[0])
    kept.db.conn.set_trace_callback(None)
    plans = [
        (step[3], statement)
        for statement in asked
        for step in kept.db.execute(f"EXPLAIN QUERY PLAN {statement}")
        if re.search(r"\bintents\b", step[3])
    ]
    assert len(plans) >= 7
    others = [(plan, of) for plan, of in plans if "(subject_id=? AND" not in plan]
    # Only whether the marketplace has lost any work at all is asked otherwise: for one row.
    assert {plan.partition("(")[2] for plan, _ in others} == {"operation=?)"}
    assert all(
        "NOT EXISTS (SELECT 1 FROM intents WHERE operation = 'forget')" in of for _, of in others
    )
