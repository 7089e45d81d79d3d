"""Bonuses that the books lack, what a person says of them, and what is compared."""

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from piecework.foundation.client.errors import Unusable
from piecework.marketplace.state import lineage
from piecework.markets.prolific.bridge.bonuses import settle_unknown
from piecework.markets.prolific.bridge.serving import step
from tests.markets.prolific.bridge.test_bonus_batches import (
    LATE,
    batches,
    bonuses_of,
    paid_visitor,
    send,
)
from tests.markets.prolific.bridge.test_pay import decide
from tests.markets.prolific.bridge.town import Town, Visitor


def paid_visitors(town: Town, number: int) -> list[Visitor]:
    """Participants of one new study, all of them paid."""
    town.post(hits=2, assignments=number, Title="For several")
    town.settle()
    study = town.study()
    visitors = [town.visitor() for _ in range(number)]
    for visitor in visitors:
        visitor.work(study)
        decide(town, visitor, "approve", 0, 1)
    town.settle()
    return visitors


def pay_by_hand(town: Town, visitor: Visitor, amount: str) -> None:
    """A bonus from Prolific's own pages."""
    [row] = town.rows(
        "SELECT study_id FROM visits JOIN studies ON studies.id = study WHERE submission_id = ?",
        visitor.submission_id,
    )
    batch = town.researcher.post(
        "/submissions/bonus-payments/",
        study_id=row["study_id"],
        csv_bonuses=f"{visitor.submission_id},{amount}",
    )
    town.researcher.post(f"/bulk-bonus-payments/{batch['id']}/pay/")


def lines(town: Town) -> list[tuple[int, str, int]]:
    """Amount, stage and the batch's total of each line, by batch."""
    rows = town.rows(
        "SELECT cents, stage, total_cents FROM bonus_lines JOIN bonus_batches "
        "ON bonus_batches.id = batch ORDER BY batch, bonus_lines.id"
    )
    return [(row["cents"], row["stage"], row["total_cents"]) for row in rows]


def say(town: Town, batch_id: str, *, is_paid: bool) -> None:
    """A person's word on a batch."""
    with town.bridge.backend.transaction() as transaction:
        settle_unknown(transaction, batch_id, is_paid=is_paid)


def last_batch(town: Town) -> dict[str, Any]:
    """The newest batch."""
    return town.rows("SELECT * FROM bonus_batches ORDER BY id")[-1]


def unbooked(town: Town) -> list[int]:
    """What the books lack, by study."""
    rows = town.rows("SELECT unbooked_bonus_cents FROM studies ORDER BY id")
    return [row["unbooked_bonus_cents"] for row in rows]


def compare_again(town: Town) -> None:
    """Compare with Prolific in the next step, as a new bridge does."""
    town.bridge.is_compared = False


def test_lines_that_need_a_person_are_set_apart(town: Town) -> None:
    """The rest of their batch is paid without them; no other batch is touched."""
    dan = paid_visitor(town)
    send(town, dan, "0.10")
    town.settle()
    ann, bob, cid = paid_visitors(town, 3)
    terms = town.bridge.terms
    town.bridge.terms = replace(terms, is_live=False)
    for visitor, amount in ((ann, "0.20"), (bob, "0.50"), (cid, "1.00")):
        send(town, visitor, amount)
    town.settle()
    # The fee is 33% and the tax on it 20%.
    assert lines(town) == [
        (10, "Paid", 14),
        (20, "Made", 238),
        (50, "Made", 238),
        (100, "Made", 238),
    ]
    pay_by_hand(town, ann, "0.30")
    pay_by_hand(town, cid, "0.40")
    town.bridge.terms = terms
    assert step(town.bridge)
    assert town.bridge.changes == 1
    assert [row[:2] for row in lines(town)] == [
        (10, "Paid"),
        (50, "Wanted"),
        (20, "Wanted"),
        (100, "Wanted"),
    ]
    town.settle()
    assert lines(town) == [(10, "Paid", 14), (50, "Paid", 70), (20, "Made", 28), (100, "Made", 140)]
    assert [bonuses_of(town, visitor) for visitor in (dan, ann, bob, cid)] == [
        [10],
        [30],
        [50],
        [40],
    ]
    [first, second, third, _] = batches(town)
    assert (first, second) == (("Paid", ""), ("Paid", ""))
    [batch_id] = [
        row["batch_id"]
        for row in town.rows("SELECT batch_id FROM bonus_batches WHERE total_cents = 28")
    ]
    assert third[1] == (
        f"the submission {ann.submission_id} has bonuses at Prolific that these "
        "books do not have (£0.30), so its bonus of £0.20 is not paid. Check at "
        "Prolific whether it is one of them, then run `piecework market prolific settle "
        f"{batch_id}` with --paid if it is, or --unpaid to pay it as well"
    )


def test_a_batch_of_two_that_both_need_a_person_is_taken_apart(town: Town) -> None:
    """No batch without lines stays."""
    dan = paid_visitor(town)
    send(town, dan, "0.10")
    town.settle()
    ann, bob = paid_visitors(town, 2)
    for visitor in (ann, bob):
        pay_by_hand(town, visitor, "0.30")
        send(town, visitor, "0.20")
    town.settle()
    assert lines(town) == [(10, "Paid", 14), (20, "Made", 28), (20, "Made", 28)]
    assert [stage for stage, _ in batches(town)] == ["Paid", "Made", "Made"]
    assert (bonuses_of(town, ann), bonuses_of(town, bob)) == ([30], [30])


def test_what_was_paid_by_hand_is_booked_by_a_persons_word(town: Town) -> None:
    """Its cost is no longer unbooked, in its own study alone."""
    dan = paid_visitor(town)
    ann, bob = paid_visitors(town, 2)
    pay_by_hand(town, dan, "1.00")
    pay_by_hand(town, bob, "0.50")
    pay_by_hand(town, ann, "1.10")
    compare_again(town)
    send(town, ann, "1.10")
    town.settle()
    batch = last_batch(town)
    assert batch["stage"] == "Made"
    before = unbooked(town)
    assert before == [140, 70 + batch["total_cents"]]
    say(town, batch["batch_id"], is_paid=True)
    assert batches(town) == [("Paid", "")]
    assert unbooked(town) == [140, 70]
    [booked] = town.rows(
        "SELECT sum(balance_cents) AS cents FROM accounts WHERE kind IN ('worker', 'fees')"
    )
    theirs = town.researcher.books()["accounts"]
    spent = sum(theirs.get(kind, 0) for kind in ("rewards", "bonuses", "fees", "vat"))
    assert booked["cents"] == spent - 140 - 70
    town.settle()
    assert bonuses_of(town, ann) == [110]


def test_what_is_unbooked_stays_so_when_another_payment_is_settled(town: Town) -> None:
    """A batch that the bridge paid was never part of it."""
    ann, bob = paid_visitors(town, 2)
    pay_by_hand(town, bob, "0.50")
    compare_again(town)
    town.settle()
    assert unbooked(town) == [70]
    town.researcher.control("PUT", "/switches", LATE)
    send(town, ann, "0.30")
    town.settle()
    assert batches(town) == [("Paying", "")]
    say(town, last_batch(town)["batch_id"], is_paid=True)
    assert batches(town) == [("Paid", "")]
    assert unbooked(town) == [70]


def test_a_bonus_is_paid_besides_by_a_persons_word(town: Town) -> None:
    """What was paid by hand stays unbooked, and the line asks about it no more."""
    ann = paid_visitor(town)
    pay_by_hand(town, ann, "0.50")
    compare_again(town)
    send(town, ann, "0.50")
    town.settle()
    assert [stage for stage, _ in batches(town)] == ["Made"]
    say(town, last_batch(town)["batch_id"], is_paid=False)
    assert batches(town) == [("Made", "")]
    assert unbooked(town) == [70]
    [line] = town.rows("SELECT other_bonuses FROM bonus_lines")
    assert json.loads(line["other_bonuses"]) == [50]
    town.settle()
    assert batches(town) == [("Paid", "")]
    assert bonuses_of(town, ann) == [50, 50]


def test_a_bonus_that_prolific_does_not_show_is_not_said_to_be_paid(town: Town) -> None:
    """Nothing changes; the sentence names the amount in the currency of its study."""
    paid_visitor(town)
    ann = paid_visitor(town, Title="Another")
    pay_by_hand(town, ann, "0.30")
    send(town, ann, "0.50")
    town.settle()
    batch, before = last_batch(town), batches(town)
    with town.bridge.backend.transaction() as transaction:
        transaction.execute(
            "UPDATE studies SET currency = 'USD' WHERE id = (SELECT min(id) FROM studies)"
        )
    with pytest.raises(Unusable) as met:
        say(town, batch["batch_id"], is_paid=True)
    assert (
        f"Prolific shows no bonus of £0.50 for the submission {ann.submission_id} "
        "besides those already booked"
    ) in str(met.value)
    assert met.value.next_step == (f"piecework market prolific settle {batch['batch_id']} --unpaid")
    assert batches(town) == before


def test_a_batch_that_was_only_made_is_not_a_persons_to_settle(town: Town) -> None:
    """Nothing was paid, so there is nothing to know."""
    ann = paid_visitor(town)
    town.bridge.terms = replace(town.bridge.terms, is_live=False)
    send(town, ann, "0.50")
    town.settle()
    for is_paid in (True, False):
        with pytest.raises(Unusable, match="has no open payment"):
            say(town, last_batch(town)["batch_id"], is_paid=is_paid)


def test_each_call_that_changes_prolific_counts_once(
    town: Town, caplog: pytest.LogCaptureFixture
) -> None:
    """To make, to pay and to know that it was paid are a step's change each."""
    ann = paid_visitor(town)
    terms = town.bridge.terms
    town.bridge.terms = replace(terms, is_live=False)
    send(town, ann, "0.50")
    assert (step(town.bridge), town.bridge.changes) == (True, 1)
    assert (step(town.bridge), town.bridge.changes) == (False, 0)
    assert batches(town)[0][1] != ""
    town.bridge.terms = terms
    town.researcher.control("PUT", "/switches", {"settling_seconds": 600})
    with caplog.at_level("INFO", logger="piecework.markets.prolific.bridge"):
        assert (step(town.bridge), town.bridge.changes) == (True, 1)
    batch_id = last_batch(town)["batch_id"]
    assert f"bonuses are paid at Prolific: batch={batch_id}" in caplog.messages
    assert batches(town) == [("Paying", "")]
    town.wait(minutes=11)
    assert (step(town.bridge), town.bridge.changes) == (True, 1)
    assert batches(town) == [("Paid", "")]


def test_the_first_batch_is_paid_first(town: Town) -> None:
    """The cap leaves enough for one; only the other is said to wait."""
    ann, bob = (paid_visitor(town, Title=title) for title in ("One", "Two"))
    terms = town.bridge.terms
    town.bridge.terms = replace(terms, spend_at_most_cents=2 * 153 + 70)
    send(town, bob, "0.50")
    send(town, ann, "0.50")
    town.settle()
    assert batches(town) == [
        ("Paid", ""),
        (
            "Made",
            ("bonuses would cost £0.70; £3.76 of the limit of £3.76 is already spent or committed"),
        ),
    ]
    assert (bonuses_of(town, ann), bonuses_of(town, bob)) == ([50], [])
    # A refusal takes back the batch that was refused, no other.
    town.bridge.terms = terms
    fault = {"kind": "throttle", "operation": "pay-bonus-payments", "times": 9}
    town.researcher.control("PUT", "/faults", [fault])
    step(town.bridge)
    assert town.bridge.faults
    assert [stage for stage, _ in batches(town)] == ["Paid", "Made"]
    town.researcher.control("PUT", "/faults", [])
    town.settle()
    assert batches(town) == [("Paid", ""), ("Paid", "")]
    assert (bonuses_of(town, ann), bonuses_of(town, bob)) == ([50], [50])
    town.check_books()


def test_an_open_payment_holds_up_its_own_submission_alone(town: Town) -> None:
    """Others of the same study are paid meanwhile, all of them in one batch."""
    ann, bob, cid = paid_visitors(town, 3)
    town.researcher.control("PUT", "/switches", LATE)
    send(town, ann, "0.10")
    town.settle()
    send(town, ann, "0.20")
    send(town, bob, "0.30")
    send(town, cid, "0.50")
    town.settle()
    assert [row[:2] for row in lines(town)] == [(10, "Paying"), (30, "Paying"), (50, "Paying")]
    assert batches(town) == [("Paying", "")] * 2


def test_a_batch_that_costs_exactly_what_was_expected_is_paid(town: Town) -> None:
    """The fee as it was asked for, and a penny for each line."""
    ann = paid_visitor(town)
    backend = town.bridge.backend
    backend.rules = replace(
        backend.rules, prices=replace(backend.rules.prices, percent=Decimal(39))
    )
    send(town, ann, "1.00")
    town.settle()
    assert lines(town) == [(100, "Paid", 140)]
    assert bonuses_of(town, ann) == [100]


def test_bonuses_wait_after_the_start_for_the_time_that_the_terms_say(town: Town) -> None:
    """To the millisecond."""
    ann = paid_visitor(town)
    town.bridge.terms = replace(town.bridge.terms, bonus_pause_seconds=600)
    send(town, ann, "0.50")
    with town.bridge.backend.transaction() as transaction:
        end_ms = lineage.began_ms(transaction) + 600_000
        left_ms = end_ms - transaction.now_ms
    assert left_ms > 1
    paused = (
        "bonuses of £0.70 wait for a few minutes after the start, until Prolific "
        "shows those paid before it"
    )
    for passed_ms, expected in ((0, paused), (left_ms - 1, paused)):
        town.wait(milliseconds=passed_ms)
        town.settle()
        assert batches(town) == [("Made", expected)]
    town.wait(milliseconds=1)
    town.settle()
    assert batches(town) == [("Paid", "")]
    assert bonuses_of(town, ann) == [50]
