"""Which bonuses go into which batch, when a batch may be paid, and who says it was."""

from dataclasses import replace
from typing import Any

import pytest

from piecework.foundation.client.errors import Unusable
from piecework.markets.prolific.bridge.bonuses import settle_unknown
from tests.markets.prolific.bridge.test_pay import decide
from tests.markets.prolific.bridge.town import Town, Visitor

LATE = {"settling_seconds": 10 * 24 * 3600}
"""Prolific promises a bonus and keeps the promise ten days later."""


def paid_visitor(town: Town, **changes: Any) -> Visitor:  # noqa: ANN401 - of a HIT type
    """A participant who did two HITs of a new HIT type, and was paid."""
    town.post(hits=2, **changes)
    town.settle()
    visitor = town.visitor()
    visitor.work(town.study())
    decide(town, visitor, "approve", 0, 1)
    town.settle()
    return visitor


def send(town: Town, visitor: Visitor, *amounts: str) -> None:
    """Bonuses for the visitor's first assignment."""
    [first, *_] = town.rows(
        "SELECT assignment_id FROM assignments JOIN workers "
        "ON workers.id = assignments.worker WHERE worker_id = ? "
        "ORDER BY assignments.id",
        visitor.worker_id,
    )
    for amount in amounts:
        town.requester.send_bonus(
            WorkerId=visitor.worker_id,
            AssignmentId=first["assignment_id"],
            BonusAmount=amount,
            Reason="Thank you",
        )


def batches(town: Town) -> list[tuple[str, str]]:
    """Stage and trouble of each batch."""
    rows = town.rows("SELECT stage, trouble FROM bonus_batches ORDER BY id")
    return [(row["stage"], row["trouble"]) for row in rows]


def bonuses_of(town: Town, visitor: Visitor) -> list[int]:
    """What Prolific has paid the visitor beside the reward."""
    paid: list[int] = town.researcher.submission(visitor.submission_id)["bonus_payments"]
    return paid


def test_a_batch_holds_bonuses_of_one_study(town: Town) -> None:
    """Two studies are two batches, each with the lines of its own visits."""
    ann, bob = (paid_visitor(town, Title=title) for title in ("One", "Two"))
    send(town, bob, "0.20")
    send(town, ann, "0.10")
    town.settle()
    assert (bonuses_of(town, ann), bonuses_of(town, bob)) == ([10], [20])
    rows = town.rows(
        "SELECT bonus_batches.study, visits.study AS visited, cents FROM bonus_lines "
        "JOIN visits ON visits.id = visit JOIN bonus_batches ON "
        "bonus_batches.id = batch ORDER BY cents"
    )
    assert [row["cents"] for row in rows] == [10, 20]
    assert all(row["study"] == row["visited"] for row in rows)
    town.check_books()


def test_a_person_who_says_that_it_was_not_paid_has_it_paid(town: Town) -> None:
    """Nothing is booked by that word, and the next step pays the batch."""
    ann = paid_visitor(town)
    town.researcher.control("PUT", "/switches", LATE)
    send(town, ann, "0.50")
    town.settle()
    town.wait(days=2)
    town.settle()
    [(stage, trouble)] = batches(town)
    assert stage == "Paying"
    [batch] = town.rows("SELECT batch_id FROM bonus_batches")
    assert f"`piecework market prolific settle {batch['batch_id']}`" in trouble
    transfers = town.rows("SELECT count(*) AS number FROM transfers")
    with town.bridge.backend.transaction() as transaction:
        settle_unknown(transaction, batch["batch_id"], is_paid=False)
    assert batches(town) == [("Made", "")]
    assert town.rows("SELECT count(*) AS number FROM transfers") == transfers


def test_only_an_open_payment_is_settled_by_a_person(town: Town) -> None:
    """Of two batches the one that is named; never one twice, and none that is not."""
    ann, bob = (paid_visitor(town, Title=title) for title in ("One", "Two"))
    town.researcher.control("PUT", "/switches", LATE)
    send(town, ann, "0.10")
    send(town, bob, "0.20")
    town.settle()
    assert batches(town) == [("Paying", "")] * 2
    [_, second] = town.rows("SELECT batch_id FROM bonus_batches ORDER BY id")
    with town.bridge.backend.transaction() as transaction:
        settle_unknown(transaction, second["batch_id"], is_paid=True)
    assert batches(town) == [("Paying", ""), ("Paid", "")]
    for batch_id in (second["batch_id"], "60ffe5c8371090c7041d43f8"):
        with (
            town.bridge.backend.transaction() as transaction,
            pytest.raises(Unusable, match=batch_id) as met,
        ):
            settle_unknown(transaction, batch_id, is_paid=True)
        assert met.value.next_step == "piecework market prolific status"


def test_a_bonus_that_costs_exactly_what_is_left_is_paid(town: Town) -> None:
    """A penny less, and it waits with a sentence that names all three amounts."""
    ann = paid_visitor(town)
    spent = 110 + 36 + 7
    # 50 pence, with a fee of 16.5 and a tax of 3.3 on it.
    cost = 50 + 17 + 3
    terms = town.bridge.terms
    town.bridge.terms = replace(terms, spend_at_most_cents=spent + cost - 1)
    send(town, ann, "0.50")
    town.settle()
    [(stage, trouble)] = batches(town)
    assert stage == "Made"
    assert trouble == (
        "bonuses would cost £0.70; £1.53 of the limit of £2.22 is already spent or committed"
    )
    town.bridge.terms = replace(terms, spend_at_most_cents=spent + cost)
    town.settle()
    assert batches(town) == [("Paid", "")]
    assert bonuses_of(town, ann) == [50]
    town.check_books()


def test_without_live_a_batch_is_made_and_not_paid(town: Town) -> None:
    """The sentence says what is lacking; with it, the same batch is paid once."""
    ann = paid_visitor(town)
    terms = town.bridge.terms
    town.bridge.terms = replace(terms, is_live=False)
    send(town, ann, "0.50")
    town.settle()
    assert batches(town) == [("Made", "bonuses of £0.70 wait; nothing is paid without --live")]
    town.bridge.terms = terms
    town.settle()
    assert batches(town) == [("Paid", "")]
    assert bonuses_of(town, ann) == [50]


def test_a_payment_is_not_known_after_a_day_and_not_before(town: Town) -> None:
    """To the millisecond; a bonus that comes later is taken for what it is."""
    ann = paid_visitor(town)
    town.researcher.control("PUT", "/switches", LATE)
    send(town, ann, "0.50")
    town.settle()
    [row] = town.rows("SELECT paying_ms FROM bonus_batches")
    with town.bridge.backend.transaction() as transaction:
        assert row["paying_ms"] == transaction.now_ms
    town.wait(days=1)
    town.settle()
    assert batches(town) == [("Paying", "")]
    town.wait(milliseconds=1)
    town.settle()
    [(stage, trouble)] = batches(town)
    assert stage == "Paying"
    assert "is not known" in trouble
    town.wait(days=9)
    town.settle()
    assert batches(town) == [("Paid", "")]
    town.check_books()


def test_bonuses_of_workers_of_the_site_are_not_sent_to_prolific(town: Town) -> None:
    """They came by no visit; the marketplace has paid them itself."""
    ann = paid_visitor(town)
    town.post(hits=1, Title="For the site", Reward="0.10")
    worker = town.market.worker()
    [group] = [group for group in worker.groups() if group["title"] == "For the site"]
    assignment_id = worker.do(group["hit_group_id"])
    reply = town.requester.get_assignment(AssignmentId=assignment_id)
    town.requester.send_bonus(
        WorkerId=reply["Assignment"]["WorkerId"],
        AssignmentId=assignment_id,
        BonusAmount="0.20",
        Reason="Thank you",
    )
    send(town, ann, "0.10")
    town.settle()
    assert bonuses_of(town, ann) == [10]
    lines = town.rows("SELECT cents FROM bonus_lines")
    assert [line["cents"] for line in lines] == [10]


def test_an_id_that_is_none_blocks_nobody_else(town: Town) -> None:
    """Neither approvals nor bonuses of the others; a person is told of it."""
    town.post(hits=2, assignments=2)
    town.settle()
    ann, bob = town.visitor(), town.visitor()
    study = town.study()
    for each in (ann, bob):
        each.work(study)
    town.settle()
    with town.bridge.backend.transaction() as transaction:
        transaction.execute(
            "UPDATE visits SET submission_id = 'no id' WHERE submission_id = ?", ann.submission_id
        )
    for each in (ann, bob):
        decide(town, each, "approve", 0, 1)
        send(town, each, "0.50")
    town.settle()
    assert town.researcher.submission(bob.submission_id)["status"] == "APPROVED"
    assert bonuses_of(town, bob) == [50]
    assert town.researcher.submission(ann.submission_id)["status"] == "AWAITING REVIEW"
    [visit] = town.rows("SELECT trouble FROM visits WHERE submission_id = 'no id'")
    assert "the form of Prolific's ids" in visit["trouble"]
    assert [bool(trouble) for _, trouble in batches(town)] == [False, True]
