"""How far a campaign has come, as a value: counts, money, and who has to act."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from piecework.domain.money import Currency, shown

Waiting = Literal["nobody", "workers", "people", "the next pass", "the next day"]

GOES_ON = frozenset({"workers", "the next pass", "the next day"})
"""Who is waited for while a campaign goes on by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """A campaign at a glance; counts unless the name says cents (or pence).

    Attributes:
        accepted: answers that count towards the dataset.
        missing: accepted answers that are still wanted, over all items.
        unsure: items that are asked again because their labels are not sure; among
            what is missing, one answer each.
        replaced: HITs that were posted or extended because answers were missing.
        to_decide: subjects that wait for a person's decision.
        waiting_for: who has to act before anything moves.
        step: the step of a pass that is due; or nothing.
        reason: why it is due, or why nothing moves, in a sentence; or nothing.
        cap_reached: answers are missing, and no more can be bought.
        stopped_by: the key that ended the campaign early, or puts it off, or the
            command by which a person stopped it; or nothing.
        goes_on_at: when a day's cap lets it go on, as ISO 8601; or nothing.
        too_few_workers: that there are too few for what is missing, in a sentence; or
            nothing.
        due_at: while workers are waited for, when something is due all the same, as
            ISO 8601; or nothing.
        review_seconds: what one person needs for what waits, at the pace of the reviews
            so far; 0: not known.
        pays_itself_at: when the marketplace approves the first of what waits for a
            person, as ISO 8601; or nothing.
    """

    campaign: str
    is_rehearsal: bool
    items: int
    batch: int
    batches: int
    hits_posted: int
    hits_open: int
    replaced: int
    submitted: int
    answers: int
    flagged: int
    accepted: int
    dropped: int
    surplus: int
    missing: int
    rejected: int
    excluded: int
    to_decide: int
    rewards_cents: int
    bonuses_cents: int
    fees_cents: int
    held_cents: int
    budget_cents: int
    currency: Currency
    waiting_for: Waiting
    cap_reached: bool
    stopped_by: str
    goes_on_at: str
    due_at: str
    too_few_workers: str = ""
    review_seconds: int = 0
    pays_itself_at: str = ""
    unsure: int = 0
    step: str = ""
    reason: str = ""

    def shown(self, cents: int) -> str:
        """An amount of the campaign for people."""
        return shown(cents, self.currency)

    @property
    def spent_cents(self) -> int:
        """What is gone for good: rewards, bonuses and fees."""
        return self.rewards_cents + self.bonuses_cents + self.fees_cents

    @property
    def undecided(self) -> int:
        """Answers that are here, and neither accepted nor set aside yet."""
        return max(0, self.answers - self.accepted - self.dropped - self.surplus)

    @property
    def is_finished(self) -> bool:
        """Whether nothing is left to do."""
        return self.waiting_for == "nobody"

    def as_dict(self) -> dict[str, object]:
        """Plain values, for `--json`."""
        return {**asdict(self), "is_finished": self.is_finished}

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> "Progress | None":
        """What `as_dict` gave, or `None` if another version of this gave it."""
        named = {field.name for field in fields(cls)}
        if {*values} - {"is_finished"} != named:
            return None
        known: dict[str, Any] = {name: values[name] for name in named}
        return cls(**known)
