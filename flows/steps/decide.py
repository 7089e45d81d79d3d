"""Turn findings into decisions: by the campaign's stated policy, or by people.

Where people decide, the policy still settles what nothing speaks against, and proposes
a verdict for the rest; the rest waits.
"""

from collections.abc import Container, Iterable
from dataclasses import replace

from domain.ids import AnswerId, AssignmentId
from domain.verdicts import Decision, Finding, SubjectKind
from flows.steps.assess import answer_frame
from flows.steps.ripeness import ripe
from flows.steps.state import State, read_state
from flows.workplace import Workplace
from qc.policy import decide as apply_policy
from store import judgements


def decide(place: Workplace) -> int:
    """Decide what can be decided now; how many decisions are new."""
    state = read_state(place)
    if not (due := ripe(place, state)):
        return 0
    findings = judgements.findings(place.store)
    proposed = _about(state, proposals(place, state, findings), due)
    if place.campaign.decided_by == "person":
        proposed = _beyond_doubt(state, proposed, findings)
    return judgements.keep_decisions(place.store, proposed)


def proposals(
    place: Workplace, state: State, findings: Iterable[Finding]
) -> list[Decision]:
    """What the policy says about everything in this batch that is undecided."""
    frame = answer_frame(place, state)
    batch = frame[frame["batch"] == state.batch]
    decisions = apply_policy(
        batch,
        findings,
        place.campaign.policy,
        campaign=place.campaign.name,
        at=place.clock.now(),
    )
    return [decision for decision in decisions if state.is_open(decision)]


def waiting_for_people(place: Workplace, state: State) -> list[Decision]:
    """Proposals that a person has to look at; empty where the policy decides."""
    if place.campaign.decided_by == "policy" or not state.batch:
        return []
    findings = judgements.findings(place.store)
    proposed = _about(state, proposals(place, state, findings), ripe(place, state))
    clear = {
        (decision.subject_kind, decision.subject_id)
        for decision in _beyond_doubt(state, proposed, findings)
    }
    return [
        decision
        for decision in proposed
        if (decision.subject_kind, decision.subject_id) not in clear
    ]


def as_if_decided(place: Workplace, state: State) -> State:
    """The state with a decision about every answer: proposed ones where none is made.

    What a person would have to look at is not kept; nothing of this is stored.
    """
    if not state.has_undecided():
        return state
    findings = judgements.findings(place.store)
    proposed = proposals(place, state, findings)
    if place.campaign.decided_by == "person":
        clear = {one.subject_id for one in _beyond_doubt(state, proposed, findings)}
        proposed = [
            one
            if one.subject_id in clear
            else replace(one, verdict="drop", because="a person has to look at it")
            for one in proposed
        ]
    answers: dict[tuple[SubjectKind, str], Decision] = {
        (one.subject_kind, one.subject_id): one
        for one in proposed
        if one.subject_kind == "answer"
    }
    return replace(state, decisions={**answers, **state.decisions})


def _about(
    state: State, proposed: list[Decision], due: Container[AssignmentId]
) -> list[Decision]:
    """Proposals about these assignments; about workers when their batch is whole."""

    def is_due(decision: Decision) -> bool:
        if decision.subject_kind == "worker":
            return state.is_collected(state.batch)
        if decision.subject_kind == "answer":
            answer = state.answers[AnswerId(decision.subject_id)]
            return answer.assignment_id in due
        return decision.subject_id in due

    return [decision for decision in proposed if is_due(decision)]


def _beyond_doubt(
    state: State, proposed: list[Decision], findings: Iterable[Finding]
) -> list[Decision]:
    """Proposals about assignments in which nothing at all is flagged."""
    flagged = {
        (finding.subject_kind, finding.subject_id)
        for finding in findings
        if finding.flag
    }
    doubtful = {
        answer.assignment_id
        for answer in state.answers.values()
        if ("answer", answer.answer_id) in flagged
    }
    clear = {
        one.assignment_id
        for one in state.assignments.values()
        if one.assignment_id not in doubtful
        and ("assignment", one.assignment_id) not in flagged
        and ("worker", one.worker_id) not in flagged
    }
    clear_answers = {
        answer.answer_id
        for answer in state.answers.values()
        if answer.assignment_id in clear
    }
    return [
        decision
        for decision in proposed
        if decision.subject_id in clear or decision.subject_id in clear_answers
    ]
