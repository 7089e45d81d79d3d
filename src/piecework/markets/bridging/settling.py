"""What a market has to pay: bonuses, and the difference to what the ledger booked.

The market pays whole visits and rounds each payment separately. So the two may differ
by the reward of a HIT rejected in a paid visit, or by a penny of fees. When the market
has paid, the difference is booked with its own reason, so the ledger's total matches
the market's to the penny.
"""

import sqlite3
from collections.abc import Callable

from piecework.marketplace.state import ledger
from piecework.marketplace.state.outside_crowd import PAID_THOUGH_REJECTED
from piecework.marketplace.state.transaction import Transaction
from piecework.markets.bridging.accounts import Bridge
from piecework.markets.bridging.studies import in_own_study

SCREENED_OUT = "SCREENED OUT"
"""The status of a visit paid only because its participant found no work."""

PAID_EARLY = "(visits.outcome = 'Paid' AND visits.trouble <> '')"
"""Visits that the market paid before the requester had decided all of their HITs."""

_VISIT = (
    f"SELECT iif(visits.status = '{SCREENED_OUT}', screen_out_cost_cents, cost_cents) "
    "AS cost_cents, visits.settled_cents, studies.internal_name, "
    "hit_types.requester, "
    "coalesce(sum(assignments.paid_cents + assignments.fee_cents), 0) AS booked_cents "
    "FROM visits JOIN studies ON studies.id = visits.study "
    "JOIN hit_types ON hit_types.id = studies.hit_type "
    "LEFT JOIN assignments ON assignments.visit = visits.id WHERE visits.id = ?"
)
_BATCH = (
    "SELECT bonus_batches.total_cents, studies.internal_name, hit_types.requester, "
    "(SELECT coalesce(sum(iif(bonus_lines.bonus IS NULL, "
    # All HITs of a visit have the same reward, so fees divide in proportion.
    "bonus_lines.cents + (SELECT bonus_lines.cents * sum(assignments.fee_cents) "
    "/ sum(paid_cents) FROM assignments "
    "WHERE assignments.visit = bonus_lines.visit AND status = 'Approved'), "
    "bonuses.cents + bonuses.fee_cents)), 0) FROM bonus_lines "
    "LEFT JOIN bonuses ON bonuses.id = bonus_lines.bonus "
    "WHERE bonus_lines.batch = bonus_batches.id) AS booked_cents "
    "FROM bonus_batches JOIN studies ON studies.id = bonus_batches.study "
    "JOIN hit_types ON hit_types.id = studies.hit_type WHERE bonus_batches.id = ?"
)

_LENT = (
    "SELECT -coalesce(sum(entries.cents), 0) AS cents FROM transfers "
    "JOIN entries ON entries.transfer = transfers.id "
    "JOIN accounts ON accounts.id = entries.account "
    "WHERE reason = 'outside price' AND subject = ? AND kind = 'outside'"
)


def undecided_visits(transaction: Transaction, market: str) -> list[sqlite3.Row]:
    """Return the visits of a market to decide about, with what was decided about their HITs.

    Each has the codes and the money of its study, and what bonuses pay of it.
    """
    return transaction.all(
        "SELECT visits.*, studies.study_id, studies.own_code, studies.has_own_code, "
        "studies.screen_out_code, "
        "studies.qualification_type, studies.reward_cents, studies.cost_cents, "
        "(SELECT coalesce(sum(cents), 0) FROM bonus_lines "
        "WHERE visit = visits.id AND bonus IS NULL) AS by_bonus_cents, "
        "count(assignments.id) AS parts, "
        "count(*) FILTER (WHERE assignments.status = 'Submitted') AS submitted, "
        "count(*) FILTER (WHERE assignments.status = 'Approved') AS approved, "
        "group_concat(DISTINCT iif(assignments.status = 'Rejected', "
        "nullif(assignments.feedback, ''), NULL)) AS feedback "
        "FROM visits JOIN studies ON studies.id = visits.study "
        "LEFT JOIN assignments ON assignments.visit = visits.id "
        "WHERE visits.stage <> 'Open' AND visits.id IN "
        f"(SELECT id FROM visits WHERE outcome IS NULL AND {in_own_study(market)} "
        "UNION ALL "
        "SELECT visits.id FROM visits JOIN studies ON studies.id = visits.study "
        f"WHERE studies.stage <> 'Retired' AND visits.market = '{market}' AND {PAID_EARLY}) "
        "GROUP BY visits.id ORDER BY visits.id"
    )


def settle_visit(transaction: Transaction, visit: int) -> None:
    """Book how much more, or less, a paid visit cost than its HITs.

    Called again after another of its HITs was approved, it books only the change.
    """
    row = transaction.first_row(_VISIT, visit)
    if row is None:
        return
    difference = row["cost_cents"] - row["booked_cents"]
    more_cents = difference - row["settled_cents"]
    if more_cents < 0 < row["settled_cents"]:
        more_cents += _give_back_lent(transaction, -more_cents, subject=row["internal_name"])
    _book(transaction, row["requester"], more_cents, subject=row["internal_name"])
    transaction.execute("UPDATE visits SET settled_cents = ? WHERE id = ?", difference, visit)


def settle_batch(transaction: Transaction, batch: int) -> None:
    """Book how much more, or less, a batch of bonuses cost than was booked."""
    row = transaction.first_row(_BATCH, batch)
    if row is not None:
        _book(
            transaction,
            row["requester"],
            row["total_cents"] - row["booked_cents"],
            subject=row["internal_name"],
        )


def _give_back_lent(transaction: Transaction, cents: int, *, subject: str) -> int:
    """Give back what was booked from an empty account; return the amount."""
    row = transaction.first_row(_LENT, subject)
    lent = min(cents, row["cents"] if row else 0)
    ledger.pay(
        transaction,
        ledger.FEES,
        credited={ledger.OUTSIDE: lent},
        reason="outside price",
        subject=subject,
    )
    return lent


def _book(transaction: Transaction, requester: int, more_cents: int, *, subject: str) -> None:
    """Charge the requester more, or give back the surplus."""
    account = ledger.available(requester)
    if more_cents < 0:
        ledger.pay(
            transaction,
            ledger.FEES,
            credited={account: -more_cents},
            reason="outside price",
            subject=subject,
        )
        return
    # The money is already spent, so it is booked even if the account is empty.
    there = min(more_cents, ledger.spendable(transaction, requester))
    for source, cents in ((account, there), (ledger.OUTSIDE, more_cents - there)):
        ledger.pay(
            transaction,
            source,
            credited={ledger.FEES: cents},
            reason="outside price",
            subject=subject,
        )


def conclude(
    transaction: Transaction, visit: sqlite3.Row, outcome: str | None, trouble: str = ""
) -> None:
    """Store how a visit ended, and what a person should know of it."""
    transaction.execute(
        "UPDATE visits SET outcome = ?, trouble = ? WHERE id = ?", outcome, trouble, visit["id"]
    )


def book_paid(bridge: Bridge, visit: sqlite3.Row, money: Callable[[int], object]) -> None:
    """Book what a market charged; the requester still decides undecided HITs.

    Args:
        bridge: the bridge.
        visit: the visit, with `submitted` and `cost_cents`.
        money: returns cents as people read them.
    """
    trouble = ""
    if visit["submitted"]:
        trouble = (
            f"{bridge.market} paid a visit before {visit['submitted']} of its HITs were "
            f"decided here. The requester can still approve or reject them; {bridge.market} "
            f"keeps {money(visit['cost_cents'])} either way"
        )
    if visit["outcome"] == "Paid" and visit["trouble"] == trouble:
        return
    with bridge.backend.transaction() as transaction:
        settle_visit(transaction, visit["id"])
        conclude(transaction, visit, "Paid", trouble)
        is_for_nothing = transaction.has(
            "SELECT 1 FROM visits JOIN studies ON studies.id = visits.study "
            f"WHERE visits.id = ? AND ({PAID_THOUGH_REJECTED} OR {_WITHOUT_ANSWERS})",
            visit["id"],
        )
    if is_for_nothing:
        bridge.log.warning(
            "%s paid the submission %s, without accepted work here: %s",
            bridge.market,
            visit["submission_id"],
            money(visit["cost_cents"]),
        )


_WITHOUT_ANSWERS = (
    "(visits.outcome = 'Paid' AND visits.stage IN ('Left', 'Late') AND visits.loss <> 'Stated' "
    f"AND visits.status <> '{SCREENED_OUT}' AND qualification_type IS NULL "
    "AND NOT EXISTS (SELECT 1 FROM assignments WHERE visit = visits.id "
    "AND status IN ('Approved', 'Submitted')))"
)
"""SQL: a visit that was paid though no answers came, as codes are shared."""


def paid_rejections(
    transaction: Transaction, market: str, title: str, money: Callable[[int], object]
) -> dict[str, str]:
    """Return, by study id, what a person should know of visits paid without accepted work.

    Args:
        transaction: the open one.
        market: how the marketplace's tables name the market.
        title: its display name.
        money: returns cents as people read them.
    """
    rows = transaction.all(
        "SELECT study_id, count(*) AS visits, sum(cost_cents) AS cents FROM visits "
        "JOIN studies ON studies.id = visits.study "
        f"WHERE visits.market = ? AND ({PAID_THOUGH_REJECTED} OR {_WITHOUT_ANSWERS}) "
        "GROUP BY studies.id ORDER BY studies.id",
        market,
    )
    sentence = (
        "{title} paid for {visits} of the visits to {study} whose HITs were all rejected here, or "
        "that sent no answers ({cost}): they were approved there, by hand or because they were "
        "not rejected in time. A campaign counts its rejected work as paid, and the rest as a fee"
    )
    return {
        row["study_id"]: sentence.format(
            title=title, visits=row["visits"], study=row["study_id"], cost=money(row["cents"])
        )
        for row in rows
    }


def owe_by_bonus(transaction: Transaction, visit: int, promised_cents: int = 0) -> None:
    """Let a bonus pay for approved HITs and what was promised, as far as no bonus has."""
    transaction.execute(
        "INSERT INTO bonus_lines (visit, cents) SELECT ?1, owed FROM (SELECT "
        "(SELECT coalesce(sum(paid_cents), 0) FROM assignments WHERE visit = ?1 "
        "AND status = 'Approved') + ?2 - (SELECT coalesce(sum(cents), 0) "
        "FROM bonus_lines WHERE visit = ?1 AND bonus IS NULL) AS owed) "
        "WHERE owed > 0",
        visit,
        promised_cents,
    )


def book_batch(transaction: Transaction, batch: int, *, if_stage: str) -> None:
    """Book a batch of bonuses as paid, unless a person has settled it meanwhile."""
    if transaction.all(
        "UPDATE bonus_batches SET stage = 'Paid', trouble = '' "
        f"WHERE id = ? AND stage {if_stage} RETURNING id",
        batch,
    ):
        settle_batch(transaction, batch)


def waiting_lines(transaction: Transaction, market: str) -> list[sqlite3.Row]:
    """Return the bonuses of a market without a batch, one at a time per submission.

    So payments to one submission can be told apart.
    """
    return transaction.all(
        "SELECT min(bonus_lines.id) AS id, bonus_lines.cents, visits.study FROM bonus_lines "
        f"JOIN visits ON visits.id = bonus_lines.visit AND {in_own_study(market)} "
        "WHERE batch IS NULL "
        "AND NOT EXISTS (SELECT 1 FROM bonus_lines AS other JOIN bonus_batches "
        "ON bonus_batches.id = other.batch WHERE other.visit = bonus_lines.visit "
        "AND bonus_batches.stage <> 'Paid') GROUP BY visits.id ORDER BY id"
    )


def list_bonuses(transaction: Transaction) -> None:
    """Add a line for each bonus that a requester sent to a participant.

    Bonuses for people from all markets with a bridge are listed together, in their
    order, by the first bridge that looks.
    """
    transaction.execute(
        "INSERT INTO bonus_lines (visit, bonus, cents) "
        "SELECT visits.id, bonuses.id, bonuses.cents FROM bonuses "
        "LEFT JOIN assignments ON assignments.id = bonuses.assignment "
        "JOIN visits "
        "ON visits.id = coalesce(assignments.visit, bonuses.paid_visit) "
        "JOIN studies ON studies.id = visits.study "
        "JOIN outside_markets ON outside_markets.name = studies.market "
        "WHERE has_bridge AND bonuses.id > "
        "(SELECT coalesce(max(bonus), 0) FROM bonus_lines) ORDER BY bonuses.id"
    )
