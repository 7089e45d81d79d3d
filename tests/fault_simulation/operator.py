"""The person who runs the marketplace, and does what its announcements name.

They read `prolific status` and the log, and give the commands by the functions behind
them, beside a server that may be running. What only Prolific knows they look up there.
"""

import re
from dataclasses import dataclass
from random import Random
from typing import Any

from piecework.foundation.client.errors import ApiError, Refused, Unusable
from piecework.markets.bridging.losses import UnknownStudy
from piecework.markets.prolific.bridge.adopting import adopt, pay_lost
from piecework.markets.prolific.bridge.bonuses import settle_unknown
from piecework.markets.prolific.bridge.bridge import Bridge
from piecework.markets.prolific.bridge.reading import look, set_aside
from piecework.markets.prolific.bridge.reconciling import reconcile
from piecework.markets.prolific.bridge.status import StudyStatus, read_status
from piecework.markets.prolific.bridge.studies import HALTED_THERE
from piecework.markets.prolific.resources.studies import StudyChanges
from tests.fault_simulation.laws import Books
from tests.fault_simulation.parts import Served
from tests.fault_simulation.people import Record

_LOST = re.compile(r"`piecework market prolific reconcile --pay-lost (\w+)`")


@dataclass(slots=True)
class Operator:
    """The person."""

    served: Served
    books: Books
    rng: Random
    record: Record

    def act(self, steps_left: int | None = None, *, is_steady: bool = False) -> None:
        """Do all that is announced; a command may be killed or fail meanwhile.

        Args:
            steps_left: after so many steps outward the command is killed.
            is_steady: whether no command may fail.
        """
        try:
            with self.served.command(steps_left) as bridge:
                self._act(bridge, is_steady=is_steady)
        except ApiError as fault:
            if is_steady:
                raise
            self.record.tell(f"a command ends with a sentence: {str(fault)[:120]}")

    def compare(self) -> None:
        """Compare all with Prolific once more."""
        with self.served.command() as bridge:
            look(bridge)
            reconcile(bridge)

    def _act(self, bridge: Bridge, *, is_steady: bool) -> None:
        with bridge.backend.transaction() as transaction:
            status = read_status(transaction)
        for study in status.unknown:
            if not study.is_left:
                self._decide(bridge, study)
        for study_id in sorted({match[1] for match in map(_LOST.search, status.troubles) if match}):
            number = pay_lost(bridge, study_id)
            self.record.tell(f"a person has {number} paid for lost answers")
        for each in status.of_hit_types:
            # Places that a person adds are above a cap that binds; the end has none.
            if each.trouble in HALTED_THERE.values() and (is_steady or each.status == "PAUSED"):
                self._let_go_on(bridge, each)
        self._settle(bridge, status.troubles)

    def _let_go_on(self, bridge: Bridge, study: StudyStatus) -> None:
        """Do at Prolific what the study's sentence names."""
        studies, study_id = bridge.prolific.studies, study.study_id or ""
        try:
            if study.status == "PAUSED":
                studies.transition(study_id, "START")
            else:
                studies.change(study_id, StudyChanges(places=study.places + 1))
        except Refused as refusal:
            self.record.tell(f"Prolific refuses a person: {refusal}")
        else:
            self.record.tell(f"a person lets {study_id[-6:]} go on, which was {study.status}")

    def _decide(self, bridge: Bridge, study: UnknownStudy) -> None:
        hit_type_id = self._hit_type_id(study)
        if hit_type_id is not None and self.rng.random() < 0.7:
            try:
                number = adopt(bridge, study.study_id, hit_type_id=hit_type_id)
            except Unusable as refusal:
                self.record.tell(f"adopting is refused: {refusal}")
            else:
                self.record.tell(
                    f"a person adopts {study.study_id[-6:]}; paid for lost answers: {number}"
                )
                return
        try:
            set_aside(bridge, study.study_id)
        except Unusable as refusal:
            self.record.tell(f"leaving is refused: {refusal}")
        else:
            self.record.tell(f"a person leaves {study.study_id[-6:]} to Prolific")

    def _hit_type_id(self, study: UnknownStudy) -> str | None:
        """Whose HITs it is for; "" is as its name says."""
        own = study.internal_name.split()[1]
        rows = self.books.rows("SELECT hit_type_id FROM hit_types ORDER BY id")
        known = [row["hit_type_id"] for row in rows]
        if own in known:
            return ""
        return self.rng.choice(known) if known else None

    def _settle(self, bridge: Bridge, troubles: tuple[str, ...]) -> None:
        asked = self.books.rows(
            "SELECT batch_id, trouble FROM bonus_batches "
            "WHERE trouble LIKE '%`piecework market prolific settle%'"
        )
        books: Any = self.books.theirs()
        for batch in asked:
            self.books.check_announced(batch["trouble"], troubles)
            is_paid = self.books.is_paid(books, batch["batch_id"])
            word = "paid" if is_paid else "not paid"
            self.record.tell(f"a person says that {batch['batch_id'][-6:]} is {word}")
            try:
                with bridge.backend.transaction() as transaction:
                    settle_unknown(transaction, batch["batch_id"], is_paid=is_paid)
            except Unusable as refusal:
                self.record.tell(f"settling is refused: {refusal}")
