"""One marketplace with people from Prolific and from Connect at once."""

import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from offline_markets.connect import options as connect_options
from offline_markets.connect.offline_connect import OfflineConnect
from offline_markets.connect.server import serving
from offline_markets.prolific.options import Options
from offline_markets.prolific.server import serve as serve_prolific
from offline_markets_tests.prolific.people import Researcher
from piecework.foundation.client.transport import Transport
from piecework.marketplace.http.options import Marketplace
from piecework.marketplace.http.server import serve
from piecework.marketplace.state.backend import Rules
from piecework.marketplace.state.ledger import broken_laws
from piecework.markets.connect.bridge.bridge import Bridge as ConnectBridge
from piecework.markets.connect.bridge.bridge import Terms as ConnectTerms
from piecework.markets.connect.bridge.serving import crowd_at as connect_crowd_at
from piecework.markets.connect.bridge.serving import office as connect_office
from piecework.markets.connect.bridge.serving import step as connect_step
from piecework.markets.connect.values import ApiKey
from piecework.markets.prolific.bridge.bridge import Bridge as ProlificBridge
from piecework.markets.prolific.bridge.bridge import Terms as ProlificTerms
from piecework.markets.prolific.bridge.serving import crowd_at as prolific_crowd_at
from piecework.markets.prolific.bridge.serving import office as prolific_office
from piecework.markets.prolific.bridge.serving import step as prolific_step
from piecework.markets.prolific.calling import Token
from piecework.markets.prolific.client import Prolific
from tests.marketplace.market import HIT_TYPE, QUESTION, START, Market
from tests.markets.connect.town import Visitor as ConnectVisitor
from tests.markets.prolific.bridge.town import Visitor as ProlificVisitor

if TYPE_CHECKING:
    from mypy_boto3_mturk import MTurkClient

TOKEN, KEY = Token("rehearsal-token"), ApiKey(connect_options.KEY)
PROLIFIC, CONNECT = "CROWDPROLIFIC", "CROWDCONNECT"
_AT_PROLIFIC = ("rewards", "bonuses", "fees", "vat")
_AT_CONNECT = ("payments", "bonuses", "fees")


def crowd(type_id: str, comparator: str = "Exists") -> dict[str, Any]:
    """The requirement that names a market."""
    return {"QualificationTypeId": type_id, "Comparator": comparator}


class Place:
    """All of it; time stands until it is moved, everywhere alike."""

    def __init__(
        self,
        market: Market,
        researcher: Researcher,
        connect: OfflineConnect,
        bridges: tuple[ProlificBridge, ConnectBridge],
    ) -> None:
        self.market, self.researcher, self.connect = market, researcher, connect
        self.prolific_bridge, self.connect_bridge = bridges
        self.requester: MTurkClient = market.requester()
        self.open = ExitStack()

    def settle(self, seed: int = 0) -> None:
        """Let both bridges work, by turns, until neither has anything to do."""
        lots = random.Random(seed)  # noqa: S311 - not a secret
        busy = {"prolific", "connect"}
        while busy:
            name = lots.choice(sorted(busy))
            went_on = (
                prolific_step(self.prolific_bridge)
                if name == "prolific"
                else connect_step(self.connect_bridge)
            )
            busy = {"prolific", "connect"} if went_on else busy - {name}

    def post(self, *requirements: dict[str, Any], hits: int = 2, **changes: object) -> list[str]:
        """Post HITs of one type; their ids."""
        values = {**HIT_TYPE, "QualificationRequirements": [*requirements], **changes}
        kind = self.requester.create_hit_type(**values)["HITTypeId"]
        return [
            self.requester.create_hit_with_hit_type(
                HITTypeId=kind,
                Question=QUESTION,
                MaxAssignments=1,
                LifetimeInSeconds=30 * 24 * 3600,
            )["HIT"]["HITId"]
            for _ in range(hits)
        ]

    def studies(self) -> dict[str, str]:
        """The ids of all studies at Prolific that recruit, by their names."""
        listed = self.researcher.get("/studies/")["results"]
        return {each["name"]: each["id"] for each in listed if each["status"] == "ACTIVE"}

    def projects(self) -> dict[str, str]:
        """The ids of all projects at Connect that recruit, by their names."""
        return {
            each["name"]: each["projectId"]
            for each in self.connect.books()["projects"]
            if each["status"] == "Live"
        }

    def person_from_prolific(self) -> ProlificVisitor:
        """A participant of Prolific."""
        visitor = ProlificVisitor(self.market.endpoint, self.researcher)
        self.open.callback(visitor.http.close)
        return visitor

    def person_from_connect(self) -> ConnectVisitor:
        """A participant of Connect."""
        visitor = ConnectVisitor(self.market.endpoint, self.connect)
        self.open.callback(visitor.http.close)
        return visitor

    def submitted(self, *hit_ids: str) -> list[dict[str, Any]]:
        """All assignments of these HITs, as the requester gets them."""
        return [
            dict(assignment)
            for hit_id in hit_ids
            for assignment in self.requester.list_assignments_for_hit(HITId=hit_id)["Assignments"]
        ]

    def wait(self, **duration: float) -> None:
        """Let time pass everywhere."""
        self.market.wait(**duration)
        self.researcher.wait(**duration)
        self.connect.advance(timedelta(**duration))

    def rows(self, query: str, *values: object) -> list[dict[str, Any]]:
        """Rows of the marketplace's database."""
        with self.prolific_bridge.backend.transaction() as transaction:
            return [dict(row) for row in transaction.all(query, *values)]

    def taken(self) -> tuple[int, int]:
        """What Prolific and Connect took, in cents."""
        at_prolific = self.researcher.books()["accounts"]
        at_connect = self.connect.books()["accounts"]
        return (
            sum(at_prolific.get(name, 0) for name in _AT_PROLIFIC),
            sum(at_connect[name] for name in _AT_CONNECT),
        )

    def spent(self) -> int:
        """What the marketplace booked as spent, with every law of its books kept."""
        with self.prolific_bridge.backend.transaction() as transaction:
            assert broken_laws(transaction) == []
        [row] = self.rows(
            "SELECT coalesce(sum(balance_cents), 0) AS spent FROM accounts "
            "WHERE kind IN ('worker', 'fees')"
        )
        return int(row["spent"])


@contextmanager
def a_place(folder: Path, *, connect_balance: int = 1_000_000) -> Iterator[Place]:
    """A place in which nothing has happened yet.

    Args:
        folder: for the files.
        connect_balance: what the account at Connect holds, in cents.
    """
    with ExitStack() as stack:
        url = stack.enter_context(serve_prolific(Options(start=START, currency="USD")))
        connect = stack.enter_context(
            serving(connect_options.Options(start=START, balance=connect_balance))
        )
        researcher = stack.enter_context(Researcher(url))
        with Transport(url, TOKEN) as transport:
            workspace = next(Prolific(transport).account.workspaces()).id
        common: dict[str, Any] = {
            "site_url": "https://hits.example.org",
            "is_live": True,
            "spend_at_most_cents": 100_000,
            "hits_per_visit": 2,
            "settle_seconds": 0,
        }
        prolific = stack.enter_context(
            prolific_office(
                url,
                TOKEN,
                ProlificTerms(
                    workspace_id=workspace,
                    project_id="",
                    currency="USD",
                    bonus_pause_seconds=0,
                    **common,
                ),
            )
        )
        at_connect = stack.enter_context(
            connect_office(connect.address, KEY, ConnectTerms(**common))
        )
        database = folder / "market.db"
        running = stack.enter_context(
            serve(
                Marketplace(
                    database,
                    rehearsal=True,
                    seed=7,
                    start=START,
                    prices=prolific.prices,
                    crowds=(
                        stack.enter_context(prolific_crowd_at(url, TOKEN)),
                        stack.enter_context(connect_crowd_at(connect.address, KEY)),
                    ),
                )
            )
        )
        rules, among = (Rules(rehearsal=True, seed=7, start=START), ("prolific", "connect"))
        bridges = (
            stack.enter_context(prolific.bridge(database, rules, among=among)),
            stack.enter_context(at_connect.bridge(database, rules, among=among)),
        )
        market = Market(running.endpoint_url, running.frames_url)
        stack.callback(market.close)
        place = Place(market, researcher, connect, bridges)
        stack.callback(place.open.close)
        yield place
