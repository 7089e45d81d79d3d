"""A made-up link at Connect: its ids open no second visit and move no money."""

import re
import secrets
from collections.abc import Sequence
from typing import Any

import httpx
import pytest

from piecework.foundation.client.errors import Refused
from piecework.marketplace.state.outside_crowd import Arrival
from piecework.markets.connect.bridge.serving import ConnectRegister
from tests.markets.connect.town import Town, Visitor

BEGUN_ELSEWHERE = 409


def _forged(link: dict[str, str]) -> dict[str, str]:
    """The same person and project, with an assignment that Connect never made."""
    return link | {"assignmentId": secrets.token_hex(16), "agreed": "1"}


def _browser(town: Town) -> httpx.Client:
    http = httpx.Client(
        base_url=town.market.endpoint,
        headers={"accept": "application/json"},
        timeout=60,
        trust_env=False,
    )
    town.open.callback(http.close)
    return http


def _answer_all(http: httpx.Client) -> str:
    visit = http.get("/visit").json()
    while visit["stage"] == "Open":
        shown = visit["assignment"]["assignment_id"]
        form = {"assignmentId": shown, "caption": "Made up."}
        assert http.post("/mturk/externalSubmit", data=form).status_code == 200
        visit = http.get("/visit").json()
    return str(visit["code"])


def test_random_assignments_of_a_known_person_get_one_visit_and_no_pay(town: Town) -> None:
    """Four browsers, with work done in whichever was let in, and all of it approved."""
    hits = town.post(2, 8)
    town.settle()
    project, ann = town.project(), town.visitor()
    link = ann.begin(project)
    browsers = [_browser(town) for _ in range(4)]
    statuses = []
    for http in browsers:
        statuses.append(http.post("/visit/arrive", data=_forged(link)).status_code)
        if statuses[-1] == 201:
            assert _answer_all(http)
    assert statuses == [201, *[BEGUN_ELSEWHERE] * 3]
    for each in town.submitted(*hits):
        town.requester.approve_assignment(AssignmentId=each)
        town.requester.send_bonus(
            WorkerId=town.rows("SELECT worker_id FROM workers")[0]["worker_id"],
            AssignmentId=each,
            BonusAmount="0.50",
            Reason="Good.",
        )
    for _ in range(3):
        town.wait(hours=12)
        town.settle()
    accounts = town.connect.books()["accounts"]
    assert accounts["bonuses"] == accounts["payments"] == 0
    assert town.connect.calls().get("bonus", 0) == 0
    asked = town.rows("SELECT trouble FROM bonus_batches WHERE trouble <> ''")
    assert asked
    assert all("Connect never showed" in row["trouble"] for row in asked)


def test_arrivals_of_a_known_person_cost_few_calls(town: Town) -> None:
    """Two hundred of them, with assignments that are made up."""
    town.post(2, 8)
    town.settle()
    project, ann = town.project(), town.visitor()
    link = ann.begin(project)
    eve = _browser(town)
    before = sum(town.connect.calls().values())
    statuses = {eve.post("/visit/arrive", data=_forged(link)).status_code for _ in range(8)}
    assert statuses == {201}  # one browser goes on with its one visit
    others = {
        _browser(town).post("/visit/arrive", data=_forged(link)).status_code for _ in range(2)
    }
    assert others == {BEGUN_ELSEWHERE}
    assert len(town.rows("SELECT 1 FROM visits")) == 1
    # Three look-ups of this person, then lists: three calls each.
    assert sum(town.connect.calls().values()) - before <= 3 * 10


def test_who_was_forestalled_continues_by_a_message_at_connect_and_is_paid(town: Town) -> None:
    """Somebody came first with the participant's id."""
    hits = town.post(2)
    town.settle()
    project, ann = town.project(), town.visitor()
    link = ann.begin(project)
    eve = _browser(town)
    assert eve.post("/visit/arrive", data=_forged(link)).status_code == 201
    assert ann.http.post("/visit/arrive", data=link | {"agreed": "1"}).is_client_error
    assert ann.http.post("/visit/continue/ask", data=link).status_code == 202
    town.settle()
    [message] = town.connect.messages(ann.participant_id)
    key = re.search(r"/visit/continue\?key=([\w-]+)", str(message))
    assert key is not None
    moved = ann.http.post("/visit/continue", data={"key": key[1]})
    assert moved.status_code == 201, moved.text
    assert eve.get("/visit").status_code == 401
    visit = ann.visit()
    while visit["stage"] == "Open":
        visit = ann.answer()
    ann.enter(str(visit["code"]))
    for each in town.submitted(*hits):
        town.requester.approve_assignment(AssignmentId=each)
    town.settle()
    assert town.status_of(ann.assignment_id)["status"] == "Approved"
    town.check_books()


class _Account:
    """Refuses each call with an id that is none, as a service may do."""

    def __init__(self) -> None:
        self.account = self.assignments = self.projects = self
        self.in_progress, self.calls = 1, 0

    def of_project(self, _: str) -> tuple[()]:
        return ()

    def statistics(self, _: str) -> "_Account":
        return self

    def valid_participants(self, people: Sequence[str]) -> dict[str, bool]:
        self.calls += 1
        if any(person.startswith("bad") for person in people):
            raise Refused("not an id", status=400)
        return {person: not person.startswith("made") for person in people}


def test_an_id_that_breaks_a_call_keeps_nobody_else_out() -> None:
    """The call about all who wait is divided until only the id is refused."""
    account: Any = _Account()
    people = [*(f"honest{number:03}" for number in range(150)), "bad", "made-up"]
    waiting = [
        Arrival(participant_id=person, study_id="p", submission_id=f"of {person}")
        for person in people
    ]
    listed = ConnectRegister(account).listed("p", waiting)
    let_in = [each for each in waiting if listed.place_of(each) is not None]
    assert [each.participant_id for each in let_in] == people[:150]
    assert account.calls <= 20


@pytest.mark.parametrize("is_first", [True, False])
def test_the_assignment_of_another_person_takes_nothing_from_them(
    town: Town, *, is_first: bool
) -> None:
    """Somebody comes with it and an id of their own, before or after its owner."""
    hits = town.post(4)
    town.settle()
    project, bob, ann = town.project(), town.visitor(), town.visitor()
    link, eve = bob.begin(project), _browser(town)
    forged = link | {"participantId": ann.participant_id, "agreed": "1"}
    for each in (True, False):
        if each is is_first:
            assert eve.post("/visit/arrive", data=forged).status_code == 201
        else:
            came = bob.http.post("/visit/arrive", data=link | {"agreed": "1"})
            assert came.status_code == 201
    assert _answer_all(eve)
    visit = bob.visit()
    while visit["stage"] == "Open":
        visit = bob.answer()
    bob.enter(str(visit["code"]))
    town.settle()
    for assignment_id in town.submitted(*hits):
        town.requester.approve_assignment(AssignmentId=assignment_id)
    for _ in range(3):
        town.settle()
        town.wait(hours=12)
    assert town.status_of(bob.assignment_id)["status"] == "Approved"
    accounts = town.connect.books()["accounts"]
    assert (accounts["payments"], accounts["bonuses"]) == (110, 0)


def _elsewhere(town: Town, person: Visitor) -> dict[str, str]:
    """A link with a person's id to another project than the one where they work."""
    busy = town.rows("SELECT study_id FROM studies JOIN visits ON study = studies.id")
    known = {row["study_id"] for row in busy}
    [other] = [
        each["projectId"]
        for each in town.projects()
        if each["status"] == "Live" and each["projectId"] not in known
    ]
    town.visitor().begin(other)  # somebody is at work there
    link = {"participantId": person.participant_id, "projectId": other}
    return _forged(link)


def test_a_session_opens_only_the_visit_that_it_began(town: Town) -> None:
    """A made-up arrival in another project does not see or end a person's work."""
    town.post(2)
    town.settle()
    ann, eve = town.visitor(), _browser(town)
    assert ann.arrive(town.project()).status_code == 201
    town.post(2, Title="Another")
    town.settle()
    begun = ann.visit()
    assert eve.post("/visit/arrive", data=_elsewhere(town, ann)).status_code == 201
    assert ann.visit() == begun
    history = eve.get("/worker/history", follow_redirects=False)
    assert history.status_code == 303
    assert eve.post("/visit/leave").status_code == 200
    assert ann.visit() == begun


def test_a_link_to_another_project_keeps_no_assignment_from_being_paid(town: Town) -> None:
    """It names a finished assignment, whose participant came without the id in a link."""
    hits = town.post(2)
    town.settle()
    project, bob, eve = town.project(), town.visitor(), _browser(town)
    code = bob.do_all(project)
    with town.bridge.backend.transaction() as transaction:
        # The id in a link may be another than the API's.
        transaction.execute("UPDATE visits SET submission_id = 'of-the-link'")
    town.post(2, Title="Another")
    town.settle()
    forged = _elsewhere(town, town.visitor()) | {"assignmentId": bob.assignment_id}
    assert eve.post("/visit/arrive", data=forged).status_code == 201
    bob.enter(code)
    town.settle()
    for each in town.submitted(*hits):
        town.requester.approve_assignment(AssignmentId=each)
    town.settle()
    assert town.status_of(bob.assignment_id)["status"] == "Approved"
