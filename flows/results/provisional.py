"""Verdicts that nobody has given yet, as the policy would give them by now."""

from dataclasses import replace

from domain.verdicts import Decision, SubjectKind
from flows.campaign_run import CampaignStore
from flows.results.old_state import State
from flows.steps.assess import find_suspicions, table_of_batch
from flows.steps.decide import propose, split_by_doubt


def as_if_decided(run: CampaignStore, state: State) -> State:
    """The state with a decision about every answer: proposed ones where none is made.

    What a person would have to look at is not kept; nothing of this is stored.
    """
    if not state.has_undecided():
        return state
    batch = table_of_batch(run)
    flags = [finding for finding in find_suspicions(run) if finding.flag]
    proposed = propose(run, batch, flags)
    if run.campaign.decided_by == "person":
        clear, doubtful = split_by_doubt(batch, proposed, flags)
        proposed = [
            *clear,
            *(
                replace(one, verdict="drop", because="a person has to look at it")
                for one in doubtful
            ),
        ]
    answers: dict[tuple[SubjectKind, str], Decision] = {
        (one.subject_kind, one.subject_id): one
        for one in proposed
        if one.subject_kind == "answer"
    }
    return replace(state, decisions={**answers, **state.decisions})
