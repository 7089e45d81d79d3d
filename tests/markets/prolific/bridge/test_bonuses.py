"""A bonus is paid once, and known to be paid by what its submission was paid since."""

from dataclasses import replace
from decimal import Decimal

import pytest

from piecework.foundation.client.errors import Unusable
from piecework.markets.prolific.bridge import bonuses
from piecework.markets.prolific.bridge.bonuses import settle_unknown
from tests.markets.prolific.bridge.test_pay import LATER, decide
from tests.markets.prolific.bridge.town import Town, Visitor


def _approved(town: Town) -> Visitor:
    town.post(hits=2, **LATER)
    town.settle()
    visitor = town.visitor()
    visitor.work(town.study())
    decide(town, visitor, "approve", 0, 1)
    town.settle()
    return visitor


def _send(town: Town, visitor: Visitor, amount: str) -> None:
    [row, _] = town.rows("SELECT assignment_id FROM assignments ORDER BY id")
    town.requester.send_bonus(
        WorkerId=visitor.worker_id,
        AssignmentId=row["assignment_id"],
        BonusAmount=amount,
        Reason="Thank you",
    )


def _paid(town: Town) -> list[int]:
    return [bonus["amount"] for bonus in town.researcher.books()["bonus_payments"]]


def _stages(town: Town) -> list[str | None]:
    """Of the batch of each bonus; None is in no batch yet."""
    rows = town.rows(
        "SELECT stage FROM bonus_lines LEFT JOIN bonus_batches "
        "ON bonus_batches.id = batch ORDER BY bonus_lines.id"
    )
    return [row["stage"] for row in rows]


def _transfers(town: Town) -> int:
    [row] = town.rows("SELECT count(*) AS n FROM transfers")
    return int(row["n"])


def test_an_earlier_bonus_of_the_same_amount_is_not_taken_for_this_one(town: Town) -> None:
    """Prolific promised the second and has not paid it yet."""
    visitor = _approved(town)
    _send(town, visitor, "0.25")
    town.settle()
    assert (_stages(town), _paid(town)) == (["Paid"], [25])
    town.researcher.control("PUT", "/switches", {"settling_seconds": 600})
    _send(town, visitor, "0.25")
    town.settle()
    assert (_stages(town), _paid(town)) == (["Paid", "Paying"], [25])
    town.wait(minutes=11)
    town.settle()
    assert (_stages(town), _paid(town)) == (["Paid", "Paid"], [25, 25])
    town.check_books()


def test_a_submission_has_one_open_bonus_at_a_time(town: Town) -> None:
    """Two that are alike could not be told apart while both are under way."""
    visitor = _approved(town)
    town.researcher.control("PUT", "/switches", {"settling_seconds": 600})
    _send(town, visitor, "0.25")
    _send(town, visitor, "0.25")
    town.settle()
    assert (_stages(town), _paid(town)) == (["Paying", None], [])
    town.wait(minutes=11)
    town.settle()
    assert (_stages(town), _paid(town)) == (["Paid", "Paying"], [25])
    town.wait(minutes=11)
    town.settle()
    assert (_stages(town), _paid(town)) == (["Paid", "Paid"], [25, 25])
    town.check_books()


def test_a_batch_that_costs_more_than_expected_is_not_paid(town: Town) -> None:
    """Prolific's fee has risen since it was asked at the start."""
    visitor = _approved(town)
    backend, rules = town.bridge.backend, town.bridge.backend.rules
    cheaper = replace(rules.prices, percent=Decimal(10))
    backend.rules = replace(rules, prices=cheaper)
    _send(town, visitor, "1.00")
    town.settle()
    assert (_stages(town), _paid(town)) == (["Made"], [])
    [batch] = town.rows("SELECT trouble FROM bonus_batches")
    assert batch["trouble"] == ("Prolific would charge £1.40 for bonuses of £1.00; expected £1.11")
    # The submission has one open bonus at a time, also before it is being paid.
    _send(town, visitor, "0.25")
    town.settle()
    assert (_stages(town), _paid(town)) == (["Made", None], [])
    backend.rules = rules
    town.settle()
    assert (_stages(town), _paid(town)) == (["Paid", "Paid"], [100, 25])


def test_what_a_person_said_is_booked_once(town: Town) -> None:
    """By nobody again: not by the bridge, which had read the batch, nor by a repeat."""
    visitor = _approved(town)
    town.researcher.control("PUT", "/switches", {"settling_seconds": 600})
    _send(town, visitor, "1.10")  # Rounded, its fee differs by a penny.
    town.settle()
    [batch] = town.rows(
        "SELECT bonus_batches.*, studies.study_id FROM bonus_batches "
        "JOIN studies ON studies.id = study"
    )
    assert batch["stage"] == "Paying"
    before = _transfers(town)
    with town.bridge.backend.transaction() as transaction:
        settle_unknown(transaction, batch["batch_id"], is_paid=True)
    booked = _transfers(town)
    assert booked > before
    bonuses._paid(town.bridge, batch)  # type: ignore[arg-type] # it reads two columns
    assert _transfers(town) == booked
    for is_paid in (True, False):
        with (
            town.bridge.backend.transaction() as transaction,
            pytest.raises(Unusable, match="has no open payment"),
        ):
            settle_unknown(transaction, batch["batch_id"], is_paid=is_paid)
    assert (_stages(town), _transfers(town)) == (["Paid"], booked)
    town.wait(minutes=11)
    town.settle()
    town.check_books()
