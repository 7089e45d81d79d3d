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
        outside_price: the part of these fees that was booked after Prolific had paid,
            since Prolific pays for visits, not HITs; the pipeline books it too.
        market: the market that the workers came from.
        outside: what that market took: rewards, bonuses, fees and tax.
        broken_laws: invariants about money that do not hold; there should be none.
    """

    currency: Currency
    pipeline: int
    marketplace: int
    outside_price: int
    outside: int
    broken_laws: tuple[str, ...]
    market: str = "Prolific"

    @classmethod
    def from_facts(cls, facts: Mapping[str, object]) -> Self | None:
        """Read the books from a rehearsal's facts; None if it had no participants."""
        values: Any = facts.get("books")
        if values is None:
            return None
        return cls(**{**values, "broken_laws": tuple(values["broken_laws"])})

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Read the books beside a store; None if there are none."""
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
            f"{f'taken by {self.market}:':26} {self._shown(self.outside)}",
            *(f"  {reason}" for reason in self.reasons()),
        )

    def reasons(self) -> tuple[str, ...]:
        """Why they differ, in sentences; unexpected differences are called faults."""
        unknown = self.marketplace - self.pipeline
        sentences = []
        if self.outside_price:
            sentences.append(
                f"{self._shown(self.outside_price)} of each does not belong to a HIT: "
                "Prolific pays for whole visits and tests, and rounds each payment"
            )
        if unknown:
            sentences.append(
                f"the pipeline did not book {self._shown(unknown)}: a bug in piecework"
            )
        if self.marketplace != self.outside:
            sentences.append("the last two should be the same: a bug in piecework")
        return (*sentences, *(f"broken: {law}" for law in self.broken_laws))

    def _shown(self, cents: int) -> str:
        return shown(cents, self.currency)
