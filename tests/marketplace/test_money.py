"""Money over the wire: holds, fees, payments, and the books behind them."""

from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from piecework.marketplace.http.server import Marketplace, serve
from piecework.marketplace.state.qualification_types import MASTERS_PRODUCTION
from tests.marketplace.market import QUESTION, START, Market, expire, post, refusal


def test_a_hit_is_held_for_and_paid_from_the_hold(standing: Market) -> None:
    """Three slots at 0.55 + 0.11; approval pays one, rejection frees one."""
    client = standing.requester()
    made = post(client, MaxAssignments=3)

    def balances() -> tuple[str, str]:
        reply = client.get_account_balance()
        return reply["AvailableBalance"], reply["OnHoldBalance"]

    assert balances() == ("9998.02", "1.98")
    first, second = (standing.worker().do(made["HITGroupId"]) for _ in range(2))
    assert balances() == ("9998.02", "1.98")
    client.approve_assignment(AssignmentId=first)
    assert balances() == ("9998.02", "1.32")
    client.reject_assignment(AssignmentId=second, RequesterFeedback="Empty.")
    assert balances() == ("9998.68", "0.66")
    expire(client, made["HITId"])
    assert balances() == ("9999.34", "0.00")


def test_a_common_limit_counts_what_all_requesters_hold_and_have_spent(tmp_path: Path) -> None:
    """$2.00 together: three slots of 66 cents fit, a fourth does not, whose it ever is.

    Deposits are no spending. What an expired HIT held may be spent again; a paid
    reward may not.
    """
    with (
        serve(
            Marketplace(tmp_path / "m.db", rehearsal=True, start=START, spend_at_most_cents=200)
        ) as running,
        closing(Market(running.endpoint_url, running.frames_url)) as market,
    ):
        lab, office, ann = market.requester(), market.requester(), market.worker()
        assert office.get_account_balance()["AvailableBalance"] == "2.00"
        done = ann.do(post(lab, MaxAssignments=2)["HITGroupId"])
        lab.approve_assignment(AssignmentId=done)
        assert office.get_account_balance()["AvailableBalance"] == "0.68"
        held = post(office)
        # Two cents are left of the limit; more is never shown, nor less than nothing.
        assert lab.get_account_balance()["AvailableBalance"] == "0.02"
        with pytest.raises(ClientError) as caught:
            post(lab)
        assert refusal(caught.value)[1] == "InsufficientFunds"
        expire(office, held["HITId"])
        post(lab)
        with pytest.raises(ClientError):
            lab.send_bonus(
                WorkerId=ann.worker_id,
                BonusAmount="0.02",
                AssignmentId=done,
                Reason="Two and one cent; two cents are left.",
            )
        lab.send_bonus(WorkerId=ann.worker_id, BonusAmount="0.01", AssignmentId=done, Reason="One.")


def test_a_limit_adds_nothing_to_a_balance_and_takes_it_to_nothing_at_most(tmp_path: Path) -> None:
    """$1.00 under a limit of $2.00; then 66 cents are held and the limit is 50."""
    for limit, before, after in ((200, "1.00", "0.34"), (50, "0.00", "0.00")):
        with (
            serve(
                Marketplace(
                    tmp_path / "m.db",
                    rehearsal=True,
                    start=START,
                    balance_cents=100,
                    spend_at_most_cents=limit,
                )
            ) as running,
            closing(Market(running.endpoint_url, running.frames_url)) as market,
        ):
            lab = market.requester("LAB")
            assert lab.get_account_balance()["AvailableBalance"] == before
            if limit == 200:
                post(lab)
            assert lab.get_account_balance()["AvailableBalance"] == after


@pytest.mark.parametrize(
    ("reward", "assignments", "held"),
    [
        # fee = 20 %, half a cent up, at least 1 cent; 40 % from ten assignments
        ("0.01", 1, "0.02"),  # 0.2 cents -> 1
        ("0.02", 1, "0.03"),  # 0.4 -> 1
        ("0.08", 1, "0.10"),  # 1.6 -> 2
        ("0.55", 9, "5.94"),  # 11.0 -> 11; 9 x 0.66
        ("0.55", 10, "7.70"),  # 22.0 -> 22; 10 x 0.77
        ("0.23", 10, "3.20"),  # 9.2 -> 9; 10 x 0.32
        ("0.125", 1, None),  # no whole cents
        ("0.00", 1, "0.01"),  # the least fee
    ],
)
def test_fees_follow_the_price_list(
    standing: Market, reward: str, assignments: int, held: str | None
) -> None:
    """What is held for a HIT is its slots times reward and fee."""
    client = standing.requester()
    if held is None:
        with pytest.raises(ClientError) as caught:
            post(client, Reward=reward, MaxAssignments=assignments)
        assert refusal(caught.value)[0] == "ParameterValidationError"
        return
    post(client, Reward=reward, MaxAssignments=assignments)
    assert client.get_account_balance()["OnHoldBalance"] == held


@pytest.mark.parametrize(
    ("comparator", "assignments", "held"),
    [
        ("Exists", 1, "0.69"),  # 25 % of 0.55 = 13.75 -> 14
        ("Exists", 10, "8.00"),  # 45 % = 24.75 -> 25; 10 x 0.80
        ("DoesNotExist", 1, "0.66"),  # 20 %
    ],
)
def test_masters_cost_five_per_cent_more(
    standing: Market, comparator: str, assignments: int, held: str
) -> None:
    """Where they are required; also when a HIT is moved to such a type."""
    client = standing.requester()
    masters = [{"QualificationTypeId": MASTERS_PRODUCTION, "Comparator": comparator}]
    made = post(client, QualificationRequirements=masters, MaxAssignments=assignments)
    assert client.get_account_balance()["OnHoldBalance"] == held
    plain = post(client, MaxAssignments=assignments)
    client.update_hit_type_of_hit(HITId=plain["HITId"], HITTypeId=made["HITTypeId"])
    both = f"{2 * float(held):.2f}"
    assert client.get_account_balance()["OnHoldBalance"] == both


def test_what_cannot_be_paid_is_not_created(standing: Market) -> None:
    """InsufficientFunds leaves no HIT, no hold and no token behind."""
    client = standing.requester()
    # 9 x (1000 + 200) = 10,800 > 10,000
    with pytest.raises(ClientError) as caught:
        post(client, Reward="1000", MaxAssignments=9, UniqueRequestToken="once")
    assert refusal(caught.value)[:2] == ("RequestError", "InsufficientFunds")
    assert client.list_hits()["HITs"] == []
    assert client.get_account_balance()["OnHoldBalance"] == "0.00"
    made = post(client, Reward="1000", MaxAssignments=8, UniqueRequestToken="once")
    # 8 x 1,200 = 9,600; one more slot needs 1,200
    with pytest.raises(ClientError) as caught:
        client.create_additional_assignments_for_hit(
            HITId=made["HITId"], NumberOfAdditionalAssignments=1
        )
    assert refusal(caught.value)[1] == "InsufficientFunds"
    assert client.get_hit(HITId=made["HITId"])["HIT"]["MaxAssignments"] == 8


def test_reopening_an_expired_hit_needs_the_money_again(market: Market) -> None:
    """What expiry released may have been spent meanwhile."""
    client = market.requester()
    made = post(client, Reward="5000")  # holds 6,000
    expire(client, made["HITId"])
    post(client, Reward="4000")  # holds 4,800 of 10,000
    with pytest.raises(ClientError) as caught:
        expire(client, made["HITId"], market.now() + timedelta(days=1))
    assert refusal(caught.value)[1] == "InsufficientFunds"
    assert client.get_hit(HITId=made["HITId"])["HIT"]["HITStatus"] == "Reviewable"


def test_a_bonus_is_paid_to_the_worker_of_the_assignment(standing: Market) -> None:
    """Bonus and fee leave the balance; both lists show it; others get nothing."""
    client, ann, bob = standing.requester(), standing.worker(), standing.worker()
    made = post(client)
    assignment = ann.do(made["HITGroupId"])
    client.send_bonus(
        WorkerId=ann.worker_id,
        BonusAmount="1.03",
        AssignmentId=assignment,
        Reason="It was very good.",
    )
    # fee of 103 cents: 20.6 -> 21; held 0.66
    assert client.get_account_balance()["AvailableBalance"] == "9998.10"
    wheres: list[dict[str, Any]] = [{"AssignmentId": assignment}, {"HITId": made["HITId"]}]
    for where in wheres:
        paid = client.list_bonus_payments(**where)["BonusPayments"]
        assert [(bonus["WorkerId"], bonus["BonusAmount"], bonus["Reason"]) for bonus in paid] == [
            (ann.worker_id, "1.03", "It was very good.")
        ]
    with pytest.raises(ClientError) as caught:
        client.send_bonus(
            WorkerId=bob.worker_id,
            BonusAmount="1.00",
            AssignmentId=assignment,
            Reason="He did nothing.",
        )
    assert refusal(caught.value)[1] == "AssignmentDoesNotExist"
    page = ann.http.get("/worker/history", headers={"accept": "text/html"}).text
    assert "$1.03" in page


def test_a_bonus_needs_submitted_work_of_the_last_six_months(market: Market) -> None:
    """Not for work in hand, not for nothing, not after 183 days."""
    client, ann = market.requester(), market.worker()
    made = post(client)
    assignment = ann.accept(made["HITGroupId"]).json()["assignment_id"]
    bonus = {
        "WorkerId": ann.worker_id,
        "AssignmentId": assignment,
        "BonusAmount": "0.10",
        "Reason": "Good.",
    }
    with pytest.raises(ClientError) as caught:
        client.send_bonus(**bonus)
    assert refusal(caught.value)[1] == "AssignmentDoesNotExist"
    ann.submit(assignment)
    with pytest.raises(ClientError) as caught:
        client.send_bonus(**{**bonus, "BonusAmount": "0.00"})
    assert refusal(caught.value)[0] == "ParameterValidationError"
    client.send_bonus(**bonus)
    market.wait(days=184)
    with pytest.raises(ClientError) as caught:
        client.send_bonus(**bonus)
    assert refusal(caught.value)[1] == "InvalidAssignmentState"


def test_the_books_tell_what_was_paid(market: Market) -> None:
    """/rehearsal/books holds each assignment with what it cost."""
    client, ann = market.requester(), market.worker()
    made = post(client, MaxAssignments=2, RequesterAnnotation="key-1")
    assignment = ann.do(made["HITGroupId"])
    client.approve_assignment(AssignmentId=assignment)
    books = market.books()
    hit = next(row for row in books["hits"] if row["hit_id"] == made["HITId"])
    assert (hit["annotation"], hit["max_assignments"]) == ("key-1", 2)
    assert {
        "assignment_id": assignment,
        "hit_id": made["HITId"],
        "worker_id": ann.worker_id,
        "status": "Approved",
        "paid_cents": 55,
        "fee_cents": 11,
    } in books["assignments"]


def test_a_price_beyond_reason_is_refused_in_words(standing: Market) -> None:
    """A reward that no integer column could hold is the caller's fault, not ours."""
    client = standing.requester()
    with pytest.raises(ClientError) as caught:
        client.create_hit_type(
            AssignmentDurationInSeconds=60, Reward="9" * 400, Title="x", Description="y"
        )
    assert refusal(caught.value)[0] == "ParameterValidationError"
    with pytest.raises(ClientError) as caught:
        post(client, Reward="99999", MaxAssignments=1_000_000_000, Question=QUESTION)
    assert refusal(caught.value)[1] == "InsufficientFunds"
