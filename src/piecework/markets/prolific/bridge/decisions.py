"""A person's decisions about studies when a file is compared with Prolific."""

from dataclasses import dataclass

from piecework.markets.prolific.bridge.adopting import adopt, pay_lost
from piecework.markets.prolific.bridge.bridge import Bridge
from piecework.markets.prolific.bridge.reconciling import Difference, reconcile
from piecework.markets.prolific.bridge.unknown import look, set_aside


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """The ids of studies to decide about; None is no decision.

    Attributes:
        adopted: the study to add to the file.
        hit_type_id: the HIT type of its HITs; "" takes it from the study's name.
        left: the study to stop and leave to Prolific.
        paid_as_lost: the study with lost answers to pay.
    """

    adopted: str | None = None
    hit_type_id: str = ""
    left: str | None = None
    paid_as_lost: str | None = None

    def reconcile(self, bridge: Bridge) -> list[Difference]:
        """Carry out the decisions, then compare the file with Prolific.

        Raises:
            Unusable: a decision is about a study that does not exist.
        """
        look(bridge)
        return self._carry_out(bridge) + reconcile(bridge)

    def _carry_out(self, bridge: Bridge) -> list[Difference]:
        taken_in = []
        if self.adopted:
            lost = adopt(bridge, self.adopted, hit_type_id=self.hit_type_id)
            taken_in.append((self.adopted, f"adopted; {lost} submissions are paid without answers"))
        if self.left:
            set_aside(bridge, self.left)
            taken_in.append((self.left, "left to Prolific"))
        if self.paid_as_lost:
            lost = pay_lost(bridge, self.paid_as_lost)
            taken_in.append((self.paid_as_lost, f"{lost} submissions are paid without answers"))
        return [
            Difference(study_id=study_id, sentence=sentence, is_taken_in=True)
            for study_id, sentence in taken_in
        ]
