"""Take a rejection back: pay for the work, and let its answers in again.

The rejection stays on record; a later decision of a person stands over it. It is
written down with the payment, in one transaction, so that neither is without the other.
"""

from domain.assignment import Assignment
from domain.errors import ConfigError
from domain.ids import AssignmentId
from domain.verdicts import Decision
from flows.steps import caps
from flows.steps.state import DONE, PAID_ALREADY, State, read_state
from flows.workplace import Workplace
from store import intents, judgements, ledger
from store.acting import carry_out
from store.intents import Act, Intent

OPERATION = "unreject"


def unreject(
    place: Workplace,
    assignment_id: AssignmentId,
    *,
    because: str,
    by: str,
    keep_answers: bool = True,
) -> int:
    """Pay a rejected assignment after all; how many answers were let in again.

    Args:
        place: the campaign at work.
        assignment_id: what was rejected.
        because: the reason, which the worker reads.
        by: the person who answers for it.
        keep_answers: whether its answers count again, or are only paid for.

    Raises:
        ConfigError: it was not rejected, or too long ago.
        BudgetExceeded: no cap has room for reward and fee.
        PlatformRefused: it may not be taken back any more.
    """
    state = read_state(place)
    _check(place, state, assignment_id)
    hit = state.posted[state.assignments[assignment_id].hit_id]
    intent = Intent(
        key=f"{OPERATION}:{assignment_id}",
        operation=OPERATION,
        arguments={
            "subject": assignment_id,
            "because": because,
            "by": by,
            "keep": int(keep_answers),
        },
        amount_cents=hit.reward_cents + hit.fee_cents,
    )
    caps.refuse_beyond(place, intent, batch=hit.batch)
    refused = carry_out(place.store, [act_for(place, intent)], clock=place.clock)
    if refused:
        raise refused[0][1]
    return len(_dropped(state, assignment_id)) if keep_answers else 0


def act_for(place: Workplace, intent: Intent) -> Act:
    """How a rejection is taken back, looked for and booked."""
    assignment_id = AssignmentId(str(intent.arguments["subject"]))
    because = str(intent.arguments["because"])

    def do() -> str:
        place.platform.approve_rejected(assignment_id, because)
        return DONE

    def look() -> str | None:
        status = place.platform.assignment_status(assignment_id)
        return DONE if status == "Approved" else None

    def record(_outcome: str) -> None:
        state, at = read_state(place), place.clock.now()
        hit = state.posted[state.assignments[assignment_id].hit_id]
        ledger.pay(
            place.store,
            {"rewards": hit.reward_cents, "fees": hit.fee_cents},
            intent_key=intent.key,
            at=at,
        )
        judgements.overrule(place.store, _decisions(place, state, intent))

    return Act(intent=intent, do=do, look=look, record=record)


def _check(place: Workplace, state: State, assignment_id: AssignmentId) -> None:
    assignment = state.assignments.get(assignment_id)
    if assignment is None:
        raise ConfigError([f"{assignment_id!r} is no assignment of this campaign"])
    decision = state.decisions.get(("assignment", assignment_id))
    if decision is None or decision.verdict != "reject":
        verdict = "not decided" if decision is None else decision.verdict
        raise ConfigError(
            [f"{assignment_id} is not rejected: its verdict is {verdict}"]
        )
    outcome = intents.outcome(place.store, f"reject:{assignment_id}")
    if outcome is None:
        raise ConfigError(
            [f"{assignment_id}: its rejection is not carried out yet"],
            next_step=f"piecework advance {place.campaign.path}",
        )
    if outcome == PAID_ALREADY:
        raise ConfigError([f"{assignment_id} was paid: {outcome}"])
    _check_window(place, assignment)


def _check_window(place: Workplace, assignment: Assignment) -> None:
    name, window = assignment.assignment_id, place.platform.capabilities.unreject_window
    fault = ""
    if window is None:
        fault = f"{name}: the marketplace takes no rejection back"
    elif place.clock.now() > (last := assignment.submitted_at + window):
        until = f"{last:%Y-%m-%d %H:%M} UTC"
        fault = f"{name}: could be taken back within {window.days} days, until {until}"
    if fault:
        raise ConfigError(
            [fault],
            next_step="piecework pay --from FILE: a bonus for the worker's other work",
        )


def _dropped(state: State, assignment_id: AssignmentId) -> list[str]:
    return [
        answer_id
        for answer_id, answer in state.answers.items()
        if answer.assignment_id == assignment_id
        and state.decisions["answer", answer_id].verdict == "drop"
    ]


def _decisions(place: Workplace, state: State, intent: Intent) -> list[Decision]:
    said, at = intent.arguments, place.clock.now()
    assignment_id = AssignmentId(str(said["subject"]))
    approved = Decision(
        subject_kind="assignment",
        subject_id=assignment_id,
        verdict="approve",
        decided_by=str(said["by"]),
        decided_at=at,
        because=str(said["because"]),
    )
    kept = _dropped(state, assignment_id) if said["keep"] else []
    return [
        approved,
        *(
            Decision(
                subject_kind="answer",
                subject_id=answer_id,
                verdict="keep",
                decided_by=str(said["by"]),
                decided_at=at,
                because=f"its rejection was taken back: {said['because']}",
            )
            for answer_id in kept
        ),
    ]
