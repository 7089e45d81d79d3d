"""Runs the flow `rehearse` under a progress bar and gives its results as values."""

from dataclasses import dataclass
from pathlib import Path

from prefect import tags
from rich.progress import Progress as Bar

from domain.progress import Progress
from flows.rehearse import prepare, rehearse
from flows.steps.progress import progress
from flows.wiring import listening, stored_place


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsed:
    """How a rehearsal ended."""

    progress: Progress
    facts: dict[str, object]
    report: Path
    virtual_hours: float


def rehearse_campaign(campaign: Path, bar: Bar) -> Rehearsed:
    """Rehearse a campaign in this process; faults of its file come first."""
    loaded = prepare(campaign)
    wanted = len(loaded.items) * loaded.posting.assignments
    shown = bar.add_task("batch 1", total=wanted)

    def listener(reached: Progress) -> None:
        bar.update(
            shown,
            completed=reached.accepted,
            description=f"batch {reached.batch} of {reached.batches}",
        )

    with listening(listener), tags("piecework", "rehearsal", loaded.name):
        facts = rehearse(str(campaign.resolve()))
    with stored_place(loaded) as place:
        reached = progress(place)
    return Rehearsed(
        progress=reached,
        facts=facts,
        report=Path(str(facts["report"])),
        virtual_hours=float(str(facts["virtual_seconds"])) / 3600,
    )
