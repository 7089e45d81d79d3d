"""Carry decisions out: pay, reject, shut the door; each through an intent.

Whoever earned money is paid before anybody is turned away.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from domain.errors import PlatformRefused
from domain.ids import AssignmentId, WorkerId
from domain.verdicts import Decision
from flows.steps.launch import exclusion
from flows.steps.left_open import close_left_open
from flows.steps.state import (
    DONE,
    PAID_ALREADY,
    REJECTED_ALREADY,
    SETTLEMENTS,
    State,
    read_state,
    settlement_key,
)
from flows.workplace import Workplace
from postprocess.pseudonyms import pseudonym
from store import judgements, ledger
from store.acting import carry_out
from store.intents import Act, Intent

_ORDER = ("approve", "reject", "exclude", "block")
_NAMED = 5
_Outcome = TypeVar("_Outcome", str, str | None)
_ELSEWHERE = "somebody else"


def settle(place: Workplace) -> int:
    """Carry out every decision that was not carried out; how many there were.

    What the platform refuses holds nobody else up: all the rest is settled first.

    Raises:
        PlatformRefused: naming what was refused; a later pass tries it again.
    """
    close_left_open(place)
    state = read_state(place)
    due = state.unsettled()
    refused: list[tuple[Decision, PlatformRefused]] = []
    for verdict in _ORDER:
        # One kind after the other is done, however many calls are under way at once.
        mine = {
            settlement_key(decision): decision
            for decision in due
            if decision.verdict == verdict
        }
        refused += [
            (mine[act.intent.key], refusal)
            for act, refusal in carry_out(
                place.store,
                (_act(place, state, decision) for decision in mine.values()),
                clock=place.clock,
                at_once=place.at_once,
            )
        ]
    if refused:
        named = "; ".join(_told(place, *one) for one in refused[:_NAMED])
        more = f"; and {len(refused) - _NAMED} more" if len(refused) > _NAMED else ""
        raise PlatformRefused(
            f"{len(refused)} of {len(due)} decisions were refused: {named}{more}",
            code=refused[0][1].code,
            kind=refused[0][1].kind,
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


def _act(place: Workplace, state: State, decision: Decision) -> Act:
    verbs = {
        "approve": _approve,
        "reject": _reject,
        "exclude": _exclude,
        "block": _block,
    }
    do, look, cents = verbs[decision.verdict](place, state, decision)
    intent = Intent(
        key=settlement_key(decision),
        operation=SETTLEMENTS[decision.verdict],
        arguments={"subject": decision.subject_id},
        amount_cents=cents,
    )

    def record(outcome: str) -> None:
        if decision.subject_kind == "assignment":
            _book(place, state, decision, intent.key, outcome)

    return Act(intent=intent, do=do, look=look, record=record)


_Verb = tuple[Callable[[], str], Callable[[], str | None], int]


def _approve(place: Workplace, state: State, decision: Decision) -> _Verb:
    assignment_id = AssignmentId(decision.subject_id)

    def look() -> str | None:
        status = place.platform.assignment_status(assignment_id)
        return {"Approved": DONE, "Rejected": REJECTED_ALREADY}.get(status)

    def do() -> str:
        try:
            place.platform.approve(assignment_id)
        except PlatformRefused:
            # Somebody may have rejected it by hand; whether that stands, a person says.
            if (found := look()) is None:
                raise
            return found
        return DONE

    return do, look, sum(_price(state, decision))


def _reject(place: Workplace, _state: State, decision: Decision) -> _Verb:
    assignment_id = AssignmentId(decision.subject_id)

    def look() -> str | None:
        status = place.platform.assignment_status(assignment_id)
        return {"Rejected": DONE, "Approved": PAID_ALREADY}.get(status)

    def do() -> str:
        try:
            place.platform.reject(assignment_id, decision.because)
        except PlatformRefused:
            # The auto-approval delay may have passed while people were thinking; then
            # the worker has the money, and keeps it.
            if (found := look()) is None:
                raise
            return found
        return DONE

    return do, look, 0


def _exclude(place: Workplace, _state: State, decision: Decision) -> _Verb:
    worker_id, door = WorkerId(decision.subject_id), exclusion(place)

    def do() -> str:
        place.platform.exclude(worker_id, door)
        return DONE

    def look() -> str | None:
        return DONE if worker_id in place.platform.excluded(door) else None

    return _unless_deleted(do), _unless_deleted(look), 0


def _unless_deleted(call: Callable[[], _Outcome]) -> Callable[[], _Outcome | str]:
    """A call about the qualification type that keeps workers out, if there is one yet.

    Somebody may have deleted it, and with it the HIT types that require it; so nothing
    can be posted any more that a worker would have to be kept out of.
    """

    def guarded() -> _Outcome | str:
        try:
            return call()
        except PlatformRefused as refusal:
            if refusal.kind != "qualification_type_unknown":
                raise
            return "nothing is left to keep the worker out of"

    return guarded


def _block(place: Workplace, _state: State, decision: Decision) -> _Verb:
    worker_id = WorkerId(decision.subject_id)

    def do() -> str:
        place.platform.block(worker_id, decision.because)
        return DONE

    # Blocking twice is blocking once, so nothing needs to be looked up.
    return do, lambda: None, 0


def _rejected_elsewhere(
    state: State, decision: Decision, at: datetime
) -> list[Decision]:
    """What holds of an approved assignment that is rejected: unpaid work is not used.

    Then it is like any rejection: shown as one, and to be taken back as one.
    """
    rejected = replace(
        decision,
        verdict="reject",
        decided_by=_ELSEWHERE,
        decided_at=at,
        because="it was rejected outside of this campaign",
    )
    dropped = [
        replace(
            kept,
            verdict="drop",
            decided_by=_ELSEWHERE,
            decided_at=at,
            because=f"its assignment was rejected: {rejected.because}",
        )
        for answer_id, answer in state.answers.items()
        if answer.assignment_id == decision.subject_id
        and (kept := state.decisions.get(("answer", answer_id))) is not None
        and kept.verdict == "keep"
    ]
    return [rejected, *dropped]


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
    if outcome == REJECTED_ALREADY:
        # It is now to be rejected here as well, and is booked when that is settled.
        judgements.overrule(store, _rejected_elsewhere(state, decision, at))
    elif decision.verdict == "approve" or outcome == PAID_ALREADY:
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
