"""Reverse a rejection: pay for the work, and let its answers count again.

The rejection stays on record; a person's later decision overrides it. Decision and
payment are stored in one transaction, so that neither exists without the other.
"""

from piecework.campaign import caps
from piecework.campaign.opened import CampaignRun
from piecework.domain.assignment import Assignment
from piecework.domain.errors import ConfigError
from piecework.domain.ids import AssignmentId
from piecework.domain.verdicts import Decision
from piecework.store import assignments, decisions, hits, ledger
from piecework.store.acting import carry_out
from piecework.store.intents import Act, Intent
from piecework.store.settlements import DONE, PAID_ALREADY

OPERATION = "unreject"


def unreject(
    run: CampaignRun,
    assignment_id: AssignmentId,
    *,
    because: str,
    by: str,
    keep_answers: bool = True,
) -> int:
    """Pay a rejected assignment after all; return how many answers count again.

    Args:
        run: the open campaign.
        assignment_id: the rejected assignment.
        because: the reason, which the worker reads.
        by: the name of the person who decides.
        keep_answers: whether its answers count again.

    Raises:
        ConfigError: it was not rejected, or was submitted too long ago.
        BudgetExceeded: a cap does not allow reward and fee.
        PlatformRefused: the platform no longer allows it.
    """
    _check(run, assignment_id)
    hit = hits.of_assignment(run.store, assignment_id)
    intent = Intent(
        key=f"{OPERATION}:{assignment_id}",
        operation=OPERATION,
        subject=("assignment", assignment_id),
        arguments={"because": because, "by": by, "keep": int(keep_answers)},
        amount_cents=hit.reward_cents + hit.fee_cents,
    )
    caps.refuse_beyond(run, intent, batch=hit.batch)
    dropped = assignments.answers_with(run.store, assignment_id, "drop")
    refused = carry_out(run.store, [act_for(run, intent)], clock=run.clock)
    if refused:
        raise refused[0][1]
    return len(dropped) if keep_answers else 0


def act_for(run: CampaignRun, intent: Intent) -> Act:
    """Return the act that reverses a rejection, looks for it and records it."""
    assignment_id = AssignmentId(intent.subject[1])
    because = str(intent.arguments["because"])

    def do() -> str:
        run.platform.approve_rejected(assignment_id, because)
        return DONE

    def look() -> str | None:
        status = run.platform.assignment_status(assignment_id)
        return DONE if status == "Approved" else None

    def record(_outcome: str) -> None:
        hit = hits.of_assignment(run.store, assignment_id)
        ledger.pay(
            run.store,
            {"rewards": hit.reward_cents, "fees": hit.fee_cents},
            intent_key=intent.key,
            batch=hit.batch,
            at=run.clock.now(),
        )
        decisions.overrule(run.store, _decisions(run, intent))
        assignments.mark_settled(run.store, assignment_id, outcome=DONE)

    return Act(intent=intent, do=do, look=look, record=record)


def _check(run: CampaignRun, assignment_id: AssignmentId) -> None:
    known = assignments.load(run.store, assignment_ids=[assignment_id])
    if not known:
        raise ConfigError([f"{assignment_id!r} is not an assignment of this campaign"])
    verdict, outcome = assignments.verdict_and_outcome(run.store, assignment_id)
    if verdict != "reject":
        known_as = verdict or "not decided"
        raise ConfigError([f"{assignment_id} is not rejected: its verdict is {known_as}"])
    if outcome is None:
        raise ConfigError(
            [f"{assignment_id}: its rejection is not carried out yet"],
            next_step=f"piecework run {run.campaign.path} --once",
        )
    if outcome == PAID_ALREADY:
        raise ConfigError([f"{assignment_id} was paid already: {outcome}"])
    _check_window(run, known[0])


def _check_window(run: CampaignRun, assignment: Assignment) -> None:
    name, window = assignment.assignment_id, run.capabilities.unreject_window
    fault = ""
    if window is None:
        fault = f"{name}: the marketplace does not let rejections be reversed"
    elif run.clock.now() > (last := assignment.submitted_at + window):
        until = f"{last:%Y-%m-%d %H:%M} UTC"
        fault = f"{name}: the {window.days} days to reverse it ended at {until}"
    if fault:
        raise ConfigError(
            [fault], next_step="pay a bonus for other work of the worker: piecework pay --from FILE"
        )


def _decisions(run: CampaignRun, intent: Intent) -> list[Decision]:
    arguments, at = intent.arguments, run.clock.now()
    assignment_id = AssignmentId(intent.subject[1])
    approved = Decision(
        subject_kind="assignment",
        subject_id=assignment_id,
        verdict="approve",
        decided_by=str(arguments["by"]),
        decided_at=at,
        because=str(arguments["because"]),
    )
    dropped = assignments.answers_with(run.store, assignment_id, "drop")
    return [
        approved,
        *(
            Decision(
                subject_kind="answer",
                subject_id=answer_id,
                verdict="keep",
                decided_by=str(arguments["by"]),
                decided_at=at,
                because=f"its rejection was taken back: {arguments['because']}",
            )
            for answer_id in (dropped if arguments["keep"] else [])
        ),
    ]
