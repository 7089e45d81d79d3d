from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from piecework.domain.clock import FixedClock
from piecework.store import intents, ledger
from piecework.store.database import Store
from piecework.store.intents import Intent

_ACCOUNTS = st.sampled_from(["requester", "held", "rewards", "bonuses", "fees"])
_MOVES = st.lists(st.tuples(st.integers(0, 10_000), _ACCOUNTS, _ACCOUNTS), max_size=20)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(moves=_MOVES)
def test_all_accounts_always_sum_to_zero(
    store: Store, clock: FixedClock, moves: list[tuple[int, str, str]]
) -> None:
    """Any sequence of entries only moves money: the accounts sum to zero."""
    with store.db.atomic():
        intents.declare(
            store,
            Intent(key="publish:a", operation="publish", subject=("hit", "S1")),
            clock,
        )
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
