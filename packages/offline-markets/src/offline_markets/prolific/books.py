"""The books for comparing ledgers, and the rules that they must meet."""

from typing import Any

from offline_markets.core.clock import iso
from offline_markets.prolific.call import Call
from offline_markets.prolific.money import cost_of
from offline_markets.prolific.state import State
from offline_markets.prolific.study import OPEN, Study

_PAID_TO_PARTICIPANTS = ("rewards", "bonuses")


def read(call: Call) -> dict[str, Any]:
    """Return workspaces, studies, submissions, payments and each participant's pay."""
    state = call.state
    return {
        "currency": state.currency,
        "accounts": accounts(state),
        "workspaces": [
            {"id": row["id"], "available": row["available"]}
            for row in state.rows("SELECT * FROM workspace ORDER BY number")
        ],
        "studies": [
            {
                "id": row["id"],
                "internal_name": Study.of_row(row).fields["internal_name"],
                "status": row["status"],
                "held": row["held"],
            }
            for row in state.rows("SELECT * FROM study ORDER BY number")
        ],
        "submissions": _submissions(state),
        "bonus_batches": [
            {"id": row["id"], "study": row["study_id"], "pay_calls": row["pay_calls"]}
            for row in state.rows("SELECT * FROM bonus_batch ORDER BY number")
        ],
        "bonus_payments": _bonus_payments(state),
        "participants": _participants(state),
        "broken_laws": broken_laws(state),
    }


def accounts(state: State) -> dict[str, int]:
    """Return each account's balance according to the ledger; they add up to 0."""
    rows = state.rows(
        "SELECT account, sum(amount) AS amount FROM ("
        "SELECT target AS account, amount FROM ledger UNION ALL "
        "SELECT source, -amount FROM ledger) GROUP BY account ORDER BY account"
    )
    return {row["account"]: row["amount"] for row in rows}


def broken_laws(state: State) -> list[str]:
    """Return the violated rules about money; there should be none."""
    balances = accounts(state)
    broken = []
    if sum(balances.values()):
        broken.append("Money was created or lost.")
    if balances.get("available", 0) != state.number("SELECT sum(available) FROM workspace"):
        broken.append("The available amount differs from the ledger.")
    if balances.get("held", 0) != state.number("SELECT coalesce(sum(held), 0) FROM study"):
        broken.append("The held amount differs from the ledger.")
    for row in state.rows("SELECT * FROM study"):
        study = Study.of_row(row)
        counts = study.counts(state)
        undecided = sum(counts[status] for status in OPEN)
        if study.held < undecided * cost_of(state, study.reward).total:
            broken.append(f"Study {study.study_id} holds too little.")
        if study.is_draft and study.held:
            broken.append(f"The draft {study.study_id} holds money.")
        if study.status == "COMPLETED" and not undecided and study.held:
            broken.append(f"The completed study {study.study_id} holds money.")
    return broken


def _submissions(state: State) -> list[dict[str, Any]]:
    rows = state.rows(
        "SELECT submission.*, coalesce(sum(ledger.amount) FILTER "
        "(WHERE ledger.kind = 'pay' AND ledger.target = 'rewards'), 0) AS reward_paid "
        "FROM submission LEFT JOIN ledger ON ledger.submission_id = submission.id "
        "GROUP BY submission.number ORDER BY submission.number"
    )
    return [
        {
            "id": row["id"],
            "study": row["study_id"],
            "participant": row["participant_id"],
            "status": row["status"],
            "entered_code": row["entered_code"],
            "reward_paid": row["reward_paid"],
        }
        for row in rows
    ]


def _bonus_payments(state: State) -> list[dict[str, Any]]:
    rows = state.rows(
        "SELECT bonus_payment.*, participant_id FROM bonus_payment "
        "JOIN submission ON submission.id = submission_id ORDER BY bonus_payment.number"
    )
    return [
        {
            "batch": row["batch_id"],
            "pay_call": row["pay_call"],
            "submission": row["submission_id"],
            "participant": row["participant_id"],
            "amount": row["amount"],
            "paid_at": iso(row["paid_ms"]),
        }
        for row in rows
    ]


def _participants(state: State) -> dict[str, dict[str, int]]:
    rows = state.rows(
        "SELECT participant_id, target, sum(amount) AS amount FROM ledger "
        "JOIN submission ON submission.id = submission_id "
        "WHERE target IN ('rewards', 'bonuses') "
        "GROUP BY participant_id, target ORDER BY participant_id, target"
    )
    paid: dict[str, dict[str, int]] = {}
    for row in rows:
        mine = paid.setdefault(row["participant_id"], dict.fromkeys(_PAID_TO_PARTICIPANTS, 0))
        mine[row["target"]] = row["amount"]
    return paid
