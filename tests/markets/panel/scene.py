"""A marketplace for a simulated panel, its requester, and people who come over HTTP."""

import sqlite3
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx

from piecework.marketplace.http.server import Marketplace, serve
from piecework.marketplace.state import outside_crowd
from piecework.marketplace.state.backend import Backend, rules_of
from piecework.markets.panel.arrivals import Secrets
from piecework.markets.panel.panel_crowd import PanelCrowd
from piecework.markets.panel.panel_file import Panel, market_of, prices_of
from piecework.markets.panel.rehearsal.simulated_panel import SimulatedPanel, Terms, panel_file
from tests.marketplace.market import START, Market, post

SECRET = "the panel and this site know it"  # noqa: S105 - any words are one
USUAL = Terms()
_TABLES = ("consents", "participants", "studies", "visits", "workers", "worker_sessions")


def panel_of(text: str) -> Panel:
    """The panel of a file's text."""
    return Panel.model_validate(tomllib.loads(text))


def changed(*pairs: tuple[str, str], terms: Terms = USUAL) -> str:
    """The simulated panel's file with some lines replaced."""
    text = panel_file(terms)
    for before, after in pairs:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return text


class Visitor:
    """Somebody's browser, as a program."""

    def __init__(self, endpoint: str) -> None:
        self.http = httpx.Client(
            base_url=endpoint, headers={"accept": "application/json"}, timeout=30
        )

    def look(self, link: dict[str, str]) -> httpx.Response:
        """Open the link; the page asks for consent."""
        headers = {"accept": "text/html"}
        return self.http.get("/visit/arrive", params=link, headers=headers)

    def arrive(self, link: dict[str, str]) -> httpx.Response:
        """Agree on the link's page."""
        return self.http.post("/visit/arrive", data={**link, "agreed": "1"})

    def look_and_begin(self, link: dict[str, str]) -> str:
        """Agree on the link's page, as a person; the page that follows."""
        headers = {"accept": "text/html"}
        form = {**link, "agreed": "1"}
        return self.http.post("/visit/arrive", data=form, headers=headers).text

    def visit(self) -> dict[str, Any]:
        """The visit as it is now."""
        reply = self.http.get("/visit")
        reply.raise_for_status()
        document: dict[str, Any] = reply.json()
        return document

    def answer(self) -> dict[str, Any]:
        """Answer the HIT that is shown; return the visit afterwards."""
        shown = self.visit()["assignment"]
        asked = dict(parse_qsl(urlsplit(shown["frame_url"]).query))
        reply = self.http.post(
            f"{asked['turkSubmitTo']}/mturk/externalSubmit",
            data={"assignmentId": shown["assignment_id"], "caption": "a cat"},
        )
        reply.raise_for_status()
        return self.visit()

    def finish(self) -> dict[str, Any]:
        """Answer all HITs; return the visit afterwards."""
        visit = self.visit()
        while visit["assignment"] is not None:
            visit = self.answer()
        return visit


class Scene:
    """A panel, a marketplace that serves it, and its requester."""

    def __init__(self, market: Market, database: Path) -> None:
        self.market, self.database = market, database
        self.panel = SimulatedPanel(SECRET)
        self.requester = market.requester("LAB")
        self._visitors: list[Visitor] = []

    def post(self, hits: int, *, most: int = 1, **changes: object) -> list[str]:
        """Post HITs of one type, each for so many workers."""
        return [
            str(post(self.requester, MaxAssignments=most, **changes)["HITId"]) for _ in range(hits)
        ]

    def visitor(self) -> Visitor:
        """A browser that nobody has used."""
        visitor = Visitor(self.market.endpoint)
        self._visitors.append(visitor)
        return visitor

    def submitted(self, hits: list[str]) -> list[dict[str, Any]]:
        """All assignments of HITs."""
        return [
            dict(assignment)
            for hit in hits
            for assignment in self.requester.list_assignments_for_hit(HITId=hit)["Assignments"]
        ]

    def sizes(self) -> dict[str, int]:
        """How many rows there are about people and visits."""
        with closing(sqlite3.connect(self.database)) as database:
            return {
                table: database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                for table in _TABLES
            }

    def close(self) -> None:
        """Let go of all connections."""
        for visitor in self._visitors:
            visitor.http.close()


@contextmanager
def a_scene(
    folder: Path, *, file: str = "", terms: Terms = USUAL, code_secret: str = ""
) -> Iterator[Scene]:
    """A scene in which nothing has happened yet.

    Args:
        folder: for the marketplace's file.
        file: the panel file; "" is the simulated panel's.
        terms: of the simulated panel.
        code_secret: the secret of hashed codes.
    """
    panel = panel_of(file or panel_file(terms))
    prices = prices_of(panel)
    crowd = PanelCrowd(panel, Secrets(SECRET.encode(), code_secret), prices)
    database = folder / "market.db"
    with ExitStack() as stack:
        running = stack.enter_context(
            serve(
                Marketplace(
                    database, rehearsal=True, seed=7, start=START, crowds=(crowd,), prices=prices
                )
            )
        )
        with (
            closing(Backend(database, rules_of(database))) as backend,
            backend.transaction() as transaction,
        ):
            outside_crowd.claim(transaction, market_of(panel))
        market = Market(running.endpoint_url, running.frames_url)
        stack.callback(market.close)
        scene = Scene(market, database)
        stack.callback(scene.close)
        yield scene
