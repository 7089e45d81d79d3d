"""Much that comes due at once keeps no call waiting, and makes none wrong."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.requester.api import perform_operation
from piecework.marketplace.state import accounts, assignments, ledger, lifecycle
from piecework.marketplace.state.backend import Backend, Rules
from piecework.marketplace.workers import assignment_actions, discovery, qualifying
from tests.marketplace.documents import choice, form, key, question
from tests.marketplace.market import HIT_TYPE, QUESTION, START
from tests.marketplace.sqlite_steps import STEP, steps

MANY = 3 * lifecycle.SLICE
HOUR = 3_600_000
POSTED = {
    **HIT_TYPE,
    "Reward": "0.10",
    "LifetimeInSeconds": 3600,
    "MaxAssignments": 2,
    "Question": QUESTION,
}


class Crowded:
    """A marketplace in which HITs, deadlines and delays run out together.

    Of every five HITs one is submitted, one accepted, and three are untouched.
    """

    def __init__(self, size: int) -> None:
        self.backend = Backend(Path(":memory:"), Rules(rehearsal=True, seed=1, start=START))
        with self.backend.transaction() as transaction:
            _, self.token = accounts.add_worker(
                transaction, accounts.NewWorker(handle="ann", country="US")
            )
        self.hits: list[str] = []
        self.assignments: list[str] = []
        for number in range(size):
            hit = self.call("CreateHIT", **POSTED)["HIT"]
            self.group: str = hit["HITGroupId"]
            self.hits.append(hit["HITId"])
            if number % 5 < 2:
                take = self.hold if number % 5 else self.work
                self.assignments.append(take(hit["HITId"]))

    def call(self, operation: str, **parameters: object) -> dict[str, Any]:
        """A requester's call."""
        return perform_operation(self.backend, "KEY", operation, parameters)

    def work(self, hit_id: str) -> str:
        """Accept and submit."""
        made = self.hold(hit_id)
        with self.backend.transaction() as transaction:
            ann = accounts.signed_in(transaction, self.token)
            assignment_actions.submit(transaction, ann, [("assignmentId", made), ("a", "b")])
        return made

    def hold(self, hit_id: str) -> str:
        """Accept, without the limit on what a worker's page lets them hold."""
        with self.backend.transaction() as transaction:
            ann = accounts.signed_in(transaction, self.token)
            hit = transaction.first_row("SELECT * FROM hits WHERE hit_id = ?", hit_id)
            assert hit is not None
            return assignments.accept(transaction, hit=hit, worker=ann)

    def later(self, hours: int) -> None:
        """Time passes, and nobody has looked yet."""
        with self.backend.transaction() as transaction:
            now_ms = transaction.now_ms
        self.backend.move_clock(now_ms + hours * HOUR)


@pytest.fixture
def crowded() -> Iterator[Crowded]:
    """Many HITs that expired an hour ago, of which one slice has been done."""
    made = Crowded(MANY)
    made.later(2)
    with closing(made.backend), made.backend.group_commits(lambda: None, lambda: None):
        assert made.backend.catch_up()
        yield made


def books(backend: Backend) -> dict[str, Any]:
    """The whole state; and that it is lawful."""
    with backend.transaction() as transaction:
        assert ledger.broken_laws(transaction) == []
        return ledger.read_books(transaction)


def test_slices_come_to_the_same_as_all_at_once() -> None:
    """Whatever the size of a slice, the same books at the end; lawful all along."""
    all_books = []
    for most in (1, 7, 10_000):
        crowded = Crowded(40)
        with closing(crowded.backend):
            crowded.later(2)
            with crowded.backend._storage.transaction() as conn:
                transaction = crowded.backend._transaction(conn)
                while lifecycle.catch_up(transaction, most=most):
                    assert ledger.broken_laws(transaction) == []
            all_books.append(books(crowded.backend))
    assert all_books[0] == all_books[1] == all_books[2]
    # By hand: 8 of 40 submitted and approved by silence; the rest is free again.
    # Each cost $0.10 and a fee of $0.02.
    assert all_books[0]["balance_cents"] == 1_000_000 - 8 * 12
    assert all_books[0]["held_cents"] == 0


def test_a_turn_does_a_slice_whatever_has_come_due() -> None:
    """Twice as much that is due, and the call is not longer."""
    costs = []
    for size in (MANY, 2 * MANY):
        crowded = Crowded(size)
        with closing(crowded.backend):
            crowded.later(2)
            costs.append(steps(crowded.backend, lambda _turn: None))
            assert crowded.backend.has_backlog
    assert costs[1] <= costs[0] * 11 // 10 + STEP * 10


@pytest.mark.parametrize("hit_id", ["\ud800", ["x"], {}])
def test_what_is_no_id_is_refused_while_others_wait(crowded: Crowded, hit_id: object) -> None:
    """As it is at other times."""
    with pytest.raises(Refusal, match="HITId"):
        crowded.call("GetHIT", HITId=hit_id)


def test_what_a_call_names_is_settled_first(crowded: Crowded) -> None:
    """The last HIT of the queue is Reviewable for who asks, though others wait."""
    last = crowded.call("GetHIT", HITId=crowded.hits[-1])["HIT"]
    assert crowded.backend.has_backlog
    assert last["HITStatus"] == "Reviewable"
    listed = crowded.call("ListHITs", MaxResults=100)["HITs"]
    assert {hit["HITStatus"] for hit in listed} == {"Reviewable"}
    crowded.call("DeleteHIT", HITId=crowded.hits[-1])
    submitted = crowded.assignments[-2]
    shown = crowded.call("GetAssignment", AssignmentId=submitted)["Assignment"]
    assert shown["AssignmentStatus"] == "Approved"
    assert crowded.backend.has_backlog
    with crowded.backend.transaction() as transaction:
        assert ledger.broken_laws(transaction) == []


def test_workers_get_nothing_that_has_run_out(crowded: Crowded) -> None:
    """Neither a late submission nor an expired HIT, though nobody has closed them."""
    with crowded.backend.transaction() as transaction:
        assert transaction.has_backlog
        ann = accounts.signed_in(transaction, crowded.token)
        group = discovery.visible_group(transaction, ann, crowded.group)
        assert group.available > 0
        assert discovery.next_hit(transaction, ann, group.row["id"]) is None
        with pytest.raises(Refusal, match="abandoned"):
            assignment_actions.open_assignment(transaction, ann, crowded.assignments[-1])
        with pytest.raises(Refusal, match="no HIT left"):
            assignment_actions.accept(transaction, ann, crowded.group, hit_id=crowded.hits[-2])
    fresh = crowded.call("CreateHIT", **POSTED)["HIT"]["HITId"]
    with crowded.backend.transaction() as transaction:
        ann = accounts.signed_in(transaction, crowded.token)
        made = assignment_actions.accept(transaction, ann, crowded.group, hit_id=None)
        assignment_actions.submit(transaction, ann, [("assignmentId", made), ("a", "b")])
    listed = crowded.call("ListAssignmentsForHIT", HITId=fresh)["Assignments"]
    assert [assignment["AssignmentId"] for assignment in listed] == [made]


def test_a_test_is_not_accepted_after_its_time_though_others_wait(crowded: Crowded) -> None:
    """It counts as an attempt, and the next one begins after the delay."""
    kind = crowded.call(
        "CreateQualificationType",
        Name="Knows cats",
        Description="One question about a cat.",
        QualificationTypeStatus="Active",
        Test=form(question("animal", choice("cat", "dog"))),
        AnswerKey=key({"animal": [(("cat",), 100)]}),
        TestDurationInSeconds=60,
        RetryDelayInSeconds=0,
    )["QualificationType"]["QualificationTypeId"]
    statuses = "SELECT group_concat(status) FROM (SELECT status FROM test_attempts ORDER BY id)"
    with crowded.backend.transaction() as transaction:
        ann = accounts.signed_in(transaction, crowded.token)
        assert qualifying.request_qualification(transaction, ann, kind) == "Testing"
        now_ms = transaction.now_ms
    for _ in range(MANY):
        crowded.call("CreateHIT", **{**POSTED, "LifetimeInSeconds": 61})
    crowded.backend.move_clock(now_ms + 62_000)
    answer = [("animal", "cat")]
    with crowded.backend.transaction() as transaction:
        assert transaction.has_backlog
        assert transaction.value(statuses) == "Open"
        with pytest.raises(Refusal, match="time for this test ended"):
            qualifying.submit_test(transaction, ann, kind, answer, {})
    with crowded.backend.transaction() as transaction:
        assert transaction.has_backlog
        assert qualifying.request_qualification(transaction, ann, kind) == "Testing"
        assert transaction.value(statuses) == "Late,Open"
        assert qualifying.submit_test(transaction, ann, kind, answer, {}).value == 100


def test_who_may_lack_only_what_is_about_to_be_released_is_asked_to_come_again(
    crowded: Crowded,
) -> None:
    """Throttled while holds of expired HITs are not released; afterwards it works."""
    balance = crowded.call("GetAccountBalance")
    assert crowded.backend.has_backlog
    free = round(float(balance["AvailableBalance"]) * 100)
    # Two slots with 20 % fee each, together a little more than what is free.
    dear = {**POSTED, "Reward": f"{(free // 2) / 1.2 / 100 + 0.02:.2f}"}
    with pytest.raises(Refusal) as caught:
        crowded.call("CreateHIT", **dear)
    assert caught.value.kind == "ThrottlingException"
    while crowded.backend.catch_up():
        continue
    crowded.call("CreateHIT", **dear)
    assert not crowded.backend.has_backlog


def test_a_token_is_forgotten_after_a_day_though_nobody_has_swept(crowded: Crowded) -> None:
    """The same token makes another HIT a day later."""
    crowded.call("CreateHIT", **POSTED, UniqueRequestToken="once")
    crowded.later(25)
    with crowded.backend.transaction() as transaction:
        assert transaction.first_row("SELECT 1 FROM request_tokens") is not None
    again = crowded.call("CreateHIT", **POSTED, UniqueRequestToken="once")
    with pytest.raises(Refusal, match=again["HIT"]["HITId"]):
        crowded.call("CreateHIT", **POSTED, UniqueRequestToken="once")
