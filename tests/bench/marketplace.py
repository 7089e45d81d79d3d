"""How much the marketplace bears: calls a second, crowds at once, cost by size.

The server is a process of its own with its database on the disk; a rehearsal leaves
the sync of commits out, `signed` measures live with it. This process only sends
prepared bytes. Run: `make bench`, or with sizes of your own:
`python -m tests.bench.marketplace 1000 10000 200000`.
"""

import asyncio
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx

from piecework.marketplace.requester.api import perform_operation
from piecework.marketplace.state.backend import Backend, Rules
from tests.bench.line import KEY, Line, call, connect, worker_call
from tests.bench.signed import LiveRequester
from tests.bench.targets import Figure

ROOT = Path(__file__).resolve().parents[2]
START = datetime(2026, 1, 5, 9, tzinfo=UTC)
SIZES = (1_000, 10_000, 200_000)
CONNECTIONS = (1, 4, 16)
SECONDS = 5.0
WORKERS = 500
ROUNDS = 4
PAUSES = (0.0, 1.0, 2.0)
ASSIGNMENTS = 5
PER_SIZE = 300
QUESTION = (
    '<HTMLQuestion xmlns="http://mechanicalturk.amazonaws.com/'
    'AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd"><HTMLContent>'
    f"<![CDATA[<!doctype html><title>A question</title>{'<p>What is it?' * 150}]]>"
    "</HTMLContent><FrameHeight>0</FrameHeight></HTMLQuestion>"
)
HIT_TYPE: dict[str, object] = {
    "Title": "Describe a picture",
    "Description": "Say what it shows.",
    "Keywords": "image, caption",
    "Reward": "0.01",
    "AssignmentDurationInSeconds": 3600,
    "AutoApprovalDelayInSeconds": 86_400,
}


@dataclass(slots=True)
class Running:
    """A marketplace to measure, and what is in it."""

    site: str
    hit_type: str = ""
    group: str = ""
    judged: str = ""
    tokens: list[str] = field(default_factory=list)
    made: int = 0

    def new_hit(self, most: int = 1) -> bytes:
        """One more HIT, as bytes."""
        self.made += 1
        return call(
            "CreateHITWithHITType",
            HITTypeId=self.hit_type,
            LifetimeInSeconds=864_000,
            MaxAssignments=most,
            Question=QUESTION,
            UniqueRequestToken=f"{id(self)} {self.made}",
        )


_REHEARSAL = ("--rehearsal", "--seed", "7", "--start", START.isoformat())


@contextmanager
def running(database: Path, *options: str) -> Iterator[Running]:
    """A marketplace in a process of its own; a rehearsal, unless options are given."""
    command = [sys.executable, "-m", "piecework.marketplace", "--database", str(database)]
    command += options or _REHEARSAL
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield Running(site=process.stdout.readline().split()[2])
        finally:
            process.terminate()


async def prepare(market: Running, *, workers: int) -> None:
    """A HIT type, people, and a HIT with a few submitted assignments."""
    line = await connect(market.site)
    market.hit_type = _json(await line.ask(call("CreateHITType", **HIT_TYPE)))["HITTypeId"]
    hit = _json(await line.ask(market.new_hit(ASSIGNMENTS)))["HIT"]
    market.group, market.judged = hit["HITGroupId"], hit["HITId"]
    async with httpx.AsyncClient(base_url=market.site) as client:
        for number in range(workers):
            person = {"handle": f"w{number}", "country": "US"}
            reply = await client.post("/rehearsal/workers", json=person)
            market.tokens.append(reply.json()["token"])
    # On a busy machine the first line has been idle for too long by now.
    line.close()
    line = await connect(market.site)
    for token in market.tokens[:ASSIGNMENTS]:
        await _work(line, market, token)
    line.close()


async def calls_a_second(market: Running, connections: int, make: Callable[[], bytes]) -> float:
    """How many calls are answered, when each line asks again at once."""
    lines = [await connect(market.site) for _ in range(connections)]
    # Prepared outside of the measured time, enough for any machine.
    ready = [[make() for _ in range(int(SECONDS * 4000 / connections))] for _ in lines]
    began = time.perf_counter()

    async def keep_asking(line: Line, requests: list[bytes]) -> int:
        for number, request in enumerate(requests):
            if time.perf_counter() - began > SECONDS:
                return number
            reply = await line.ask(request)
            assert reply.status == 200, reply.body
        return len(requests)

    done = sum(await asyncio.gather(*map(keep_asking, lines, ready)))
    took = time.perf_counter() - began
    for line in lines:
        line.close()
    return done / took


async def crowd(market: Running, pause_seconds: float) -> dict[str, list[float]]:
    """Everybody lists, accepts and submits a few times; milliseconds of each."""
    chance = random.Random(1)  # noqa: S311 - the same pauses every time
    lines = [await connect(market.site) for _ in market.tokens]
    for number in range(ROUNDS + 1):
        assert (await lines[0].ask(market.new_hit(WORKERS))).status == 200, number
    took: dict[str, list[float]] = {"list": [], "accept": [], "submit": []}

    async def worker_rounds(line: Line, token: str) -> None:
        async def timed(what: str, request: bytes) -> dict[str, Any]:
            if pause_seconds:
                await asyncio.sleep(chance.uniform(0, 2 * pause_seconds))
            began = time.perf_counter()
            reply = await line.ask(request)
            took[what].append((time.perf_counter() - began) * 1000)
            assert reply.status < 300, reply.body
            return _json(reply)

        for _ in range(ROUNDS):
            await timed("list", worker_call("GET /worker/hits", token))
            accept = f"POST /worker/groups/{market.group}/accept"
            made = await timed("accept", worker_call(accept, token))
            form = f"assignmentId={made['assignment_id']}&caption=A+red+bird."
            submit = worker_call("POST /mturk/externalSubmit", token, form)
            await timed("submit", submit)

    await asyncio.gather(*map(worker_rounds, lines, market.tokens))
    for line in lines:
        line.close()
    return took


def fill(database: Path, size: int) -> None:
    """Many HITs by the same code, without HTTP and with a commit per thousand."""
    with closing(Backend(database, Rules(rehearsal=True, seed=7, start=START))) as backend:
        hit_type = perform_operation(backend, KEY, "CreateHITType", HIT_TYPE)["HITTypeId"]
        hit = {"HITTypeId": hit_type, "LifetimeInSeconds": 864_000, "Question": QUESTION}
        for first in range(0, size, 1000):
            with backend.group_commits(lambda: None, lambda: None):
                for _ in range(first, min(first + 1000, size)):
                    perform_operation(backend, KEY, "CreateHITWithHITType", hit)


async def cost(market: Running) -> dict[str, float]:
    """Median milliseconds of each call on one line."""
    await prepare(market, workers=PER_SIZE)
    line = await connect(market.site)
    hit = call("ListAssignmentsForHIT", HITId=market.judged)
    tokens = iter(market.tokens * 2)
    probes: dict[str, Callable[[], Awaitable[object]]] = {
        "CreateHITWithHITType": lambda: line.ask(market.new_hit()),
        "GetHIT": lambda: line.ask(call("GetHIT", HITId=market.judged)),
        "ListAssignmentsForHIT": lambda: line.ask(hit),
        "ListHITs (10)": lambda: line.ask(call("ListHITs")),
        "ListReviewableHITs": lambda: line.ask(call("ListReviewableHITs")),
        "worker's list": lambda: line.ask(worker_call("GET /worker/hits", market.tokens[0])),
        "accept and submit": lambda: _work(line, market, next(tokens)),
    }
    milliseconds = {}
    for name, probe in probes.items():
        took = []
        for _ in range(PER_SIZE):
            began = time.perf_counter()
            await probe()
            took.append((time.perf_counter() - began) * 1000)
        milliseconds[name] = statistics.median(took)
    line.close()
    return milliseconds


async def expiring(market: Running) -> list[str]:
    """All HITs expire with one jump of the clock; what calls meanwhile wait."""
    control, line = await connect(market.site), await connect(market.site)
    moment = json.dumps({"now": (START + timedelta(days=20)).isoformat()})
    began = time.perf_counter()
    jump = asyncio.create_task(control.ask(worker_call("PUT /rehearsal/clock", "", moment)))
    probes = (
        call("GetHIT", HITId=market.judged),
        call("ListHITs"),
        worker_call("GET /worker/hits", market.tokens[0]),
        market.new_hit(),
    )
    took: list[float] = []
    while not jump.done():
        asked = time.perf_counter()
        await line.ask(probes[len(took) % len(probes)])
        took.append((time.perf_counter() - asked) * 1000)
    figures = [f"{time.perf_counter() - began:.1f}", f"{len(took)}"]
    control.close()
    line.close()
    middle, _, most = _percentiles(took)
    return [*figures, middle, most, f"{max(took):.0f}"]


async def _work(line: Line, market: Running, token: str) -> None:
    accept = worker_call(f"POST /worker/groups/{market.group}/accept", token)
    made = _json(await line.ask(accept))["assignment_id"]
    form = f"assignmentId={made}&caption=A+red+bird."
    reply = await line.ask(worker_call("POST /mturk/externalSubmit", token, form))
    assert reply.status == 200, reply.body


def _json(reply: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    assert reply.status < 300, reply.body
    document: dict[str, Any] = json.loads(reply.body)
    return document


def _throughput(folder: Path) -> None:
    with running(folder / "calls.db") as market:
        asyncio.run(prepare(market, workers=ASSIGNMENTS))
        listing = call("ListAssignmentsForHIT", HITId=market.judged)
        made: dict[str, Callable[[], bytes]] = {
            "CreateHITWithHITType": market.new_hit,
            "ListAssignmentsForHIT": lambda: listing,
        }
        rows = [
            [name] + [f"{asyncio.run(calls_a_second(market, n, make)):.0f}" for n in CONNECTIONS]
            for name, make in made.items()
        ]
    _table(["calls a second", *(f"{n} connections" for n in CONNECTIONS)], rows)


def _signatures(folder: Path) -> tuple[float, float]:
    """The same live calls with their signatures checked and spent, and without.

    Returns the signed creates a second with one connection and with the most.
    """
    rows = []
    for name, options in (("trusted", ("--trust-local",)), ("signed", ("--seed", "0"))):
        database = folder / f"{name}.db"
        caller = LiveRequester(
            database, {**HIT_TYPE, "Question": QUESTION, "LifetimeInSeconds": 864_000}
        )
        with running(database, *options) as market:
            caller.site = market.site
            made = {"CreateHITWithHITType": caller.new_hit, "GetHIT": caller.look}
            rows += [
                [f"{operation}, {name}"]
                + [f"{asyncio.run(calls_a_second(market, n, make)):.0f}" for n in CONNECTIONS]
                for operation, make in made.items()
            ]
    _table(["calls a second", *(f"{n} connections" for n in CONNECTIONS)], rows)
    creates = next(row for row in rows if row[0] == "CreateHITWithHITType, signed")
    return float(creates[1]), float(creates[-1])


def _crowds(folder: Path) -> dict[str, float]:
    """Print how long workers wait; return the p99 of those who make no pause, in ms."""
    rows: list[list[str]] = []
    waits: dict[str, float] = {}
    for pause in PAUSES:
        with running(folder / f"crowd{pause}.db") as market:
            asyncio.run(prepare(market, workers=WORKERS))
            began = time.perf_counter()
            took = asyncio.run(crowd(market, pause))
            seconds = time.perf_counter() - began
            rate = sum(map(len, took.values())) / seconds
        if not pause:
            waits = {what: float(_percentiles(values)[-1]) for what, values in took.items()}
        rows += [
            [f"{pause:.0f} s", what, f"{rate:.0f}", *_percentiles(values)]
            for what, values in took.items()
        ]
    head = ["mean pause", f"{WORKERS} workers", "requests a second"]
    _table([*head, "p50, ms", "p95, ms", "p99, ms"], rows)
    return waits


def _sizes(folder: Path, sizes: tuple[int, ...]) -> None:
    costs_by_size, expired = [], []
    for size in sizes:
        database = folder / f"size{size}.db"
        fill(database, size)
        with running(database) as market:
            costs_by_size.append(asyncio.run(cost(market)))
            expired.append([f"{size:,}", *asyncio.run(expiring(market))])
    rows = [[name, *(f"{costs[name]:.2f}" for costs in costs_by_size)] for name in costs_by_size[0]]
    _table(["median, ms", *(f"{size:,} HITs" for size in sizes)], rows)
    head = ["HITs that expire at once", "all settled after, s", "calls meanwhile"]
    _table([*head, "p50, ms", "p99, ms", "longest, ms"], expired)


def _percentiles(values: list[float]) -> list[str]:
    cuts = statistics.quantiles(values, n=100)
    return [f"{cuts[n - 1]:.0f}" for n in (50, 95, 99)]


def _table(head: list[str], rows: list[list[str]]) -> None:
    print(f"| {' | '.join(head)} |")
    print(f"|---|{'---:|' * (len(head) - 1)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")
    print(flush=True)


def main(sizes: tuple[int, ...]) -> dict[str, Figure]:
    """Print the tables; return the figures."""
    print(
        f"Measured with {os.cpu_count()} processor cores, Python "
        f"{platform.python_version()}, questions of {len(QUESTION)} bytes, client and "
        "server on the same machine.\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        _throughput(Path(folder))
        alone, together = _signatures(Path(folder))
        waits = _crowds(Path(folder))
        _sizes(Path(folder), sizes)
    return {
        "marketplace, signed creates a second, one connection": Figure(alone),
        "marketplace, signed creates a second, 16 connections": Figure(together),
        **{f"500 workers without pauses, {what}, p99 ms": Figure(ms) for what, ms in waits.items()},
    }


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or SIZES)
