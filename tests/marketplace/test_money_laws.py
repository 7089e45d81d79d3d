"""Whatever anybody does, the books balance and a plain model agrees.

The model knows nothing of tables: a list of HITs with slots, worked out anew by its own
arithmetic after every step.
"""

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.requester.api import perform_operation
from piecework.marketplace.state import accounts, clock, ledger
from piecework.marketplace.state.backend import Backend, Rules
from piecework.marketplace.workers import assignment_actions
from tests.examples import examples
from tests.marketplace.market import QUESTION, START

WORKERS = 4
DURATION = 600
DELAY = 3600
OPENING_CENTS = 1_000_000
# Reward and its fees by hand: 20 % half up, at least 1; 40 % from ten assignments.
BONUSES = [(1, 1), (2, 1), (103, 21), (200_000, 40_000)]
PRICES = [(1, 1, 1), (3, 1, 1), (8, 2, 3), (23, 5, 9), (99_999, 20_000, 40_000)]


@dataclass
class Work:
    """One assignment in the model."""

    worker: int
    state: str
    due: int
    assignment_id: str


@dataclass
class Posted:
    """One HIT in the model; times are seconds from the start."""

    hit_id: str
    group: str
    reward: int
    fee: int
    slots: int
    expires: int
    is_gone: bool = False
    work: list[Work] = field(default_factory=list)

    def number(self, *states: str) -> int:
        """Assignments in these states."""
        return sum(work.state in states for work in self.work)

    def is_had_by(self, worker: int) -> bool:
        """Whether the worker may not have it (again)."""
        return any(
            work.worker == worker and work.state not in ("returned", "abandoned")
            for work in self.work
        )

    def is_open(self, now: int) -> bool:
        """Whether somebody may accept it."""
        taken = self.number("open", "submitted", "approved", "rejected")
        return now < self.expires and taken < self.slots and not self.is_gone

    def held(self, now: int) -> int:
        """What must be held for it."""
        slots = self.number("open", "submitted")
        if now < self.expires:
            slots = self.slots - self.number("approved", "rejected")
        return slots * (self.reward + self.fee)


class MoneyLaws(RuleBasedStateMachine):
    """A marketplace and the model, step by step."""

    def __init__(self) -> None:
        super().__init__()
        self.backend = Backend(Path(":memory:"), Rules(rehearsal=True, seed=3, start=START))
        self.now = 0
        self.hits: list[Posted] = []
        self.bonuses = 0
        self.tokens: list[str] = []

    def teardown(self) -> None:
        """Leave nothing behind."""
        self.backend.close()

    @initialize()
    def people(self) -> None:
        """Some workers and a requester."""
        with self.backend.transaction() as transaction:
            self.tokens = [
                accounts.add_worker(transaction, accounts.NewWorker(handle=str(n), country="US"))[1]
                for n in range(WORKERS)
            ]
        self.call("GetAccountBalance")

    def call(self, operation: str, **parameters: object) -> dict[str, Any]:
        """A requester's call."""
        return perform_operation(self.backend, "KEY", operation, parameters)

    @rule(
        price=st.sampled_from(PRICES),
        slots=st.sampled_from([1, 2, 3, 10]),
        lifetime=st.sampled_from([900, 7200, 200_000]),
    )
    def post(self, price: tuple[int, int, int], slots: int, lifetime: int) -> None:
        """Post a HIT, if the money is there."""
        reward, low, high = price
        fee = high if slots >= 10 else low
        parameters = {
            "Title": f"{reward}",
            "Description": "x",
            "Reward": f"{reward / 100:.2f}",
            "AssignmentDurationInSeconds": DURATION,
            "AutoApprovalDelayInSeconds": DELAY,
            "LifetimeInSeconds": lifetime,
            "MaxAssignments": slots,
            "Question": QUESTION,
        }
        cost = slots * (reward + fee)
        if cost > self.available():
            self.refused("InsufficientFunds", "CreateHIT", **parameters)
            return
        hit = self.call("CreateHIT", **parameters)["HIT"]
        self.hits.append(
            Posted(hit["HITId"], hit["HITGroupId"], reward, fee, slots, self.now + lifetime)
        )

    @precondition(lambda self: self.hits)
    @rule(data=st.data(), worker=st.integers(0, WORKERS - 1))
    def accept(self, data: st.DataObject, worker: int) -> None:
        """Accept a HIT by its id; possible as the model says, or refused."""
        hit = data.draw(st.sampled_from(self.hits))
        has_it, is_open = hit.is_had_by(worker), hit.is_open(self.now)
        try:
            with self.backend.transaction() as transaction:
                row = accounts.signed_in(transaction, self.tokens[worker])
                made = assignment_actions.accept(transaction, row, hit.group, hit_id=hit.hit_id)
        except Refusal:
            assert has_it or not is_open
            return
        assert is_open
        assert not has_it
        hit.work.append(Work(worker, "open", self.now + DURATION, made))

    @precondition(lambda self: self.some("open"))
    @rule(data=st.data(), is_done=st.booleans())
    def finish(self, data: st.DataObject, *, is_done: bool) -> None:
        """Submit or return an open assignment."""
        work = data.draw(st.sampled_from(self.some("open")))
        with self.backend.transaction() as transaction:
            row = accounts.signed_in(transaction, self.tokens[work.worker])
            if is_done:
                form = [("assignmentId", work.assignment_id), ("a", "b")]
                assignment_actions.submit(transaction, row, form)
            else:
                assignment_actions.give_back(transaction, row, work.assignment_id)
        work.state = "submitted" if is_done else "returned"
        work.due = self.now + DELAY

    @precondition(lambda self: self.open_to_somebody())
    @rule(data=st.data())
    def do(self, data: st.DataObject) -> None:
        """Accept and submit at once, so that there is work to judge."""
        hit, worker = data.draw(st.sampled_from(self.open_to_somebody()))
        with self.backend.transaction() as transaction:
            row = accounts.signed_in(transaction, self.tokens[worker])
            made = assignment_actions.accept(transaction, row, hit.group, hit_id=hit.hit_id)
            assignment_actions.submit(transaction, row, [("assignmentId", made), ("a", "b")])
        hit.work.append(Work(worker, "submitted", self.now + DELAY, made))

    @precondition(lambda self: self.some("submitted"))
    @rule(data=st.data(), is_good=st.booleans())
    def judge(self, data: st.DataObject, *, is_good: bool) -> None:
        """Approve or reject."""
        work = data.draw(st.sampled_from(self.some("submitted")))
        operation = "ApproveAssignment" if is_good else "RejectAssignment"
        self.call(operation, AssignmentId=work.assignment_id, RequesterFeedback="x")
        work.state = "approved" if is_good else "rejected"

    @precondition(lambda self: self.some("rejected"))
    @rule(data=st.data())
    def override(self, data: st.DataObject) -> None:
        """Approve what was rejected; new money pays."""
        work = data.draw(st.sampled_from(self.some("rejected")))
        hit = next(hit for hit in self.hits if work in hit.work)
        parameters = {"AssignmentId": work.assignment_id, "OverrideRejection": True}
        if hit.is_gone:
            self.refused("InvalidHITState", "ApproveAssignment", **parameters)
        elif hit.reward + hit.fee > self.available():
            self.refused("InsufficientFunds", "ApproveAssignment", **parameters)
        else:
            self.call("ApproveAssignment", **parameters)
            work.state = "approved"

    @precondition(lambda self: self.some("submitted", "approved", "rejected"))
    @rule(data=st.data(), price=st.sampled_from(BONUSES))
    def bonus(self, data: st.DataObject, price: tuple[int, int]) -> None:
        """Pay something more."""
        work = data.draw(st.sampled_from(self.some("submitted", "approved", "rejected")))
        cents, fee = price
        with self.backend.transaction() as transaction:
            row = accounts.signed_in(transaction, self.tokens[work.worker])
        parameters = {
            "WorkerId": row["worker_id"],
            "AssignmentId": work.assignment_id,
            "BonusAmount": f"{cents / 100:.2f}",
            "Reason": "x",
        }
        if cents + fee > self.available():
            self.refused("InsufficientFunds", "SendBonus", **parameters)
            return
        self.call("SendBonus", **parameters)
        self.bonuses += cents + fee

    @precondition(lambda self: self.living())
    @rule(data=st.data(), more=st.sampled_from([-1, 60, 7200]))
    def change_expiry(self, data: st.DataObject, more: int) -> None:
        """Expire now, or later; reopening needs the money again."""
        hit = data.draw(st.sampled_from(self.living()))
        expires = self.now + max(more, 0)
        before, hit.expires = hit.expires, expires
        is_short = self.available() < 0
        at_ms = clock.to_ms(START) + 1000 * (self.now + more)
        try:
            self.call("UpdateExpirationForHIT", HITId=hit.hit_id, ExpireAt=at_ms / 1000)
            is_refused = False
        except Refusal as refusal:
            hit.expires = before
            is_refused = True
            is_short = is_short or "has already been processed" in refusal.message
        assert is_refused == is_short

    @precondition(lambda self: self.living())
    @rule(data=st.data())
    def extend(self, data: st.DataObject) -> None:
        """One more slot, within the tier and the money."""
        hit = data.draw(st.sampled_from(self.living()))
        hit.slots += 1
        is_short = self.available() < 0
        parameters = {"HITId": hit.hit_id, "NumberOfAdditionalAssignments": 1}
        operation = "CreateAdditionalAssignmentsForHIT"
        if hit.slots == 10:
            self.refused("InvalidMaximumAssignmentsIncrease", operation, **parameters)
            hit.slots -= 1
        elif is_short:
            self.refused("InsufficientFunds", operation, **parameters)
            hit.slots -= 1
        else:
            self.call(operation, **parameters)

    @precondition(lambda self: self.living())
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        """Delete a HIT, where the model says that everything about it is done."""
        hit = data.draw(st.sampled_from(self.living()))
        free = hit.slots - hit.number("approved", "rejected")
        is_done = not hit.number("open", "submitted") and (free == 0 or self.now >= hit.expires)
        with suppress(Refusal):
            self.call("DeleteHIT", HITId=hit.hit_id)
            assert is_done
            hit.is_gone = True
            hit.expires = min(hit.expires, self.now)
        assert hit.is_gone == is_done

    @rule(seconds=st.sampled_from([1, 29, 600, 3600, 86_400]))
    def wait(self, seconds: int) -> None:
        """Let time pass; deadlines and silence do their work in the model too."""
        self.now += seconds
        self.backend.move_clock(clock.to_ms(START + timedelta(seconds=self.now)))
        for work in self.some("open"):
            if work.due < self.now:
                work.state = "abandoned"
        for work in self.some("submitted"):
            if work.due <= self.now:
                work.state = "approved"

    @invariant()
    def the_model_agrees(self) -> None:
        """Available and held are what the model says."""
        if not self.tokens:
            return
        balance = self.call("GetAccountBalance")
        assert balance["AvailableBalance"] == f"{self.available() / 100:.2f}"
        assert balance["OnHoldBalance"] == f"{self.held() / 100:.2f}"

    @invariant()
    def the_books_balance(self) -> None:
        """Every law of the audit holds."""
        with self.backend.transaction() as transaction:
            assert ledger.broken_laws(transaction) == []

    def some(self, *states: str) -> list[Work]:
        """Assignments in these states."""
        return [work for hit in self.hits for work in hit.work if work.state in states]

    def open_to_somebody(self) -> list[tuple[Posted, int]]:
        """HITs and workers who could take them."""
        return [
            (hit, worker)
            for hit in self.hits
            for worker in range(WORKERS)
            if hit.is_open(self.now) and not hit.is_had_by(worker)
        ]

    def living(self) -> list[Posted]:
        """HITs that are not deleted."""
        return [hit for hit in self.hits if not hit.is_gone]

    def held(self) -> int:
        """All that must be held."""
        return sum(hit.held(self.now) for hit in self.hits)

    def available(self) -> int:
        """What is left of the opening balance."""
        paid = sum(hit.number("approved") * (hit.reward + hit.fee) for hit in self.hits)
        return OPENING_CENTS - paid - self.bonuses - self.held()

    def refused(self, code: str, operation: str, **parameters: object) -> None:
        """The call must be refused with this TurkErrorCode."""
        with pytest.raises(Refusal) as caught:
            self.call(operation, **parameters)
        assert caught.value.turk_code == code


TestMoneyLaws = MoneyLaws.TestCase
TestMoneyLaws.settings = examples(35, unchecked=list(HealthCheck))
