"""Hours of work with kills: nothing is lost, and neither memory nor file runs away.

200 workers and three requesters on a marketplace that is killed every so often and
started again on its file, twelve times in all. PIECEWORK_SOAK_SECONDS says how long; in
an hour a life lasts five minutes:

    PIECEWORK_SOAK_SECONDS=3600 pytest -m full -s tests/marketplace/test_soak.py
"""

import asyncio
import itertools
import json
import os
import random
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

import pytest

from piecework.marketplace.state import audit
from piecework.marketplace.state.backend import Backend, Rules
from tests.bench.line import Line, Reply, connect, worker_call
from tests.marketplace.hostile_requests import call
from tests.marketplace.market import HIT_TYPE, QUESTION, START, Market, free_port
from tests.marketplace.own_event_loop import run_in_thread

ROOT = Path(__file__).resolve().parents[2]
SECONDS = float(os.environ.get("PIECEWORK_SOAK_SECONDS", "36"))
LIVES = 12
WORKERS = 200
REQUESTERS = ("LAB", "OTHER", "THIRD")
OPEN_HITS = 30
SLOTS = 5
FIXED_BYTES, BYTES = 8_000_000, 4_000
"""What the file and its log may take at first, and for each assignment."""

PAUSE = 1.0
"""Mean seconds of a worker before a click."""


@dataclass
class Soak:
    """What was said to clients, and what the process and its file took.

    Attributes:
        submitted: assignments whose workers read that they are stored.
        approved: those whose requesters read that they are.
        memory: bytes in memory before each kill.
        files: open files before each kill.
        sizes: bytes of the file and its log before each kill, with how many
            assignments were submitted by then.
    """

    site: str
    is_over: bool = False
    submitted: set[str] = field(default_factory=set)
    approved: set[str] = field(default_factory=set)
    refusals: Counter[str] = field(default_factory=Counter)
    memory: list[int] = field(default_factory=list)
    files: list[int] = field(default_factory=list)
    sizes: list[tuple[int, int]] = field(default_factory=list)


class Client:
    """A line that is opened again when the marketplace has died."""

    def __init__(self, soak: Soak) -> None:
        self._soak = soak
        self._line: Line | None = None

    async def ask(self, request: bytes) -> Reply | None:
        """The reply; None if it was lost, and nobody knows what was done."""
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

    async def call(self, key: str, operation: str, **members: object) -> dict[str, Any]:
        """A requester's call, repeated until a reply comes.

        It does the same once or twice: it has a token, or says how things shall be.
        """
        request = call(operation, json.dumps(members).encode(), key)
        while not self._soak.is_over:
            reply = await self.ask(request)
            if reply is not None:
                document: dict[str, Any] = json.loads(reply.body)
                if reply.status >= 400:
                    self._soak.refusals[document.get("TurkErrorCode", "?")] += 1
                return document
        return {}


@contextmanager
def process(database: Path, port: int) -> Iterator["subprocess.Popen[str]"]:
    """One life of the marketplace; it ends by a kill."""
    command = [
        sys.executable,
        "-m",
        "piecework.marketplace",
        "--database",
        str(database),
    ]
    command += ["--rehearsal", "--seed", "7", "--start", START.isoformat()]
    command += ["--port", str(port)]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as marketplace:
        try:
            assert marketplace.stdout is not None
            assert marketplace.stdout.readline().startswith("marketplace at")
            yield marketplace
        finally:
            marketplace.kill()


async def work(soak: Soak, token: str, chance: random.Random) -> None:
    """A worker, who looks, takes something and sends it."""
    client = Client(soak)
    while not soak.is_over:
        await asyncio.sleep(chance.expovariate(1 / PAUSE))
        listed = await client.ask(worker_call("GET /worker/hits", token))
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
        taken = await client.ask(worker_call(path, token))
        if taken is None or taken.status != 201:
            continue
        assignment = json.loads(taken.body)["assignment_id"]
        await asyncio.sleep(chance.expovariate(1 / PAUSE))
        form = f"assignmentId={assignment}&caption=A+red+bird+on+a+wire"
        sent = await client.ask(worker_call("POST /mturk/externalSubmit", token, form))
        if sent is not None and sent.status == 200:
            soak.submitted.add(assignment)


async def run_hits(soak: Soak, key: str) -> None:
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
                **{**HIT_TYPE, "Title": f"{key} {number % 10}"},
                MaxAssignments=SLOTS,
                LifetimeInSeconds=86_400,
                Question=QUESTION,
                UniqueRequestToken=f"{key}{number}",
            )
            if "HIT" in made:
                hits[made["HIT"]["HITId"]] = set()
        for hit_id, done in list(hits.items()):
            await _settle(soak, client, key, hit_id, done)
            if len(done) == SLOTS:
                await client.call(key, "DeleteHIT", HITId=hit_id)
                del hits[hit_id]
        await asyncio.sleep(PAUSE)


async def _settle(
    soak: Soak, client: Client, key: str, hit_id: str, done: set[str]
) -> None:
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


async def live(soak: Soak, database: Path, port: int, tokens: list[str]) -> None:
    """All lives, one after another, with everybody at work."""
    chance = random.Random(7)  # noqa: S311 - pauses
    at_work = [
        asyncio.create_task(work(soak, token, random.Random(number)))  # noqa: S311 - pauses
        for number, token in enumerate(tokens)
    ]
    at_work += [asyncio.create_task(run_hits(soak, key)) for key in REQUESTERS]
    for number in range(LIVES):
        with process(database, port) as marketplace:
            await asyncio.sleep(SECONDS / LIVES * chance.uniform(0.9, 1.1))
            _measure(soak, database, marketplace.pid)
            soak.is_over = number == LIVES - 1
    await asyncio.wait(at_work, timeout=30)
    for task in at_work:
        task.cancel()
    for outcome in await asyncio.gather(*at_work, return_exceptions=True):
        if isinstance(outcome, AssertionError):
            raise outcome


def _measure(soak: Soak, database: Path, pid: int) -> None:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    soak.memory.append(pages * os.sysconf("SC_PAGE_SIZE"))
    soak.files.append(len(list(Path(f"/proc/{pid}/fd").iterdir())))
    parts = (database, database.with_name(f"{database.name}-wal"))
    size = sum(part.stat().st_size for part in parts if part.exists())
    soak.sizes.append((size, len(soak.submitted)))


@pytest.mark.full
def test_hours_of_work_with_kills_lose_nothing_and_grow_nothing(tmp_path: Path) -> None:
    """What was answered is in the file; a life takes no more than the one before."""
    database, port = tmp_path / "market.db", free_port()
    soak = Soak(site=f"http://127.0.0.1:{port}")
    with process(database, port), closing(Market(soak.site, "")) as market:
        tokens = [market.worker(handle=f"w{n}").token for n in range(WORKERS)]
    begun = time.monotonic()
    run_in_thread(live(soak, database, port, tokens))
    with closing(sqlite3.connect(database)) as conn:
        kept = dict(conn.execute("SELECT assignment_id, status FROM assignments"))
        bonuses = conn.execute(
            "SELECT count(*), count(DISTINCT assignment) FROM bonuses"
        )
        paid, paid_for = bonuses.fetchone()
    with (
        closing(Backend(database, Rules(rehearsal=True, seed=7))) as backend,
        backend.transaction() as transaction,
    ):
        assert audit.broken_laws(transaction) == []
    lost = {name for name in soak.submitted if kept.get(name, "") in ("", "Accepted")}
    assert not lost
    assert {kept[name] for name in soak.approved} <= {"Approved"}
    assert paid == paid_for  # once, though replies were lost
    half = LIVES // 2
    early, late = soak.memory[1:half], soak.memory[half:]
    size, _ = soak.sizes[-1]
    print(  # noqa: T201 - measured
        f"{time.monotonic() - begun:.0f} s, {len(soak.submitted)} submitted, "
        f"{len(soak.approved)} approved, {paid} bonuses, {LIVES} kills; memory "
        f"{median(early) / 2**20:.0f} then {median(late) / 2**20:.0f} MiB; "
        f"{max(soak.files)} files; {size / 2**20:.1f} MiB of file and log; "
        f"refused: {dict(soak.refusals)}"
    )
    assert len(soak.submitted) > WORKERS
    assert median(late) < 1.25 * median(early)
    assert max(soak.files) < WORKERS + len(REQUESTERS) + 64
    # The file holds the work, and grows with that alone.
    assert all(size < FIXED_BYTES + BYTES * done for size, done in soak.sizes)
