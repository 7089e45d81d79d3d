"""Which bonuses are due, before any of them is paid."""

from dataclasses import dataclass

from piecework.domain.ids import AssignmentId
from piecework.payments.bonuses import PlannedBonus


@dataclass(frozen=True, slots=True, kw_only=True)
class BonusPlan:
    """Bonuses that are due, and what was left out.

    Attributes:
        label: tells these bonuses from others for the same work.
        before: bonuses with this label that were paid before.
        lacking_cents: what work that had such a bonus lacks of the floor again.
        too_late: assignments that are too old for any bonus.
    """

    label: str
    due: tuple[PlannedBonus, ...]
    before: int = 0
    lacking_cents: int = 0
    too_late: tuple[AssignmentId, ...] = ()

    @property
    def bonus_cents(self) -> int:
        """What workers get."""
        return sum(planned.bonus.cents for planned in self.due)

    @property
    def total_cents(self) -> int:
        """What it costs, fees included."""
        return sum(planned.intent.amount_cents for planned in self.due)
