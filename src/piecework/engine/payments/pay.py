"""Pay what people approved: bonuses, and decisions that are taken back.

A bonus is known by its label and by its subject (an assignment, or a worker), so a
second bonus for the same work needs another label. The platform stores no labels: a
bonus there is recognised by assignment and amount, and by the reason if the platform
lists it. Bonuses that are in the ledger already do not count as matches.

Campaign and batch caps refuse the whole plan before its first call. A day's cap only
delays the rest: the same command pays it on the next day.

A pass repeats what it finds due. A bonus, a compensation or a reversed rejection was
due only because a person asked for it once. So one that a crash interrupted is recorded
if it was made and otherwise dropped, and never started again automatically.

The rejection stays on record; a person's later decision overrides it. Decision and
payment are stored in one transaction, so that neither exists without the other.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from piecework.campaign import caps
from piecework.campaign.opened import CampaignRun
from piecework.domain.assignment import Assignment
from piecework.domain.errors import BudgetExceeded, ConfigError, PlatformRefused
from piecework.domain.ids import AssignmentId, WorkerId
from piecework.domain.money import Bonus
from piecework.domain.text import shell_word
from piecework.domain.verdicts import Decision
from piecework.engine.payments import compensations
from piecework.store import assignments, decisions, hits, intents, ledger, workers
from piecework.store.database import Store
from piecework.store.intents import Act, Intent, carry_out
from piecework.store.settlements import DONE, PAID_ALREADY

UNREJECT = "unreject"


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
        key=f"{UNREJECT}:{assignment_id}",
        operation=UNREJECT,
        subject=("assignment", assignment_id),
        arguments={"because": because, "by": by, "keep": int(keep_answers)},
        amount_cents=hit.reward_cents + hit.fee_cents,
    )
    caps.refuse_beyond(run, intent, batch=hit.batch)
    dropped = assignments.answers_with(run.store, assignment_id, "drop")
    for _, refusal in carry_out(run.store, [unreject_act(run, intent)], clock=run.clock):
        raise refusal
    return len(dropped) if keep_answers else 0


def unreject_act(run: CampaignRun, intent: Intent) -> Act:
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
        ledger.book_payment(
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
    known = assignments.load_assignments(run.store, assignment_ids=[assignment_id])
    if not known:
        raise ConfigError([f"{assignment_id!r} is not an assignment of this campaign"])
    verdict, outcome = assignments.verdict_and_outcome(run.store, assignment_id)
    if verdict != "reject":
        known_as = verdict or "not decided"
        raise ConfigError([f"{assignment_id} is not rejected: its verdict is {known_as}"])
    if outcome is None:
        raise ConfigError(
            [f"{assignment_id}: its rejection is not carried out yet"],
            next_step=f"piecework run {shell_word(run.campaign.path)} --once --endpoint "
            f"{run.endpoint}" + " --live" * run.is_live,
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
    arguments, assignment_id = intent.arguments, AssignmentId(intent.subject[1])
    approved = Decision(
        subject_kind="assignment",
        subject_id=assignment_id,
        verdict="approve",
        decided_by=str(arguments["by"]),
        decided_at=run.clock.now(),
        because=str(arguments["because"]),
    )
    if not arguments["keep"]:
        return [approved]
    kept = replace(
        approved,
        subject_kind="answer",
        verdict="keep",
        because=f"its rejection was taken back: {approved.because}",
    )
    dropped = assignments.answers_with(run.store, assignment_id, "drop")
    return [approved, *(replace(kept, subject_id=answer_id) for answer_id in dropped)]


BONUS = "bonus"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedBonus:
    """A bonus that is due; `batch` is the batch of its HIT."""

    intent: Intent
    bonus: Bonus
    batch: int

    @property
    def fee_cents(self) -> int:
        """The platform's fee on the bonus."""
        return self.intent.amount_cents - self.bonus.cents


def planned_bonus(
    run: CampaignRun, bonus: Bonus, *, label: str, subject: str, batch: int
) -> PlannedBonus:
    """Return a bonus with its intent; label and `subject` make its key."""
    rewards, market = run.campaign.rewards, ""
    if rewards.fees_by_market:
        market = workers.market_of_assignment(run.store, bonus.assignment_id)
    fees = rewards.fees_on(run.clock.now().date(), market)
    return PlannedBonus(
        bonus=bonus,
        batch=batch,
        intent=Intent(
            key=bonus_key(label, subject),
            operation=BONUS,
            subject=("assignment", bonus.assignment_id),
            arguments={"worker": bonus.worker_id, "cents": bonus.cents, "reason": bonus.reason},
            amount_cents=bonus.cents + fees.bonus_fee_cents(bonus.cents),
        ),
    )


def bonus_key(label: str, subject: str) -> str:
    """Return the key of a bonus's intent."""
    return f"{BONUS}:{label}:{subject}"


def bonus_of(intent: Intent) -> Bonus:
    """Return the bonus that an intent is about."""
    arguments = intent.arguments
    return Bonus(
        assignment_id=AssignmentId(intent.subject[1]),
        worker_id=WorkerId(str(arguments["worker"])),
        cents=int(arguments["cents"]),
        reason=str(arguments["reason"]),
    )


def act_of_bonus(run: CampaignRun, intent: Intent, recorded: Iterable[Bonus]) -> Act:
    """Return the act that pays a bonus, looks for it and records it.

    Args:
        run: the open campaign.
        intent: the intent of the bonus.
        recorded: bonuses in the ledger, at least those of this assignment.
    """
    bonus, token = bonus_of(intent), intent.token(intents.store_name(run.store))
    known = [*recorded].count(bonus)

    def look() -> str | None:
        listed = run.platform.bonuses(bonus.assignment_id)
        return DONE if [*listed].count(bonus) > known else None

    def do() -> str:
        # A store that was restored from a copy may lack a paid bonus.
        if look() is not None:
            return DONE
        try:
            run.platform.bonus(bonus, token=token)
        except PlatformRefused:
            # boto3 repeats a call if the reply is lost; the platform refuses the token.
            if look() is None:
                raise
        return DONE

    def record(_outcome: str) -> None:
        ledger.book_payment(
            run.store,
            {"bonuses": bonus.cents, "fees": intent.amount_cents - bonus.cents},
            intent_key=intent.key,
            batch=hits.of_assignment(run.store, bonus.assignment_id).batch,
            at=run.clock.now(),
        )

    return Act(intent=intent, do=do, look=look, record=record)


def recorded_bonuses(run: CampaignRun) -> dict[str, Bonus]:
    """Return every bonus in the ledger, by the key of its intent."""
    return {
        intent.key: bonus_of(intent)
        for intent in intents.load_intents(run.store, BONUS, is_done=True)
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class BonusPlan:
    """Bonuses that are due, and those left out.

    Attributes:
        label: distinguishes these bonuses from others for the same work.
        before: the number of bonuses with this label that were paid before.
        lacking_cents: how far work with such a bonus is below the floor again.
        too_late: assignments that are too old for a bonus.
    """

    label: str
    due: tuple[PlannedBonus, ...]
    before: int
    lacking_cents: int = 0
    too_late: tuple[AssignmentId, ...] = ()

    @property
    def bonus_cents(self) -> int:
        """The amount that workers get."""
        return sum(planned.bonus.cents for planned in self.due)

    @property
    def total_cents(self) -> int:
        """The cost, with fees."""
        return sum(planned.intent.amount_cents for planned in self.due)


_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Paid:
    """The bonuses paid, and those that wait for the next day; cents with fees."""

    bonuses: int
    cents: int
    waiting: int
    waiting_cents: int


def check_bonuses(run: CampaignRun, plan: BonusPlan) -> None:
    """Refuse a plan that the caps of the campaign or of a batch do not allow.

    Raises:
        BudgetExceeded: a cap is too low; nothing was paid.
    """
    rewards = run.campaign.rewards
    by_batch: Counter[int] = Counter()
    for bonus in plan.due:
        by_batch[bonus.batch] += bonus.intent.amount_cents
    for batch, cents in sorted(by_batch.items()):
        room = caps.left_beside(run, batch, but=_keys(plan.due))
        needed = (
            (plan.total_cents, room.campaign, rewards.cap_name),
            (cents, room.batch, f"the cap of batch {batch}"),
        )
        for cost, rest, name in needed:
            if rest is not None and cost > rest:
                raise BudgetExceeded(
                    f"the bonuses cost {rewards.shown(cost)} with fees, but "
                    f"{rewards.shown(max(rest, 0))} are left of {name}; nothing was "
                    "paid",
                    next_step=f"look at piecework status {shell_word(run.campaign.path)}, then "
                    "raise the cap, or pay less with --from FILE",
                )


def pay_bonuses(run: CampaignRun, plan: BonusPlan) -> Paid:
    """Pay the due bonuses that today's cap allows.

    Raises:
        BudgetExceeded: the cap of the campaign or of a batch is too low; nothing was
            paid.
        PlatformRefused: the platform refused the named bonuses; the others were paid.
        TransientPlatformError: the outcome of a call is unknown; call this again.
    """
    check_bonuses(run, plan)
    today = _for_today(run, plan.due)
    refused = []
    for group in _apart(today):
        refused += carry_out(
            run.store, _acts(run, group), clock=run.clock, most_calls=run.most_calls
        )
    if refused:
        # The key has assignment or pseudonym; the platform's text may name a worker.
        named = "; ".join(f"{act.intent.key} ({no.code})" for act, no in refused[:_NAMED])
        (_, first), *_ = refused
        raise PlatformRefused(
            f"{len(refused)} of {len(today)} bonuses were refused: {named}",
            code=first.code,
            next_step="the others were paid; run the same command to try these again",
        )
    later = plan.due[len(today) :]
    return Paid(
        bonuses=len(today),
        cents=sum(planned.intent.amount_cents for planned in today),
        waiting=len(later),
        waiting_cents=sum(planned.intent.amount_cents for planned in later),
    )


def _keys(due: Iterable[PlannedBonus]) -> list[str]:
    return [planned.intent.key for planned in due]


def _for_today(run: CampaignRun, due: tuple[PlannedBonus, ...]) -> tuple[PlannedBonus, ...]:
    left = caps.left_beside(run, 0, but=_keys(due)).today
    if left is None:
        return due
    for number, planned in enumerate(due):
        left -= planned.intent.amount_cents
        if left < 0:
            return due[:number]
    return due


def _apart(due: tuple[PlannedBonus, ...]) -> list[list[PlannedBonus]]:
    """Split bonuses so that no group has two of one assignment, to tell them apart."""
    groups: list[list[PlannedBonus]] = []
    seen: Counter[str] = Counter()
    for planned in due:
        number = seen[planned.bonus.assignment_id]
        seen[planned.bonus.assignment_id] += 1
        if number == len(groups):
            groups.append([])
        groups[number].append(planned)
    return groups


def _acts(run: CampaignRun, due: list[PlannedBonus]) -> Iterator[Act]:
    # The caps were checked for all of them, and only one process pays at a time.
    recorded = defaultdict[AssignmentId, list[Bonus]](list)
    for bonus in recorded_bonuses(run).values():
        recorded[bonus.assignment_id].append(bonus)
    for planned in due:
        yield act_of_bonus(run, planned.intent, recorded[planned.bonus.assignment_id])


_OPERATIONS = (BONUS, compensations.COMPENSATION, UNREJECT)


def close_interrupted(run: CampaignRun) -> int:
    """Close every interrupted payment; return how many there were.

    A payment that the platform has made is recorded. Otherwise its intent is dropped.
    """
    if not has_interrupted_payments(run.store):
        return 0
    recorded, closed = list(recorded_bonuses(run).values()), 0
    for operation in _OPERATIONS:
        for intent in intents.load_intents(run.store, operation, is_done=False):
            act = _act_of_interrupted(run, intent, recorded)
            if act.look() is None:
                intents.withdraw(run.store, intent.key)
            else:
                carry_out(run.store, [act], clock=run.clock)
                if operation == BONUS:
                    recorded.append(bonus_of(intent))
            closed += 1
    return closed


def has_interrupted_payments(store: Store) -> bool:
    """Return whether there is an interrupted payment."""
    return intents.has_open(store, *_OPERATIONS)


def _act_of_interrupted(run: CampaignRun, intent: Intent, recorded: list[Bonus]) -> Act:
    if intent.operation == UNREJECT:
        return unreject_act(run, intent)
    if intent.operation == compensations.COMPENSATION:
        return compensations.compensation_act(run, intent)
    return act_of_bonus(run, intent, recorded)
