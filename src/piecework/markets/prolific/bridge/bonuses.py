"""Bonuses, in Prolific's two steps; the second is never repeated.

Wanted -> Made (a batch that pays nothing) -> Paying -> Paid. The bridge reads and
stores the earlier bonuses of each submission, then records "Paying", and only then pays
the batch. If that call's outcome is unknown, the submissions' bonuses show it: all
lines of the batch are there, or none. They may appear late, so their absence proves
nothing; after a day a person is asked to check. A clock that jumps may shorten that
day, but never below the time Prolific needs to show a bonus, which a monotonic clock
measures. The same clock measures the pause in bonuses after the start.

A submission may have bonuses that the books lack, because they were paid by hand or the
file was restored from a copy. Its line waits in a separate batch until a person
decides.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

from piecework.foundation.client.calls import Money, is_id
from piecework.foundation.client.errors import Lost, Refused, Unusable
from piecework.marketplace.state.clock import DAY, SECOND
from piecework.marketplace.state.transaction import Transaction
from piecework.markets.bridging.settling import (
    book_batch,
    list_bonuses,
    settle_batch,
    waiting_lines,
)
from piecework.markets.prolific.bridge.bridge import LOG, NAME, Bridge
from piecework.markets.prolific.bridge.reconciling import (
    keep_other_bonuses,
    keep_paid_before,
    perhaps_paid,
    perhaps_paid_before,
)
from piecework.markets.prolific.bridge.status import committed_cents
from piecework.markets.prolific.resources.submissions import MOST_BONUSES_AT_ONCE

_LINES = (
    "SELECT bonus_lines.*, visits.submission_id FROM bonus_lines "
    "JOIN visits ON visits.id = bonus_lines.visit WHERE batch = ? "
    "ORDER BY bonus_lines.id"
)


def pay_at_prolific(bridge: Bridge) -> None:
    """Bundle bonuses into batches, and advance each batch by one step."""
    with bridge.backend.transaction() as transaction:
        list_bonuses(transaction)
        _bundle(transaction)
        batches = transaction.all(
            "SELECT bonus_batches.*, studies.study_id FROM bonus_batches "
            "JOIN studies ON studies.id = bonus_batches.study "
            "WHERE bonus_batches.stage <> 'Paid' "
            f"AND market = '{NAME}' ORDER BY bonus_batches.id"
        )
    for batch in batches:
        bridge.tried(partial(_take_on_or_say, bridge, batch))


def settle_unknown(transaction: Transaction, batch_id: str, *, is_paid: bool) -> None:
    """Record a person's statement on whether a batch was paid.

    This needs no lock while a bridge runs: the stage changes in one transaction, and
    the second to change it finds it changed.

    Args:
        transaction: the open transaction.
        batch_id: Prolific's id.
        is_paid: whether it was paid; if not, it is paid again.

    Raises:
        Unusable: no such batch has an open payment, or Prolific shows no bonus that
            could be this one.
    """
    row = transaction.first_row(
        "SELECT bonus_batches.*, currency FROM bonus_batches JOIN studies "
        f"ON studies.id = study WHERE market = '{NAME}' AND batch_id = ? "
        "AND bonus_batches.stage IN ('Made', 'Paying')",
        batch_id,
    )
    lines = transaction.all(_LINES, row["id"]) if row else []
    lacking = {line["id"]: perhaps_paid_before(transaction, line) for line in lines}
    if row is None or (row["stage"] == "Made" and not any(lacking.values())):
        raise Unusable(
            f"the batch {batch_id} has no open payment",
            next_step="piecework market prolific status",
        )
    for line in lines:
        if not is_paid:
            keep_other_bonuses(transaction, line, lacking[line["id"]])
        elif row["stage"] == "Made" and not lacking[line["id"]][line["cents"]]:
            wanted = Money(minor=line["cents"], currency=row["currency"])
            raise Unusable(
                f"Prolific shows no bonus of {wanted} for the submission "
                f"{line['submission_id']} besides those already booked",
                next_step=f"piecework market prolific settle {batch_id} --unpaid",
            )
    transaction.execute(
        "UPDATE bonus_batches SET stage = ?, trouble = '' WHERE id = ?",
        "Paid" if is_paid else "Made",
        row["id"],
    )
    if is_paid:
        settle_batch(transaction, row["id"])
    if is_paid and row["stage"] == "Made":
        transaction.execute(
            "UPDATE studies SET unbooked_bonus_cents = "
            "max(0, unbooked_bonus_cents - ?) WHERE id = ?",
            row["total_cents"],
            row["study"],
        )


def _bundle(transaction: Transaction) -> None:
    """Put waiting lines into batches, each of one study with a line per submission."""
    by_study: dict[int, list[int]] = {}
    for row in waiting_lines(transaction, NAME):
        by_study.setdefault(row["study"], []).append(row["id"])
    for study, lines in sorted(by_study.items()):
        for first in range(0, len(lines), MOST_BONUSES_AT_ONCE):
            batch = transaction.execute(
                "INSERT INTO bonus_batches (study, stage) VALUES (?, 'Wanted')", study
            )
            transaction.conn.executemany(
                "UPDATE bonus_lines SET batch = ? WHERE id = ?",
                [(batch, line) for line in lines[first : first + MOST_BONUSES_AT_ONCE]],
            )


def _take_on_or_say(bridge: Bridge, batch: sqlite3.Row) -> None:
    try:
        _take_on(bridge, batch)
    except Refused as refusal:
        bridge.say_of_bonus(batch, f"{refusal} {refusal.next_step}".strip())
        raise


def _take_on(bridge: Bridge, batch: sqlite3.Row) -> None:
    with bridge.backend.reading() as transaction:
        lines = transaction.all(_LINES, batch["id"])
    if batch["stage"] == "Paying":
        _look_whether_paid(bridge, batch, lines)
        return
    unusable = [line["id"] for line in lines if not is_id(line["submission_id"])]
    if unusable and len(lines) > 1:
        bridge.changes += 1  # The next step creates the others without them.
        with bridge.backend.transaction() as transaction:
            _set_apart(transaction, batch, unusable)
        return
    if batch["stage"] == "Wanted":
        batch = _make(bridge, batch, lines)
    trouble = _objection(bridge, batch, lines)
    if trouble:
        bridge.say_of_bonus(batch, trouble)
        return
    there = {
        line["id"]: bridge.prolific.submissions.get(line["submission_id"]).bonuses_minor
        for line in lines
    }
    if not _ask_about_unbooked(bridge, batch, lines, there):
        bridge.say_of_bonus(batch, "")
        _pay_once(bridge, batch, there)


def _ask_about_unbooked(
    bridge: Bridge, batch: sqlite3.Row, lines: list[sqlite3.Row], there: Mapping[int, Sequence[int]]
) -> bool:
    """Leave lines to a person if their submission has bonuses that the books lack.

    Each such line gets its own batch, and the others are created again without it; an
    unpaid batch costs nothing.

    Returns:
        Whether such lines exist.
    """
    with bridge.backend.transaction() as transaction:
        strange = {
            line["id"]: amounts
            for line in lines
            if (amounts := perhaps_paid(transaction, line, there[line["id"]]))
        }
        if not strange:
            return False
        keep_paid_before(transaction, {line: there[line] for line in strange})
        if len(lines) > 1:
            bridge.changes += 1  # The next step creates them.
            _set_apart(transaction, batch, list(strange))
            return True
    [line] = lines
    shown = [_money(bridge, cents) for cents in strange[line["id"]].elements()]
    bridge.say_of_bonus(
        batch,
        f"the submission {line['submission_id']} has bonuses at Prolific that these "
        f"books do not have ({', '.join(map(str, shown))}), so its bonus of "
        f"{_money(bridge, line['cents'])} is not paid. Check at Prolific whether it "
        f"is one of them, then run `piecework market prolific settle {batch['batch_id']}` "
        "with --paid if it is, or --unpaid to pay it as well",
    )
    return True


def _set_apart(transaction: Transaction, batch: sqlite3.Row, line_ids: Sequence[int]) -> None:
    for line in line_ids:
        alone = transaction.execute(
            "INSERT INTO bonus_batches (study, stage) VALUES (?, 'Wanted')", batch["study"]
        )
        transaction.execute("UPDATE bonus_lines SET batch = ? WHERE id = ?", alone, line)
    transaction.execute(
        "UPDATE bonus_batches SET stage = 'Wanted', batch_id = NULL, "
        "total_cents = NULL, trouble = '' WHERE id = ?",
        batch["id"],
    )
    transaction.execute(
        "DELETE FROM bonus_batches WHERE id = ?1 "
        "AND NOT EXISTS (SELECT 1 FROM bonus_lines WHERE batch = ?1)",
        batch["id"],
    )


def _make(bridge: Bridge, batch: sqlite3.Row, lines: list[sqlite3.Row]) -> sqlite3.Row:
    """Create the batch at Prolific, which pays nothing; a lost one stays unpaid."""
    bridge.changes += 1
    made = bridge.prolific.bonuses.create(
        batch["study_id"],
        {line["submission_id"]: bridge.terms.money(line["cents"]) for line in lines},
    )
    with bridge.backend.transaction() as transaction:
        transaction.execute(
            "UPDATE bonus_batches SET stage = 'Made', batch_id = ?, total_cents = ? WHERE id = ?",
            made.id,
            made.total_minor,
            batch["id"],
        )
        row = transaction.first_row(
            "SELECT bonus_batches.*, studies.study_id FROM bonus_batches "
            "JOIN studies ON studies.id = bonus_batches.study "
            "WHERE bonus_batches.id = ?",
            batch["id"],
        )
    return batch if row is None else row


def _objection(bridge: Bridge, batch: sqlite3.Row, lines: list[sqlite3.Row]) -> str:
    """Return why the batch cannot be paid now; "" if it can."""
    terms, total = bridge.terms, batch["total_cents"]
    amount = sum(line["cents"] for line in lines)
    with bridge.backend.reading() as transaction:
        committed = committed_cents(transaction)
        prices = transaction.prices
        is_paused = transaction.counted_ms < bridge.began_ms + _pause_ms(bridge)
    expected = amount + prices.bonus_fee_cents(amount) + len(lines)
    if total > expected:
        return (
            f"Prolific would charge {_money(bridge, total)} for bonuses of "
            f"{_money(bridge, amount)}; expected {_money(bridge, expected)}"
        )
    if not terms.is_live:
        return f"bonuses of {_money(bridge, total)} wait; nothing is paid without --live"
    if is_paused:
        return (
            f"bonuses of {_money(bridge, total)} wait for a few minutes after the "
            "start, until Prolific shows those paid before it"
        )
    if committed + total > terms.spend_at_most_cents:
        return (
            f"bonuses would cost {_money(bridge, total)}; {_money(bridge, committed)} "
            f"of the limit of {_money(bridge, terms.spend_at_most_cents)} is already "
            "spent or committed"
        )
    return ""


def _pay_once(bridge: Bridge, batch: sqlite3.Row, there: Mapping[int, Sequence[int]]) -> None:
    with bridge.backend.transaction() as transaction:
        keep_paid_before(transaction, there)
        transaction.execute(
            "UPDATE bonus_batches SET stage = 'Paying', paying_ms = ? WHERE id = ?",
            transaction.now_ms,
            batch["id"],
        )
        bridge.paying_ms[batch["id"]] = transaction.counted_ms
    bridge.changes += 1
    try:
        bridge.prolific.bonuses.pay(batch["batch_id"])
    except Lost:
        raise  # The next step checks whether it was paid.
    except Refused:
        _back(bridge, batch)
        raise
    # Prolific pays some minutes after accepting; the next steps check.
    LOG.info("bonuses are paid at Prolific: batch=%s", batch["batch_id"])


def _look_whether_paid(bridge: Bridge, batch: sqlite3.Row, lines: list[sqlite3.Row]) -> None:
    """Settle a payment by the bonuses that the submissions now show."""
    for line in lines:
        now = bridge.prolific.submissions.get(line["submission_id"]).bonuses_minor
        since = Counter(now) - Counter(json.loads(line["paid_before"] or "[]"))
        if not since[line["cents"]]:
            break
    else:
        _paid(bridge, batch)
        return
    with bridge.backend.reading() as transaction:
        since_ms = bridge.paying_ms.setdefault(batch["id"], transaction.counted_ms)
        is_late = transaction.due_ms > batch[
            "paying_ms"
        ] + DAY and transaction.counted_ms >= since_ms + _pause_ms(bridge)
    if is_late:
        bridge.say_of_bonus(
            batch,
            f"it is not known whether the batch of bonuses {batch['batch_id']} was "
            "paid: check at Prolific, then run `piecework market prolific settle "
            f"{batch['batch_id']}` with --paid or --unpaid",
        )


def _paid(bridge: Bridge, batch: sqlite3.Row) -> None:
    bridge.changes += 1  # Others may have waited for this one.
    with bridge.backend.transaction() as transaction:
        book_batch(transaction, batch["id"], if_stage="= 'Paying'")


def _back(bridge: Bridge, batch: sqlite3.Row) -> None:
    """Return a refused batch to "Made": nothing was paid, and it may be paid later."""
    with bridge.backend.transaction() as transaction:
        transaction.execute(
            "UPDATE bonus_batches SET stage = 'Made', paying_ms = NULL WHERE id = ?", batch["id"]
        )


def _pause_ms(bridge: Bridge) -> int:
    return bridge.terms.bonus_pause_seconds * SECOND


def _money(bridge: Bridge, cents: int) -> Money:
    return bridge.terms.money(cents)
