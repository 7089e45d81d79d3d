"""Verdicts about undecided answers, as the policy would give them now."""

from dataclasses import replace

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.verdicts import Decision
from piecework.engine.steps.assess import find_suspicions, table_of_batch
from piecework.engine.steps.decide import propose, split_by_doubt
from piecework.store import assignments


def proposed_verdicts(opened: OpenedCampaign) -> dict[str, Decision]:
    """Return a decision about each undecided answer, by its id, without storing it.

    Answers that a person would have to look at get the verdict "drop".
    """
    if not assignments.has_undecided(opened.store):
        return {}
    batch = table_of_batch(opened)
    suspicions = find_suspicions(opened)
    proposals = propose(opened, batch, suspicions)
    if opened.campaign.decided_by == "person":
        clear, doubtful = split_by_doubt(batch, proposals, suspicions)
        because = "a person has to look at it"
        held = [replace(decision, verdict="drop", because=because) for decision in doubtful]
        proposals = [*clear, *held]
    return {
        decision.subject_id: decision for decision in proposals if decision.subject_kind == "answer"
    }
