"""What people's verdicts mean, on the page or in a CSV.

To reject an assignment is to drop its answers. When a person decides the last answer of
an assignment, the assignment is approved too, unless its rejection is proposed and no
answer is kept: then a person has to say whether it is paid.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.hit import Capabilities
from piecework.domain.ids import AssignmentId
from piecework.domain.verdicts import REJECTED_WITH, VERDICTS, Decision, Subject, Verdict
from piecework.store import assignments, decisions

Chosen = Mapping[Subject, Decision]
"""A person's decisions by kind and id of the subject."""

NEEDS_REASON = frozenset({"drop", "reject", "exclude", "block"})
GOOD = "looked at, and good"
"""The reason of a verdict that needs no reason."""
ALL_LOOKED_AT = "all its answers were looked at"
"""The reason of an approval that follows from an assignment's last answer."""


def waiting_for_people(opened: OpenedCampaign) -> list[Decision]:
    """Return the proposals that a person has to decide; empty if the policy decides."""
    if opened.campaign.decided_by == "policy":
        return []
    return decisions.proposals(
        opened.store, decided_by=f"policy:{opened.campaign.name}", at=opened.clock.now()
    )


def waiting_among(
    opened: OpenedCampaign, subjects: Iterable[Subject] | None = None
) -> dict[Subject, Decision]:
    """Return the proposals about these subjects that wait for a person, or all."""
    if opened.campaign.decided_by == "policy":
        return {}
    at, by = opened.clock.now(), f"policy:{opened.campaign.name}"
    return {
        (kind, subject_id): Decision(
            subject_kind=kind,
            subject_id=subject_id,
            verdict=verdict,
            decided_by=by,
            decided_at=at,
            because=because,
        )
        for (kind, subject_id), (verdict, because) in decisions.proposed(
            opened.store, subjects
        ).items()
    }


def decided(
    opened: OpenedCampaign, proposed: Decision, verdict: Verdict, because: str, *, by: str
) -> Decision:
    """Return a person's decision about a proposal.

    If they take the proposed verdict and give no reason, the reason is the proposed
    one.

    Raises:
        ValueError: the verdict or the reason is not allowed; the message says why.
    """
    kind = proposed.subject_kind
    if verdict not in VERDICTS[kind]:
        raise ValueError(
            f"verdict {verdict!r} is not allowed for the {kind}; allowed are "
            f"{', '.join(VERDICTS[kind])}"
        )
    because = because.strip()
    if verdict == proposed.verdict and verdict in NEEDS_REASON:
        because = because or proposed.because
    if fault := fault_of_reason(opened.capabilities, verdict, because):
        raise ValueError(fault)
    return replace(
        proposed,
        verdict=verdict,
        decided_by=by,
        decided_at=opened.clock.now(),
        because=because or GOOD,
    )


def fault_of_reason(able: Capabilities, verdict: Verdict, because: str) -> str:
    """Return what is wrong with a reason that the platform would always refuse."""
    if verdict in NEEDS_REASON and not because:
        return f"because is empty; {verdict} needs a reason"
    if because and not able.allows_reason(because):
        return (
            f"because has {len(because)} characters; allowed are "
            f"{_allowed(able)} on one line, without control characters, since the "
            "worker reads it"
        )
    return ""


def _allowed(able: Capabilities) -> str:
    if able.shortest_reason > 1:
        return f"{able.shortest_reason} to {able.longest_reason}"
    return str(able.longest_reason)


def contradictions(opened: OpenedCampaign, chosen: Chosen) -> list[str]:
    """Return the faults of answers that are kept although they are not paid."""
    kept = {
        subject: decision
        for subject, decision in chosen.items()
        if subject[0] == "answer" and decision.verdict == "keep"
    }
    rejected, faults = _rejected(chosen), []
    whole = _assignments_of_answers(opened, kept)
    rejected_before = assignments.rejected_of(opened.store, whole)
    for answer_id, assignment_id, _ in assignments.verdicts_of_answers(opened.store, whole):
        is_rejected = assignment_id in rejected or (
            assignment_id in rejected_before and ("assignment", assignment_id) not in chosen
        )
        if is_rejected and ("answer", answer_id) in kept:
            faults.append(
                f"answer {answer_id!r} is kept although its assignment is "
                "rejected; drop it, or approve the assignment"
            )
    return faults


def taken_along(
    opened: OpenedCampaign, chosen: Chosen, *, waiting: Chosen | None = None
) -> list[Decision]:
    """Return the decisions that follow from a person's decisions.

    They drop the answers of rejected assignments, and approve assignments in which no
    answer waits any more.

    Args:
        opened: the campaign.
        chosen: what the person decided.
        waiting: all proposals, if the caller has them.
    """
    if waiting is None:
        waiting = by_subject(waiting_for_people(opened))
    return [*_drops_along(opened, chosen), *_approvals_along(opened, chosen, waiting)]


def by_subject(made: Iterable[Decision]) -> dict[Subject, Decision]:
    """Return decisions by subject."""
    return {(decision.subject_kind, decision.subject_id): decision for decision in made}


def _rejected(chosen: Chosen) -> dict[AssignmentId, Decision]:
    return {
        AssignmentId(subject_id): decision
        for (kind, subject_id), decision in chosen.items()
        if kind == "assignment" and decision.verdict == "reject"
    }


def _drops_along(opened: OpenedCampaign, chosen: Chosen) -> list[Decision]:
    rejected = _rejected(chosen)
    return [
        replace(
            rejected[assignment_id],
            subject_kind="answer",
            subject_id=answer_id,
            verdict="drop",
            because=f"{REJECTED_WITH}{rejected[assignment_id].because}",
        )
        for answer_id, assignment_id, verdict in assignments.verdicts_of_answers(
            opened.store, rejected
        )
        if verdict != "drop" and ("answer", answer_id) not in chosen
    ]


def _approvals_along(opened: OpenedCampaign, chosen: Chosen, waiting: Chosen) -> list[Decision]:
    verdicts: dict[AssignmentId, list[Verdict | None]] = {}
    for answer_id, assignment_id, verdict in assignments.verdicts_of_answers(
        opened.store, _assignments_of_answers(opened, chosen)
    ):
        decision = chosen.get(("answer", answer_id))
        now = decision.verdict if decision else verdict
        verdicts.setdefault(assignment_id, []).append(now)
    approvals = []
    for assignment_id, of_answers in verdicts.items():
        proposal = waiting.get(("assignment", assignment_id))
        is_chosen = ("assignment", assignment_id) in chosen
        if proposal is None or is_chosen or None in of_answers:
            continue
        if proposal.verdict == "approve" or "keep" in of_answers:
            # A file may repeat what another person decided before.
            last = max(chosen.values(), key=lambda decision: decision.decided_at)
            approvals.append(
                replace(
                    proposal,
                    verdict="approve",
                    decided_by=last.decided_by,
                    decided_at=last.decided_at,
                    because=ALL_LOOKED_AT,
                )
            )
    return approvals


def _assignments_of_answers(opened: OpenedCampaign, chosen: Chosen) -> set[AssignmentId]:
    answers = [subject_id for kind, subject_id in chosen if kind == "answer"]
    return assignments.assignments_of(opened.store, answers)
