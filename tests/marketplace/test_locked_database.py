"""Another program has locked the database: a sentence, soon; others are served."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from botocore.exceptions import ClientError
from click.testing import CliRunner

from piecework.cli.main import main
from piecework.marketplace.state import accounts, clock
from piecework.marketplace.workers import invitations
from tests.marketplace.live_market import Live, give, opened
from tests.marketplace.market import HIT_TYPE, QUESTION
from tests.marketplace.served_apart import served_apart

if TYPE_CHECKING:
    from mypy_boto3_mturk import MTurkClient

_SENTENCE = "another program has locked its database"
_CALLERS = 50
_SOON = 5.0
"""Far more than a page takes; far less than SQLite once waited for each request."""

_HOLDER = """
import sqlite3, sys
other = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)
other.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.readline()
other.execute("ROLLBACK")
print("unlocked", flush=True)
"""


class Lock:
    """The lock of a database, held by a process of its own."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def end(self) -> None:
        """Return when the lock is gone."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "unlocked\n"


@contextmanager
def locked(database: Path) -> Iterator[Lock]:
    """Hold the lock until the block ends."""
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(database)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "locked\n"
            yield Lock(process)
        finally:
            process.kill()


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    """A live marketplace in a process of its own, with a requester."""
    database = tmp_path / "live.db"
    key = give(database, cents=10_000)
    with served_apart(database) as apart, httpx.Client(timeout=60) as http:
        yield Live(database, apart.site, key, http)


def create(client: "MTurkClient", annotation: str) -> dict[str, Any]:
    """Post a HIT."""
    hit = client.create_hit(
        **HIT_TYPE, LifetimeInSeconds=3600, Question=QUESTION, RequesterAnnotation=annotation
    )
    return dict(hit["HIT"])


def posted(live: Live) -> set[str]:
    """The annotations of all HITs."""
    listing = live.client().get_paginator("list_hits")
    pages = listing.paginate(PaginationConfig={"PageSize": 100})
    return {hit["RequesterAnnotation"] for page in pages for hit in page["HITs"]}


def callers() -> Config:
    """Of a client that many threads use, and that repeats nothing."""
    return Config(max_pool_connections=_CALLERS, retries={"total_max_attempts": 1})


def test_under_a_lock_calls_are_refused_soon_and_all_else_is_served(live: Live) -> None:
    """Nothing that was refused is stored; what only reads is shown meanwhile."""
    client = live.client(config=callers())
    first = create(client, "before")
    waits = []
    with locked(live.database), ThreadPoolExecutor(_CALLERS) as threads:
        began = time.monotonic()
        calls = [threads.submit(create, client, f"{n}") for n in range(_CALLERS)]
        while not all(call.done() for call in calls):
            asked = time.monotonic()
            assert live.http.get(f"{live.endpoint}/healthz").text == "ok\n"
            waits.append(time.monotonic() - asked)
        seconds = time.monotonic() - began
        for call in calls:
            fault = call.exception()
            assert isinstance(fault, ClientError)
            assert fault.response["Error"]["Code"] == "ServiceFault"
            assert _SENTENCE in fault.response["Error"]["Message"]
            reply = fault.response["ResponseMetadata"]
            assert reply["HTTPStatusCode"] == 503
            assert int(reply["HTTPHeaders"]["retry-after"]) > 0
        assert client.get_hit(HITId=first["HITId"])["HIT"]["HITStatus"] == "Assignable"
        assert live.http.get(f"{live.endpoint}/worker/hits").status_code == 401
        assert live.http.get(f"{live.endpoint}/readyz").status_code == 503
    assert max(waits) < _SOON
    assert seconds < 4 * _SOON  # each waited beside the others
    assert posted(live) == {"before"}
    create(client, "after")
    assert posted(live) == {"before", "after"}


def test_a_client_that_repeats_a_refused_call_succeeds_after_the_lock(live: Live) -> None:
    """503 is what boto3 repeats by itself; the HIT is there once."""
    client = live.client(config=Config(retries={"total_max_attempts": 8}))
    was_refused = threading.Event()

    def look(response: tuple[AWSResponse, object] | None, **_: object) -> None:
        if response is not None and response[0].status_code == 503:
            was_refused.set()

    client.meta.events.register("needs-retry.mturk.CreateHIT", look)
    with locked(live.database) as lock, ThreadPoolExecutor(1) as thread:
        call = thread.submit(create, client, "repeated")
        assert was_refused.wait(60)
        assert not call.done()
        lock.end()
        assert call.result()["HITStatus"] == "Assignable"
    assert live.client().list_hits()["NumResults"] == 1


def test_a_short_lock_refuses_no_call(live: Live) -> None:
    """Writes of a command beside the server are short: calls wait for them."""
    client = live.client(config=callers())
    with locked(live.database) as lock, ThreadPoolExecutor(_CALLERS) as threads:
        calls = [threads.submit(create, client, f"{n}") for n in range(5)]
        for _ in range(20):
            live.http.get(f"{live.endpoint}/healthz")
        lock.end()
        annotations = {call.result()["RequesterAnnotation"] for call in calls}
    assert posted(live) == annotations == {f"{n}" for n in range(5)}


def test_a_worker_sees_their_pages_under_a_lock_and_submits_after_it(live: Live) -> None:
    """The form is refused with a page, and the same form is taken later."""
    with opened(live.database) as backend, backend.transaction() as transaction:
        new = accounts.NewWorker(handle="ann", country="DE")
        code = invitations.invite(transaction, new, lifetime_ms=clock.DAY).code
    group = create(live.client(), "")["HITGroupId"]
    with httpx.Client(base_url=live.endpoint, timeout=60) as worker:
        worker.post("/worker/sign-in", data={"invitation": code})
        accepted = worker.post(
            f"/worker/groups/{group}/accept", headers={"Accept": "application/json"}
        )
        form = {"assignmentId": accepted.json()["assignment_id"], "caption": "A bird."}
        with locked(live.database):
            refused = worker.post("/mturk/externalSubmit", data=form)
            assert refused.status_code == 503
            assert _SENTENCE in refused.text
            assert refused.headers["content-type"].startswith("text/html")
            page = worker.get(f"/worker/assignments/{form['assignmentId']}")
            assert page.status_code == 200
        assert worker.post("/mturk/externalSubmit", data=form).status_code == 200


def test_a_page_is_shown_under_a_lock_when_its_session_is_to_be_renewed(live: Live) -> None:
    """The renewal comes after the lock."""
    with opened(live.database) as backend, backend.transaction() as transaction:
        new = accounts.NewWorker(handle="ann", country="DE")
        code = invitations.invite(transaction, new, lifetime_ms=clock.DAY).code

    def expires_ms(less_days: int = 0) -> int:
        with opened(live.database) as backend, backend.transaction() as transaction:
            transaction.execute(
                "UPDATE worker_sessions SET expires_ms = expires_ms - ?", less_days * clock.DAY
            )
            row = transaction.first_row("SELECT expires_ms FROM worker_sessions")
        assert row is not None
        return int(row["expires_ms"])

    with httpx.Client(base_url=live.endpoint, timeout=60) as worker:
        worker.post("/worker/sign-in", data={"invitation": code})
        before = expires_ms(less_days=2)
        with locked(live.database):
            assert worker.get("/worker/hits").status_code == 200
        assert expires_ms() == before
        assert worker.get("/worker/hits").status_code == 200
        assert expires_ms() > before


@pytest.mark.full
def test_a_command_says_that_the_database_is_locked(tmp_path: Path) -> None:
    """It waits for a while, and then calls the file locked, not another program's."""
    database = tmp_path / "live.db"
    give(database)
    with locked(database):
        words = ["market", "account", "list", "--database", str(database)]
        listed = CliRunner().invoke(main, words)
    assert listed.exit_code == 1
    assert "another program has locked the database" in listed.output
