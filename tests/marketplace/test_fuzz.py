"""Whatever strangers send: a sentence, never a 5xx, and a no that changed nothing."""

import asyncio
import hashlib
import itertools
import random
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from piecework.marketplace.http.server import Marketplace, serve
from piecework.marketplace.requester.wire import operation_names
from piecework.marketplace.state import accounts, ledger
from piecework.marketplace.state.backend import Backend, Rules
from piecework.marketplace.state.clock import DAY
from piecework.marketplace.workers import invitations
from tests.bench.line import Line, Reply, connect
from tests.marketplace import hostile_requests
from tests.marketplace.market import HIT_TYPE, QUESTION, START, Market, expire, post
from tests.marketplace.notification_calls import specification
from tests.marketplace.own_event_loop import run_in_thread

RULES = Rules(rehearsal=True, seed=7, start=START)
NEVER_DONE = {"GetFileUploadURL"}
"""No question asks for files any more."""

UNKEPT = ("calls", "sqlite_sequence")
"""Counting a refused call is no change."""


class Watch:
    """A second pair of eyes on the file: what is in it, and whether that changed."""

    def __init__(self, database: Path) -> None:
        self._conn = sqlite3.connect(database, check_same_thread=False)
        self._version = -1
        self._digest = ""
        self._tables = [
            row[0]
            for row in self._conn.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
            )
            if row[0] not in UNKEPT
        ]

    def close(self) -> None:
        """Look away."""
        self._conn.close()

    def digest(self) -> str:
        """The same as long as the same is in the tables."""
        version = self._conn.execute("PRAGMA data_version").fetchone()[0]
        if version != self._version:
            self._version = version
            state_hash = hashlib.sha256()
            for table in self._tables:
                for row in self._conn.execute(f"SELECT * FROM {table}"):
                    state_hash.update(repr(row).encode("utf-8", "replace"))
            self._digest = state_hash.hexdigest()
        return self._digest


@dataclass(frozen=True, slots=True)
class Scene:
    """A running marketplace with something in it that could be broken."""

    market: Market
    known: hostile_requests.Known
    watch: Watch


@contextmanager
def scene(database: Path) -> Iterator[Scene]:
    """HITs in several states, a worker at work, a qualification, an invitation."""
    with closing(Backend(database, RULES)) as backend, backend.transaction() as transaction:
        new = accounts.NewWorker(handle="invited", country="US")
        invited = invitations.invite(transaction, new, lifetime_ms=7 * DAY)
    with (
        serve(Marketplace(database, rehearsal=True, seed=7)) as running,
        closing(Market(running.endpoint_url, running.frames_url)) as market,
        closing(Watch(database)) as watch,
    ):
        client, ann = market.requester("FUZZ"), market.worker(handle="ann")
        made = post(client, MaxAssignments=9)
        done = ann.do(made["HITGroupId"])
        post(client)
        group = post(client)["HITGroupId"]
        accepted = ann.accept(group).json()["assignment_id"]
        kind = client.create_qualification_type(
            Name="Birds", Description="Knows birds.", QualificationTypeStatus="Active"
        )["QualificationType"]
        values = {
            **HIT_TYPE,
            "HITId": made["HITId"],
            "HITTypeId": made["HITTypeId"],
            "AssignmentId": done,
            "WorkerId": ann.worker_id,
            "WorkerIds": [ann.worker_id],
            "QualificationTypeId": kind["QualificationTypeId"],
            "Question": QUESTION,
            "BonusAmount": "0.01",
            "LifetimeInSeconds": 3600,
            "MaxResults": 10,
        }
        known = hostile_requests.Known(
            values=values,
            session=ann.token,
            group=group,
            accepted=accepted,
            invitation=invited.code,
            ready=ready(market, values),
        )
        yield Scene(market, known, watch)


def ready(market: Market, values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Members of calls that can be carried out, each with what it needs of its own."""
    client = market.requester("FUZZ")
    workers = [market.worker(handle=f"ready{n}") for n in range(2)]

    def new_hit(*, is_over: bool = False, **parameters: object) -> dict[str, Any]:
        made = post(client, Title=f"Ready {next(numbers)}", **parameters)
        if is_over:
            expire(client, made["HITId"])
        return {"HITId": made["HITId"]}

    def new_work() -> dict[str, Any]:
        made = post(client, Title=f"Ready {next(numbers)}")
        return {"AssignmentId": workers[0].do(made["HITGroupId"])}

    def new_type() -> dict[str, Any]:
        made = client.create_qualification_type(
            Name=f"Ready {next(numbers)}", Description="x", QualificationTypeStatus="Active"
        )["QualificationType"]
        return {"QualificationTypeId": made["QualificationTypeId"]}

    def granted() -> dict[str, Any]:
        to = {**new_type(), "WorkerId": workers[0].worker_id}
        client.associate_qualification_with_worker(**to)
        return to

    def asked() -> dict[str, Any]:
        kind = new_type()
        path = f"/worker/qualifications/{kind['QualificationTypeId']}/request"
        workers[1].http.post(path)
        (request,) = client.list_qualification_requests(**kind)["QualificationRequests"]
        return {"QualificationRequestId": request["QualificationRequestId"]}

    numbers = itertools.count()
    worker = {"WorkerId": workers[0].worker_id}
    hit_type = {"HITTypeId": values["HITTypeId"]}
    posted = {"LifetimeInSeconds": 3600, "Question": QUESTION}
    reason = {"Reason": "x"}
    done = {"AssignmentId": values["AssignmentId"]}
    queue = {"Notification": specification("HITExpired")}
    return {
        "AcceptQualificationRequest": asked(),
        "ApproveAssignment": new_work(),
        "AssociateQualificationWithWorker": {**new_type(), **worker},
        "CreateAdditionalAssignmentsForHIT": {**new_hit(), "NumberOfAdditionalAssignments": 1},
        "CreateHIT": {**HIT_TYPE, **posted},
        "CreateHITType": {**HIT_TYPE, "Title": "Ready"},
        "CreateHITWithHITType": {**hit_type, **posted},
        "CreateQualificationType": {
            "Name": "Ready",
            "Description": "x",
            "QualificationTypeStatus": "Active",
        },
        "CreateWorkerBlock": {**worker, **reason},
        "DeleteHIT": new_hit(is_over=True),
        "DeleteQualificationType": new_type(),
        "DeleteWorkerBlock": worker,
        "DisassociateQualificationFromWorker": granted(),
        "GetAccountBalance": {},
        "GetAssignment": done,
        "GetHIT": new_hit(),
        "GetQualificationScore": granted(),
        "GetQualificationType": new_type(),
        "ListAssignmentsForHIT": new_hit(),
        "ListBonusPayments": done,
        "ListHITs": {},
        "ListHITsForQualificationType": new_type(),
        "ListQualificationRequests": new_type(),
        "ListQualificationTypes": {"MustBeRequestable": True},
        "ListReviewPolicyResultsForHIT": new_hit(),
        "ListReviewableHITs": {},
        "ListWorkerBlocks": {},
        "ListWorkersWithQualificationType": new_type(),
        "NotifyWorkers": {"Subject": "x", "MessageText": "x", "WorkerIds": [workers[0].worker_id]},
        "RejectAssignment": {**new_work(), "RequesterFeedback": "x"},
        "RejectQualificationRequest": asked(),
        "SendBonus": {**worker, **new_work(), **reason, "BonusAmount": "0.01"},
        "SendTestEventNotification": {**queue, "TestEventType": "Ping"},
        "UpdateExpirationForHIT": {**new_hit(), "ExpireAt": 0},
        "UpdateHITReviewStatus": new_hit(is_over=True),
        "UpdateHITTypeOfHIT": {**new_hit(), **hit_type},
        "UpdateNotificationSettings": {**hit_type, **queue},
        "UpdateQualificationType": {**new_type(), "Description": "y"},
    }


async def answer(lines: dict[str, Line], origin: str, request: bytes) -> Reply:
    """The reply, on a line that is opened again when the marketplace hung up."""
    for _ in range(2):
        if origin not in lines:
            lines[origin] = await connect(origin)
        try:
            return await asyncio.wait_for(lines[origin].ask(request), 20)
        except ConnectionError:
            del lines[origin]
    raise AssertionError(f"no answer to {request[:300]!r}")


async def besiege(stage: Scene, count: int, seed: int) -> tuple[Counter[int], set[str]]:
    """Send so many requests, one after another.

    Returns:
        How often each status came, and which operations were carried out.
    """
    chance = random.Random(seed)  # noqa: S311 - the same requests every time
    lines: dict[str, Line] = {}
    statuses: Counter[int] = Counter()
    done = set()
    before = stage.watch.digest()
    for sent in itertools.islice(hostile_requests.requests(stage.known, chance), count):
        to = stage.market.frames if sent.to_frames else stage.market.endpoint
        reply = await answer(lines, to, sent.request)
        statuses[reply.status] += 1
        if reply.status == 200:
            done.add(sent.operation)
        after = stage.watch.digest()
        assert (400 if sent.is_forged else 200) <= reply.status < 500, (sent.what, reply)
        if reply.status >= 400:
            assert b" " in reply.body.strip(), (sent.what, reply)
            assert after == before, (sent.what, reply)
        before = after
    for line in lines.values():
        line.close()
    return statuses, done - {""}


def check(folder: Path, *, count: int, seed: int) -> None:
    """Besiege a marketplace, and look at what is left of it."""
    database = folder / "market.db"
    with scene(database) as stage:
        statuses, done = run_in_thread(besiege(stage, count, seed))
        # Else no request that was spoiled would have been a good one before.
        assert set(operation_names()) - done == NEVER_DONE
        # Most are refused; some were harmless, and prove that the door is open.
        assert statuses[400] > count // 4, statuses
        assert statuses[200] > count // 50, statuses
        assert {401, 403, 404, 405, 413} <= set(statuses), statuses
        client = stage.market.requester("FUZZ")
        hit = client.get_hit(HITId=stage.known.values["HITId"])["HIT"]
        assert hit["MaxAssignments"] >= 9
    with closing(Backend(database, RULES)) as backend, backend.transaction() as transaction:
        assert ledger.broken_laws(transaction) == []


@pytest.mark.full
def test_strangers_get_a_sentence_and_change_nothing(tmp_path: Path) -> None:
    """800 drawn requests: no 5xx, words with each 4xx, and an unchanged file."""
    check(tmp_path, count=800, seed=1)


@pytest.mark.full
@pytest.mark.parametrize("seed", [2, 3, 4])
def test_ten_thousand_strangers_get_a_sentence_and_change_nothing(
    tmp_path: Path, seed: int
) -> None:
    """The same 4,000 times for each of three seeds: 12,000 requests."""
    check(tmp_path, count=4000, seed=seed)
