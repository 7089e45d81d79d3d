"""The bonuses that are due, before any of them is paid."""

from dataclasses import dataclass

from piecework.domain.ids import AssignmentId
from piecework.payments.bonuses import PlannedBonus


@dataclass(frozen=True, slots=True, kw_only=True)
class BonusPlan:
    """Bonuses that are due, and those left out.

    Attributes:
        label: distinguishes these bonuses from others for the same work.
        before: the number of bonuses with this label that were paid before.
        lacking_cents: how far work with such a bonus is below the floor again.
        too_late: assignments that are too old for a bonus.
    """

    label: str
    due: tuple[PlannedBonus, ...]
    before: int = 0
    lacking_cents: int = 0
    too_late: tuple[AssignmentId, ...] = ()

    @property
    def bonus_cents(self) -> int:
        """The amount that workers get."""
        return sum(planned.bonus.cents for planned in self.due)

    @property
    def total_cents(self) -> int:
        """The cost, with fees."""
        return sum(planned.intent.amount_cents for planned in self.due)
