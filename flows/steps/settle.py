"""Carry decisions out: pay, reject, shut the door; each through an intent.

Whoever earned money is paid before anybody is turned away.
"""

from collections.abc import Callable

from domain.errors import PlatformRefused
from domain.ids import AssignmentId, WorkerId
from domain.judgement import Decision
from flows.steps.launch import exclusion
from flows.steps.state import SETTLEMENTS, State, read_state, settlement_key
from flows.workplace import Workplace
from postprocess.pseudonyms import pseudonym
from store import intents, ledger
from store.intents import Intent

_ORDER = ("approve", "reject", "exclude", "block")
DONE = "done"
PAID_ALREADY = "approved by the platform before"


def settle(place: Workplace) -> int:
    """Carry out every decision that was not carried out; how many there were.

    What the platform refuses holds nobody else up: all the rest is settled first.

    Raises:
        PlatformRefused: naming what was refused; a later pass tries it again.
    """
    state = read_state(place)
    due = sorted(state.unsettled(), key=lambda one: _ORDER.index(one.verdict))
    refused = []
    for decision in due:
        try:
            _carry_out(place, state, decision)
        except PlatformRefused as refusal:
            refused.append((decision, refusal))
    if refused:
        named = "; ".join(_told(place, *one) for one in refused)
        raise PlatformRefused(
            f"{len(refused)} of {len(due)} decisions were refused: {named}",
            code=refused[0][1].code,
            next_step=f"piecework status {place.campaign.path}",
        )
    return len(due)


def _told(place: Workplace, decision: Decision, refusal: PlatformRefused) -> str:
    """What was refused and why; a worker by pseudonym, in the platform's words too."""
    named, words = decision.subject_id, str(refusal)
    if decision.subject_kind == "worker":
        named = pseudonym(WorkerId(decision.subject_id), place.pseudonym_key)
        words = words.replace(decision.subject_id, named)
    return f"{decision.verdict} {named}: {words}"


def _carry_out(place: Workplace, state: State, decision: Decision) -> None:
    verbs = {
        "approve": _approve,
        "reject": _reject,
        "exclude": _exclude,
        "block": _block,
    }
    act, look, cents = verbs[decision.verdict](place, state, decision)
    intent = Intent(
        key=settlement_key(decision),
        operation=SETTLEMENTS[decision.verdict],
        arguments={"subject": decision.subject_id},
        amount_cents=cents,
    )

    def record(outcome: str) -> None:
        if decision.subject_kind == "assignment":
            _book(place, state, decision, intent.key, outcome)

    intents.carry_out(
        place.store, intent, act=act, look=look, record=record, clock=place.clock
    )


_Verb = tuple[Callable[[], str], Callable[[], str | None], int]


def _approve(place: Workplace, state: State, decision: Decision) -> _Verb:
    assignment_id = AssignmentId(decision.subject_id)

    def act() -> str:
        place.platform.approve(assignment_id)
        return DONE

    def look() -> str | None:
        is_done = place.platform.assignment_status(assignment_id) == "Approved"
        return DONE if is_done else None

    return act, look, sum(_price(state, decision))


def _reject(place: Workplace, _state: State, decision: Decision) -> _Verb:
    assignment_id = AssignmentId(decision.subject_id)

    def look() -> str | None:
        status = place.platform.assignment_status(assignment_id)
        return {"Rejected": DONE, "Approved": PAID_ALREADY}.get(status)

    def act() -> str:
        try:
            place.platform.reject(assignment_id, decision.because)
        except PlatformRefused:
            # The auto-approval delay may have passed while people were thinking; then
            # the worker has the money, and keeps it.
            if (found := look()) is None:
                raise
            return found
        return DONE

    return act, look, 0


def _exclude(place: Workplace, _state: State, decision: Decision) -> _Verb:
    worker_id, door = WorkerId(decision.subject_id), exclusion(place)

    def act() -> str:
        place.platform.exclude(worker_id, door)
        return DONE

    def look() -> str | None:
        return DONE if worker_id in place.platform.excluded(door) else None

    return act, look, 0


def _block(place: Workplace, _state: State, decision: Decision) -> _Verb:
    worker_id = WorkerId(decision.subject_id)

    def act() -> str:
        place.platform.block(worker_id, decision.because)
        return DONE

    # Blocking twice is blocking once, so nothing needs to be looked up.
    return act, lambda: None, 0


def _price(state: State, decision: Decision) -> tuple[int, int]:
    """Reward and fee of one assignment, in cents, as its HIT was planned."""
    assignment = state.assignments[AssignmentId(decision.subject_id)]
    hit = state.posted[assignment.hit_id]
    return hit.reward_cents, hit.fee_cents


def _book(
    place: Workplace, state: State, decision: Decision, key: str, outcome: str
) -> None:
    reward, fee = _price(state, decision)
    store, at = place.store, place.clock.now()
    if decision.verdict == "approve" or outcome == PAID_ALREADY:
        ledger.move(
            store, reward, credit="held", debit="rewards", intent_key=key, at=at
        )
        ledger.move(store, fee, credit="held", debit="fees", intent_key=key, at=at)
    else:
        ledger.move(
            store,
            reward + fee,
            credit="held",
            debit="requester",
            intent_key=key,
            at=at,
        )
