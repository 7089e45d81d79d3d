"""The campaigns that come with piecework, rehearsed: who was planted is known.

A rehearsal shows that a heuristic does what it was written for and whom it wrongs among
simulated honest workers; it proves nothing about people.
"""

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from piecework.qc.ratings import with_ratings
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.rehearsal import rehearsal_of, work_through
from piecework.store import workers
from tests.bench.truth.sets import LabelledSet

CAMPAIGNS = Path(__file__).resolve().parents[3] / "config/campaigns"
NAMES = (
    *("demo", "hodosh_caption", "correction", "congruency", "crowd_judgement"),
    *("error_categories", "expert_rating", "pairwise", "severity"),
)


def rehearsed_sets() -> Iterator[LabelledSet]:
    """A set a campaign: its workers by what they were planted as, and their work."""
    for name in NAMES:
        yield rehearsed(name)


def rehearsed(name: str) -> LabelledSet:
    """One campaign's answers, in a folder that is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        campaign = replace(prepare(CAMPAIGNS / f"{name}.toml"), out=Path(folder) / "out")
        with rehearsal_of(campaign) as (run, crowd):
            work_through(run, crowd)
            answers = run.answers().copy()
            traits = workers.load_traits(run.store)
    bad_workers = {worker for worker, (_, is_bad) in traits.items() if is_bad}
    by_bad = answers[answers["worker_id"].isin(bad_workers)]
    return LabelledSet(
        name=f"rehearsal of {name}.toml",
        kind="rehearsed",
        table=with_ratings(answers, campaign.task, campaign.items),
        bad={
            "answer": frozenset(by_bad.index),
            "assignment": frozenset(by_bad["assignment_id"]),
            "worker": frozenset(by_bad["worker_id"]),
        },
        seed=campaign.rehearsal.seed,
    )
