"""Hours of work with kills: nothing is lost, and neither memory nor files run away.

200 workers and three requesters, who sign their calls, use `piecework market serve` with a
continuous backup to a bucket. It is killed every so often, its replica is restored and
checked, and it is started again on its file. PIECEWORK_SOAK_SECONDS says how long; in
an hour a life lasts five minutes:

    PIECEWORK_SOAK_SECONDS=7200 pytest -m full -s tests/marketplace/test_soak.py
"""

import asyncio
import contextlib
import fcntl
import itertools
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import boto3
import httpx
import pytest
from botocore.exceptions import BotoCoreError, ClientError

from piecework.backup.marker import read_address
from piecework.backup.restoring import restore
from piecework.foundation.sqlitefile.files import backup_lock
from piecework.marketplace.state import accounts, ledger
from piecework.marketplace.state.accounts import Key
from piecework.marketplace.state.backend import Backend, Rules
from tests.backup.conftest import litestream_of
from tests.bench.line import Line, Reply, connect, worker_call
from tests.bench.signed import signed_call
from tests.marketplace.market import HIT_TYPE, QUESTION, free_port
from tests.marketplace.own_event_loop import run_in_thread
from tests.marketplace.served_apart import ROOT, SERVE, figures_in

SECONDS = float(os.environ.get("PIECEWORK_SOAK_SECONDS", "48"))
LIVES = max(12, round(SECONDS / 300))
WORKERS = 200
REQUESTERS = ("LAB", "OTHER", "THIRD")
OPEN_HITS = 30
SLOTS = 5
FIXED_BYTES, BYTES = 8_000_000, 4_000
"""What the file may take at first, and for each assignment."""

LOG_BYTES = 2**30
"""What its log may take: the backup folds it from 64 MiB on, every 30 s at most."""

PAUSE = 1.0
"""Mean seconds of a worker before a click."""

LOOK_SECONDS = 1.0
"""Seconds between two looks at the metrics."""

PATIENCE_SECONDS = 60.0
BUCKET = "soak"
ADDRESS = f"s3://{BUCKET}/marketplace"


@dataclass
class Soak:
    """What clients were told, and what the processes and the file took.

    Attributes:
        submitted: assignments whose workers read that they are stored.
        approved: those whose requesters read that they are.
        memory: bytes in memory before each kill: the marketplace and Litestream.
        files: open files before each kill.
        sizes: bytes of the file and of its log before each kill, with how many
            assignments were submitted by then.
        lags: seconds since the start of a life, and how far the replica was behind.
        unready: looks at which the replica was not confirmed to run.
    """

    site: str
    metrics: str
    is_over: bool = False
    submitted: set[str] = field(default_factory=set)
    approved: set[str] = field(default_factory=set)
    refusals: Counter[str] = field(default_factory=Counter)
    memory: list[tuple[int, int]] = field(default_factory=list)
    files: list[int] = field(default_factory=list)
    sizes: list[tuple[int, int, int]] = field(default_factory=list)
    lags: list[tuple[float, float]] = field(default_factory=list)
    unready: int = 0


class Client:
    """A line that is opened again when the marketplace has died."""

    def __init__(self, soak: Soak) -> None:
        self._soak = soak
        self._line: Line | None = None

    async def ask(self, request: bytes) -> Reply | None:
        """The reply; None if it was lost: the client cannot know what was done."""
        try:
            if self._line is None:
                self._line = await connect(self._soak.site)
            reply = await asyncio.wait_for(self._line.ask(request), 60)
        except OSError:
            self._line = None
            await asyncio.sleep(0.1)
            return None
        assert reply.status < 500, reply
        return reply

    async def call(self, key: Key, operation: str, **members: object) -> dict[str, Any]:
        """A requester's call, repeated until a reply comes.

        It does the same once or twice: it has a token, or says how things shall be.
        """
        while not self._soak.is_over:
            request = signed_call(key, self._soak.site, operation, members)
            reply = await self.ask(request)
            if reply is None:
                continue
            document: dict[str, Any] = json.loads(reply.body)
            if reply.status < 400:
                return document
            reason = document.get("TurkErrorCode") or document.get("__type", "?")
            self._soak.refusals[reason] += 1
            if reason != "ThrottlingException":
                return document
            await asyncio.sleep(1)  # then it is another signature
        return {}


@contextmanager
def process(database: Path, soak: Soak) -> Iterator["subprocess.Popen[str]"]:
    """One life of the marketplace; it ends by a kill."""
    command = [*SERVE, "--database", str(database)]
    command += ["--port", soak.site.rpartition(":")[2], "--frames-port", "0"]
    command += ["--metrics-port", soak.metrics.split(":")[2].partition("/")[0]]
    command += ["--backup", ADDRESS]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as marketplace:
        try:
            assert marketplace.stdout is not None
            assert marketplace.stdout.readline().startswith("marketplace at")
            yield marketplace
        finally:
            marketplace.kill()


async def work(soak: Soak, session: str, chance: random.Random) -> None:
    """A worker, who looks, accepts something and sends it."""
    client = Client(soak)
    while not soak.is_over:
        await asyncio.sleep(chance.expovariate(1 / PAUSE))
        listed = await client.ask(worker_call("GET /worker/hits", session))
        if listed is None:
            continue
        groups = [
            group["hit_group_id"]
            for group in json.loads(listed.body)["hit_groups"]
            if group["may_accept"] and group["available"] > 0
        ]
        if not groups:
            continue
        path = f"POST /worker/groups/{chance.choice(groups)}/accept"
        accepted = await client.ask(worker_call(path, session))
        if accepted is None or accepted.status != 201:
            continue
        assignment = json.loads(accepted.body)["assignment_id"]
        await asyncio.sleep(chance.expovariate(1 / PAUSE))
        form = f"assignmentId={assignment}&caption=A+red+bird+on+a+wire"
        sent = await client.ask(worker_call("POST /mturk/externalSubmit", session, form))
        if sent is not None and sent.status == 200:
            soak.submitted.add(assignment)


async def run_hits(soak: Soak, name: str, key: Key) -> None:
    """A requester, who posts, approves, pays a bonus now and then, and deletes."""
    client = Client(soak)
    numbers = itertools.count()
    hits: dict[str, set[str]] = {}
    while not soak.is_over:
        while len(hits) < OPEN_HITS and not soak.is_over:
            number = next(numbers)
            made = await client.call(
                key,
                "CreateHIT",
                **{
                    **HIT_TYPE,
                    "Title": f"{name} {number % 10}",
                    # Acceptances whose replies were lost lapse.
                    "AssignmentDurationInSeconds": 30,
                },
                MaxAssignments=SLOTS,
                LifetimeInSeconds=86_400,
                Question=QUESTION,
                UniqueRequestToken=f"{name}{number}",
            )
            if "HIT" in made:
                hits[made["HIT"]["HITId"]] = set()
        for hit_id, done in list(hits.items()):
            await _settle(soak, client, key, hit_id, done)
            if len(done) == SLOTS:
                await client.call(key, "DeleteHIT", HITId=hit_id)
                del hits[hit_id]
        await asyncio.sleep(PAUSE)


async def _settle(soak: Soak, client: Client, key: Key, hit_id: str, done: set[str]) -> None:
    listed = await client.call(
        key, "ListAssignmentsForHIT", HITId=hit_id, AssignmentStatuses=["Submitted"]
    )
    for assignment in listed.get("Assignments", []):
        name = assignment["AssignmentId"]
        approved = await client.call(key, "ApproveAssignment", AssignmentId=name)
        if approved == {} and not soak.is_over:
            soak.approved.add(name)
        done.add(name)
        if len(done) == 1:
            await client.call(
                key,
                "SendBonus",
                WorkerId=assignment["WorkerId"],
                AssignmentId=name,
                BonusAmount="0.01",
                Reason="Thanks",
                UniqueRequestToken=name,
            )


async def live(soak: Soak, database: Path, sessions: list[str], signing: dict[str, Key]) -> None:
    """All lives, one after another, with everybody at work."""
    chance = random.Random(7)  # noqa: S311 - pauses
    at_work = [
        asyncio.create_task(work(soak, session, random.Random(number)))  # noqa: S311 - pauses
        for number, session in enumerate(sessions)
    ]
    at_work += [asyncio.create_task(run_hits(soak, name, key)) for name, key in signing.items()]
    try:
        for number in range(LIVES):
            with process(database, soak) as marketplace:
                await _watch(soak, SECONDS / LIVES * chance.uniform(0.9, 1.1))
                _measure(soak, database, marketplace.pid)
                soak.is_over = number == LIVES - 1
            await asyncio.to_thread(_check_replica, soak, database)
    finally:
        soak.is_over = True
    await asyncio.wait(at_work, timeout=30)
    for task in at_work:
        task.cancel()
    for outcome in await asyncio.gather(*at_work, return_exceptions=True):
        if isinstance(outcome, Exception):
            raise outcome


async def _watch(soak: Soak, seconds: float) -> None:
    began = time.monotonic()
    async with httpx.AsyncClient() as prometheus:
        while time.monotonic() - began < seconds:
            await asyncio.sleep(LOOK_SECONDS)
            await _look(soak, prometheus, began)


async def _look(soak: Soak, prometheus: httpx.AsyncClient, began: float) -> None:
    figures = figures_in((await prometheus.get(soak.metrics, timeout=60)).text)
    lag = figures["piecework_backup_lag_seconds"]
    soak.lags.append((time.monotonic() - began, lag))
    soak.unready += not figures["piecework_backup_running"]


def _measure(soak: Soak, database: Path, pid: int) -> None:
    soak.memory.append((_resident(pid), _resident_of_litestream(database)))
    soak.files.append(len(list(Path(f"/proc/{pid}/fd").iterdir())))
    log = database.with_name(f"{database.name}-wal").stat().st_size
    soak.sizes.append((database.stat().st_size, log, len(soak.submitted)))
    print(  # noqa: T201 - whoever waits for hours sees that it goes on
        f"{len(soak.submitted)} submitted, memory {soak.memory[-1]}, "
        f"files {soak.files[-1]}, file and log {soak.sizes[-1][:2]}, lag at most "
        f"{max(lag for _, lag in soak.lags):.2f} s",
        flush=True,
    )


def _resident(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _resident_of_litestream(database: Path) -> int:
    """It is started again after each fold of the log."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return _resident(litestream_of(database))
        except (FileNotFoundError, ValueError):
            assert time.monotonic() < deadline, "Litestream was not started again"
            time.sleep(0.1)


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A bucket that piecework finds by the environment, in a process of its own."""
    address = ("127.0.0.1", str(free_port()))
    endpoint = "http://{}:{}".format(*address)
    for name, word in {
        "AWS_ENDPOINT_URL_S3": endpoint,
        "AWS_ACCESS_KEY_ID": "a-key",
        "AWS_SECRET_ACCESS_KEY": "a-secret",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, word)
    moto = [sys.executable, "-m", "moto.server", "-H", address[0], "-p", address[1]]
    with subprocess.Popen(moto, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            client = boto3.Session().client("s3", endpoint_url=endpoint)
            deadline = time.monotonic() + PATIENCE_SECONDS
            while not _is_made(client):
                assert time.monotonic() < deadline, "the bucket's server did not start"
                time.sleep(0.2)
            yield
        finally:
            server.terminate()


def _is_made(client: Any) -> bool:  # noqa: ANN401 - boto3 has no types for S3 here
    try:
        client.create_bucket(Bucket=BUCKET)
    except (BotoCoreError, ClientError):
        return False
    return True


def _opened(database: Path) -> tuple[list[str], dict[str, Key]]:
    """A live marketplace: the tokens of its workers, and its requesters' keys."""
    with closing(Backend(database, Rules())) as backend, backend.transaction() as transaction:
        people = [accounts.NewWorker(handle=f"w{n}", country="US") for n in range(WORKERS)]
        tokens = [accounts.add_worker(transaction, each)[1] for each in people]
        signing = {
            name: accounts.give_key(transaction, name, deposit_cents=10**9) for name in REQUESTERS
        }
    return tokens, signing


def _sessions(site: str, tokens: list[str]) -> list[str]:
    """The cookie of each worker after signing in."""
    sessions = []
    with httpx.Client(base_url=site, verify=False) as http:  # noqa: S501 - plain HTTP
        for token in tokens:
            http.cookies.clear()  # each is another browser
            reply = http.post("/worker/sign-in", data={"token": token})
            sessions.append(reply.cookies["worker_session"])
    return sessions


def _wait_until_litestream_has_ended(database: Path) -> None:
    """It sends the last commits of a killed marketplace first, and holds the lock."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    with backup_lock(database).open("a+b") as lock:
        while True:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            assert time.monotonic() < deadline, "Litestream did not end"
            time.sleep(0.1)


def _check_replica(soak: Soak, database: Path) -> Path:
    """What clients were told is in the replica of a killed marketplace."""
    submitted, approved = set(soak.submitted), set(soak.approved)
    _wait_until_litestream_has_ended(database)
    restored = database.with_name(f"restored{len(soak.sizes)}") / "market.db"
    shutil.rmtree(restored.parent, ignore_errors=True)
    restore(read_address(ADDRESS), restored)
    with closing(sqlite3.connect(restored)) as conn:
        kept = dict(conn.execute("SELECT assignment_id, status FROM assignments"))
    assert {kept.get(name, "lost") for name in submitted} <= {"Submitted", "Approved"}
    assert {kept.get(name, "lost") for name in approved} <= {"Approved"}
    with closing(Backend(restored, Rules())) as backend, backend.transaction() as transaction:
        assert ledger.broken_laws(transaction) == []
    return restored


@pytest.mark.full
@pytest.mark.usefixtures("bucket")
def test_hours_of_work_with_kills_lose_nothing_and_grow_nothing(tmp_path: Path) -> None:
    """What was answered is in the replica; a life takes no more than the one before."""
    database = tmp_path / "market.db"
    soak = Soak(
        site=f"http://127.0.0.1:{free_port()}", metrics=f"http://127.0.0.1:{free_port()}/metrics"
    )
    tokens, signing = _opened(database)
    with process(database, soak):
        sessions = _sessions(soak.site, tokens)
    begun = time.monotonic()
    run_in_thread(live(soak, database, sessions, signing))
    restored = _check_replica(soak, database)
    with closing(sqlite3.connect(restored)) as conn:
        paid, paid_for = conn.execute(
            "SELECT count(*), count(DISTINCT assignment) FROM bonuses"
        ).fetchone()
    half = LIVES // 2
    early, late = (
        [[life[which] for life in part] for which in (0, 1)]
        for part in (soak.memory[1:half], soak.memory[half:])
    )
    size, _, _ = soak.sizes[-1]
    log = max(log for _, log, _ in soak.sizes)
    lags = sorted(lag for _, lag in soak.lags)
    print(  # noqa: T201 - measured
        f"{time.monotonic() - begun:.0f} s, {len(soak.submitted)} submitted, "
        f"{len(soak.approved)} approved, {paid} bonuses, {LIVES} kills; memory "
        f"{_mib(early)} then {_mib(late)}; {max(soak.files)} files; "
        f"{size / 2**20:.1f} MiB of file, {log / 2**20:.1f} MiB of log; "
        f"lag {median(lags):.2f}, p99 {lags[int(len(lags) * 0.99)]:.2f}, "
        f"at most {lags[-1]:.2f} s, {soak.unready} of {len(lags)} looks without "
        f"a replica; "
        f"refused: {dict(soak.refusals)}"
    )
    assert paid == paid_for  # once, though replies were lost
    assert len(soak.submitted) > WORKERS
    assert median(late[0]) < 1.25 * median(early[0])
    assert max(soak.files) < WORKERS + len(REQUESTERS) + 64
    # The file holds the work, and grows with that alone.
    assert all(size < FIXED_BYTES + BYTES * done for size, _, done in soak.sizes)
    assert log < LOG_BYTES


def _mib(memory: list[list[int]]) -> str:
    """The medians of marketplace and Litestream."""
    return " + ".join(f"{median(part) / 2**20:.0f} MiB" for part in memory)
