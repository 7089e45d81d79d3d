"""Compensations: money for a person whom our own faults hurt, for no assignment.

A compensation is known by worker and reason, so the same command pays once, and a
second compensation of the same worker needs another reason. The platform knows it by
the store's name and this key, and never forgets a name that it has paid. So a look-up
is exact, and a store that was restored from a copy finds what it lacks.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from piecework.campaign import caps
from piecework.campaign.opened import CampaignRun, known_worker
from piecework.domain.errors import BudgetExceeded, ConfigError, PlatformRefused
from piecework.domain.ids import WorkerId
from piecework.domain.money import Compensation, cents_from_text
from piecework.store import generations, intents, ledger, workers
from piecework.store.database import Store
from piecework.store.intents import Act, Intent, carry_out
from piecework.store.settlements import DONE

COMPENSATION = "compensation"
_WORKER_ID = re.compile(r"A[A-Z0-9]{6,63}")
_DIGITS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCompensation:
    """A compensation that a person asks for.

    Attributes:
        was_paid: whether it was paid before.
    """

    intent: Intent
    compensation: Compensation
    was_paid: bool = False

    @property
    def fee_cents(self) -> int:
        """The platform's fee."""
        return self.intent.amount_cents - self.compensation.cents


def plan_compensation(
    run: CampaignRun, worker: str, amount: str, *, because: str
) -> PlannedCompensation:
    """Return the compensation of a worker, and whether it was paid before.

    Args:
        run: the open campaign.
        worker: the worker's pseudonym or its start, or the worker id.
        amount: in the campaign's currency, with at most two decimals.
        because: the reason, which the worker reads.

    Raises:
        ConfigError: the amount, the reason or the worker is not allowed, or another
            amount was paid for this reason.
    """
    rewards, able, reason = run.campaign.rewards, run.capabilities, because.strip()
    try:
        cents = cents_from_text(amount, rewards.currency)
    except ValueError as error:
        raise ConfigError([f"--compensate: {error}"]) from error
    if not cents:
        raise ConfigError(["--compensate: the amount is 0; a compensation is 0.01 or more"])
    if not able.allows_reason(reason):
        fault = (
            f"--because has {len(reason)} characters; the worker reads it, so give "
            f"{able.shortest_reason} to {able.longest_reason} on one line"
        )
        raise ConfigError([fault])
    worker_id = _worker(run, worker)
    intent = _intent(run, worker_id, cents, reason)
    earlier = _recorded(run.store).get(intent.key)
    if earlier is not None and earlier.arguments["cents"] != cents:
        had = rewards.shown(int(earlier.arguments["cents"]))
        fault = (
            f"worker {run.pseudonym(worker_id)} was paid {had} for this reason before; "
            "a second compensation needs another reason"
        )
        raise ConfigError([fault])
    return PlannedCompensation(
        intent=intent, compensation=compensation_of(run.store, intent), was_paid=earlier is not None
    )


def pay_compensation(run: CampaignRun, planned: PlannedCompensation) -> None:
    """Pay a compensation that was not paid before.

    Raises:
        BudgetExceeded: a cap does not allow amount and fee; nothing was paid.
        PlatformRefused: the platform refused it; nothing was paid.
        TransientPlatformError: the outcome is unknown; call this again.
    """
    check_caps(run, planned)
    refused = carry_out(run.store, [compensation_act(run, planned.intent)], clock=run.clock)
    if refused:
        # Nothing was paid, so nothing is left to look for.
        intents.withdraw(run.store, planned.intent.key)
        raise refused[0][1]


def check_caps(run: CampaignRun, planned: PlannedCompensation) -> None:
    """Refuse a compensation that the caps do not allow; planned HITs come first.

    Raises:
        BudgetExceeded: a cap of the campaign, the month or the day is too low.
    """
    rewards, cost = run.campaign.rewards, planned.intent.amount_cents
    # It is a cost of no batch.
    room = caps.left_beside(run, 0, but=[planned.intent.key])
    for rest, name, step in (
        (room.campaign, rewards.cap_name, "raise the cap, or pay less"),
        (room.today, "the cap of the day or month", "run the same command another day"),
    ):
        if rest is not None and cost > rest:
            raise BudgetExceeded(
                f"the compensation costs {rewards.shown(cost)} with fees, but "
                f"{rewards.shown(max(rest, 0))} are left of {name}; nothing was paid",
                next_step=step,
            )


def compensation_act(run: CampaignRun, intent: Intent) -> Act:
    """Return the act that pays a compensation, looks for it and records it."""
    compensation = compensation_of(run.store, intent)
    calls = paying(run, compensation)

    def record(_outcome: str) -> None:
        ledger.book_payment(
            run.store,
            {"compensations": compensation.cents, "fees": intent.amount_cents - compensation.cents},
            intent_key=intent.key,
            batch=None,
            at=run.clock.now(),
        )

    return Act(intent=intent, do=calls.do, look=calls.look, record=record)


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls of a compensation: `do` pays it, `look` asks whether it was paid."""

    do: Callable[[], str]
    look: Callable[[], str | None]


def paying(run: CampaignRun, compensation: Compensation) -> Calls:
    """Return the calls that pay a compensation."""

    def look() -> str | None:
        paid = run.platform.compensations(compensation.name)
        return DONE if any(each.name == compensation.name for each in paid) else None

    def do() -> str:
        # A store that was restored from a copy may lack a paid compensation.
        if look() is not None:
            return DONE
        try:
            run.platform.compensate(compensation)
        except PlatformRefused:
            # boto3 repeats a call if the reply is lost; the platform refuses the name.
            if look() is None:
                raise
        return DONE

    return Calls(do, look)


def compensation_of(store: Store, intent: Intent) -> Compensation:
    """Return the compensation that an intent is about."""
    return Compensation(
        name=f"{_prefix(store)}{intent.key}",
        worker_id=WorkerId(intent.subject[1]),
        cents=int(intent.arguments["cents"]),
        reason=str(intent.arguments["reason"]),
    )


def adopt_compensations(run: CampaignRun) -> int:
    """Record compensations that a restored store lacks; return how many.

    It asks the platform only for a store that was restored.
    """
    if not generations.was_restored(run.store):
        return 0
    return book(run, unknown_compensations(run, compensations_there(run)))


def compensations_there(run: CampaignRun) -> list[Compensation]:
    """Return all compensations that the platform has paid for this store."""
    return list(run.platform.compensations(_prefix(run.store)))


def unknown_compensations(run: CampaignRun, there: list[Compensation]) -> list[Compensation]:
    """Return the paid compensations that are not in the ledger."""
    recorded = _recorded(run.store)
    prefix = _prefix(run.store)
    return [each for each in there if each.name.removeprefix(prefix) not in recorded]


def lost_compensations(run: CampaignRun, there: list[Compensation]) -> dict[str, Compensation]:
    """Return the compensations of the ledger that were not paid there, by key."""
    names = {each.name for each in there}
    return {
        key: compensation
        for key, intent in _recorded(run.store).items()
        if (compensation := compensation_of(run.store, intent)).name not in names
    }


def book(run: CampaignRun, paid: list[Compensation]) -> int:
    """Record compensations that the platform has paid; return how many."""
    carry_out(run.store, list(_bookings(run, paid)), clock=run.clock)
    return len(paid)


def _bookings(run: CampaignRun, paid: list[Compensation]) -> Iterator[Act]:
    for each in paid:
        intent = _intent(run, each.worker_id, each.cents, each.reason)
        # The key is the platform's: a pseudonym may have had another key.
        intent = replace(intent, key=each.name.removeprefix(_prefix(run.store)))
        act = compensation_act(run, intent)
        yield Act(intent=intent, do=_paid, look=_paid, record=act.record)


def _paid() -> str:
    return DONE


def _prefix(store: Store) -> str:
    return f"{intents.store_name(store)}:"


def _recorded(store: Store) -> dict[str, Intent]:
    return {
        intent.key: intent for intent in intents.load_intents(store, COMPENSATION, is_done=True)
    }


def _intent(run: CampaignRun, worker_id: WorkerId, cents: int, reason: str) -> Intent:
    # A person without any assignment here counts as one of the first market.
    market = workers.market_of_worker(run.store, worker_id)
    fees = run.campaign.rewards.fees_on(run.clock.now().date(), market)
    digest = hashlib.sha256(reason.encode()).hexdigest()[:_DIGITS]
    return Intent(
        key=f"{COMPENSATION}:{run.pseudonym(worker_id)}:{digest}",
        operation=COMPENSATION,
        subject=("worker", worker_id),
        arguments={"cents": cents, "reason": reason},
        amount_cents=cents + fees.bonus_fee_cents(cents),
    )


def _worker(run: CampaignRun, worker: str) -> WorkerId:
    """Return who is meant: a person who submitted nothing is known by worker id."""
    name = worker.strip()
    if _WORKER_ID.fullmatch(name):
        return WorkerId(name)
    return known_worker(run, name)
