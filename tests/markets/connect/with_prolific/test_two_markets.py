"""A program that speaks only MTurk posts to two markets by a requirement."""

from decimal import Decimal
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from piecework.marketplace.state.money import MTURK
from piecework.marketplace.state.outside_crowd import OutsideMarket, claim
from piecework.marketplace.state.storage import WrongDatabaseError
from tests.conftest import in_full
from tests.markets.connect.with_prolific.place import CONNECT, PROLIFIC, Place, a_place, crowd


def _balance(place: Place) -> Decimal:
    return Decimal(place.requester.get_account_balance()["AvailableBalance"])


def test_each_market_recruits_for_the_hits_that_name_it(place: Place) -> None:
    """HITs that name no market are for the first that was served."""
    place.post(crowd(PROLIFIC), Title="For Prolific")
    place.post(crowd(CONNECT), Title="For Connect")
    place.post(Title="For either")
    place.settle()
    assert set(place.studies()) == {"For Prolific", "For either"}
    assert set(place.projects()) == {"For Connect"}


def test_hits_cost_what_their_market_charges(place: Place) -> None:
    """The fee is held when they are posted, and booked when they are approved."""
    prices = {
        market["name"]: market["prices"]
        for market in place.rows("SELECT name, prices FROM outside_markets")
    }
    assert len(set(prices.values())) == 2
    costs = []
    for named in (PROLIFIC, CONNECT):
        before = _balance(place)
        place.post(crowd(named), hits=1, Reward="1.00", Title=named)
        costs.append(before - _balance(place))
    assert len(set(costs)) == 2
    assert costs[1] == Decimal("1.25")


@pytest.mark.parametrize("seed", in_full(0, *range(1, 12)))
def test_three_ledgers_agree_whichever_bridge_goes_first(place: Place, seed: int) -> None:
    """People from both work, are approved, rejected and get bonuses."""
    # The requester decides before the marketplace does.
    late = {"hits": 4, "AutoApprovalDelayInSeconds": 10 * 86_400}
    hits = [
        *place.post(crowd(PROLIFIC), Title="For Prolific", **late),
        *place.post(crowd(CONNECT), Title="For Connect", **late),
    ]
    place.settle(seed)
    for _ in range(2):
        study, project = (place.studies()["For Prolific"], place.projects()["For Connect"])
        place.person_from_prolific().work(study)
        place.person_from_connect().work(project)
    place.wait(hours=2)
    place.settle(seed)
    done = place.submitted(*hits)
    assert len(done) == 8
    for number, each in enumerate(done):
        place.requester.approve_assignment(AssignmentId=each["AssignmentId"])
        if number % 2:
            place.requester.send_bonus(
                WorkerId=each["WorkerId"],
                AssignmentId=each["AssignmentId"],
                BonusAmount="0.37",
                Reason="careful",
                UniqueRequestToken=f"bonus-{number}",
            )
    place.settle(seed)
    for _ in range(3):
        place.wait(days=1)
        place.settle(seed)
    at_prolific, at_connect = place.taken()
    assert at_prolific > 8 * 37 / 4 < at_connect
    assert place.spent() == at_prolific + at_connect
    assert place.rows("SELECT 1 FROM bonus_batches WHERE stage <> 'Paid'") == []
    assert place.rows("SELECT 1 FROM visits WHERE outcome IS NULL") == []


def test_a_link_opens_only_the_studies_of_its_own_market(place: Place) -> None:
    """Somebody puts the id of Connect's project into a link of Prolific's."""
    place.post(crowd(PROLIFIC), Title="For Prolific")
    place.post(crowd(CONNECT), Title="For Connect")
    place.settle()
    ann, bob = place.person_from_prolific(), place.person_from_connect()
    project, study = place.projects()["For Connect"], place.studies()["For Prolific"]
    foreign = ann.arrive(study, STUDY_ID=project)
    assert foreign.status_code in (400, 404)
    foreign = bob.arrive(project, projectId=study)
    assert foreign.status_code in (400, 404)
    assert place.rows("SELECT 1 FROM visits") == []


@pytest.mark.parametrize("is_first", [True, False])
def test_an_id_of_one_market_touches_no_visit_of_another(place: Place, *, is_first: bool) -> None:
    """A link of Connect's names a submission at Prolific, before or after its owner comes."""
    hits = place.post(crowd(PROLIFIC), Title="For Prolific")
    place.post(crowd(CONNECT), Title="For Connect")
    place.settle()
    ann, eve = place.person_from_prolific(), place.person_from_connect()
    study, project = place.studies()["For Prolific"], place.projects()["For Connect"]
    link = {**ann.open(study), "agreed": "1"}
    for is_forged in (True, False):
        if is_forged is is_first:
            assert eve.arrive(project, assignmentId=ann.submission_id).status_code == 201
        else:
            assert ann.http.post("/visit/arrive", data=link).status_code == 201
    visit = ann.visit()
    while visit["stage"] == "Open":
        visit = ann.answer()
    ann.complete(ann.submission_id, visit["code"])
    place.settle()
    done = place.submitted(*hits)
    for each in done:
        place.requester.approve_assignment(AssignmentId=each["AssignmentId"])
    place.requester.send_bonus(
        WorkerId=done[0]["WorkerId"],
        AssignmentId=done[0]["AssignmentId"],
        BonusAmount="0.50",
        Reason="careful",
    )
    for _ in range(2):
        place.settle()
        place.wait(hours=12)
    paid = place.researcher.submission(ann.submission_id)
    assert (paid["status"], paid["bonus_payments"]) == ("APPROVED", [50])


def test_a_person_is_not_offered_hits_of_another_market(place: Place) -> None:
    """Not even by a program that takes HITs with a visitor's session."""
    place.post(crowd(PROLIFIC), Title="For Prolific")
    [hit, *_] = place.post(crowd(CONNECT), Title="For Connect")
    place.settle()
    ann = place.person_from_prolific()
    assert ann.arrive(place.studies()["For Prolific"]).status_code == 201
    assert ann.http.post(f"/worker/hits/{hit}/accept").status_code in (403, 404)


@pytest.mark.parametrize(
    ("requirements", "sentence"),
    [
        ((crowd(PROLIFIC), crowd(CONNECT)), "are of different markets"),
        ((crowd(CONNECT), crowd("PROLIFICAGE")), "are of different markets"),
        ((crowd("CROWDPANEL"),), "CROWDPANEL does not exist"),
    ],
)
def test_what_no_market_can_do_is_refused_at_once(
    place: Place, requirements: tuple[dict[str, str], ...], sentence: str
) -> None:
    """Before a HIT is posted."""
    with pytest.raises(ClientError, match=sentence):
        place.post(*requirements)
    assert place.rows("SELECT 1 FROM hit_types") == []


def test_a_filter_names_its_market(place: Place) -> None:
    """A program from before need not name the crowd beside it."""
    place.post(
        {
            "QualificationTypeId": "PROLIFICAGE",
            "Comparator": "GreaterThanOrEqualTo",
            "IntegerValues": [30],
        }
    )
    assert place.rows("SELECT market FROM hit_types") == [{"market": "prolific"}]


def test_a_market_without_funds_does_not_stop_the_other(tmp_path: Path) -> None:
    """Connect's account is empty; Prolific recruits, and the status says why."""
    with a_place(tmp_path, connect_balance=10) as place:
        place.post(crowd(PROLIFIC), Title="For Prolific")
        place.post(crowd(CONNECT), Title="For Connect")
        place.settle()
        assert set(place.studies()) == {"For Prolific"}
        assert place.projects() == {}
        [row] = place.rows("SELECT trouble FROM studies WHERE market = 'connect'")
        assert row["trouble"]
        place.person_from_prolific().work(place.studies()["For Prolific"])


def test_a_program_learns_what_each_market_charges(place: Place) -> None:
    """A type for each crowd is found by its name, too."""
    shown = place.requester.get_qualification_type(QualificationTypeId=CONNECT)
    assert shown["QualificationType"]["Name"] == "People from Connect"
    listed = place.requester.list_qualification_types(Query="People from", MustBeRequestable=False)
    assert {each["QualificationTypeId"] for each in listed["QualificationTypes"]} == {
        PROLIFIC,
        CONNECT,
    }


def test_a_market_that_was_served_is_served_again(place: Place) -> None:
    """Its people wait for their pay."""
    backend = place.prolific_bridge.backend
    again = OutsideMarket(name="prolific", title="Prolific", prices=MTURK)
    with (
        pytest.raises(WrongDatabaseError, match="--crowd connect too"),
        backend.transaction() as transaction,
    ):
        claim(transaction, again)
