"""A marketplace, the offline Prolific, the bridge between them, and participants."""

import shutil
import sqlite3
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

import httpx

from offline_markets.prolific.options import Options
from offline_markets.prolific.server import serve as serve_emulator
from offline_markets_tests.prolific.people import Participant, Researcher
from piecework.foundation.client.transport import Patience, Transport
from piecework.foundation.server.stand_in.relay import StandIn
from piecework.marketplace.http.options import Marketplace, Running
from piecework.marketplace.http.server import serve
from piecework.marketplace.state import clock, outside_crowd
from piecework.marketplace.state.backend import Backend, Rules
from piecework.marketplace.state.ledger import broken_laws
from piecework.marketplace.state.outside_crowd import OutsideMarket
from piecework.markets.bridging.accounts import settle_bridge
from piecework.markets.prolific.bridge.bridge import NAME, Bridge, Terms
from piecework.markets.prolific.bridge.serving import ProlificCrowd, step
from piecework.markets.prolific.bridge.status import price_list
from piecework.markets.prolific.bridge.webhooks import Receiver
from piecework.markets.prolific.calling import Token
from piecework.markets.prolific.client import Prolific
from tests.marketplace.market import HIT_TYPE, QUESTION, START, Market

if TYPE_CHECKING:
    from mypy_boto3_mturk import MTurkClient


_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
TERMS: dict[str, Any] = {
    "is_live": True,
    "spend_at_most_cents": 100_000,
    "hits_per_visit": 2,
    "settle_seconds": 0,
    "bonus_pause_seconds": 0,
}


class Visitor(Participant):
    """A participant with a browser's cookies, at the marketplace's visits."""

    def __init__(self, endpoint: str, researcher: Researcher, **described: object) -> None:
        made = researcher.control("POST", "/participants", described)
        super().__init__(researcher, str(made["id"]))
        self.http = httpx.Client(
            base_url=endpoint, verify=_NO_TLS, headers={"accept": "application/json"}
        )
        self.submission_id = ""
        self.worker_id = ""

    def open(self, study_id: str) -> dict[str, str]:
        """Take a place at Prolific; what its link says."""
        taken = self.ask("POST", f"/studies/{study_id}", {})
        self.submission_id = taken["submission_id"]
        return dict(parse_qsl(urlsplit(taken["url"]).query))

    def arrive(self, study_id: str, **changes: str) -> httpx.Response:
        """Take a place, and begin the visit."""
        link = self.open(study_id) | changes
        reply = self.http.post("/visit/arrive", data={**link, "agreed": "1"})
        if reply.status_code == 201:
            self.worker_id = reply.json()["worker_id"]
        return reply

    def visit(self) -> dict[str, Any]:
        """What is to be done next."""
        reply = self.http.get("/visit")
        assert reply.status_code == 200, reply.text
        document: dict[str, Any] = reply.json()
        return document

    def answer(self, **fields: str) -> dict[str, Any]:
        """Answer the HIT that is shown; what is to be done then."""
        shown = self.visit()["assignment"]
        form = {"assignmentId": shown["assignment_id"], "caption": "A red bird."}
        reply = self.http.post("/mturk/externalSubmit", data=form | fields)
        assert reply.status_code == 200, reply.text
        return self.visit()

    def work(self, study_id: str) -> str:
        """A whole visit, with its code entered; the submission."""
        assert self.arrive(study_id).status_code == 201
        visit = self.visit()
        while visit["stage"] == "Open":
            visit = self.answer()
        self.complete(self.submission_id, visit["code"])
        return self.submission_id


class Machine:
    """The marketplace's server and a bridge's connection to its file.

    Attributes:
        running: where the server is; at the same ports after each start.
        backend: the bridge's.
    """

    running: Running
    backend: Backend

    def __init__(self, marketplace: Marketplace) -> None:
        self.marketplace, self.database = marketplace, marketplace.database
        self._open = ExitStack()
        self.start()

    def start(self) -> None:
        """Start both."""
        self.running = self._open.enter_context(serve(self.marketplace))
        self.backend = Backend(self.database, self._rules())
        self._open.callback(self.backend.close)

    def start_from(self, copy: Path, now_ms: int) -> None:
        """Stop both, put a copy back, and start both again."""
        urls = (self.running.endpoint_url, self.running.frames_url)
        site, frames = (urlsplit(url).port or 0 for url in urls)
        self.marketplace = replace(self.marketplace, port=site, frames_port=frames)
        self.close()
        for name in ("-wal", "-shm"):
            self.database.with_name(self.database.name + name).unlink(missing_ok=True)
        shutil.copyfile(copy, self.database)
        with closing(Backend(self.database, self._rules())) as backend:
            backend.advance_clock(now_ms + 1)  # Time has gone on elsewhere.
        self.start()

    def _rules(self) -> Rules:
        served = self.marketplace
        return Rules(
            rehearsal=served.rehearsal, seed=served.seed, start=served.start, prices=served.prices
        )

    def close(self) -> None:
        """Stop both."""
        self._open.close()


class Town:
    """All of it; time stands until it is moved, in both places alike."""

    def __init__(
        self, market: Market, researcher: Researcher, bridge: Bridge, machine: Machine
    ) -> None:
        self.market, self.researcher, self.bridge = market, researcher, bridge
        self.machine = machine
        self.requester: MTurkClient = market.requester()
        self._open = ExitStack()

    def copy(self, name: str = "copy.db") -> Path:
        """A copy of the marketplace's file, as a person makes it while it is served."""
        copy = self.machine.database.with_name(name)
        copy.unlink(missing_ok=True)
        with (
            closing(sqlite3.connect(self.machine.database)) as source,
            closing(sqlite3.connect(copy)) as target,
        ):
            source.backup(target)
        return copy

    def restore(self, copy: Path) -> None:
        """Stop the marketplace, put a copy back, and start it again."""
        here = self.bridge
        self.requester.close()  # It connects once more, to the next server.
        now = datetime.fromisoformat(self.researcher.control("GET", "/clock")["now"])
        self.machine.start_from(copy, clock.to_ms(now))
        self.bridge = Bridge(self.machine.backend, here.prolific, here.terms)

    def settle(self) -> None:
        """Let the bridge work until it has nothing to do."""
        settle_bridge(step, self.bridge)

    def post(self, hits: int = 1, assignments: int = 1, **changes: object) -> list[str]:
        """Post HITs of one type; their ids."""
        kind = self.requester.create_hit_type(**{**HIT_TYPE, **changes})["HITTypeId"]
        return [
            self.requester.create_hit_with_hit_type(
                HITTypeId=kind,
                Question=QUESTION,
                MaxAssignments=assignments,
                LifetimeInSeconds=30 * 24 * 3600,
            )["HIT"]["HITId"]
            for _ in range(hits)
        ]

    def studies(self) -> list[dict[str, Any]]:
        """All studies at Prolific."""
        studies: list[dict[str, Any]] = self.researcher.get("/studies/")["results"]
        return studies

    def study(self) -> str:
        """The one study that recruits."""
        [study_id] = [each["id"] for each in self.studies() if each["status"] == "ACTIVE"]
        return str(study_id)

    def visitor(self, **described: object) -> Visitor:
        """A participant."""
        visitor = Visitor(self.market.endpoint, self.researcher, **{"country": "GB", **described})
        self._open.callback(visitor.http.close)
        return visitor

    def close(self) -> None:
        """Let go of all participants' connections."""
        self._open.close()

    def submitted(self, *hit_ids: str) -> list[dict[str, Any]]:
        """All assignments of these HITs, as the requester gets them."""
        return [
            dict(assignment)
            for hit_id in hit_ids
            for assignment in self.requester.list_assignments_for_hit(HITId=hit_id)["Assignments"]
        ]

    def wait(self, **duration: float) -> None:
        """Let time pass in both places."""
        self.market.wait(**duration)
        self.researcher.wait(**duration)

    def rows(self, query: str, *values: object) -> list[dict[str, Any]]:
        """Rows of the marketplace's database."""
        with self.bridge.backend.transaction() as transaction:
            return [dict(row) for row in transaction.all(query, *values)]

    def check_books(self) -> None:
        """No law is broken on either side, and both took the same, to the penny.

        A HIT that was approved is booked here at once, and paid at Prolific when all
        HITs of its visit are decided.
        """
        with self.bridge.backend.transaction() as transaction:
            assert broken_laws(transaction) == []
        theirs = self.researcher.books()["accounts"]
        [ours] = self.rows(
            "SELECT (SELECT coalesce(sum(balance_cents), 0) FROM accounts "
            "WHERE kind IN ('worker', 'fees')) - "
            "(SELECT coalesce(sum(paid_cents + fee_cents), 0) FROM assignments "
            "WHERE visit IN (SELECT visits.id FROM visits JOIN assignments AS part "
            "ON part.visit = visits.id WHERE outcome IS NULL "
            "AND part.status = 'Submitted')) AS spent"
        )
        spent = ("rewards", "bonuses", "fees", "vat")
        assert ours["spent"] == sum(theirs.get(account, 0) for account in spent)


@contextmanager
def a_town(
    folder: Path,
    *,
    start: datetime = START,
    aws_proxy: StandIn | None = None,
    webhooks: Receiver | None = None,
    **terms: object,
) -> Iterator[Town]:
    """A town in which nothing has happened yet.

    Args:
        folder: for the marketplace's file.
        start: when time begins, in both places.
        aws_proxy: what it takes to answer as Amazon's hosts, if it shall.
        webhooks: takes in Prolific's, if they shall be taken in.
        terms: fields of `Terms` that are not as usual.
    """
    with ExitStack() as stack:
        url = stack.enter_context(serve_emulator(Options(start=start)))
        clients = [
            Prolific(
                stack.enter_context(
                    Transport(
                        url,
                        Token("rehearsal-token"),
                        patience=Patience(tries=2),
                        sleep=lambda _: None,
                    )
                )
            )
            for _ in range(3)
        ]
        researcher = stack.enter_context(Researcher(url))
        workspace = next(clients[0].account.workspaces()).id
        prices = price_list(clients[0], "GBP")
        database = folder / "market.db"
        crowd = ProlificCrowd(clients[1:], f"{url}/submissions/complete", webhooks=webhooks)
        machine = Machine(
            Marketplace(
                database,
                rehearsal=True,
                seed=7,
                start=start,
                aws_proxy=aws_proxy,
                crowds=(crowd,),
                prices=prices,
            )
        )
        stack.callback(machine.close)
        with machine.backend.transaction() as transaction:
            outside_crowd.claim(
                transaction, OutsideMarket(name=NAME, title="Prolific", prices=prices)
            )
        running = machine.running
        bridge_terms = Terms(
            **{
                **TERMS,
                "workspace_id": workspace,
                "project_id": next(clients[0].account.projects(workspace)).id,
                "site_url": running.endpoint_url.replace("http:", "https:"),
                "currency": "GBP",
                **terms,
            }
        )
        market = Market(running.endpoint_url, running.frames_url)
        stack.callback(market.close)
        bridge = Bridge(machine.backend, clients[0], bridge_terms)
        town = Town(market, researcher, bridge, machine)
        stack.callback(town.close)
        yield town
