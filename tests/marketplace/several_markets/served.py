"""`serve` for Prolific and Connect, and both offline markets, each a process."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import boto3

from piecework.rehearsal.connect.offline_connect import OfflineConnect
from piecework.rehearsal.connect.options import KEY
from tests.connect.town import Visitor as ConnectVisitor
from tests.marketplace.market import HIT_TYPE, QUESTION, free_port
from tests.marketplace.several_markets.place import CONNECT, PROLIFIC, crowd
from tests.prolific.bridge.town import Visitor as ProlificVisitor
from tests.rehearsal.prolific.people import Researcher

PIECEWORK = Path(sys.executable).with_name("piecework")
_PATIENCE_SECONDS = 60.0


class ServedMarkets:
    """A marketplace's process on two offline markets."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.database, self.stack = folder / "market.db", stack
        ports = [free_port() for _ in range(4)]
        at = [f"http://127.0.0.1:{port}" for port in ports]
        self.endpoint = at[0]
        self._environment = {
            **os.environ,
            "PROLIFIC_TOKEN": "rehearsal-token",
            "PROLIFIC_URL": at[2],
            "CONNECT_API_KEY": KEY,
            "CONNECT_URL": at[3],
        }
        people = ("--participants", "0")
        self._process(
            *("prolific-emulator", "--port", str(ports[2]), "--currency", "USD"),
            *people,
        )
        self._process("connect-emulator", "--port", str(ports[3]), *people)
        self.researcher = stack.enter_context(Researcher(at[2]))
        self.connect = stack.enter_context(OfflineConnect(at[3], KEY))
        self.requester = self._requester()
        self._process(
            *("serve", "--database", str(self.database), "--port", str(ports[0])),
            *("--frames-port", str(ports[1])),
            *("--frames-url", f"http://localhost:{ports[1]}"),
            *("--crowd", "prolific", "--crowd", "connect"),
            *("--public-url", self.endpoint, "--live", "--hits-per-visit", "2"),
            *("--spend-at-most", "prolific=90", "--spend-at-most", "connect=90"),
            *("--settle-seconds", "0"),
        )

    def _process(self, *words: str) -> None:
        self.stack.enter_context(_listening(*words, environment=self._environment))

    def _requester(self) -> Any:  # noqa: ANN401 - boto3's
        words = ("requester", "add", "Lab", "--balance", "900")
        printed = subprocess.run(
            [PIECEWORK, *words, "--database", self.database],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        key = dict(
            line.removeprefix("export ").split("=") for line in printed.split("\n")[:2]
        )
        return boto3.Session().client(
            "mturk",
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            aws_access_key_id=key["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=key["AWS_SECRET_ACCESS_KEY"],
        )

    def recruit(self, hits: int = 2, most: int = 9) -> tuple[str, str]:
        """Post HITs for both markets; the study and the project that recruit."""
        for named in (PROLIFIC, CONNECT):
            kind = self.requester.create_hit_type(
                **{**HIT_TYPE, "QualificationRequirements": [crowd(named)]}
            )["HITTypeId"]
            for _ in range(hits):
                self.requester.create_hit_with_hit_type(
                    HITTypeId=kind,
                    Question=QUESTION,
                    MaxAssignments=most,
                    LifetimeInSeconds=3600,
                )
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


@contextmanager
def _listening(*words: str, environment: dict[str, str]) -> Iterator[None]:
    """A command that says in a line that it listens; killed at the end."""
    with subprocess.Popen(
        [PIECEWORK, *words],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            assert " at http" in process.stdout.readline()
            yield
        finally:
            process.kill()


def until(holds: Callable[[], str]) -> str:
    """Wait until a bridge has brought something about; what it is."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not (result := holds()):
        assert time.monotonic() < deadline, "no bridge has done it"
        time.sleep(0.2)
    return result
