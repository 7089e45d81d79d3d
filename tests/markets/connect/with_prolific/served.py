"""`serve` for Prolific and Connect, and both offline markets, each a process."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from offline_markets.connect.offline_connect import OfflineConnect
from offline_markets.connect.options import KEY
from offline_markets_tests.prolific.people import Researcher
from tests.marketplace.market import free_port
from tests.marketplace.served_apart import ServedForCrowd, until
from tests.markets.connect.town import Visitor as ConnectVisitor
from tests.markets.connect.with_prolific.place import CONNECT, PROLIFIC, crowd
from tests.markets.prolific.bridge.town import Visitor as ProlificVisitor


class ServedMarkets(ServedForCrowd):
    """A marketplace's process on two offline markets."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        prolific, connect = free_port(), free_port()
        at_prolific, at_connect = (f"http://127.0.0.1:{port}" for port in (prolific, connect))
        variables = {
            "PROLIFIC_TOKEN": "rehearsal-token",
            "PROLIFIC_URL": at_prolific,
            "CONNECT_API_KEY": KEY,
            "CONNECT_URL": at_connect,
        }
        super().__init__(folder, stack, variables, balance="900")
        self.listening(
            *("market", "prolific", "emulator", "--port", str(prolific)),
            *("--currency", "USD", "--participants", "0"),
        )
        self.listening(
            "market", "connect", "emulator", "--port", str(connect), "--participants", "0"
        )
        self.researcher = stack.enter_context(Researcher(at_prolific))
        self.connect = stack.enter_context(OfflineConnect(at_connect, KEY))
        self.serve_for(
            *("--crowd", "prolific", "--crowd", "connect"),
            *("--public-url", self.endpoint, "--live", "--hits-per-visit", "2"),
            *("--spend-at-most", "prolific=90", "--spend-at-most", "connect=90"),
            *("--settle-seconds", "0"),
        )

    def recruit(self, hits: int = 2, most: int = 9) -> tuple[str, str]:
        """Post HITs for both markets; the study and the project that recruit."""
        for named in (PROLIFIC, CONNECT):
            self.post(hits, most=most, QualificationRequirements=[crowd(named)])
        return until(self._study), until(self._project)

    def _study(self) -> str:
        listed = self.researcher.get("/studies/")["results"]
        ids = [str(each["id"]) for each in listed if each["status"] == "ACTIVE"]
        return ids[0] if ids else ""

    def _project(self) -> str:
        listed = self.connect.books()["projects"]
        ids = [str(each["projectId"]) for each in listed if each["status"] == "Live"]
        return ids[0] if ids else ""

    def person(self, market: str) -> ProlificVisitor | ConnectVisitor:
        """A participant of a market, in a browser of their own."""
        visitor: ProlificVisitor | ConnectVisitor = (
            ProlificVisitor(self.endpoint, self.researcher)
            if market == "prolific"
            else ConnectVisitor(self.endpoint, self.connect)
        )
        visitor.http.timeout = 60.0
        self.stack.callback(visitor.http.close)
        return visitor

    def set_faults(self, market: str, *faults: dict[str, Any]) -> None:
        """Replace a market's script of faults."""
        if market == "prolific":
            self.researcher.control("PUT", "/faults", [*faults])
        else:
            self.connect.set_faults(*faults)
