"""What was spent according to three ledgers, kept for the report.

Only a rehearsal with participants knows all of them; it writes the sums beside its
store, where an export finds them.
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
    """What was spent according to three ledgers, in cents.

    Attributes:
        currency: of all of them.
        pipeline: booked by the pipeline.
        marketplace: paid to workers, and fees.
        outside_price: the part of these fees that was booked after the other markets
            had paid, since they pay for visits, not HITs; the pipeline books it too.
        taken: what each market that workers came from took, by its display name:
            rewards, bonuses, fees and tax.
        broken_laws: invariants about money that do not hold; there should be none.
    """

    currency: Currency
    pipeline: int
    marketplace: int
    outside_price: int
    taken: Mapping[str, int]
    broken_laws: tuple[str, ...]

    @property
    def outside(self) -> int:
        """What all markets took."""
        return sum(self.taken.values())

    @property
    def market(self) -> str:
        """The markets' names."""
        return " and ".join(self.taken)

    @classmethod
    def from_facts(cls, facts: Mapping[str, object]) -> Self | None:
        """Read the books from a rehearsal's facts; None if it had no participants."""
        values: Any = facts.get("books")
        if values is None:
            return None
        return cls(**{**values, "broken_laws": tuple(values["broken_laws"])})

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Read the books from the folder of a store; `None` if it has no books."""
        file = folder / FILE
        if not file.exists():
            return None
        return cls.from_facts({"books": json.loads(file.read_text(encoding="utf-8"))})

    def keep(self, folder: Path) -> None:
        """Write them beside the store."""
        text = json.dumps(asdict(self), indent=2) + "\n"
        (folder / FILE).write_text(text, encoding="utf-8")

    def lines(self) -> tuple[str, ...]:
        """One line per ledger, and why they differ."""
        return (
            f"booked by the pipeline:    {self._shown(self.pipeline)}",
            f"booked by the marketplace: {self._shown(self.marketplace)}",
            *(
                f"{f'taken by {market}:':26} {self._shown(cents)}"
                for market, cents in self.taken.items()
            ),
            *(f"  {reason}" for reason in self.reasons()),
        )

    def reasons(self) -> tuple[str, ...]:
        """Why they differ, in sentences; unexpected differences are called faults."""
        unknown = self.marketplace - self.pipeline
        sentences = []
        if self.outside_price:
            sentences.append(
                f"{self._shown(self.outside_price)} of each does not belong to a HIT: "
                f"{self.market} {'pays' if len(self.taken) == 1 else 'pay'} for tests and "
                "whole visits, also for their rejected HITs, and each payment is rounded"
            )
        if unknown:
            sentences.append(
                f"the pipeline did not book {self._shown(unknown)}: a bug in piecework"
            )
        if self.marketplace != self.outside:
            sentences.append(
                f"the marketplace booked {self._shown(self.marketplace)} and "
                f"{self.market} took {self._shown(self.outside)}: a bug in piecework"
            )
        return (*sentences, *(f"broken: {law}" for law in self.broken_laws))

    def _shown(self, cents: int) -> str:
        return shown(cents, self.currency)
