"""How long participants wait for their pages: five hundred visits at once.

The offline Prolific, the marketplace and this process share the machine's cores. Each
participant opens the study's link, agrees (and Prolific is asked for the submission),
does two HITs and reads the last page, with five seconds between clicks; all of them
come within twenty. Or all open the link and begin at the same moment, without a pause:
then each is let in once, and finds work. Run: `python -m tests.bench.visits`, with a
number of them, and with `at once`.
"""

import asyncio
import gc
import random
import sqlite3
import ssl
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import ExitStack, closing
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx

from tests.marketplace.served_apart import until
from tests.markets.prolific.bridge.served import Served

PARTICIPANTS = 500
HITS_PER_VISIT = 2
PAUSE_SECONDS = 5.0
_ARRIVE_WITHIN_SECONDS = 20.0
# Making a context reads all root certificates, and every client here would.
_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
_PROGRAM = {"accept": "application/json"}


class Visit:
    """A participant's way, and how long each of its pages took."""

    def __init__(
        self,
        site: str,
        link: str,
        waited: defaultdict[str, list[float]],
        *,
        pause_seconds: float = PAUSE_SECONDS,
    ) -> None:
        self._http = httpx.AsyncClient(
            base_url=site,
            timeout=60,
            verify=_NO_TLS,
            # The server lets go of a connection after five seconds of silence.
            limits=httpx.Limits(keepalive_expiry=2),
        )
        self._query = dict(parse_qsl(urlsplit(link).query))
        self._waited, self._pause_seconds = waited, pause_seconds

    async def arrive(self) -> httpx.Response:
        """From the link to what is to be done."""
        words = urlencode(self._query)
        await self._ask("the page behind the link", "GET", f"/visit/arrive?{words}")
        form = {**self._query, "agreed": "1"}
        await self._ask("beginning the visit", "POST", "/visit/arrive", form)
        return await self._ask("what is next", "GET", "/visit")

    async def arrive_at_once(self) -> None:
        """Come, find work, and stay."""
        async with self._http:
            visit = (await self.arrive()).json()
            assert (visit["stage"], visit["hits"]) == ("Open", HITS_PER_VISIT), visit

    async def whole(self) -> None:
        """From the link to the last page."""
        async with self._http:
            await asyncio.sleep(random.uniform(0, _ARRIVE_WITHIN_SECONDS))  # noqa: S311
            visit = await self.arrive()
            while visit.json()["stage"] == "Open":
                shown = visit.json()["assignment"]["assignment_id"]
                await self._ask(
                    "the page of a HIT", "GET", f"/worker/assignments/{shown}", html=True
                )
                answer = {"assignmentId": shown, "caption": "A red bird."}
                await self._ask("sending an answer", "POST", "/mturk/externalSubmit", answer)
                visit = await self._ask("what is next", "GET", "/visit")

    async def _ask(
        self,
        what: str,
        method: str,
        path: str,
        form: dict[str, str] | None = None,
        *,
        html: bool = False,
    ) -> httpx.Response:
        await asyncio.sleep(random.uniform(0.5, 1.5) * self._pause_seconds)  # noqa: S311
        began = time.perf_counter()
        is_page = html or (method == "GET" and "arrive" in path)
        headers = {} if is_page else _PROGRAM
        reply = await self._http.request(method, path, data=form, headers=headers)
        self._waited[what].append(time.perf_counter() - began)
        assert reply.status_code in (200, 201), (what, reply.status_code, reply.text)
        return reply


def main(participants: int, *, at_once: bool = False) -> None:
    """Print the table."""
    waited: defaultdict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        served = Served(Path(folder), stack, spend_at_most="2000", balance="2000")
        served.post(HITS_PER_VISIT, Reward="0.40", most=participants)
        people = [served.researcher.participant(country="GB") for _ in range(participants)]
        until(people[0].studies)
        [study] = people[0].studies()
        links = [someone.ask("POST", f"/studies/{study}", {})["url"] for someone in people]

        async def all_of_them() -> None:
            people_at_work = [
                Visit(served.endpoint, link, waited, pause_seconds=0 if at_once else PAUSE_SECONDS)
                for link in links
            ]
            await asyncio.gather(
                *(
                    person.arrive_at_once() if at_once else person.whole()
                    for person in people_at_work
                )
            )

        # Pauses of this process for garbage, of 200 ms, would count as the server's.
        gc.disable()
        began = time.perf_counter()
        asyncio.run(all_of_them())
        seconds = time.perf_counter() - began
        _check_admitted(served.database, participants)
    total = sum(map(len, waited.values()))
    print(f"{participants} participants, {total} requests in {seconds:.0f} s")
    print("| ms | requests | median | p99 | longest |\n|---|---:|---:|---:|---:|")
    for what, seconds_each in waited.items():
        ms = sorted(1000 * each for each in seconds_each)
        print(
            f"| {what} | {len(ms)} | {ms[len(ms) // 2]:.0f} | "
            f"{ms[int(len(ms) * 0.99)]:.0f} | {ms[-1]:.0f} |"
        )


def _check_admitted(database: Path, participants: int) -> None:
    """Each was let in once, with all HITs of a visit, and nobody was turned away."""
    with closing(sqlite3.connect(database)) as conn:
        visits = conn.execute(
            "SELECT count(*), count(DISTINCT worker), sum(stage = 'TurnedAway') FROM visits"
        ).fetchone()
        hits = conn.execute(
            "SELECT count(*), count(DISTINCT visit || ' ' || hit) FROM assignments"
        ).fetchone()
    assert visits == (participants, participants, 0), visits
    assert hits == (participants * HITS_PER_VISIT,) * 2, hits


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    main(*(numbers or [PARTICIPANTS]), at_once="once" in sys.argv)
