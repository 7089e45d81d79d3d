"""Bonuses, one call for each, and never two calls that could both pay.

Wanted -> Paying -> Paid. Each payment has a token, kept for a day by Connect, which
refuses a second call with it. The bridge stores the token and "Paying" before the call.
If the reply is lost, the assignment's bonuses show whether it was paid. If they do not,
the same call is made once more with the same token: it pays, or it is refused because
the first one arrived. After a refusal, only the assignment's bonuses or a person can
say what happened (`piecework market connect settle`). An assignment that Connect never showed
may be made up, so a person decides first whether anything is paid on it.
"""

import sqlite3
from functools import partial

from piecework.foundation.client.errors import Lost, Refused, Unusable
from piecework.marketplace.state import lineage
from piecework.marketplace.state.clock import DAY, SECOND
from piecework.marketplace.state.transaction import Transaction
from piecework.markets.bridging.accounts import number_of
from piecework.markets.bridging.settling import book_batch, list_bonuses, waiting_lines
from piecework.markets.bridging.studies import in_own_study
from piecework.markets.connect.bridge.bridge import LOG, NAME, Bridge, money
from piecework.markets.connect.bridge.reading import AT_WORK
from piecework.markets.connect.bridge.status import committed_cents
from piecework.markets.connect.client import Bonus

_UNPAID = "<> 'Paid'"
_PATIENCE_MS = 600 * SECOND
"""How long a bonus may take to show at its assignment."""

_AFTER_REFUSAL_MS = 3600 * SECOND
"""How long a refused bonus waits before it is tried again."""

_FOR_THE_WORK = "Payment for your work, which was not finished at Connect in time."
_BY_HAND = (
    "; the participant did the work but did not finish it at Connect. Pay them "
    "{amount} by a project that admits only them, then run `piecework market connect settle "
    "{token} --paid`"
)
_NEVER_SHOWN = (
    "Connect never showed the assignment {assignment}, so its {amount} are not paid: "
    "the link may be made up, with the id of a person who did not do the work. Ask the "
    "participant with Connect's messages. If it was their work, run `piecework market connect "
    "settle {token}` with --unpaid, and the next step tries to pay it, or pay it by a "
    "project that admits only them and run it with --paid. Otherwise leave it"
)
_BATCHES = (
    "SELECT bonus_batches.*, studies.study_id, bonus_lines.id AS line, "
    "bonus_lines.cents, bonus_lines.paid_before, visits.id AS visit, "
    "visits.submission_id, visits.status AS visit_status, participant_id, "
    "bonuses.reason FROM bonus_batches "
    "JOIN studies ON studies.id = bonus_batches.study "
    "JOIN bonus_lines ON bonus_lines.batch = bonus_batches.id "
    "JOIN visits ON visits.id = bonus_lines.visit "
    # A bonus for a person who was forgotten is paid through their assignment.
    "LEFT JOIN participants USING (worker) "
    "LEFT JOIN bonuses ON bonuses.id = bonus_lines.bonus "
    f"WHERE bonus_batches.stage <> 'Paid' AND studies.market = '{NAME}' "
    # What is being paid first: it may need no more than a look.
    "ORDER BY bonus_batches.stage <> 'Paying', bonus_batches.id"
)
_BOOKED = (
    "SELECT coalesce(sum(cents), 0) FROM bonus_lines JOIN bonus_batches "
    "ON bonus_batches.id = bonus_lines.batch WHERE visit = ? AND stage = 'Paid'"
)


def pay_at_connect(bridge: Bridge) -> None:
    """Make a payment of each waiting bonus, and advance each by one step."""
    with bridge.backend.transaction() as transaction:
        list_bonuses(transaction)
        _separate(transaction)
        batches = transaction.all(_BATCHES)
    for batch in batches:
        bridge.tried(partial(_take_on, bridge, batch))


def settle_unknown(transaction: Transaction, token: str, *, is_paid: bool) -> None:
    """Record a person's statement on whether a bonus was paid.

    Args:
        transaction: the open transaction.
        token: the payment's token.
        is_paid: whether it was paid; if not, it is paid with a new token.

    Raises:
        Unusable: no open payment has this token.
    """
    row = transaction.first_row(
        "SELECT * FROM bonus_batches WHERE batch_id = ? AND stage <> 'Paid' "
        f"AND {in_own_study(NAME)}",
        token,
    )
    if row is None:
        raise Unusable(
            f"no open payment has the token {token}", next_step="piecework market connect status"
        )
    if is_paid:
        book_batch(transaction, row["id"], if_stage=_UNPAID)
    else:
        transaction.execute(
            "UPDATE bonus_lines SET other_bonuses = '[\"stated\"]' WHERE batch = ?", row["id"]
        )
        _back(transaction, row)
        transaction.execute("UPDATE bonus_batches SET paying_ms = NULL WHERE id = ?", row["id"])


def _separate(transaction: Transaction) -> None:
    """Give each waiting line a payment of its own, one at a time for an assignment."""
    for line in waiting_lines(transaction, NAME):
        batch = transaction.execute(
            "INSERT INTO bonus_batches (study, stage) VALUES (?, 'Wanted')", line["study"]
        )
        transaction.execute(
            "UPDATE bonus_batches SET batch_id = ?, total_cents = ? WHERE id = ?",
            f"{lineage.current(transaction)}-{batch}-0",
            line["cents"] + transaction.prices.bonus_fee_cents(line["cents"]),
            batch,
        )
        transaction.execute("UPDATE bonus_lines SET batch = ? WHERE id = ?", batch, line["id"])


def _take_on(bridge: Bridge, batch: sqlite3.Row) -> None:
    if batch["stage"] == "Paying":
        _look_whether_paid(bridge, batch, _bonus_there(bridge, batch))
        return
    with bridge.backend.reading() as transaction:
        booked_cents = number_of(transaction, _BOOKED, batch["visit"])
        now_ms = transaction.due_ms
    if batch["paying_ms"] and now_ms < batch["paying_ms"] + _AFTER_REFUSAL_MS:
        return
    is_stated = _is_stated(bridge, batch)
    if batch["visit_status"] == AT_WORK and (not is_stated or batch["participant_id"] is None):
        bridge.say_of_bonus(
            batch,
            _NEVER_SHOWN.format(
                assignment=batch["submission_id"],
                amount=money(batch["total_cents"]),
                token=batch["batch_id"],
            ),
        )
        return
    trouble = _objection(bridge, batch)
    if trouble:
        bridge.say_of_bonus(batch, trouble)
        return
    there = _bonus_there(bridge, batch)
    if there is not None and there > booked_cents and not is_stated:
        bridge.say_of_bonus(
            batch,
            f"the assignment {batch['submission_id']} has bonuses of {money(there)} at "
            f"Connect, and {money(booked_cents)} in these books, so its bonus of "
            f"{money(batch['cents'])} is not paid. Check at Connect whether it is "
            f"among them, then run `piecework market connect settle {batch['batch_id']}` "
            "with --paid if it is, or --unpaid to pay it as well",
        )
        return
    with bridge.backend.transaction() as transaction:
        # Connect may not show yet what was paid and booked.
        transaction.execute(
            "UPDATE bonus_lines SET paid_before = ? WHERE batch = ?",
            max(there or 0, booked_cents),
            batch["id"],
        )
        transaction.execute(
            "UPDATE bonus_batches SET stage = 'Paying', paying_ms = ?, trouble = '' WHERE id = ?",
            transaction.now_ms,
            batch["id"],
        )
    _pay_once(bridge, batch, is_first=True)


def _bonus_there(bridge: Bridge, batch: sqlite3.Row) -> int | None:
    """Return the bonuses of a visit's assignment; None if it is not listed.

    A step lists each project once, and again after a payment.
    """
    if batch["visit_status"] == AT_WORK:
        return None
    project = batch["study_id"]
    if project not in bridge.bonuses:
        listed = bridge.connect.assignments.of_project(project)
        bridge.bonuses[project] = {each.id: each.bonus_cents for each in listed}
    return bridge.bonuses[project].get(batch["submission_id"])


def _is_stated(bridge: Bridge, batch: sqlite3.Row) -> bool:
    with bridge.backend.reading() as transaction:
        return bool(
            transaction.first_row(
                "SELECT 1 FROM bonus_lines WHERE batch = ? AND other_bonuses <> '[]'", batch["id"]
            )
        )


def _objection(bridge: Bridge, batch: sqlite3.Row) -> str:
    """Return why a bonus cannot be paid now; "" if it can."""
    total = batch["total_cents"]
    if not bridge.terms.is_live:
        return f"a bonus of {money(total)} waits; nothing is paid without --live"
    with bridge.backend.reading() as transaction:
        committed = committed_cents(transaction)
    if committed + total > bridge.terms.spend_at_most_cents:
        return (
            f"a bonus would cost {money(total)}; {money(committed)} of the limit of "
            f"{money(bridge.terms.spend_at_most_cents)} is already spent or committed"
        )
    return ""


def _pay_once(bridge: Bridge, batch: sqlite3.Row, *, is_first: bool) -> None:
    bridge.changes += 1
    bridge.bonuses.pop(batch["study_id"], None)
    is_listed = batch["visit_status"] != AT_WORK
    bonus = Bonus(
        subject_id=batch["submission_id"] if is_listed else batch["participant_id"],
        cents=batch["cents"],
        message=batch["reason"] or _FOR_THE_WORK,
    )
    try:
        bridge.connect.assignments.pay_bonuses(batch["study_id"], [bonus], token=batch["batch_id"])
    except Lost:
        raise  # The next step checks whether it was paid.
    except Refused as refusal:
        sentence = f"{refusal} {refusal.next_step}".strip()
        if is_first:
            with bridge.backend.transaction() as transaction:
                token = _back(transaction, batch)
            if not is_listed:
                sentence += _BY_HAND.format(amount=money(batch["cents"]), token=token)
        else:
            sentence = _ask(batch)
        bridge.say_of_bonus(batch, sentence)
        raise
    LOG.info("a bonus is paid at Connect: token=%s", batch["batch_id"])
    with bridge.backend.transaction() as transaction:
        book_batch(transaction, batch["id"], if_stage=_UNPAID)


def _look_whether_paid(bridge: Bridge, batch: sqlite3.Row, there: int | None) -> None:
    """Settle a payment with a lost reply by what the assignment shows now."""
    before = int(batch["paid_before"] or 0)
    if there is not None and there >= before + batch["cents"]:
        bridge.changes += 1
        with bridge.backend.transaction() as transaction:
            book_batch(transaction, batch["id"], if_stage=_UNPAID)
        return
    with bridge.backend.reading() as transaction:
        waited_ms = transaction.due_ms - batch["paying_ms"]
    if batch["trouble"]:
        return  # A person was asked.
    if waited_ms < _PATIENCE_MS:
        bridge.is_due_soon = True
    elif waited_ms < DAY - 2 * _PATIENCE_MS:
        _pay_once(bridge, batch, is_first=False)
    else:
        bridge.say_of_bonus(batch, _ask(batch))  # Connect may have forgotten the token.


def _ask(batch: sqlite3.Row) -> str:
    return (
        f"it is not known whether the bonus {batch['batch_id']} of "
        f"{money(batch['cents'])} was paid: check at Connect, then run `piecework "
        f"market connect settle {batch['batch_id']}` with --paid or --unpaid"
    )


def _back(transaction: Transaction, batch: sqlite3.Row) -> str:
    """Return an unpaid bonus to "Wanted", and its new token: the old one is spent."""
    start, _, number = batch["batch_id"].rpartition("-")
    token = f"{start}-{int(number) + 1}"
    transaction.execute(
        "UPDATE bonus_batches SET stage = 'Wanted', paying_ms = ?, trouble = '', "
        "batch_id = ? WHERE id = ?",
        transaction.now_ms,
        token,
        batch["id"],
    )
    return token
