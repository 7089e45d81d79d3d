"""A file of metrics in which everything has a value."""

from dataclasses import replace
from pathlib import Path

from piecework.domain.progress import Progress, SourceState
from piecework.engine.watching.metrics_file import WatchedPasses
from tests.progress import BEFORE_THE_FIRST_PASS

PROGRESS = replace(
    BEFORE_THE_FIRST_PASS,
    items=9,
    batch=1,
    batches=1,
    hits_posted=4,
    hits_open=1,
    submitted=8,
    answers=16,
    flagged=2,
    accepted=9,
    dropped=3,
    surplus=1,
    missing=5,
    rejected=2,
    excluded=1,
    to_decide=2,
    rewards_cents=400,
    bonuses_cents=50,
    fees_cents=80,
    held_cents=60,
    budget_cents=2000,
    currency="GBP",
    waiting_for="workers",
    due_at="2027-01-15T12:00:00+00:00",
    pays_itself_at="2027-01-16T12:00:00+00:00",
    compensations_cents=7,
    refused=2,
    source=SourceState(
        waiting=3,
        fault="",
        unfinished="",
        quarantined=1,
        faults=(),
        changed=0,
        withdrawn=0,
        behind_days=0.5,
    ),
)


def pass_text(folder: Path, progress: Progress = PROGRESS) -> str:
    """The file after a pass that made a step."""
    passes = WatchedPasses(folder, "birds")
    passes.begin()
    passes.time_step("launch", lambda: 1)
    passes.end(progress)
    return (folder / "piecework-birds.prom").read_text(encoding="utf-8")
