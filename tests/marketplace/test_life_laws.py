"""HITs, workers, qualifications and blocks: a plain model lives the same life.

The model has no tables, no counters and no events that come due: it is a list of HITs
with what happened to them, and works out everything else when it is asked.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.requester.api import perform_operation
from piecework.marketplace.state import accounts, clock, ledger
from piecework.marketplace.state.backend import Backend, Rules
from piecework.marketplace.workers import assignment_actions, discovery
from tests.examples import examples
from tests.marketplace.market import QUESTION, START

WORKERS = 3
DURATION = 600
DELAY = 7200
DAY = 86_400
KEPT = 120 * DAY
PASS = 50
KINDS = ("open", "skilled", "hidden")
"""Anybody's; accepted with a score of 50; seen by nobody who has a score at all."""

TAKEN = ("open", "submitted", "approved", "rejected")


@dataclass
class Work:
    """One go of one worker."""

    worker: int
    assignment_id: str
    accepted: int
    state: str = "open"
    ended: int = 0

    def look(self, now: int) -> str:
        """Its state at a time, whoever looked before."""
        if self.state == "open" and now > self.accepted + DURATION:
            return "abandoned"
        if self.state == "submitted" and now >= self.ended + DELAY:
            return "approved"
        return self.state


@dataclass
class Posted:
    """One HIT, and what happened to it; times are seconds from the start."""

    hit_id: str
    kind: str
    slots: int
    expires: int
    is_put_aside: bool = False
    is_deleted: bool = False
    ended_by_hand: int | None = None
    work: list[Work] = field(default_factory=list)

    def count(self, now: int, *states: str) -> int:
        """Goes in these states."""
        return sum(work.look(now) in states for work in self.work)

    def free(self, now: int) -> int:
        """Slots that somebody could take, were it not expired."""
        return self.slots - self.count(now, *TAKEN)

    def is_finished(self, now: int) -> bool:
        """Whether nobody can work on it any more."""
        is_closed = now >= self.expires or not self.free(now)
        return is_closed and not self.count(now, "open")

    def is_gone(self, now: int) -> bool:
        """Deleted, or finished for 120 days."""
        return self.is_deleted or (self.is_finished(now) and now >= self.finished_at(now) + KEPT)

    def finished_at(self, now: int) -> int:
        """When the last of what kept it unfinished ended."""
        ends = [
            work.ended if work.state != "open" else work.accepted + DURATION for work in self.work
        ]
        # Full before it expired: then the last go that ended in a slot was the end.
        closing = [] if self.is_full(now) else [self.expires]
        return max([*ends, *closing], default=self.expires)

    def is_full(self, now: int) -> bool:
        """Whether its slots were used up by work, not by time."""
        return self.count(now, "submitted", "approved", "rejected") == self.slots

    def status(self, now: int) -> str:
        """As the requester sees it."""
        if self.is_gone(now):
            return "Disposed"
        if self.free(now) and now < self.expires:
            return "Assignable"
        if self.count(now, "open"):
            return "Unassignable"
        return "Reviewing" if self.is_put_aside else "Reviewable"


class LifeLaws(RuleBasedStateMachine):
    """A marketplace and the model, step by step."""

    def __init__(self) -> None:
        super().__init__()
        self.backend = Backend(Path(":memory:"), Rules(rehearsal=True, seed=3, start=START))
        self.now = 0
        self.hits: list[Posted] = []
        self.scores: dict[int, int] = {}
        self.blocked: set[int] = set()
        self.tokens: list[str] = []
        self.ids: list[str] = []
        self.groups: dict[str, str] = {}
        self.types: dict[str, str] = {}

    def teardown(self) -> None:
        """Leave nothing behind."""
        self.backend.close()

    @initialize()
    def people(self) -> None:
        """Workers, a qualification, and three HIT types."""
        with self.backend.transaction() as transaction:
            for number in range(WORKERS):
                new = accounts.NewWorker(handle=str(number), country="US")
                worker_id, token = accounts.add_worker(transaction, new)
                self.ids.append(worker_id)
                self.tokens.append(token)
        self.skill = self.call(
            "CreateQualificationType",
            Name="Skill",
            Description="x",
            QualificationTypeStatus="Active",
        )["QualificationType"]["QualificationTypeId"]
        needs: dict[str, list[dict[str, Any]]] = {
            "open": [],
            "skilled": [{"Comparator": "GreaterThanOrEqualTo", "IntegerValues": [PASS]}],
            "hidden": [
                {"Comparator": "DoesNotExist", "ActionsGuarded": "DiscoverPreviewAndAccept"}
            ],
        }
        for kind, required in needs.items():
            self.types[kind] = self.call(
                "CreateHITType",
                Title=kind,
                Description="x",
                Reward="0.01",
                AssignmentDurationInSeconds=DURATION,
                AutoApprovalDelayInSeconds=DELAY,
                QualificationRequirements=[
                    {"QualificationTypeId": self.skill, **requirement} for requirement in required
                ],
            )["HITTypeId"]

    def call(self, operation: str, **parameters: object) -> dict[str, Any]:
        """A requester's call."""
        return perform_operation(self.backend, "KEY", operation, parameters)

    @rule(
        kind=st.sampled_from(KINDS),
        slots=st.sampled_from([1, 2, 3]),
        lifetime=st.sampled_from([500, 3600, 200_000]),
    )
    def post(self, kind: str, slots: int, lifetime: int) -> None:
        """Post a HIT."""
        hit = self.call(
            "CreateHITWithHITType",
            HITTypeId=self.types[kind],
            MaxAssignments=slots,
            LifetimeInSeconds=lifetime,
            Question=QUESTION,
        )["HIT"]
        self.groups[kind] = hit["HITGroupId"]
        self.hits.append(Posted(hit["HITId"], kind, slots, self.now + lifetime))

    @rule(worker=st.integers(0, WORKERS - 1), kind=st.sampled_from(KINDS))
    def accept(self, worker: int, kind: str) -> None:
        """Accept what comes next in a group: as the model says, or refused."""
        if kind not in self.groups:
            return
        offered = self.offered(worker, kind) if self.may_accept(worker, kind) else []
        try:
            with self.backend.transaction() as transaction:
                ann = accounts.signed_in(transaction, self.tokens[worker])
                made = assignment_actions.accept(transaction, ann, self.groups[kind], hit_id=None)
                hit_id = assignment_actions.own_assignment(transaction, ann, made)["hit_id"]
        except Refusal:
            assert offered == []
            return
        assert hit_id == offered[0].hit_id
        offered[0].work.append(Work(worker, made, self.now))

    @precondition(lambda self: self.some("open"))
    @rule(data=st.data(), is_done=st.booleans())
    def finish(self, data: st.DataObject, *, is_done: bool) -> None:
        """Submit or return."""
        work = data.draw(st.sampled_from(self.some("open")))
        with self.backend.transaction() as transaction:
            ann = accounts.signed_in(transaction, self.tokens[work.worker])
            if is_done:
                form = [("assignmentId", work.assignment_id), ("a", "b")]
                assignment_actions.submit(transaction, ann, form)
            else:
                assignment_actions.give_back(transaction, ann, work.assignment_id)
        work.state, work.ended = "submitted" if is_done else "returned", self.now

    @precondition(lambda self: self.some("abandoned", "returned"))
    @rule(data=st.data())
    def come_too_late(self, data: st.DataObject) -> None:
        """What was given up cannot be submitted."""
        work = data.draw(st.sampled_from(self.some("abandoned", "returned")))
        form = [("assignmentId", work.assignment_id), ("a", "b")]
        with self.backend.transaction() as transaction:
            ann = accounts.signed_in(transaction, self.tokens[work.worker])
            with pytest.raises(Refusal) as refusal:
                assignment_actions.submit(transaction, ann, form)
        assert refusal.value.kind == "AssignmentNotOpen"

    @precondition(lambda self: self.some("submitted"))
    @rule(data=st.data(), is_good=st.booleans())
    def judge(self, data: st.DataObject, *, is_good: bool) -> None:
        """Approve or reject."""
        work = data.draw(st.sampled_from(self.some("submitted")))
        operation = "ApproveAssignment" if is_good else "RejectAssignment"
        self.call(operation, AssignmentId=work.assignment_id, RequesterFeedback="x")
        work.state = "approved" if is_good else "rejected"

    @rule(worker=st.integers(0, WORKERS - 1), score=st.sampled_from([None, 49, 50]))
    def qualify(self, worker: int, score: int | None) -> None:
        """Give a score, or take it away."""
        named = {"QualificationTypeId": self.skill, "WorkerId": self.ids[worker]}
        if score is not None:
            self.call("AssociateQualificationWithWorker", IntegerValue=score, **named)
            self.scores[worker] = score
        elif self.scores.pop(worker, None) is not None:
            self.call("DisassociateQualificationFromWorker", **named)
        else:
            with pytest.raises(Refusal):
                self.call("DisassociateQualificationFromWorker", **named)

    @rule(worker=st.integers(0, WORKERS - 1), is_on=st.booleans())
    def block(self, worker: int, *, is_on: bool) -> None:
        """Block or unblock; both may be repeated."""
        parameters = {"WorkerId": self.ids[worker], "Reason": "x"}
        self.call("CreateWorkerBlock" if is_on else "DeleteWorkerBlock", **parameters)
        (self.blocked.add if is_on else self.blocked.discard)(worker)

    @precondition(lambda self: self.hits)
    @rule(data=st.data())
    def expire(self, data: st.DataObject) -> None:
        """End a HIT now; for a day, the same wish again is taken for a repeat."""
        hit = data.draw(st.sampled_from(self.hits))
        ended = hit.ended_by_hand
        if hit.is_gone(self.now) or (ended is not None and self.now < ended + DAY):
            with pytest.raises(Refusal, match=r"status of|already been processed"):
                self.call("UpdateExpirationForHIT", HITId=hit.hit_id, ExpireAt=0)
            return
        self.call("UpdateExpirationForHIT", HITId=hit.hit_id, ExpireAt=0)
        hit.ended_by_hand = self.now
        # A HIT that had already expired keeps its earlier time.
        hit.expires = min(hit.expires, self.now)

    @precondition(lambda self: self.hits)
    @rule(data=st.data(), is_back=st.booleans())
    def put_aside(self, data: st.DataObject, *, is_back: bool) -> None:
        """Reviewable to Reviewing, or back; refused in every other state."""
        hit = data.draw(st.sampled_from(self.hits))
        wanted = "Reviewing" if is_back else "Reviewable"
        if hit.status(self.now) == wanted:
            self.call("UpdateHITReviewStatus", HITId=hit.hit_id, Revert=is_back)
            hit.is_put_aside = not is_back
        else:
            with pytest.raises(Refusal, match=rf"status of: (Assig|{wanted})"):
                self.call("UpdateHITReviewStatus", HITId=hit.hit_id, Revert=is_back)

    @precondition(lambda self: self.hits)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        """Delete what is Reviewable and judged; refused otherwise."""
        hit = data.draw(st.sampled_from(self.hits))
        is_ready = hit.status(self.now) == "Reviewable"
        if is_ready and not hit.count(self.now, "submitted"):
            self.call("DeleteHIT", HITId=hit.hit_id)
            hit.is_deleted = True
        else:
            with pytest.raises(Refusal, match="currently in the state"):
                self.call("DeleteHIT", HITId=hit.hit_id)

    @rule(seconds=st.sampled_from([1, 499, 601, 3600, 3 * DAY]))
    def wait(self, seconds: int) -> None:
        """Let time pass."""
        self.go_on(seconds)

    @precondition(lambda self: self.hits)
    @rule(data=st.data(), past=st.sampled_from([-1, 0, 1]))
    def wait_until_something_ends(self, data: st.DataObject, past: int) -> None:
        """Let time pass until just before, at, or just after a moment that matters."""
        hit = data.draw(st.sampled_from(self.hits))
        moments = [hit.expires, hit.finished_at(self.now) + KEPT]
        moments += [work.accepted + DURATION for work in hit.work]
        moments += [work.ended + DELAY for work in hit.work]
        self.go_on(data.draw(st.sampled_from(moments)) + past - self.now)

    def go_on(self, seconds: int) -> None:
        """Move the clock, unless that would be back."""
        self.now += max(seconds, 0)
        self.backend.move_clock(clock.to_ms(START + timedelta(seconds=self.now)))

    @invariant()
    def hits_are_as_the_model_says(self) -> None:
        """Status and the three counters of every HIT, and both lists."""
        for hit in self.hits:
            reported = self.call("GetHIT", HITId=hit.hit_id)["HIT"]
            status = hit.status(self.now)
            assert reported["HITStatus"] == status
            assert reported["NumberOfAssignmentsPending"] == hit.count(self.now, "open")
            done = hit.count(self.now, "approved", "rejected")
            assert reported["NumberOfAssignmentsCompleted"] == done
            free = hit.free(self.now) if status == "Assignable" else 0
            assert reported["NumberOfAssignmentsAvailable"] == free
        for operation, shown in (
            ("ListHITs", {"Assignable", "Unassignable", "Reviewable", "Reviewing"}),
            ("ListReviewableHITs", {"Reviewable"}),
        ):
            listed = self.call(operation, MaxResults=100)["HITs"]
            expected = [hit.hit_id for hit in self.hits if hit.status(self.now) in shown]
            assert [hit["HITId"] for hit in listed] == expected[::-1][:100]

    @invariant()
    def workers_are_offered_what_the_model_says(self) -> None:
        """Which groups, how many HITs in each, and whether they may be taken."""
        for worker, token in enumerate(self.tokens):
            with self.backend.transaction() as transaction:
                ann = accounts.signed_in(transaction, token)
                shown = {
                    group.row["title"]: (group.available, group.may_accept)
                    for group in discovery.visible_groups(transaction, ann)
                }
            expected = {
                kind: (len(offered), self.may_accept(worker, kind))
                for kind in KINDS
                if self.may_see(worker, kind)
                if (offered := self.offered(worker, kind))
            }
            assert shown == expected

    @invariant()
    def the_audit_finds_nothing(self) -> None:
        """Every law of the books and the counters."""
        with self.backend.transaction() as transaction:
            assert ledger.broken_laws(transaction) == []

    def some(self, *states: str) -> list[Work]:
        """Goes in these states."""
        return [work for hit in self.hits for work in hit.work if work.look(self.now) in states]

    def offered(self, worker: int, kind: str) -> list[Posted]:
        """HITs of a kind with a free slot that the worker never touched."""
        return [
            hit
            for hit in self.hits
            if hit.kind == kind
            and hit.status(self.now) == "Assignable"
            and all(work.worker != worker for work in hit.work)
        ]

    def may_see(self, worker: int, kind: str) -> bool:
        """Whether the group is shown to the worker."""
        is_hidden = kind == "hidden" and worker in self.scores
        return worker not in self.blocked and not is_hidden

    def may_accept(self, worker: int, kind: str) -> bool:
        """Whether the worker may take a HIT of the group."""
        is_skilled = kind != "skilled" or self.scores.get(worker, 0) >= PASS
        return self.may_see(worker, kind) and is_skilled


class ManyLives(LifeLaws):
    """The same, for the long form."""


TestLifeLaws = LifeLaws.TestCase
TestLifeLaws.settings = examples(20, unchecked=list(HealthCheck))

TestManyLives = pytest.mark.full(weeks=2)(ManyLives.TestCase)
TestManyLives.settings = settings(TestLifeLaws.settings, max_examples=1500)
