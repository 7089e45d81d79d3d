"""The metrics of a campaign's passes: their names, meanings and values.

A value comes from the progress that a pass returns, so it costs no query. Labels are
states, accounts and names of steps; no label names a worker, an item or an address.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from piecework.domain.progress import Progress, SourceState, Waiting

Sample = tuple[str, tuple[str, ...]]
"""A metric's name and the values of its labels, in the order of `Figure.labels`."""
Samples = Mapping[Sample, float]
Outcome = Literal["done", "failed", "busy", "killed", "interrupted"]
"""How a pass ended; a killed pass is counted when the next pass begins."""

OUTCOMES: tuple[Outcome, ...] = ("done", "failed", "busy", "killed", "interrupted")
_WAITING: tuple[Waiting, ...] = (
    "nobody",
    "workers",
    "people",
    "the next pass",
    "the next day",
    "the next month",
    "new rows",
)
_SECONDS_PER_DAY = 86_400


@dataclass(frozen=True, slots=True)
class Figure:
    """A metric.

    Attributes:
        meaning: a sentence for people.
        labels: its labels; each metric also has `campaign`.
        is_counter: whether it only grows.
    """

    meaning: str
    labels: tuple[str, ...] = ()
    is_counter: bool = False


PASSES = "piecework_passes_total"
RUNNING = "piecework_pass_running"
STARTED = "piecework_pass_last_start_timestamp_seconds"
ENDED = "piecework_pass_last_end_timestamp_seconds"
SUCCEEDED = "piecework_pass_last_success_timestamp_seconds"
DURATION = "piecework_pass_duration_seconds"
FAILURES = "piecework_pass_consecutive_failures"
STEP_SECONDS = "piecework_pass_step_seconds_total"
NEXT_DUE = "piecework_pass_next_due_timestamp_seconds"

FIGURES: Mapping[str, Figure] = {
    PASSES: Figure("Passes by outcome.", ("outcome",), is_counter=True),
    RUNNING: Figure("1 while a pass is at work or after it was killed, otherwise 0."),
    STARTED: Figure("When the last pass began (Unix time)."),
    ENDED: Figure("When the last pass ended (Unix time)."),
    SUCCEEDED: Figure("When the last pass ended without a failure (Unix time)."),
    DURATION: Figure("Duration of the last pass that ended."),
    FAILURES: Figure("Passes that failed or were killed since the last success."),
    STEP_SECONDS: Figure("Time that passes spent in each step.", ("step",), is_counter=True),
    NEXT_DUE: Figure("From when on a pass has work to do (Unix time), if known."),
    "piecework_campaign_items": Figure("Items of the campaign."),
    "piecework_campaign_hits": Figure("Posted HITs: open or ended.", ("state",)),
    "piecework_campaign_hits_refused": Figure(
        "Planned HITs that wait because their market refused some."
    ),
    "piecework_campaign_assignments": Figure(
        "Collected assignments: rejected or not_rejected.", ("state",)
    ),
    "piecework_campaign_answers": Figure(
        "Collected answers: accepted, dropped, surplus or undecided.", ("state",)
    ),
    "piecework_campaign_answers_missing": Figure("Accepted answers that are still wanted."),
    "piecework_campaign_workers_excluded": Figure("Workers who get no more HITs."),
    "piecework_campaign_decisions_waiting": Figure("Decisions that wait for a person."),
    "piecework_campaign_auto_approval_timestamp_seconds": Figure(
        "When the marketplace pays the first assignment that waits for a person."
    ),
    "piecework_campaign_money_cents": Figure(
        "Money in minor units: rewards, bonuses, compensations and fees that were "
        "paid, and held for open HITs.",
        ("account", "currency"),
    ),
    "piecework_campaign_budget_cents": Figure(
        "The most that the campaign may spend, in minor units.", ("currency",)
    ),
    "piecework_campaign_waiting": Figure(
        "1 for whom the campaign waits, otherwise 0.", ("waiting_for",)
    ),
    "piecework_campaign_cap_reached": Figure(
        "1 if answers are missing and no more can be bought, otherwise 0."
    ),
    "piecework_campaign_source_readable": Figure(
        "1 if the source of new items could be read, otherwise 0."
    ),
    "piecework_campaign_source_rows_waiting": Figure(
        "Rows of the source that wait for their batch."
    ),
    "piecework_campaign_source_rows_quarantined": Figure("Rows of the source that cannot be used."),
    "piecework_campaign_source_behind_seconds": Figure(
        "Work that waits, at the speed of the last week; 0 if the campaign keeps up."
    ),
}
"""All metrics of passes."""

OF_PROGRESS = frozenset(
    {NEXT_DUE, *(name for name in FIGURES if name.startswith("piecework_campaign_"))}
)
"""The metrics that each pass replaces, once it knows the progress."""


def of_progress(progress: Progress, *, now: datetime) -> dict[Sample, float]:
    """Return the values of `OF_PROGRESS`; metrics that do not apply are left out.

    Args:
        progress: the result of a pass.
        now: when the pass ended.
    """
    counts = {
        ("items", ()): progress.items,
        ("hits", ("open",)): progress.hits_open,
        ("hits", ("ended",)): progress.hits_posted - progress.hits_open,
        ("hits_refused", ()): progress.refused,
        ("assignments", ("rejected",)): progress.rejected,
        ("assignments", ("not_rejected",)): progress.submitted - progress.rejected,
        ("answers", ("accepted",)): progress.accepted,
        ("answers", ("dropped",)): progress.dropped,
        ("answers", ("surplus",)): progress.surplus,
        ("answers", ("undecided",)): progress.undecided,
        ("answers_missing", ()): progress.missing,
        ("workers_excluded", ()): progress.excluded,
        ("decisions_waiting", ()): progress.to_decide,
        ("cap_reached", ()): progress.cap_reached,
    }
    values = {
        (f"piecework_campaign_{name}", labels): float(number)
        for (name, labels), number in counts.items()
    }
    for party in _WAITING:
        sample = ("piecework_campaign_waiting", (party,))
        values[sample] = float(progress.waiting_for == party)
    return {
        **values,
        **_money(progress),
        **(_source(progress.source) if progress.source else {}),
        **_times(progress, now),
    }


def _money(progress: Progress) -> dict[Sample, float]:
    currency = progress.currency
    accounts = {
        "rewards": progress.rewards_cents,
        "bonuses": progress.bonuses_cents,
        "compensations": progress.compensations_cents,
        "fees": progress.fees_cents,
        "held": progress.held_cents,
    }
    budget = ("piecework_campaign_budget_cents", (currency,))
    return {
        budget: float(progress.budget_cents),
        **{
            ("piecework_campaign_money_cents", (account, currency)): float(cents)
            for account, cents in accounts.items()
        },
    }


def _source(source: SourceState) -> dict[Sample, float]:
    values = {
        "readable": float(not source.fault),
        "rows_waiting": float(source.waiting),
        "rows_quarantined": float(source.quarantined),
        "behind_seconds": source.behind_days * _SECONDS_PER_DAY,
    }
    return {(f"piecework_campaign_source_{name}", ()): value for name, value in values.items()}


def _times(progress: Progress, now: datetime) -> dict[Sample, float]:
    """Return times that lie ahead; those of a rehearsal are not the machine's."""
    if progress.is_rehearsal:
        return {}
    due_at = progress.goes_on_at or progress.due_at
    if progress.waiting_for == "the next pass":
        due_at = now.isoformat()
    moments = {
        NEXT_DUE: due_at,
        "piecework_campaign_auto_approval_timestamp_seconds": progress.pays_itself_at,
    }
    return {
        (name, ()): datetime.fromisoformat(text).timestamp()
        for name, text in moments.items()
        if text
    }
