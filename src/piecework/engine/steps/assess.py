"""Let every heuristic look at the answers, and keep what it found with its evidence."""

import hashlib
import json
from collections.abc import Collection
from dataclasses import asdict

import pandas as pd

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.campaign import Campaign
from piecework.domain.ids import AssignmentId
from piecework.domain.verdicts import Finding, SubjectKind
from piecework.engine.reader import Reader
from piecework.engine.snapshot import due_for_decision
from piecework.engine.step import Step
from piecework.qc.joined import Judged
from piecework.qc.ratings import with_ratings
from piecework.qc.registry import assess as run_heuristics
from piecework.store import decisions, findings, hits, pass_notes


def due(reader: Reader) -> Collection[AssignmentId]:
    """Assignments that are to be judged now; none if that would say nothing new.

    What waits for a person was judged; it is judged again when more is due, or when the
    campaign file says something else about judging.
    """
    opened = reader.opened
    assignment_ids = due_for_decision(opened)
    if assignment_ids and not reader.snapshot().decidable:
        judged_by = pass_notes.read(opened.store).judging_digest
        return () if judged_by == judging_digest(opened.campaign) else assignment_ids
    return assignment_ids


def act(opened: OpenedCampaign, due: Collection[AssignmentId]) -> int:
    """Judge what is due for a decision; how many findings flag something.

    Heuristics see the whole campaign so far (a sentence pasted in two batches is one
    story); what they found about answers that are decided stays as it was decided on.
    """
    suspicions = find_suspicions(opened)
    batch = table_of_batch(opened)
    open_rows = batch[batch["assignment_id"].isin(due)]
    subjects: dict[SubjectKind, set[str]] = {
        "answer": set(open_rows.index),
        "assignment": set(open_rows["assignment_id"]),
        "worker": set(batch["worker_id"]),
    }
    mine = [
        finding
        for finding in suspicions
        if finding.subject_id in subjects[finding.subject_kind]
    ]
    findings.replace(opened.store, mine, subjects=subjects)
    return sum(finding.flag for finding in mine)


assess = Step("assess", due, act)


def find_suspicions(opened: OpenedCampaign) -> list[Finding]:
    """What all heuristics find in all answers so far; nothing is kept."""
    table = with_ratings(opened.answers(), opened.campaign.task, opened.campaign.items)
    return run_heuristics(
        table,
        opened.campaign.heuristics,
        seed=opened.campaign.rehearsal.seed,
        judged=judged_by_people(opened),
        batches=opened.batches,
    )


def judged_by_people(opened: OpenedCampaign) -> Judged:
    """Which answers and workers people found bad, or good, in this campaign.

    The policy's own decisions are left out: they follow from the heuristics.
    """
    answers = decisions.by_people(opened.store, "answer")
    workers = decisions.by_people(opened.store, "worker")
    return {
        "answer": {name: verdict == "drop" for name, verdict in answers.items()},
        "worker": {
            name: verdict in {"exclude", "block"} for name, verdict in workers.items()
        },
    }


def table_of_batch(opened: OpenedCampaign) -> pd.DataFrame:
    """The answers of the batch at work, a row each (`piecework.domain.tables`)."""
    table = opened.answers()
    return table[table["batch"] == hits.batch_at_work(opened.store)]


def judging_digest(campaign: Campaign) -> str:
    """A hash of all in a campaign file that judging depends on."""
    task = campaign.task
    rules = [
        [task.name, task.version, task.own.digest if task.own else ""],
        campaign.heuristics,
        [asdict(rule) for rule in campaign.policy],
        campaign.decided_by,
        campaign.rehearsal.seed,
    ]
    text = json.dumps(rules, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
