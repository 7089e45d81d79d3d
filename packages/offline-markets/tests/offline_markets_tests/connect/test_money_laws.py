"""Money is neither created nor lost, whatever requesters and participants do.

A plain model keeps each project's places and each assignment's status, and says from
them what must be held and what was paid; the emulator has to agree after every step.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from offline_markets.connect import account, assignments, books, money, projects, taking
from offline_markets.connect.assignment import catch_up
from offline_markets.connect.call import Call
from offline_markets.connect.options import Options, Switches
from offline_markets.connect.state import State
from offline_markets.core import clock
from offline_markets.core.errors import ApiError
from offline_markets_tests.connect.requester import PROJECT, START
from tests.examples import examples

OPENING = 2_000
PEOPLE = 6
MOST_PROJECTS = 2
"""Few, so that they come to their ends."""
# Payment and what it costs with a fee of 25 %, by hand:
# 150: 37.5 > 38.  100: 25.  26: 6.5 > 7.  25: 6.25 > 6.
COSTS = {150: 188, 100: 125, 26: 33, 25: 31}
DAY = 24 * 60
DONE = ("Pending", "Approved", "Rejected")


@dataclass
class Work:
    """One assignment."""

    assignment_id: str
    person: int
    status: str
    due: int


@dataclass
class Posted:
    """One project."""

    project_id: str
    payment: int
    places: int
    rejected_fill: tuple[str, ...]
    status: str = "Unpublished"
    work: list[Work] = field(default_factory=list)

    def number(self, *statuses: str) -> int:
        """How many assignments have one of these."""
        return sum(work.status in statuses for work in self.work)

    def filled(self) -> int:
        """How many places have completed work in them."""
        return self.number("Pending", "Approved", *self.rejected_fill)

    def held(self) -> int:
        """What must be held."""
        undecided = self.number("InProgress", "Pending")
        if self.status in ("Live", "Paused"):
            undecided += max(0, self.free())
        return COSTS[self.payment] * undecided

    def free(self) -> int:
        """How many places are free."""
        return self.places - self.filled() - self.number("InProgress")

    def follow(self) -> None:
        """The status that the assignments ask for."""
        if self.status in ("Live", "Paused") and self.filled() >= self.places:
            self.status = "Completed"


class MoneyLaws(RuleBasedStateMachine):
    """A requester with 20 dollars, and six participants who do anything."""

    rejected_fill: tuple[str, ...] = ("Rejected",)

    def __init__(self) -> None:
        super().__init__()
        self.state = State(Options(start=START))
        self.posted: list[Posted] = []
        self.bonuses = self.deposits = self.now = 0
        with self.state.transaction():
            money.open_account(self.state, OPENING)
            account.draw(self.state, PEOPLE)
            opens = Switches(rejection_opens_place=not self.rejected_fill)
            self.state.set_switches(opens)
        rows = self.state.rows("SELECT id FROM participant ORDER BY number")
        self.people = [row["id"] for row in rows]

    def teardown(self) -> None:
        """Let go of the memory."""
        self.state.close()

    def call(self, handler: Any, body: dict[str, Any], **path: str) -> Any:  # noqa: ANN401 - JSON
        """One call, as the server makes it."""
        with self.state.transaction():
            catch_up(self.state)
        with self.state.transaction():
            return handler(Call(state=self.state, path=path, body=body))

    def is_refused(self, handler: Any, body: dict[str, Any], **path: str) -> bool:  # noqa: ANN401 - any handler
        """Whether the call is refused."""
        try:
            self.call(handler, body, **path)
        except ApiError as refusal:
            return refusal.status == 400
        return False

    @precondition(lambda self: len(self.recruiting()) < MOST_PROJECTS)
    @rule(payment=st.sampled_from(list(COSTS)), places=st.integers(1, 3))
    def post(self, payment: int, places: int) -> None:
        """Let a project go live, if the money is there."""
        body = {
            **PROJECT,
            "payment": payment / 100,
            "estimatedTimeInMinutes": 2,
            "participants": places,
        }
        project_id = self.call(projects.create, body)["project"]["projectId"]
        posted = Posted(project_id, payment, places, self.rejected_fill)
        is_short = COSTS[payment] * places > self.available()
        live = {"status": "Live"}
        refused = self.is_refused(projects.update_status, live, project_id=project_id)
        assert refused == is_short
        if not is_short:
            posted.status = "Live"
            self.posted.append(posted)

    @precondition(lambda self: self.recruiting())
    @rule(data=st.data(), status=st.sampled_from(["Paused", "Live", "Live", "Closed", "Archived"]))
    def move(self, data: st.DataObject, status: str) -> None:
        """Pause, resume or close."""
        posted = data.draw(st.sampled_from(self.recruiting()))
        is_possible = (posted.status, status) in (
            ("Live", "Paused"),
            ("Paused", "Live"),
            ("Paused", "Closed"),
        )
        body = {"status": status}
        path = {"project_id": posted.project_id}
        refused = self.is_refused(projects.update_status, body, **path)
        assert refused != is_possible
        if is_possible:
            posted.status = status

    @precondition(lambda self: self.recruiting())
    @rule(data=st.data(), more=st.integers(-1, 2))
    def change_places(self, data: st.DataObject, more: int) -> None:
        """More places need the money; fewer are refused."""
        posted = data.draw(st.sampled_from(self.recruiting()))
        is_possible = 0 <= more * COSTS[posted.payment] <= self.available()
        body = {"participants": posted.places + more}
        path = {"project_id": posted.project_id}
        assert self.is_refused(projects.edit, body, **path) != is_possible
        if is_possible:
            posted.places += more

    @precondition(lambda self: self.open_to_somebody())
    @rule(
        data=st.data(),
        endings=st.sampled_from(
            [*([], ["Returned"], ["Pending"]), *(["Pending", "Approved"], ["Pending", "Rejected"])]
        ),
    )
    def work(self, data: st.DataObject, endings: list[str]) -> None:
        """Begin, and perhaps complete or return at once, and be decided."""
        posted, person = data.draw(st.sampled_from(self.open_to_somebody()))
        began = self.call(taking.arrive, {}, **self.where(posted, person))
        work = Work(began["assignmentId"], person, "InProgress", self.now + 30)
        posted.work.append(work)
        for ending in endings:
            if ending in ("Approved", "Rejected"):
                way = assignments.approve if ending == "Approved" else assignments.reject
                named = {"id": work.assignment_id, "message": "m"}
                body = {"participants": [named]}
                self.call(way, body, project_id=posted.project_id)
                work.status = ending
                posted.follow()
            else:
                self._finish(posted, work, ending)

    @precondition(lambda self: self.posted)
    @rule(data=st.data(), person=st.integers(0, PEOPLE - 1))
    def arrive(self, data: st.DataObject, person: int) -> None:
        """Who is at work comes back; where there is no place, nobody begins."""
        posted = data.draw(st.sampled_from(self.posted))
        mine = [work for work in posted.work if work.person == person]
        where = self.where(posted, person)
        if any(work.status == "InProgress" for work in mine):
            came_back = self.call(taking.arrive, {}, **where)
            assert came_back["assignmentId"] == mine[0].assignment_id
        elif (posted, person) not in self.open_to_somebody():
            assert self.is_refused(taking.arrive, {}, **where)

    @precondition(lambda self: self.some("InProgress", *DONE))
    @rule(data=st.data(), ending=st.sampled_from(["Pending", "Returned"]))
    def finish(self, data: st.DataObject, ending: str) -> None:
        """Complete or return what is in progress; nothing else."""
        posted, work = data.draw(st.sampled_from(self.some("InProgress", *DONE)))
        if work.status == "InProgress":
            self._finish(posted, work, ending)
            return
        handler = taking.complete if ending == "Pending" else taking.give_back
        assert self.is_refused(handler, {}, assignment_id=work.assignment_id)

    @precondition(lambda self: self.some(*DONE))
    @rule(
        data=st.data(),
        handler=st.sampled_from(
            [assignments.approve, assignments.reject, assignments.reverse_reject]
        ),
    )
    def decide(self, data: st.DataObject, handler: Any) -> None:  # noqa: ANN401 - any handler
        """Approve, reject, take a rejection back."""
        posted, work = data.draw(st.sampled_from(self.some(*DONE)))
        is_reverse = handler is assignments.reverse_reject
        is_possible = work.status == ("Rejected" if is_reverse else "Pending")
        if is_reverse:
            is_possible = is_possible and COSTS[posted.payment] <= self.available()
        either_id = data.draw(st.sampled_from([work.assignment_id, self.people[work.person]]))
        body = {"participants": [{"id": either_id, "message": "m"}]}
        refused = self.is_refused(handler, body, project_id=posted.project_id)
        assert refused != is_possible
        if is_possible:
            work.status = "Rejected" if handler is assignments.reject else "Approved"
            posted.follow()

    @precondition(lambda self: self.posted)
    @rule(data=st.data())
    def approve_all(self, data: st.DataObject) -> None:
        """Approve what is pending."""
        posted = data.draw(st.sampled_from(self.posted))
        self.call(assignments.approve_all, {}, project_id=posted.project_id)
        for work in posted.work:
            if work.status == "Pending":
                work.status = "Approved"

    @precondition(lambda self: self.some(*DONE))
    @rule(data=st.data(), amounts=st.lists(st.sampled_from(list(COSTS)), min_size=1))
    def bonus(self, data: st.DataObject, amounts: list[int]) -> None:
        """Pay bonuses to one person: all or none."""
        posted, work = data.draw(st.sampled_from(self.some(*DONE)))
        lines = [
            {"id": work.assignment_id, "message": "m", "amount": amount / 100} for amount in amounts
        ]
        cost = sum(COSTS[amount] for amount in amounts)
        is_short = cost > self.available()
        body = {"bonusPayment": lines}
        path = {"project_id": posted.project_id}
        assert self.is_refused(assignments.pay_bonuses, body, **path) == is_short
        self.bonuses += 0 if is_short else cost

    @rule(cents=st.integers(1, 300))
    def fund(self, cents: int) -> None:
        """Pay money in."""
        self.call(account.fund, {"amount": cents / 100})
        self.deposits += cents

    @rule(minutes=st.sampled_from([1, 29, 60, 14 * DAY - 30, 14 * DAY]))
    def wait(self, minutes: int) -> None:
        """Let time pass: some are too slow, silence approves."""
        self.now += minutes
        with self.state.transaction():
            moment = START + timedelta(minutes=self.now)
            self.state.move_clock(clock.to_ms(moment))
            catch_up(self.state)
        for status, becomes in (("InProgress", "TimedOut"), ("Pending", "Approved")):
            for _, work in self.some(status):
                if work.due <= self.now:
                    work.status = becomes

    @invariant()
    def the_model_agrees(self) -> None:
        """Available, held and each status are what the model says."""
        with self.state.transaction():
            catch_up(self.state)
            all_books = books.read(Call(state=self.state))
        assert all_books["brokenLaws"] == []
        accounts = all_books["accounts"]
        assert accounts["available"] == self.available()
        assert accounts["held"] == sum(posted.held() for posted in self.posted)
        statuses = {own["assignmentId"]: own["status"] for own in all_books["assignments"]}
        assert statuses == {
            work.assignment_id: work.status for posted in self.posted for work in posted.work
        }
        now = {each["projectId"]: each["status"] for each in all_books["projects"]}
        for posted in self.posted:
            assert now[posted.project_id] == posted.status

    def some(self, *statuses: str) -> list[tuple[Posted, Work]]:
        """Assignments in these statuses, with their projects."""
        return [
            (posted, work)
            for posted in self.posted
            for work in posted.work
            if work.status in statuses
        ]

    def open_to_somebody(self) -> list[tuple[Posted, int]]:
        """Projects and participants who can begin there."""
        return [
            (posted, person)
            for posted in self.posted
            for person in range(PEOPLE)
            if posted.status == "Live"
            and posted.free() > 0
            and all(work.person != person for work in posted.work)
        ]

    def where(self, posted: Posted, person: int) -> dict[str, str]:
        """The variable parts of an address."""
        return {"participant_id": self.people[person], "project_id": posted.project_id}

    def recruiting(self) -> list[Posted]:
        """Projects that are live or paused."""
        return [posted for posted in self.posted if posted.status in ("Live", "Paused")]

    def available(self) -> int:
        """What is left of what was paid in."""
        paid = sum(posted.number("Approved") * COSTS[posted.payment] for posted in self.posted)
        held = sum(posted.held() for posted in self.posted)
        return OPENING + self.deposits - paid - held - self.bonuses

    def _finish(self, posted: Posted, work: Work, ending: str) -> None:
        handler = taking.complete if ending == "Pending" else taking.give_back
        self.call(handler, {}, assignment_id=work.assignment_id)
        work.status, work.due = ending, self.now + 14 * DAY
        posted.follow()


class MoneyLawsWithOpenedPlaces(MoneyLaws):
    """The same, where rejected work leaves its place to another participant."""

    rejected_fill = ()


_SETTINGS = examples(30)
TestMoneyLaws = MoneyLaws.TestCase
TestMoneyLaws.settings = _SETTINGS
TestMoneyLawsWithOpenedPlaces = MoneyLawsWithOpenedPlaces.TestCase
TestMoneyLawsWithOpenedPlaces.settings = _SETTINGS
