"""What was spent, by three ledgers, kept for the report.

Only a rehearsal with participants knows all of them; it leaves the sums beside its
store, where an export finds them again.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from piecework.domain.money import Currency, shown

FILE = "books.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Books:
    """What was spent, by three ledgers, in cents.

    Attributes:
        currency: of all of them.
        pipeline: by what the pipeline booked.
        marketplace: paid to workers, and fees.
        outside_price: how much of these fees was booked after Prolific had paid, since
            it pays visits and not HITs; the pipeline books it, too.
        prolific: rewards, bonuses, fees and tax.
        broken_laws: sentences about money that are not true; there should be none.
    """

    currency: Currency
    pipeline: int
    marketplace: int
    outside_price: int
    prolific: int
    broken_laws: tuple[str, ...]

    @classmethod
    def from_facts(cls, facts: Mapping[str, object]) -> Self | None:
        """The books among the facts of a rehearsal; None if it had no participants."""
        values: Any = facts.get("books")
        if values is None:
            return None
        return cls(**{**values, "broken_laws": tuple(values["broken_laws"])})

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """The books that were kept beside a store; None if there are none."""
        file = folder / FILE
        if not file.exists():
            return None
        return cls.from_facts({"books": json.loads(file.read_text(encoding="utf-8"))})

    def keep(self, folder: Path) -> None:
        """Keep them beside the store."""
        text = json.dumps(asdict(self), indent=2) + "\n"
        (folder / FILE).write_text(text, encoding="utf-8")

    def lines(self) -> tuple[str, ...]:
        """A line for each ledger, and why they differ."""
        return (
            f"booked by the pipeline:    {self._shown(self.pipeline)}",
            f"booked by the marketplace: {self._shown(self.marketplace)}",
            f"taken by Prolific:         {self._shown(self.prolific)}",
            *(f"  {reason}" for reason in self.reasons()),
        )

    def reasons(self) -> tuple[str, ...]:
        """Why they differ, in sentences; what should not be says so."""
        unknown = self.marketplace - self.pipeline
        sentences = []
        if self.outside_price:
            sentences.append(
                f"{self._shown(self.outside_price)} of each is no HIT's: Prolific pays "
                "whole visits and tests, and rounds each payment"
            )
        if unknown:
            sentences.append(
                f"{self._shown(unknown)} the pipeline does not know of: a fault of "
                "piecework"
            )
        if self.marketplace != self.prolific:
            sentences.append("the last two should be the same: a fault of piecework")
        return (*sentences, *(f"broken: {law}" for law in self.broken_laws))

    def _shown(self, cents: int) -> str:
        return shown(cents, self.currency)
