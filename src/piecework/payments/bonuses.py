"""Bonuses as acts: each is paid once, even if a process dies at any point.

A bonus is known by its label and by its subject (an assignment, or a worker), so a
second bonus for the same work needs another label. The platform stores no labels: a
bonus there is recognised by assignment and amount, and by the reason if the platform
lists it. Bonuses that are in the ledger already do not count as matches.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from piecework.campaign.opened import CampaignRun
from piecework.domain.bonus import Bonus
from piecework.domain.errors import PlatformRefused
from piecework.domain.ids import AssignmentId, WorkerId
from piecework.store import hits, intents, ledger, market_work
from piecework.store.intents import Act, Intent
from piecework.store.settlements import DONE

OPERATION = "bonus"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedBonus:
    """A bonus that is due; `batch` is the batch of its HIT."""

    intent: Intent
    bonus: Bonus
    batch: int

    @property
    def fee_cents(self) -> int:
        """The platform's fee on the bonus."""
        return self.intent.amount_cents - self.bonus.cents


def planned_bonus(
    run: CampaignRun, bonus: Bonus, *, label: str, subject: str, batch: int
) -> PlannedBonus:
    """Return a bonus with its intent; label and `subject` make its key."""
    rewards, market = run.campaign.rewards, ""
    if rewards.fees_by_market:
        market = market_work.of_assignment(run.store, bonus.assignment_id)
    fees = rewards.fees_on(run.clock.now().date(), market)
    return PlannedBonus(
        bonus=bonus,
        batch=batch,
        intent=Intent(
            key=bonus_key(label, subject),
            operation=OPERATION,
            subject=("assignment", bonus.assignment_id),
            arguments={"worker": bonus.worker_id, "cents": bonus.cents, "reason": bonus.reason},
            amount_cents=bonus.cents + fees.bonus_fee_cents(bonus.cents),
        ),
    )


def bonus_key(label: str, subject: str) -> str:
    """Return the key of a bonus's intent."""
    return f"{OPERATION}:{label}:{subject}"


def bonus_of(intent: Intent) -> Bonus:
    """Return the bonus that an intent is about."""
    arguments = intent.arguments
    return Bonus(
        assignment_id=AssignmentId(intent.subject[1]),
        worker_id=WorkerId(str(arguments["worker"])),
        cents=int(arguments["cents"]),
        reason=str(arguments["reason"]),
    )


def act_for(run: CampaignRun, intent: Intent, recorded: Iterable[Bonus]) -> Act:
    """Return the act that pays a bonus, looks for it and records it.

    Args:
        run: the open campaign.
        intent: the intent of the bonus.
        recorded: bonuses in the ledger, at least those of this assignment.
    """
    bonus, token = bonus_of(intent), intent.token(run.store)
    known = _count_alike(run, bonus, recorded)

    def look() -> str | None:
        listed = run.platform.bonuses(bonus.assignment_id)
        return DONE if _count_alike(run, bonus, listed) > known else None

    def do() -> str:
        # A store that was restored from a copy may lack a paid bonus.
        if look() is not None:
            return DONE
        try:
            run.platform.bonus(bonus, token=token)
        except PlatformRefused:
            # boto3 repeats a call if the reply is lost; the platform refuses the token.
            if look() is None:
                raise
        return DONE

    def record(_outcome: str) -> None:
        ledger.pay(
            run.store,
            {"bonuses": bonus.cents, "fees": intent.amount_cents - bonus.cents},
            intent_key=intent.key,
            batch=hits.of_assignment(run.store, bonus.assignment_id).batch,
            at=run.clock.now(),
        )

    return Act(intent=intent, do=do, look=look, record=record)


def _count_alike(run: CampaignRun, bonus: Bonus, others: Iterable[Bonus]) -> int:
    """Return how many other bonuses look the same in the platform's list."""

    def listed(paid: Bonus) -> Bonus:
        is_whole = run.platform.capabilities.keeps_bonus_reason
        return paid if is_whole else replace(paid, reason="")

    return [listed(other) for other in others].count(listed(bonus))


def recorded_bonuses(run: CampaignRun) -> dict[str, Bonus]:
    """Return every bonus in the ledger, by the key of its intent."""
    return {
        intent.key: bonus_of(intent) for intent in intents.load(run.store, OPERATION, is_done=True)
    }
