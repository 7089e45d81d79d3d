"""Turn findings into decisions, by the campaign's policy or by people.

Where people decide, the policy still decides about assignments without any flag. For
the rest it proposes a verdict, and the rest waits.
"""

from collections.abc import Collection, Iterable

import pandas as pd

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.ids import AssignmentId
from piecework.domain.verdicts import Decision, Finding
from piecework.engine.snapshot import is_batch_collected
from piecework.engine.step import Step
from piecework.engine.steps.assess import due, judging_digest, table_of_batch
from piecework.qc.policy import decide as apply_policy
from piecework.store import assignments, decisions, findings, hits, pass_notes


def act(opened: OpenedCampaign, due: Collection[AssignmentId]) -> int:
    """Decide what can be decided now; return how many decisions are new."""
    suspicions = findings.load_for_rules(opened.store)
    batch = table_of_batch(opened)
    proposed = _about(opened, batch, propose(opened, batch, suspicions), due)
    waiting: list[Decision] = []
    if opened.campaign.decided_by == "person":
        proposed, waiting = split_by_doubt(batch, proposed, suspicions)
    decisions.propose(opened.store, waiting)
    pass_notes.keep(opened.store, "judging_digest", judging_digest(opened.campaign))
    return decisions.keep(opened.store, proposed)


decide = Step("decide", due, act)


def propose(
    opened: OpenedCampaign, batch: pd.DataFrame, suspicions: Iterable[Finding]
) -> list[Decision]:
    """Return what the policy says about everything undecided in a batch.

    Args:
        opened: the campaign.
        batch: the answers of the batch, a row each.
        suspicions: findings of heuristics, including those that rules look at.
    """
    undecided = assignments.undecided(opened.store)
    decided_answers = set(assignments.decided_answers(opened.store, undecided) if undecided else ())
    at_work = hits.batch_at_work(opened.store)
    workers = decisions.decided_workers(
        opened.store, collected_at=hits.last_collected_at(opened.store, at_work)
    )
    proposals = apply_policy(
        batch,
        suspicions,
        opened.campaign.policy,
        campaign=opened.campaign.name,
        at=opened.clock.now(),
        longest_reason=opened.capabilities.longest_reason,
    )
    assignment_of = batch["assignment_id"].to_dict()

    def is_open(decision: Decision) -> bool:
        if decision.subject_kind == "worker":
            return decision.subject_id not in workers
        if decision.subject_kind == "assignment":
            return decision.subject_id in undecided
        return (
            assignment_of[decision.subject_id] in undecided
            and decision.subject_id not in decided_answers
        )

    return [proposal for proposal in proposals if is_open(proposal)]


def _about(
    opened: OpenedCampaign,
    batch: pd.DataFrame,
    proposed: Iterable[Decision],
    due: Collection[AssignmentId],
) -> list[Decision]:
    """Return proposals about these assignments; about workers after a whole batch."""
    assignment_of = batch["assignment_id"].to_dict()
    is_whole = is_batch_collected(opened)

    def is_due(decision: Decision) -> bool:
        if decision.subject_kind == "worker":
            return is_whole
        if decision.subject_kind == "answer":
            return assignment_of[decision.subject_id] in due
        return decision.subject_id in due

    return [decision for decision in proposed if is_due(decision)]


def split_by_doubt(
    batch: pd.DataFrame, proposed: Iterable[Decision], suspicions: Iterable[Finding]
) -> tuple[list[Decision], list[Decision]]:
    """Split proposals: those about assignments without any flag, and the others.

    Args:
        batch: the answers of the batch, a row each.
        proposed: what the policy says about them.
        suspicions: findings of heuristics; only flags count.
    """
    flagged = {(finding.subject_kind, finding.subject_id) for finding in suspicions if finding.flag}
    is_doubtful = pd.Series(
        [
            ("answer", answer_id) in flagged
            or ("assignment", assignment_id) in flagged
            or ("worker", worker_id) in flagged
            for answer_id, assignment_id, worker_id in zip(
                batch.index, batch["assignment_id"], batch["worker_id"], strict=True
            )
        ],
        index=batch.index,
        dtype="bool",
    )
    doubtful = set(batch.loc[is_doubtful, "assignment_id"])
    assignment_of = batch["assignment_id"].to_dict()
    clear: list[Decision] = []
    waiting: list[Decision] = []
    for decision in proposed:
        assignment_id = assignment_of.get(decision.subject_id, decision.subject_id)
        is_worker = decision.subject_kind == "worker"
        is_clear = not is_worker and assignment_id not in doubtful
        (clear if is_clear else waiting).append(decision)
    return clear, waiting
