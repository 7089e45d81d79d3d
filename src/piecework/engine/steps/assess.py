"""Run every heuristic on the answers, and keep its findings with their evidence."""

import hashlib
import json
from collections.abc import Collection
from dataclasses import asdict

import pandas as pd

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.campaign import Campaign
from piecework.domain.ids import AssignmentId, ItemId
from piecework.domain.verdicts import Finding, SubjectKind
from piecework.engine.reader import Reader
from piecework.engine.snapshot import due_for_decision
from piecework.engine.step import Step
from piecework.qc.joined import Judged
from piecework.qc.ratings import with_ratings
from piecework.qc.registry import assess as run_heuristics
from piecework.store import decisions, findings, hits, pass_notes


def due(reader: Reader) -> Collection[AssignmentId]:
    """Return the assignments to judge now; none if that cannot give new results.

    What waits for a person was judged already. It is judged again when more is due, or
    when the rules for judging in the campaign file have changed.
    """
    opened = reader.opened
    assignment_ids = due_for_decision(opened)
    if assignment_ids and not reader.snapshot().decidable:
        judged_by = pass_notes.read(opened.store).judging_digest
        return () if judged_by == judging_digest(opened.campaign) else assignment_ids
    return assignment_ids


def act(opened: OpenedCampaign, due: Collection[AssignmentId]) -> int:
    """Judge what is due for a decision; return how many findings are flags.

    Heuristics see the whole campaign so far, so they can find a sentence that was
    pasted in two batches. Findings about decided answers stay as they were at the
    decision.
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
        finding for finding in suspicions if finding.subject_id in subjects[finding.subject_kind]
    ]
    findings.replace(opened.store, mine, subjects=subjects)
    return sum(finding.flag for finding in mine)


assess = Step("assess", due, act)


def find_suspicions(opened: OpenedCampaign) -> list[Finding]:
    """Return what all heuristics find in the answers so far, without storing it.

    They do not see answers in the archive.
    """
    answers = opened.recent_answers()
    items = opened.items_by_id(map(ItemId, answers["item_id"].unique()))
    table = with_ratings(answers, opened.campaign.task, items.values())
    return run_heuristics(
        table,
        opened.campaign.heuristics,
        seed=opened.campaign.rehearsal.seed,
        judged=judged_by_people(opened),
        batches=opened.batches,
    )


def judged_by_people(opened: OpenedCampaign) -> Judged:
    """Return which answers and workers people judged bad or good in this campaign.

    The policy's own decisions are left out: they follow from the heuristics.
    """
    answers = decisions.by_people(opened.store, "answer")
    workers = decisions.by_people(opened.store, "worker")
    return {
        "answer": {name: verdict == "drop" for name, verdict in answers.items()},
        "worker": {name: verdict in {"exclude", "block"} for name, verdict in workers.items()},
    }


def table_of_batch(opened: OpenedCampaign) -> pd.DataFrame:
    """Return the current batch's answers, a row each (`piecework.domain.tables`)."""
    table = opened.recent_answers()
    return table[table["batch"] == hits.batch_at_work(opened.store)]


def judging_digest(campaign: Campaign) -> str:
    """Return a hash of everything in a campaign file that judging depends on."""
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
