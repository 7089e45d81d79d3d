"""Bonuses as acts: each paid once, whatever a process dies in.

A bonus is known by its label and by what it is for (an assignment, or a worker), so a
second one for the same work needs a label of its own. The platform knows no labels:
there it is looked for by assignment and amount, and by the reason where the platform
lists it; those that are in the ledger already are counted off.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from domain.bonus import Bonus
from domain.errors import PlatformRefused
from domain.ids import AssignmentId, WorkerId
from flows.steps.state import DONE
from flows.workplace import Workplace
from store import intents, ledger
from store.intents import Act, Intent

OPERATION = "bonus"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedBonus:
    """A bonus that is due.

    Attributes:
        batch: of the HIT that it is paid for.
        cost_cents: the bonus and its fee.
    """

    intent: Intent
    bonus: Bonus
    batch: int

    @property
    def fee_cents(self) -> int:
        """What the platform takes on top."""
        return self.intent.amount_cents - self.bonus.cents


def planned_bonus(
    place: Workplace, bonus: Bonus, *, label: str, subject: str, batch: int
) -> PlannedBonus:
    """A bonus with its intent; `subject` is what it is for, with the label its key."""
    fees = place.campaign.rewards.fees_on(place.clock.now().date())
    return PlannedBonus(
        bonus=bonus,
        batch=batch,
        intent=Intent(
            key=bonus_key(label, subject),
            operation=OPERATION,
            arguments={
                "subject": bonus.assignment_id,
                "worker": bonus.worker_id,
                "cents": bonus.cents,
                "reason": bonus.reason,
            },
            amount_cents=bonus.cents + fees.bonus_fee_cents(bonus.cents),
        ),
    )


def bonus_key(label: str, subject: str) -> str:
    """The key of a bonus' intent."""
    return f"{OPERATION}:{label}:{subject}"


def bonus_of(intent: Intent) -> Bonus:
    """The bonus that an intent is about."""
    said = intent.arguments
    return Bonus(
        assignment_id=AssignmentId(str(said["subject"])),
        worker_id=WorkerId(str(said["worker"])),
        cents=int(said["cents"]),
        reason=str(said["reason"]),
    )


def act_for(place: Workplace, intent: Intent, recorded: Iterable[Bonus]) -> Act:
    """How a bonus is paid, looked for and booked.

    Args:
        place: the campaign at work.
        intent: of the bonus.
        recorded: bonuses that are in the ledger, of this assignment at least.
    """
    bonus, token = bonus_of(intent), intent.token(place.store)
    known = _count_alike(place, bonus, recorded)

    def look() -> str | None:
        listed = place.platform.bonuses(bonus.assignment_id)
        return DONE if _count_alike(place, bonus, listed) > known else None

    def do() -> str:
        # A store that was brought back from a copy does not know what it has paid.
        if look() is not None:
            return DONE
        try:
            place.platform.bonus(bonus, token=token)
        except PlatformRefused:
            # boto3 repeats a call whose reply was lost; the repeat's token is refused.
            if look() is None:
                raise
        return DONE

    def record(_outcome: str) -> None:
        ledger.pay(
            place.store,
            {"bonuses": bonus.cents, "fees": intent.amount_cents - bonus.cents},
            intent_key=intent.key,
            at=place.clock.now(),
        )

    return Act(intent=intent, do=do, look=look, record=record)


def _count_alike(place: Workplace, bonus: Bonus, others: Iterable[Bonus]) -> int:
    """How many of the others the platform would list exactly as it lists the bonus."""

    def listed(one: Bonus) -> Bonus:
        is_whole = place.platform.capabilities.keeps_bonus_reason
        return one if is_whole else replace(one, reason="")

    return [listed(other) for other in others].count(listed(bonus))


def recorded_bonuses(place: Workplace) -> dict[str, Bonus]:
    """Every bonus that is in the ledger, by the key of its intent."""
    return {
        intent.key: bonus_of(intent)
        for intent in intents.every(place.store, OPERATION, is_done=True)
    }
