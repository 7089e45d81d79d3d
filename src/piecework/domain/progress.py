"""How far a campaign is: counts, money, and who has to act."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from piecework.domain.money import Currency, shown
from piecework.domain.text import plural

Waiting = Literal[
    "nobody", "workers", "people", "the next pass", "the next day", "the next month", "new rows"
]

BY_A_PERSON = "piecework stop"
"""What `stopped_by` is if a person stopped the campaign: its HITs are expired."""

GOES_ON = frozenset({"workers", "the next pass", "the next day", "the next month"})
"""Whom a campaign waits for while it continues automatically."""


_COUNTED = ("is_finished", "spent_cents")
"""What `as_dict` adds to the fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceState:
    """A source that grows, at a glance.

    Attributes:
        waiting: rows that wait for their batch.
        fault: why the source could not be read, or why nothing was withdrawn, or "".
        unfinished: why its end was left for later, or "".
        quarantined: rows that cannot be used.
        faults: why, of the first ones.
        changed: items that were asked again because their rows changed; with
            `on_change = "keep"`, items with other cells in the source now.
        withdrawn: items whose rows disappeared.
        rows_in: rows that arrived on an average day of the last week.
        rows_out: rows that the last week's money and workers took on an average day.
        behind_days: days of work at that rate that wait, if more rows arrive than are
            dealt; 0: it keeps up.
    """

    waiting: int
    fault: str
    unfinished: str
    quarantined: int
    faults: tuple[str, ...]
    changed: int
    withdrawn: int
    rows_in: float = 0.0
    rows_out: float = 0.0
    behind_days: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """A campaign at a glance. Money is in cents or pence, times are ISO 8601.

    Attributes:
        campaign: the campaign's name.
        is_rehearsal: whether simulated workers did the work.
        items: its items.
        batch: the latest batch that was begun, from 1; 0 before the first.
        batches: its batches.
        hits_posted: HITs posted, with replacements.
        hits_open: posted HITs that are not finished and collected yet.
        replaced: HITs that were posted or extended because answers were missing.
        submitted: assignments that were collected.
        answers: answers in them.
        with_more: assignments that sent more than the task's fields.
        flagged: subjects that a heuristic flagged.
        accepted: answers that count.
        dropped: answers that do not.
        surplus: kept answers beyond the number wanted.
        missing: accepted answers that are still wanted, over all items.
        rejected: assignments that were rejected, and so not paid.
        excluded: workers who get no more HITs of this campaign.
        to_decide: subjects that wait for a person's decision.
        rewards_cents: rewards paid, without fees.
        bonuses_cents: bonuses paid, without fees.
        compensations_cents: compensations paid for faults, without fees.
        compensations: how many of them were paid.
        compensation_reasons: for how many different reasons.
        fees_cents: fees of all payments.
        held_cents: rewards and fees held for open HITs.
        budget_cents: the most that the campaign may spend.
        currency: the currency of all amounts.
        waiting_for: who has to act next.
        cap_reached: answers are missing, or rows wait, and no more can be bought.
        stopped_by: the key that ended the campaign early or postpones it, or the
            command that stopped it.
        goes_on_at: when the cap of a day or month lets it continue.
        due_at: when a step is due while the campaign waits for workers or rows.
        too_few_workers: a sentence, if there are too few for the missing answers.
        review_seconds: time for the waiting decisions at the pace so far; 0: unknown.
        pays_itself_at: when the marketplace approves the first undecided assignment.
        unsure: items that are asked again because they are not sure.
        step: the step of a pass that is due.
        reason: why it is due, or what the campaign waits for.
        source: how its source of items grows; `None` if it does not.
        refused: HITs that wait because their market refused some.
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
    source: SourceState | None = None
    compensations_cents: int = 0
    compensations: int = 0
    compensation_reasons: int = 0
    refused: int = 0
    with_more: int = 0

    @property
    def batch_shown(self) -> str:
        """The batch, and of how many; more follow as long as its source grows."""
        whole = "" if self.source is not None else f" of {self.batches}"
        return f"{self.batch}{whole}"

    def shown(self, cents: int) -> str:
        """Format an amount of the campaign for people."""
        return shown(cents, self.currency)

    @property
    def spent_cents(self) -> int:
        """What was spent: rewards, bonuses, compensations and fees."""
        return self.rewards_cents + self.bonuses_cents + self.compensations_cents + self.fees_cents

    @property
    def undecided(self) -> int:
        """Collected answers that are neither accepted nor set aside yet."""
        return max(0, self.answers - self.accepted - self.dropped - self.surplus)

    @property
    def beyond_cap(self) -> str:
        """What a cap leaves out: "10 answers", "answers to 9 rows"; "" if none is reached."""
        if not self.cap_reached:
            return ""
        waiting = self.source.waiting if self.source else 0
        of_rows = [f"answers to {plural(waiting, 'row')}"] if waiting else []
        lacking = [plural(self.missing, "answer")] if self.missing or not waiting else []
        return " and ".join((*lacking, *of_rows))

    @property
    def is_finished(self) -> bool:
        """Whether the campaign has no work left."""
        return self.waiting_for == "nobody"

    def as_dict(self) -> dict[str, object]:
        """Return plain values, for `--json`."""
        return {**asdict(self), **{name: getattr(self, name) for name in _COUNTED}}

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> "Progress | None":
        """Restore the result of `as_dict`; `None` if another version wrote it."""
        named = {field.name for field in fields(cls)}
        if {*values} - {*_COUNTED} != named:
            return None
        known: dict[str, Any] = {name: values[name] for name in named}
        if (source := known["source"]) is not None:
            if {*source} != {field.name for field in fields(SourceState)}:
                return None
            faults = tuple(source["faults"])
            known["source"] = SourceState(**{**source, "faults": faults})
        return cls(**known)
