"""What people's verdicts mean, on the page or in a CSV, and what follows from them.

To reject an assignment is to drop its answers. When a person decides the last answer of
an assignment, the assignment is approved too, unless its rejection is proposed and no
answer is kept: then a person has to say whether it is paid. What decisions do in money and
work is told in sentences before they are made.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.hit import Capabilities
from piecework.domain.ids import AssignmentId, ItemId
from piecework.domain.text import plural
from piecework.domain.verdicts import REJECTED_WITH, VERDICTS, Decision, Subject, Verdict
from piecework.results.answers_shown import Work
from piecework.store import assignments, campaign_facts, decisions, hits, item_totals

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
    opened: OpenedCampaign,
    proposed: Decision,
    verdict: Verdict,
    because: str,
    *,
    by: str,
    is_blind: bool = False,
) -> Decision:
    """Return a person's decision about a proposal.

    If they take the proposed verdict and give no reason, the reason is the proposed
    one, but not in a blind review, which must not tell what is proposed.

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
    if verdict == proposed.verdict and verdict in NEEDS_REASON and not is_blind:
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


def reasons_as_decided(opened: OpenedCampaign, chosen: Chosen) -> Chosen:
    """Return decisions in which only answers of rejected assignments say that they are.

    A policy proposes both at once, and a person may drop the answers and pay for the work.
    """
    along = {
        answer_id
        for answer_id, _, _ in assignments.verdicts_of_answers(opened.store, _rejected(chosen))
    }
    return {
        (kind, subject_id): decision
        if kind != "answer" or subject_id in along
        else replace(decision, because=decision.because.removeprefix(REJECTED_WITH))
        for (kind, subject_id), decision in chosen.items()
    }


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


_TURNED_AWAY = ("exclude", "block")


@dataclass(frozen=True, slots=True, kw_only=True)
class Consequences:
    """The results of some decisions, as things stand.

    Attributes:
        paid: assignments to pay.
        paid_cents: their price, with fees.
        unpaid: assignments not to pay.
        unpaid_cents: their rewards, which the workers lose.
        kept: answers that count.
        dropped: answers that do not count.
        asked_again: answers that are then missing and asked for again.
        turned_away: workers who are offered no later HIT.
        blocked: those of them whom the platform blocks.
        staying: workers who stay.
    """

    paid: int = 0
    paid_cents: int = 0
    unpaid: int = 0
    unpaid_cents: int = 0
    kept: int = 0
    dropped: int = 0
    asked_again: int = 0
    turned_away: int = 0
    blocked: int = 0
    staying: int = 0

    def sentences(self, opened: OpenedCampaign) -> list[str]:
        """Return the results as sentences, money first."""
        shown = opened.campaign.rewards.shown
        workers, staying = (plural(number, "worker") for number in (self.turned_away, self.staying))
        if opened.endpoint.startswith("http"):
            money = [
                (self.unpaid, f"{shown(self.unpaid_cents)} not paid{_of_visits(opened)}."),
                (self.paid, f"{shown(self.paid_cents)} paid, fees included."),
            ]
        else:
            money = [(self.paid + self.unpaid, "piecework pays nothing here.")]
        aside = "" if self.unpaid else ", and paid unless rejected"
        away, stays = "offered no later HIT of this campaign", "offered HITs as before"
        if opened.is_imported:
            aside, away, stays = ("", "recorded as excluded; the worker is not told", "kept")
        counted_sentences = (
            *money,
            (self.kept, f"{plural(self.kept, 'answer')} kept."),
            (self.dropped, f"{plural(self.dropped, 'answer')} set aside{aside}."),
            (self.asked_again, f"{plural(self.asked_again, 'answer')} asked for again."),
            (self.turned_away, f"{workers} {away}."),
            (self.staying, f"{staying} {stays}."),
            (self.blocked, "The block counts against the worker's account."),
        )
        return [words for number, words in counted_sentences if number] or ["Nothing changes."]


def _of_visits(opened: OpenedCampaign) -> str:
    """Return when the worker is paid although the HIT is rejected; "" if never."""
    if not any(opened.campaign.markets) and not campaign_facts.booked_outside(opened.store):
        return ""
    return ", unless its market pays a visit as a whole and another HIT of it is approved"


def foresee_consequences(work: Work, made: Sequence[Decision]) -> Consequences:
    """Return the results of decisions, including those that follow from them."""
    paid, paid_cents, unpaid, unpaid_cents = 0, 0, 0, 0
    whole = [decision for decision in made if decision.subject_kind == "assignment"]
    ids = [AssignmentId(decision.subject_id) for decision in whole]
    prices = hits.prices_of(work.opened.store, ids)
    for assignment_id, decision in zip(ids, whole, strict=True):
        reward_cents, fee_cents = prices[assignment_id]
        if decision.verdict == "approve":
            paid, paid_cents = paid + 1, paid_cents + reward_cents + fee_cents
        else:
            unpaid, unpaid_cents = unpaid + 1, unpaid_cents + reward_cents
    dropped = [decision.subject_id for decision in made if decision.verdict == "drop"]
    return Consequences(
        paid=paid,
        paid_cents=paid_cents,
        unpaid=unpaid,
        unpaid_cents=unpaid_cents,
        kept=sum(
            decision.verdict == "keep" and decision.subject_kind == "answer" for decision in made
        ),
        dropped=len(dropped),
        asked_again=_asked_again(work, dropped),
        turned_away=sum(decision.verdict in _TURNED_AWAY for decision in made),
        blocked=sum(decision.verdict == "block" for decision in made),
        staying=sum(
            decision.verdict == "keep" and decision.subject_kind == "worker" for decision in made
        ),
    )


def _asked_again(work: Work, dropped: Iterable[str]) -> int:
    """Return how many answers are missing if these are dropped and the rest is kept."""
    store, posting = work.opened.store, work.opened.campaign.posting
    by_item: dict[str, set[str]] = {}
    for answer_id in dropped:
        for number in work.rows("answer", answer_id):
            by_item.setdefault(work.item_id(number), set()).add(answer_id)
    least, more, lacking = posting.assignments, item_totals.wanted(store, posting), 0
    rows_of = {item_id: work.rows_of_item(item_id) for item_id in by_item}
    ids = [work.answer_id(number) for rows in rows_of.values() for number in rows]
    out = set(assignments.with_verdict(store, ids, "drop"))
    may_be = _batches_to_post(work.opened) if by_item else frozenset()
    for item_id, answer_ids in by_item.items():
        rows = rows_of[item_id]
        if work.batch(rows[0]) not in may_be:
            continue
        left, wanted = set(), more.get(ItemId(item_id), least)
        for number in rows:
            answer_id = work.answer_id(number)
            if answer_id not in out and answer_id not in answer_ids:
                left.add(work.worker_id(number))
            if len(left) == wanted:
                break
        lacking += min(len(answer_ids), wanted - len(left))
    return lacking


def _batches_to_post(opened: OpenedCampaign) -> frozenset[int]:
    """Return the batches for which missing answers may be asked for again."""
    is_stopped, continued = campaign_facts.read_stops(opened.store)
    if is_stopped or not opened.endpoint.startswith("http"):
        return frozenset()
    most = opened.campaign.posting.rounds + continued
    return frozenset(
        counts.batch for counts in hits.count_by_batch(opened.store) if counts.last_round < most
    )
