"""Bonuses, in two steps: a batch is created and priced, then paid.

As at Prolific, paying is not idempotent: a second call pays again, and the books show
it.
"""

from decimal import Decimal, InvalidOperation
from typing import Any

from offline_markets.core import clock
from offline_markets.core.errors import ApiError, not_found
from offline_markets.prolific import money
from offline_markets.prolific.call import Call
from offline_markets.prolific.money import Cost, cost_of
from offline_markets.prolific.state import State
from offline_markets.prolific.study import Study

_MINOR = 100
"""Pence in a pound, cents in a dollar."""
_MOST = Decimal(10_000)


def create(call: Call) -> dict[str, Any]:
    """Create a batch from lines `participant or submission,amount`, unpaid."""
    call.only("study_id", "csv_bonuses")
    state = call.state
    study = Study.find(state, call.text("study_id"))
    lines = _read(state, study, call.text("csv_bonuses"))
    batch_id = state.new_id()
    state.conn.execute(
        "INSERT INTO bonus_batch (id, study_id, created_ms) VALUES (?, ?, ?)",
        (batch_id, study.study_id, state.now_ms),
    )
    state.conn.executemany(
        "INSERT INTO bonus_line (batch_id, submission_id, amount) VALUES (?, ?, ?)",
        [(batch_id, submission_id, amount) for submission_id, amount in lines],
    )
    cost = _cost(state, batch_id)
    return {
        "id": batch_id,
        "study": study.study_id,
        "amount": cost.reward,
        "fees": cost.fee,
        "vat": cost.vat,
        "total_amount": cost.total,
    }


def pay(call: Call) -> str:
    """Pay a batch a little later, once for each call."""
    state, batch_id = call.state, call.path["id"]
    row = state.row(
        "UPDATE bonus_batch SET pay_calls = pay_calls + 1 WHERE id = ? RETURNING *", (batch_id,)
    )
    if row is None:
        raise not_found("bulk bonus payment", batch_id)
    study = Study.find(state, row["study_id"])
    total = _cost(state, batch_id).total
    promised = sum(
        _cost(state, waiting["subject"].split()[0]).total
        for waiting in state.rows("SELECT subject FROM due WHERE kind = 'pay_bonus'")
    )
    if money.available(state, study.workspace_id) < total + promised:
        raise ApiError(400, "There is not enough money in the workspace's balance.")
    at_ms = state.now_ms + state.switches.settling_seconds * clock.SECOND
    state.plan("pay_bonus", f"{batch_id} {row['pay_calls']}", at_ms=at_ms)
    return "The bonuses are being paid."


def settle(state: State, subject: str) -> None:
    """Carry out one call of `pay`; if the money is missing, none of it is paid."""
    batch_id, pay_call = subject.split()
    row = state.rows("SELECT study_id FROM bonus_batch WHERE id = ?", (batch_id,))[0]
    study = Study.find(state, row["study_id"])
    if money.available(state, study.workspace_id) < _cost(state, batch_id).total:
        return
    lines = state.rows(
        "SELECT submission_id, amount FROM bonus_line WHERE batch_id = ? ORDER BY number",
        (batch_id,),
    )
    for line in lines:
        money.pay(
            state,
            study.workspace_id,
            cost_of(state, line["amount"]),
            kind="bonus",
            source="available",
            target="bonuses",
            study_id=study.study_id,
            submission_id=line["submission_id"],
        )
        state.conn.execute(
            "INSERT INTO bonus_payment "
            "(batch_id, pay_call, submission_id, amount, paid_ms) "
            "VALUES (?, ?, ?, ?, ?)",
            (batch_id, int(pay_call), line["submission_id"], line["amount"], state.now_ms),
        )


def _cost(state: State, batch_id: str) -> Cost:
    rows = state.rows("SELECT amount FROM bonus_line WHERE batch_id = ?", (batch_id,))
    costs = [cost_of(state, row["amount"]) for row in rows]
    return Cost(
        sum(cost.reward for cost in costs),
        sum(cost.fee for cost in costs),
        sum(cost.vat for cost in costs),
    )


def _read(state: State, study: Study, text: str) -> list[tuple[str, int]]:
    lines, problems = list[tuple[str, int]](), list[str]()
    for line in filter(None, map(str.strip, text.splitlines())):
        who, _, amount = (part.strip() for part in line.partition(","))
        submission_id = _submission_of(state, study, who)
        minor = _minor(amount)
        if submission_id is None:
            problems.append(f"{who} did not take part in the study.")
        elif minor is None:
            problems.append(f"{who}: {amount!r} is not an amount such as 1.50.")
        else:
            lines.append((submission_id, minor))
    if problems or not lines:
        raise ApiError(400, {"csv_bonuses": problems or ["There is no line."]})
    return lines


def _submission_of(state: State, study: Study, who: str) -> str | None:
    row = state.row(
        "SELECT id FROM submission WHERE study_id = ? AND ? IN (id, participant_id) "
        "ORDER BY number DESC",
        (study.study_id, who),
    )
    return None if row is None else str(row["id"])


def _minor(text: str) -> int | None:
    try:
        amount = Decimal(text)
    except InvalidOperation:
        return None
    if not amount.is_finite() or not 0 < amount <= _MOST:
        return None
    minor = amount * _MINOR
    return int(minor) if minor == int(minor) else None
