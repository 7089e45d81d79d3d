from collections.abc import Callable

import pytest

from domain.clock import FixedClock
from domain.errors import PlatformRefused, StoreError, TransientPlatformError
from store import intents, ledger
from store.database import Store
from store.intents import Intent


class World:
    """What the acts of a test reach: it counts, and can lose a reply."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.lose_next_reply = False

    def act(self, name: str) -> Callable[[], str]:
        """An act that happens in the world, whatever becomes of the reply."""

        def call() -> str:
            self.done.append(name)
            if self.lose_next_reply:
                self.lose_next_reply = False
                raise TransientPlatformError("the reply was lost")
            return f"id of {name}"

        return call

    def look(self, name: str) -> Callable[[], str | None]:
        """Looks whether the act happened."""
        return lambda: f"id of {name}" if name in self.done else None


def _ignore(_outcome: str) -> None:
    return


def test_an_act_that_is_done_is_not_done_again(store: Store, clock: FixedClock) -> None:
    """The second time, the stored outcome is given and nothing is called."""
    world, intent = World(), Intent(key="publish:a", operation="publish")
    first, second = (
        intents.carry_out(
            store,
            intent,
            act=world.act("a"),
            look=world.look("a"),
            record=_ignore,
            clock=clock,
        )
        for _ in range(2)
    )
    assert (first, second) == ("id of a", "id of a")
    assert world.done == ["a"]


def test_a_lost_reply_is_looked_up_and_not_acted_on_again(
    store: Store, clock: FixedClock
) -> None:
    """An act whose reply was lost happened; the next pass finds it."""
    world, intent = World(), Intent(key="publish:a", operation="publish")
    world.lose_next_reply = True
    with pytest.raises(TransientPlatformError):
        intents.carry_out(
            store,
            intent,
            act=world.act("a"),
            look=world.look("a"),
            record=_ignore,
            clock=clock,
        )
    assert intents.done(store, "publish") == set()
    outcome = intents.carry_out(
        store,
        intent,
        act=world.act("a"),
        look=world.look("a"),
        record=_ignore,
        clock=clock,
    )
    assert outcome == "id of a"
    assert world.done == ["a"]
    assert intents.done(store, "publish") == {"publish:a"}


def test_what_follows_is_stored_with_the_outcome_or_not_at_all(
    store: Store, clock: FixedClock
) -> None:
    """A failure while recording leaves the intent open and the ledger empty."""
    world = World()
    intent = Intent(key="approve:x", operation="approve", amount_cents=120)

    def half_recorded(_outcome: str) -> None:
        ledger.move(
            store,
            100,
            credit="held",
            debit="rewards",
            intent_key=intent.key,
            at=clock.now(),
        )
        raise RuntimeError("the disk is full")

    with pytest.raises(RuntimeError, match="disk"):
        intents.carry_out(
            store,
            intent,
            act=world.act("x"),
            look=world.look("x"),
            record=half_recorded,
            clock=clock,
        )
    assert set(ledger.balances(store).values()) == {0}
    assert intents.done(store, "approve") == set()


def test_an_intent_that_never_got_through_may_be_mended(
    store: Store, clock: FixedClock
) -> None:
    """Refused at one price, wanted at another: the new price is called and stored."""
    world = World()

    def carry_out(cents: int, act: Callable[[], str]) -> str:
        return intents.carry_out(
            store,
            Intent(key="publish:x", operation="publish", amount_cents=cents),
            act=act,
            look=world.look("x"),
            record=_ignore,
            clock=clock,
        )

    def refused() -> str:
        raise PlatformRefused("too dear", code="InsufficientFunds")

    with pytest.raises(PlatformRefused):
        carry_out(10_000, refused)
    assert carry_out(100, world.act("x")) == "id of x"
    row = store.db.execute("SELECT amount_cents, outcome FROM intents").fetchall()
    assert row == [(100, "id of x")]


def test_an_act_that_got_through_is_never_mended(
    store: Store, clock: FixedClock
) -> None:
    """Done at one price, it stays done at that price, whatever is wanted later."""
    world = World()
    for cents in (100, 200):
        intents.carry_out(
            store,
            Intent(key="publish:x", operation="publish", amount_cents=cents),
            act=world.act("x"),
            look=world.look("x"),
            record=_ignore,
            clock=clock,
        )
    assert world.done == ["x"]
    row = store.db.execute("SELECT amount_cents FROM intents").fetchall()
    assert row == [(100,)]


def test_an_intent_closed_by_another_pass_is_not_recorded_twice(
    store: Store, clock: FixedClock
) -> None:
    """The second pass finds the door closed, and its ledger entry is undone."""
    intent = Intent(key="approve:x", operation="approve", amount_cents=100)

    def record(_outcome: str) -> None:
        ledger.move(
            store,
            100,
            credit="held",
            debit="rewards",
            intent_key=intent.key,
            at=clock.now(),
        )

    def carry_out(act: Callable[[], str]) -> str:
        return intents.carry_out(
            store, intent, act=act, look=lambda: None, record=record, clock=clock
        )

    with pytest.raises(StoreError, match="closed by another pass"):
        # While the first pass waits for its reply, a second one does it all.
        carry_out(lambda: carry_out(lambda: "done"))
    assert ledger.balances(store)["rewards"] == 100


def test_tokens_fit_and_differ_by_store_and_key(store: Store) -> None:
    """MTurk takes 64 characters; equal keys of two stores are two tokens."""
    one, other = (Intent(key=key, operation="publish").token(store) for key in "ab")
    assert one != other
    assert len(one) == 64
