"""Runs the flow `rehearse` under a progress bar and gives its results as values."""

from dataclasses import dataclass
from pathlib import Path

from prefect import tags
from rich.progress import Progress as Bar

from piecework.campaign.warnings import own_seconds
from piecework.cli.prefect_server import TemporaryServer
from piecework.domain.progress import Progress
from piecework.engine.opening import open_to_look
from piecework.engine.progress import read_progress
from piecework.flows.rehearse import rehearsal_flow
from piecework.rehearsing.campaign import prepare
from piecework.rehearsing.rehearsal import CrowdKind
from piecework.report.components import Note
from piecework.report.model import report_model
from piecework.report.sections.summary import notes
from piecework.results.books import Books
from piecework.results.report_facts import report_facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsed:
    """How a rehearsal ended.

    Attributes:
        hit_seconds: what a HIT takes a careful simulated worker in the middle.
        books: what was spent, by three ledgers; of participants only.
        remarks: what the report calls a problem, or to be watched.
    """

    progress: Progress
    facts: dict[str, object]
    report: Path
    virtual_hours: float
    hit_seconds: float
    books: Books | None
    remarks: tuple[Note, ...]


def rehearse_campaign(
    campaign: Path, bar: Bar, server: TemporaryServer, *, crowd: CrowdKind
) -> Rehearsed:
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

    flow = rehearsal_flow(loaded, on_progress=listener)
    with server.in_use(), tags("piecework", "rehearsal", loaded.name):
        facts = flow(str(campaign.resolve()), crowd)
    with open_to_look(loaded) as run:
        reached = read_progress(run)
        remarks = notes(report_model(report_facts(run)))
    return Rehearsed(
        progress=reached,
        facts=facts,
        report=Path(str(facts["report"])),
        virtual_hours=float(str(facts["virtual_seconds"])) / 3600,
        hit_seconds=own_seconds(loaded),
        books=Books.from_facts(facts),
        remarks=tuple(one for one in remarks if one.level in {"problem", "watch"}),
    )
