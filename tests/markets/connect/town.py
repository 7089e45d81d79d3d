"""A marketplace, the offline Connect, the bridge between them, and participants."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

import httpx

from offline_markets.connect.offline_connect import Arrival, OfflineConnect
from offline_markets.connect.options import KEY, Options
from offline_markets.connect.server import serving
from piecework.foundation.client.transport import Patience, Transport
from piecework.marketplace.http.options import Marketplace
from piecework.marketplace.state import clock, outside_crowd
from piecework.marketplace.state.ledger import broken_laws
from piecework.marketplace.state.outside_crowd import OutsideMarket
from piecework.markets.bridging.accounts import settle_bridge
from piecework.markets.connect.bridge.bridge import LEAST_PER_HOUR_CENTS, NAME, Bridge, Terms
from piecework.markets.connect.bridge.serving import ConnectCrowd, step
from piecework.markets.connect.bridge.status import price_list
from piecework.markets.connect.client import Connect
from piecework.markets.connect.values import ApiKey
from tests.marketplace.market import HIT_TYPE, QUESTION, START, Market
from tests.markets.prolific.bridge.town import Machine

if TYPE_CHECKING:
    from mypy_boto3_mturk import MTurkClient

TERMS: dict[str, Any] = {
    "is_live": True,
    "spend_at_most_cents": 100_000,
    "hits_per_visit": 2,
    "settle_seconds": 0,
}
SPENT = ("payments", "bonuses", "fees")


def transport(address: str) -> Transport:
    """A connection to the offline Connect that does not wait."""
    return Transport(address, ApiKey(KEY), patience=Patience(tries=2), sleep=lambda _: None)


class Visitor:
    """A participant with a browser's cookies, at the marketplace's visits."""

    def __init__(self, endpoint: str, connect: OfflineConnect) -> None:
        self.connect, self.participant_id = connect, connect.participant()
        self.http = httpx.Client(
            base_url=endpoint, headers={"accept": "application/json"}, trust_env=False
        )
        self.place: Arrival | None = None
        self.worker_id = ""

    def begin(self, project_id: str) -> dict[str, str]:
        """Take a place at Connect; what its link says."""
        self.place = self.connect.arrive(project_id, self.participant_id)
        return dict(parse_qsl(urlsplit(self.place.url).query))

    def arrive(self, project_id: str, **changes: str) -> httpx.Response:
        """Take a place, and begin the visit."""
        link = self.begin(project_id) | changes
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

    def answer(self) -> dict[str, Any]:
        """Answer the HIT that is shown; what is to be done then."""
        shown = self.visit()["assignment"]
        form = {"assignmentId": shown["assignment_id"], "caption": "A red bird."}
        reply = self.http.post("/mturk/externalSubmit", data=form)
        assert reply.status_code == 200, reply.text
        return self.visit()

    def do_all(self, project_id: str) -> str:
        """A whole visit, without its code entered; the code."""
        reply = self.arrive(project_id)
        assert reply.status_code == 201, reply.text
        visit = self.visit()
        while visit["stage"] == "Open":
            visit = self.answer()
        return str(visit["code"])

    def work(self, project_id: str) -> str:
        """A whole visit, with its code entered; the assignment."""
        self.enter(self.do_all(project_id))
        return self.assignment_id

    def enter(self, code: str) -> None:
        """Enter a code at Connect."""
        self.connect.complete(self.assignment_id, code)

    @property
    def assignment_id(self) -> str:
        """The assignment of the last place."""
        assert self.place is not None
        return self.place.assignment_id


class Town:
    """All of it; time stands until it is moved, in both places alike."""

    def __init__(
        self, market: Market, connect: OfflineConnect, bridge: Bridge, machine: Machine
    ) -> None:
        self.market, self.connect = market, connect
        self.bridge, self.machine = bridge, machine
        self.requester: MTurkClient = market.requester()
        self.open = ExitStack()

    def settle(self) -> None:
        """Let the bridge work until it has nothing to do."""
        settle_bridge(step, self.bridge)

    def post(
        self, hits: int = 1, assignments: int = 1, *, question: str = QUESTION, **changes: object
    ) -> list[str]:
        """Post HITs of one type; their ids."""
        kind = self.requester.create_hit_type(**{**HIT_TYPE, **changes})["HITTypeId"]
        return [
            self.requester.create_hit_with_hit_type(
                HITTypeId=kind,
                Question=question,
                MaxAssignments=assignments,
                LifetimeInSeconds=30 * 24 * 3600,
            )["HIT"]["HITId"]
            for _ in range(hits)
        ]

    def projects(self) -> list[dict[str, Any]]:
        """All projects at Connect."""
        projects: list[dict[str, Any]] = self.connect.books()["projects"]
        return projects

    def project(self) -> str:
        """The one project that recruits."""
        [project] = [each for each in self.projects() if each["status"] == "Live"]
        return str(project["projectId"])

    def status_of(self, assignment_id: str) -> dict[str, Any]:
        """An assignment in Connect's books."""
        [assignment] = [
            each
            for each in self.connect.books()["assignments"]
            if each["assignmentId"] == assignment_id
        ]
        return dict(assignment)

    def visitor(self) -> Visitor:
        """A participant."""
        visitor = Visitor(self.market.endpoint, self.connect)
        self.open.callback(visitor.http.close)
        return visitor

    def submitted(self, *hit_ids: str) -> list[str]:
        """The ids of all assignments of these HITs, as the requester gets them."""
        return [
            assignment["AssignmentId"]
            for hit_id in hit_ids
            for assignment in self.requester.list_assignments_for_hit(HITId=hit_id)["Assignments"]
        ]

    def wait(self, **duration: float) -> None:
        """Let time pass in both places."""
        self.market.wait(**duration)
        self.connect.advance(timedelta(**duration))

    def rows(self, query: str, *values: object) -> list[dict[str, Any]]:
        """Rows of the marketplace's database."""
        with self.bridge.backend.transaction() as transaction:
            return [dict(row) for row in transaction.all(query, *values)]

    def copy(self) -> Path:
        """A copy of the marketplace's file, made while it is served."""
        copy = self.machine.database.with_name("copy.db")
        with (
            closing(sqlite3.connect(self.machine.database)) as source,
            closing(sqlite3.connect(copy)) as target,
        ):
            source.backup(target)
        return copy

    def restore(self, copy: Path) -> None:
        """Stop the marketplace, put a copy back, and start it again."""
        here = self.bridge
        self.requester.close()
        now: datetime = self.connect.now()
        self.machine.start_from(copy, clock.to_ms(now))
        self.bridge = Bridge(self.machine.backend, here.connect, here.terms)

    def check_books(self) -> None:
        """No law is broken on either side, and both took the same, to the cent.

        A HIT that was approved is booked here at once, and paid at Connect when all
        HITs of its visit are decided.
        """
        with self.bridge.backend.transaction() as transaction:
            assert broken_laws(transaction) == []
        theirs = self.connect.books()["accounts"]
        [ours] = self.rows(
            "SELECT coalesce(sum(balance_cents), 0) AS spent FROM accounts "
            "WHERE kind IN ('worker', 'fees')"
        )
        assert ours["spent"] == sum(theirs[account] for account in SPENT)

    def close(self) -> None:
        """Let go of all participants' connections."""
        self.open.close()


@contextmanager
def a_town(
    folder: Path,
    *,
    balance: int = 1_000_000,
    switches: Mapping[str, bool] | None = None,
    **terms: object,
) -> Iterator[Town]:
    """A town in which nothing has happened yet.

    Args:
        folder: for the marketplace's file.
        balance: what the account at Connect holds, in cents.
        switches: how Connect behaves where nothing that was read decides.
        terms: fields of `Terms` that are not as usual.
    """
    with ExitStack() as stack:
        connect = stack.enter_context(serving(Options(start=START, balance=balance)))
        connect.set_switches(**(switches or {}))
        clients = [Connect(stack.enter_context(transport(connect.address))) for _ in range(5)]
        prices = price_list(clients[0], least_per_hour_cents=LEAST_PER_HOUR_CENTS)
        machine = Machine(
            Marketplace(
                folder / "market.db",
                rehearsal=True,
                seed=7,
                start=START,
                crowds=(ConnectCrowd(clients[1:]),),
                prices=prices,
            )
        )
        stack.callback(machine.close)
        with machine.backend.transaction() as transaction:
            outside_crowd.claim(
                transaction, OutsideMarket(name=NAME, title="Connect", prices=prices)
            )
        running = machine.running
        market = Market(running.endpoint_url, running.frames_url)
        stack.callback(market.close)
        bridge = Bridge(
            machine.backend,
            clients[0],
            Terms(**{**TERMS, "site_url": running.endpoint_url, **terms}),
        )
        town = Town(market, connect, bridge, machine)
        stack.callback(town.close)
        yield town
