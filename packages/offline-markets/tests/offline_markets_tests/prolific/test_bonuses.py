"""Bonuses: set up, priced, paid; paid again by a second call."""

import pytest

from offline_markets_tests.prolific.people import UNIT, Refused, Researcher
from offline_markets_tests.prolific.test_studies import BALANCE

# 1.50 pounds cost 150 + 50 (49.5) + 10; 0.03 cost 3 + 1 (0.99) + 0 (0.2).
BIG, SMALL = 210, 4


def _batch(researcher: Researcher, study_id: str, *lines: str) -> dict[str, object]:
    made: dict[str, object] = researcher.post(
        "/submissions/bonus-payments/", study_id=study_id, csv_bonuses="\n".join(lines) + "\n"
    )
    return made


def _pay(researcher: Researcher, batch: dict[str, object]) -> None:
    assert researcher.post(f"/bulk-bonus-payments/{batch['id']}/pay/")


def test_a_batch_is_priced_and_pays_nothing_yet(researcher: Researcher) -> None:
    """Lines are in pounds, the answer is in pence, with fee and tax."""
    study_id, someone = researcher.study(), researcher.participant()
    submission_id = someone.do(study_id)
    batch = _batch(researcher, study_id, f"{submission_id},1.50", f"{someone.participant_id},0.03")
    del batch["id"]
    assert batch == {
        "study": study_id,
        "amount": 153,
        "fees": 51,
        "vat": 10,
        "total_amount": BIG + SMALL,
    }
    assert researcher.balance() == (BALANCE - 3 * UNIT, 3 * UNIT)
    assert researcher.submission(submission_id)["bonus_payments"] == []


def test_paying_comes_a_little_later(researcher: Researcher) -> None:
    """The submission then shows what it was paid, in pence."""
    researcher.control("PUT", "/switches", {"settling_seconds": 60})
    study_id, someone = researcher.study(), researcher.participant()
    submission_id = someone.do(study_id)
    _pay(researcher, _batch(researcher, study_id, f"{someone.participant_id},1.5"))
    researcher.wait(seconds=59)
    assert researcher.submission(submission_id)["bonus_payments"] == []
    researcher.wait(seconds=1)
    assert researcher.submission(submission_id)["bonus_payments"] == [150]
    assert researcher.balance() == (BALANCE - 3 * UNIT - BIG, 3 * UNIT)
    cost = researcher.get(f"/studies/{study_id}/cost/")["bonuses"]
    assert [part["amount"] for part in cost.values()] == [150, 50, 10]


def test_a_second_call_pays_again(researcher: Researcher) -> None:
    """As Prolific warns; the books show both payments of the one batch."""
    study_id, someone = researcher.study(), researcher.participant()
    submission_id = someone.do(study_id)
    batch = _batch(researcher, study_id, f"{submission_id},1.50")
    _pay(researcher, batch)
    _pay(researcher, batch)
    assert researcher.submission(submission_id)["bonus_payments"] == [150, 150]
    books = researcher.books()
    assert [(paid["batch"], paid["pay_call"]) for paid in books["bonus_payments"]] == [
        (batch["id"], 1),
        (batch["id"], 2),
    ]
    assert books["participants"][someone.participant_id]["bonuses"] == 300
    assert books["bonus_batches"][0]["pay_calls"] == 2


@pytest.mark.parametrize(
    "line", ["{},", "{}", "{},0", "{},-1", "{},1.005", "{},much", "{},NaN", "{},1e9"]
)
def test_an_amount_has_two_decimals_and_is_above_0(researcher: Researcher, line: str) -> None:
    """Anything else is refused, with its line."""
    study_id, someone = researcher.study(), researcher.participant()
    submission_id = someone.do(study_id)
    with pytest.raises(Refused) as caught:
        _batch(researcher, study_id, line.format(submission_id))
    assert submission_id in str(caught.value.detail)


def test_who_did_not_take_part_gets_no_bonus(researcher: Researcher) -> None:
    """Each of them is named, and no batch is made."""
    study_id, someone = researcher.study(), researcher.participant()
    submission_id = someone.do(study_id)
    strangers = [researcher.participant().participant_id for _ in range(2)]
    with pytest.raises(Refused) as caught:
        _batch(researcher, study_id, *(f"{who},1" for who in [*strangers, submission_id]))
    assert all(who in str(caught.value.detail) for who in strangers)
    assert submission_id not in str(caught.value.detail)
    assert researcher.books()["bonus_batches"] == []
    with pytest.raises(Refused):
        _batch(researcher, study_id)


def test_a_bonus_beyond_the_balance_is_refused(researcher: Researcher) -> None:
    """What other calls are about to pay counts, too: 5,000 cost 6,980 of 9,993.70."""
    study_id, someone = researcher.study(), researcher.participant()
    submission_id = someone.do(study_id)
    batch = _batch(researcher, study_id, f"{submission_id},5000")
    assert batch["total_amount"] == 698_000
    researcher.control("PUT", "/switches", {"settling_seconds": 60})
    _pay(researcher, batch)
    with pytest.raises(Refused) as caught:
        _pay(researcher, batch)
    assert caught.value.status == 400
    researcher.wait(minutes=1)
    assert researcher.submission(submission_id)["bonus_payments"] == [500_000]
    researcher.books()


def test_a_batch_that_is_not_there_is_not_paid(researcher: Researcher) -> None:
    """404."""
    with pytest.raises(Refused) as caught:
        _pay(researcher, {"id": "0" * 24})
    assert caught.value.status == 404
