"""Money is neither created nor lost, whatever researchers and participants do.

A plain model keeps each study's places and each submission's status, and says from them
what must be held and what was paid; the emulator has to agree after every step.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from offline_markets.core import clock
from offline_markets.core.errors import ApiError
from offline_markets.prolific import bonuses as bonus_calls
from offline_markets.prolific import books, participants, studies, submissions, taking
from offline_markets.prolific.call import Call
from offline_markets.prolific.due import catch_up
from offline_markets.prolific.options import Options
from offline_markets.prolific.state import State
from offline_markets.prolific.workspaces import make_account
from offline_markets_tests.prolific.people import CODE, START, STUDY
from offline_markets_tests.prolific.test_studies import REJECTION
from tests.examples import examples

OPENING = 3_000
PEOPLE = 6
MOST_STUDIES = 2
"""Few, so that one of them comes to its end."""
# Reward and what it costs with 33 % fee and 20 % tax of that, by hand:
# 150: 49.5 > 50, 10.  100: 33, 6.6 > 7.  7: 2.31 > 2, 0.4 > 0.  1: 0.33 > 0, 0.
COSTS = {150: 210, 100: 140, 7: 9, 1: 1}
UNDECIDED = ("ACTIVE", "AWAITING REVIEW")


@dataclass
class Work:
    """One submission."""

    submission_id: str
    person: int
    status: str
    due: int


@dataclass
class Posted:
    """One study."""

    study_id: str
    reward: int
    places: int
    status: str = "UNPUBLISHED"
    work: list[Work] = field(default_factory=list)

    def number(self, *statuses: str) -> int:
        """How many submissions have one of these."""
        return sum(work.status in statuses for work in self.work)

    def held(self) -> int:
        """What must be held."""
        each, undecided = COSTS[self.reward], self.number(*UNDECIDED)
        if self.status in ("ACTIVE", "PAUSED"):
            return each * max(self.places - self.number("APPROVED"), undecided)
        return each * undecided

    def free(self) -> int:
        """How many places are free."""
        return self.places - self.number(*UNDECIDED, "APPROVED")

    def follow(self) -> None:
        """The status that the submissions ask for."""
        if self.status == "ACTIVE" and not self.number("ACTIVE") and self.free() <= 0:
            self.status = "AWAITING REVIEW"
        if self.status == "AWAITING REVIEW" and not self.number(*UNDECIDED):
            self.status = "COMPLETED"


class MoneyLaws(RuleBasedStateMachine):
    """A researcher with 30 pounds, and six participants who do anything."""

    def __init__(self) -> None:
        super().__init__()
        self.state = State(Options(start=START))
        self.posted: list[Posted] = []
        self.bonuses = 0
        self.now = 0
        with self.state.transaction():
            make_account(self.state, OPENING)
            participants.draw(self.state, PEOPLE)
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

    @precondition(lambda self: len(self.living()) < MOST_STUDIES)
    @rule(reward=st.sampled_from(list(COSTS)), places=st.integers(1, 3))
    def post(self, reward: int, places: int) -> None:
        """Publish a study, if the money is there."""
        body = {**STUDY, "reward": reward, "total_available_places": places}
        study_id = self.call(studies.create, body)["id"]
        posted = Posted(study_id, reward, places)
        is_short = COSTS[reward] * places > self.available()
        move = {"action": "PUBLISH"}
        assert self.is_refused(studies.transition, move, id=study_id) == is_short
        if not is_short:
            posted.status = "ACTIVE"
            self.posted.append(posted)

    @precondition(lambda self: self.living())
    @rule(data=st.data(), action=st.sampled_from(["PAUSE", "START", "START", "START", "STOP"]))
    def move(self, data: st.DataObject, action: str) -> None:
        """Pause, start or stop."""
        posted = data.draw(st.sampled_from(self.living()))
        leads = {
            ("ACTIVE", "PAUSE"): "PAUSED",
            ("ACTIVE", "STOP"): "COMPLETED",
            ("PAUSED", "STOP"): "COMPLETED",
            ("PAUSED", "START"): "ACTIVE",
            ("AWAITING REVIEW", "START"): "ACTIVE" if posted.free() > 0 else None,
        }
        before, after = posted.status, leads.get((posted.status, action))
        posted.status = after or before
        is_possible = after is not None and self.available() >= 0
        if not is_possible:
            posted.status = before
        body = {"action": action}
        refused = self.is_refused(studies.transition, body, id=posted.study_id)
        assert refused != is_possible
        if is_possible:
            posted.follow()

    @precondition(lambda self: self.raisable())
    @rule(data=st.data())
    def raise_places(self, data: st.DataObject) -> None:
        """One place more, the fourth at most; it reopens a study."""
        posted = data.draw(st.sampled_from(self.raisable()))
        before = posted.status
        posted.places += 1
        if before != "PAUSED":
            posted.status = "ACTIVE"
        posted.follow()
        is_short = self.available() < 0
        body = {"total_available_places": posted.places}
        assert self.is_refused(studies.update, body, id=posted.study_id) == is_short
        if is_short:
            posted.places, posted.status = posted.places - 1, before

    @precondition(lambda self: self.posted)
    @rule(data=st.data(), person=st.integers(0, PEOPLE - 1), is_done=st.booleans())
    def take(self, data: st.DataObject, person: int, *, is_done: bool) -> None:
        """Take a place, and perhaps finish at once."""
        posted = data.draw(st.sampled_from(self.posted))
        is_possible = (
            posted.status == "ACTIVE"
            and posted.free() > 0
            and all(work.person != person for work in posted.work)
        )
        where = {"participant_id": self.people[person], "study_id": posted.study_id}
        try:
            taken = self.call(taking.take, {}, **where)
        except ApiError:
            assert not is_possible
            return
        assert is_possible
        work = Work(taken["submission_id"], person, "ACTIVE", self.now + 30)
        posted.work.append(work)
        if is_done:
            self._finish(posted, work, taking.complete, {"code": CODE})

    @precondition(lambda self: self.open_to_somebody())
    @rule(data=st.data(), verdict=st.sampled_from(["APPROVE", "REJECT", None, None, None]))
    def do(self, data: st.DataObject, verdict: str | None) -> None:
        """Take, finish and judge at once, so that studies come to their ends."""
        posted, person = data.draw(st.sampled_from(self.open_to_somebody()))
        where = {"participant_id": self.people[person], "study_id": posted.study_id}
        taken = self.call(taking.take, {}, **where)
        work = Work(taken["submission_id"], person, "ACTIVE", 0)
        posted.work.append(work)
        self._finish(posted, work, taking.complete, {"code": CODE})
        if verdict is not None:
            body = {"action": verdict, **(REJECTION if verdict == "REJECT" else {})}
            self.call(submissions.transition, body, id=work.submission_id)
            work.status = "APPROVED" if verdict == "APPROVE" else "REJECTED"
            posted.follow()

    @precondition(lambda self: self.some("ACTIVE"))
    @rule(data=st.data(), is_done=st.booleans())
    def finish(self, data: st.DataObject, *, is_done: bool) -> None:
        """Enter the code, or return."""
        posted, work = data.draw(st.sampled_from(self.some("ACTIVE")))
        if is_done:
            self._finish(posted, work, taking.complete, {"code": CODE})
        else:
            self._finish(posted, work, taking.give_back, {})

    @precondition(lambda self: self.some("AWAITING REVIEW", "APPROVED", "REJECTED"))
    @rule(data=st.data(), action=st.sampled_from(["APPROVE", "REJECT", "UNREJECT"]))
    def judge(self, data: st.DataObject, action: str) -> None:
        """Approve, reject, take back."""
        posted, work = data.draw(
            st.sampled_from(self.some("AWAITING REVIEW", "APPROVED", "REJECTED"))
        )
        leads = {
            ("AWAITING REVIEW", "APPROVE"): "APPROVED",
            ("APPROVED", "APPROVE"): "APPROVED",
            ("AWAITING REVIEW", "REJECT"): "REJECTED",
            ("REJECTED", "REJECT"): "REJECTED",
            ("REJECTED", "UNREJECT"): "AWAITING REVIEW",
            ("AWAITING REVIEW", "UNREJECT"): "AWAITING REVIEW",
        }
        before, after = work.status, leads.get((work.status, action))
        study_before = posted.status
        work.status = after or before
        posted.follow()
        is_possible = after is not None and self.available() >= 0
        body = {"action": action, **(REJECTION if action == "REJECT" else {})}
        refused = self.is_refused(submissions.transition, body, id=work.submission_id)
        assert refused != is_possible
        if refused:
            work.status, posted.status = before, study_before
        elif after != before:
            work.due = self.now + 21 * 24 * 60

    @precondition(lambda self: self.some("APPROVED", "REJECTED"))
    @rule(data=st.data(), amount=st.sampled_from(list(COSTS)), calls=st.sampled_from([1, 1, 2]))
    def bonus(self, data: st.DataObject, amount: int, calls: int) -> None:
        """Pay a bonus; two calls pay it twice."""
        posted, work = data.draw(st.sampled_from(self.some("APPROVED", "REJECTED")))
        line = f"{work.submission_id},{amount / 100:.2f}"
        batch = self.call(bonus_calls.create, {"study_id": posted.study_id, "csv_bonuses": line})
        assert batch["total_amount"] == COSTS[amount]
        for _ in range(calls):
            is_short = COSTS[amount] > self.available()
            assert self.is_refused(bonus_calls.pay, {}, id=batch["id"]) == is_short
            self.bonuses += 0 if is_short else COSTS[amount]

    @rule(minutes=st.sampled_from([1, 29, 60, 21 * 24 * 60 - 30, 21 * 24 * 60]))
    def wait(self, minutes: int) -> None:
        """Let time pass: some are too slow, silence approves."""
        self.now += minutes
        with self.state.transaction():
            moment = START + timedelta(minutes=self.now)
            self.state.move_clock(clock.to_ms(moment))
            catch_up(self.state)
        for status, becomes in (("ACTIVE", "TIMED-OUT"), ("AWAITING REVIEW", "APPROVED")):
            for posted, work in self.some(status):
                if work.due <= self.now:
                    work.status = becomes
                    posted.follow()

    @invariant()
    def the_model_agrees(self) -> None:
        """Available, held and each status are what the model says."""
        with self.state.transaction():
            catch_up(self.state)
            all_books = books.read(Call(state=self.state))
        assert all_books["broken_laws"] == []
        accounts = all_books["accounts"]
        assert accounts.get("available", 0) == self.available()
        assert accounts.get("held", 0) == sum(posted.held() for posted in self.posted)
        statuses = {
            submission["id"]: submission["status"] for submission in all_books["submissions"]
        }
        assert statuses == {
            work.submission_id: work.status for posted in self.posted for work in posted.work
        }
        studies_now = {study["id"]: study["status"] for study in all_books["studies"]}
        for posted in self.posted:
            assert studies_now[posted.study_id] == posted.status

    def some(self, *statuses: str) -> list[tuple[Posted, Work]]:
        """Submissions in these statuses, with their studies."""
        return [
            (posted, work)
            for posted in self.posted
            for work in posted.work
            if work.status in statuses
        ]

    def raisable(self) -> list[Posted]:
        """Studies with so few places that people are left to fill more."""
        return [posted for posted in self.posted if posted.places < PEOPLE - 2]

    def living(self) -> list[Posted]:
        """Studies that are not completed."""
        return [posted for posted in self.posted if posted.status != "COMPLETED"]

    def open_to_somebody(self) -> list[tuple[Posted, int]]:
        """Studies and participants who can take a place there."""
        return [
            (posted, person)
            for posted in self.posted
            for person in range(PEOPLE)
            if posted.status == "ACTIVE"
            and posted.free() > 0
            and all(work.person != person for work in posted.work)
        ]

    def available(self) -> int:
        """What is left of the opening balance."""
        paid = sum(posted.number("APPROVED") * COSTS[posted.reward] for posted in self.posted)
        held = sum(posted.held() for posted in self.posted)
        return OPENING - paid - held - self.bonuses

    def _finish(
        self,
        posted: Posted,
        work: Work,
        handler: Any,  # noqa: ANN401 - any handler
        body: dict[str, Any],
    ) -> None:
        self.call(
            handler, body, participant_id=self.people[work.person], submission_id=work.submission_id
        )
        work.status = "AWAITING REVIEW" if body else "RETURNED"
        work.due = self.now + 21 * 24 * 60
        posted.follow()


TestMoneyLaws = MoneyLaws.TestCase
TestMoneyLaws.settings = examples(30)
