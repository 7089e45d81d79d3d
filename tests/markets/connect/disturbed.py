"""The bridge to Connect under a fault: it meets one at a chosen call, and may die.

A fault is met at the first call of an operation. After a death another bridge goes on,
which remembers nothing.
"""

import re
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from offline_markets.connect.options import KEY
from piecework.foundation.client.calls import Request
from piecework.foundation.client.transport import Answer, Patience, Transport
from piecework.markets.connect.bridge.bonuses import settle_unknown
from piecework.markets.connect.bridge.bridge import Bridge
from piecework.markets.connect.bridge.serving import step
from piecework.markets.connect.client import Connect
from piecework.markets.connect.values import ApiKey
from tests.marketplace.market import START
from tests.markets.connect.town import SPENT, Town, Visitor, a_town

MOST_STEPS = 40

_NAMES = (
    (r"GET account", "get-account"),
    (r"POST project", "create-project"),
    (r"GET project", "list-projects"),
    (r"GET project/\w+", "get-project"),
    (r"POST project/\w+", "edit-project"),
    (r"POST project/\w+/update-status", "update-status"),
    (r"GET project/\w+/statistics", "get-statistics"),
    (r"GET assignments/\w+", "list-assignments"),
    (r"POST assignments/\w+/(approve|reject|reverse-reject|bonus)", ""),
    (r"POST conversations/send-message", "send-message"),
)


def call_name(request: Request) -> str:
    """The operation of a call, as the offline Connect names it."""
    for pattern, name in _NAMES:
        match = re.fullmatch(pattern, request.name)
        if match:
            operation = name or match[1]
            status = (request.body or {}).get("status", "")
            return f"{operation} {status}".rstrip()
    return request.name


CALLS = (
    *("create-project", "update-status Live", "update-status Paused"),
    *("update-status Closed", "edit-project", "approve", "reject", "reverse-reject"),
    *("bonus", "send-message", "get-account", "list-projects", "get-project"),
    *("get-statistics", "list-assignments"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What goes wrong at one call of the bridge.

    Attributes:
        name: what the table calls it.
        dies: before or after the call; "" does not.
        script: what the offline Connect is told.
        times: how many calls of the operation the script strikes.
        lasts: whether the script holds until the end.
    """

    name: str
    dies: Literal["", "before", "after"] = ""
    script: dict[str, Any] | None = None
    times: int = 1
    lasts: bool = False


FAULTS = (
    Fault(name="killed before the call", dies="before"),
    Fault(name="killed, reply unread", dies="after"),
    Fault(name="request lost", script={"kind": "lose_request"}),
    Fault(name="reply lost", script={"kind": "lose_reply"}),
    Fault(name="4 replies lost", script={"kind": "lose_reply"}, times=4),
    Fault(name="429 4 times", script={"kind": "throttle"}, times=4),
    Fault(name="500", script={"kind": "server_error"}),
    Fault(name="500 4 times", script={"kind": "server_error"}, times=4),
    Fault(name="done, and 502 with a page", script={"kind": "bad_gateway"}),
    Fault(name="lists lag by 1 h", script={"kind": "lag", "seconds": 3600}, lasts=True),
)
BY_NAME = {fault.name: fault for fault in FAULTS}


class Died(BaseException):
    """The process of the bridge ended here."""


class Lives:
    """The bridge of a town, life after life.

    Attributes:
        has_met: whether the fault was met.
        deaths: how often a life ended.
        failures: how many steps had a call that failed.
        asked: how many payments a person was asked about.
    """

    def __init__(self, town: Town, fault: Fault, call: str) -> None:
        self.town, self.fault, self.call = town, fault, call
        self.calls: Counter[str] = Counter()
        self.has_met = False
        self.deaths = self.failures = self.asked = 0
        self._open = ExitStack()
        self._live()

    def close(self) -> None:
        """Let go of its connections."""
        self._open.close()

    def settle(self) -> None:
        """Make steps until one changes nothing and nothing in it fails."""
        for _ in range(MOST_STEPS):
            try:
                has_changed = step(self.town.bridge)
            except Died:
                self.deaths += 1
                self._live()
                continue
            self.failures += bool(self.town.bridge.faults)
            if not has_changed and not self.town.bridge.faults:
                return
        raise AssertionError(f"no end: {self.town.bridge.faults}")

    def begin(self, name: str) -> None:
        """Count a call that is about to leave, and do what is meant for it.

        Raises:
            Died: before the call.
        """
        self.calls[name] += 1
        if name != self.call or self.calls[name] != 1:
            return
        self.has_met = True
        if self.fault.dies == "before":
            raise Died
        if self.fault.script is not None:
            operation = None if self.fault.lasts else name.split(" ", maxsplit=1)[0]
            times = {} if self.fault.lasts else {"times": self.fault.times}
            self.town.connect.set_faults({**self.fault.script, **times, "operation": operation})

    def end(self, name: str) -> None:
        """The call has ended somehow.

        Raises:
            Died: after the call.
        """
        if name != self.call:
            return
        number = self.calls[name]
        if self.fault.script and not self.fault.lasts and number == self.fault.times:
            self.town.connect.set_faults()
        if self.fault.dies == "after" and number == 1:
            raise Died

    def _live(self) -> None:
        transport = self._open.enter_context(_Mortal(self.town.connect.address, self))
        here = self.town.bridge
        self.town.bridge = Bridge(here.backend, Connect(transport), here.terms)


class _Mortal(Transport):
    """A transport whose calls are counted, and that may die."""

    def __init__(self, address: str, lives: Lives) -> None:
        super().__init__(address, ApiKey(KEY), patience=Patience(tries=3), sleep=lambda _: None)
        self._lives = lives

    def _once(self, request: Request) -> Answer:
        name = call_name(request)
        self._lives.begin(name)
        try:
            return super()._once(request)
        finally:
            self._lives.end(name)


def campaign_to_its_end(folder: Path, fault: Fault, call: str, **switches: bool) -> Lives:
    """A campaign that uses all that the bridge can do, with one fault at one call."""
    with a_town(folder, switches=switches) as town:
        lives = Lives(town, fault, call)
        try:
            _campaign(town, lives)
        finally:
            lives.close()
    return lives


def _campaign(town: Town, lives: Lives) -> None:
    first = town.post(4)
    lives.settle()
    good, bad = town.visitor(), town.visitor()
    for visitor in (good, bad):
        visitor.work(town.project())
    lives.settle()
    for assignment in _of(town, good):
        town.requester.approve_assignment(AssignmentId=assignment)
    for assignment in _of(town, bad):
        town.requester.reject_assignment(
            AssignmentId=assignment, RequesterFeedback="Not about the picture."
        )
    _later(town, lives)
    assert _status(town, good) == "Approved"
    assert _status(town, bad) == "Rejected"
    for assignment in _of(town, bad):
        town.requester.approve_assignment(
            AssignmentId=assignment, OverrideRejection=True, RequesterFeedback="Sorry."
        )
    town.requester.send_bonus(
        WorkerId=good.worker_id, BonusAmount="0.30", AssignmentId=_of(town, good)[0], Reason="Good."
    )
    town.requester.notify_workers(
        Subject="Thanks", MessageText="Well done.", WorkerIds=[good.worker_id]
    )
    _later(town, lives)
    assert _status(town, bad) == "Approved"
    second = town.post(2)
    _later(town, lives)
    second += town.post(4)
    _later(town, lives)
    third = town.visitor()
    third.work(town.project())
    for assignment in _of(town, third):
        town.requester.approve_assignment(AssignmentId=assignment)
    for hit in (*first, *second):
        town.requester.update_expiration_for_hit(HITId=hit, ExpireAt=START)
    _later(town, lives)
    _check(town, good, bad, third)


def _later(town: Town, lives: Lives) -> None:
    """Settle, and again after some time, in which a lost reply shows what it did."""
    lives.settle()
    for _ in range(2):
        town.wait(hours=1, minutes=1)
        lives.settle()
        lives.asked += _answer_as_a_person(town)
    lives.settle()


def _answer_as_a_person(town: Town) -> int:
    """Look at Connect whether a bonus was paid, and say so; how many were asked."""
    waiting = town.rows(
        "SELECT batch_id, bonus_lines.cents, submission_id FROM bonus_batches "
        "JOIN bonus_lines ON bonus_lines.batch = bonus_batches.id "
        "JOIN visits ON visits.id = bonus_lines.visit "
        "WHERE bonus_batches.stage = 'Paying' AND bonus_batches.trouble <> ''"
    )
    for each in waiting:
        there = town.status_of(each["submission_id"])["bonus"]
        with town.bridge.backend.transaction() as transaction:
            is_paid = there == each["cents"]
            settle_unknown(transaction, each["batch_id"], is_paid=is_paid)
    return len(waiting)


def _of(town: Town, visitor: Visitor) -> list[str]:
    rows = town.rows(
        "SELECT assignment_id FROM assignments JOIN workers "
        "ON workers.id = assignments.worker WHERE workers.worker_id = ?",
        visitor.worker_id,
    )
    return [str(row["assignment_id"]) for row in rows]


def _status(town: Town, visitor: Visitor) -> str:
    return str(town.status_of(visitor.assignment_id)["status"])


def _check(town: Town, *visitors: Visitor) -> None:
    """Each was paid once, nothing is held, and nothing was published twice."""
    good = visitors[0]
    assert {_status(town, visitor) for visitor in visitors} == {"Approved"}
    assert town.status_of(good.assignment_id)["bonus"] == 30
    messages = town.connect.messages(good.participant_id)
    assert sum(each["kind"] == "message" for each in messages) <= 1
    published = [
        each["internalName"]
        for each in town.projects()
        if each["status"] not in ("Unpublished", "Archived")
    ]
    assert len(published) == len(set(published)) == 2
    assert all(each["status"] != "Live" for each in town.projects())
    accounts = town.connect.books()["accounts"]
    assert accounts["held"] == 0
    assert accounts["payments"] == 3 * 2 * 55
    assert sum(accounts[name] for name in SPENT) == 3 * 138 + 30 + 8
    town.check_books()
    assert not town.rows("SELECT 1 FROM visits WHERE outcome IS NOT 'Paid'")
