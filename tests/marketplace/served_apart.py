"""`piecework market serve` in a process of its own, with the addresses that it prints."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import httpx
from prometheus_client.parser import text_string_to_metric_families

from tests.marketplace.market import HIT_TYPE, QUESTION, free_port

ROOT = Path(__file__).resolve().parents[2]
PIECEWORK = (sys.executable, "-c", "from piecework.cli.main import main; main()")
SERVE = [*PIECEWORK, "market", "serve"]
_PATIENCE_SECONDS = 60.0

Figures = dict[str, float]
"""Values of samples, by name and labels as Prometheus writes them."""


@dataclass(frozen=True)
class Apart:
    """A running process and its addresses.

    Attributes:
        metrics: the address of the metrics; "" without them.
    """

    process: "subprocess.Popen[str]"
    site: str
    frames: str
    metrics: str


@contextmanager
def served_apart(database: Path, *words: str) -> Iterator[Apart]:
    """Run it on free ports until the block ends."""
    command = [*SERVE, "--database", str(database), "--port", "0"]
    command += ["--frames-port", "0", *words]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            addresses = process.stdout.readline().split()
            metrics = ""
            if "--metrics-port" in words:
                metrics = process.stdout.readline().split()[-1]
            yield Apart(process, addresses[2], addresses[5], metrics)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


class ServedForCrowd:
    """`piecework market serve` for workers from elsewhere, and a requester of it.

    Args:
        folder: for the marketplace's file.
        stack: ends all processes.
        variables: of the environment of all commands.
        balance: the requester's, in the currency.
        currency: the marketplace's.
    """

    def __init__(
        self,
        folder: Path,
        stack: ExitStack,
        variables: dict[str, str],
        *,
        balance: str = "100",
        currency: str = "USD",
    ) -> None:
        self.database, self.stack = folder / "market.db", stack
        self.environment = {**os.environ, **variables}
        self.ports = free_port(), free_port()
        self.endpoint = f"http://127.0.0.1:{self.ports[0]}"
        self.requester = self._requester(balance, currency)

    def serve_for(self, *words: str) -> "subprocess.Popen[str]":
        """Start it, or start it again, at the same ports."""
        site, frames = self.ports
        return self.listening(
            *("market", "serve", "--database", str(self.database)),
            *("--port", str(site), "--frames-port", str(frames)),
            *("--frames-url", f"http://localhost:{frames}", *words),
        )

    def listening(self, *words: str) -> "subprocess.Popen[str]":
        """Start a command that says in a line that it listens; it is killed at the end.

        Standard error is discarded.
        """
        process = subprocess.Popen(
            [*PIECEWORK, *words],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.stack.enter_context(process)
        self.stack.callback(process.kill)
        assert process.stdout is not None
        assert " at http" in process.stdout.readline()
        return process

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run a command to its end."""
        return subprocess.run(
            [*PIECEWORK, *words], env=self.environment, capture_output=True, text=True, check=False
        )

    def post(self, hits: int, *, most: int = 1, **changes: object) -> list[str]:
        """Post HITs of one type, each for as many workers as `most`; their ids."""
        kind = self.requester.create_hit_type(**{**HIT_TYPE, **changes})["HITTypeId"]
        return [
            self.requester.create_hit_with_hit_type(
                HITTypeId=kind,
                Question=QUESTION,
                MaxAssignments=most,
                LifetimeInSeconds=3600,
                RequesterAnnotation=str(number),  # no call is signed twice
            )["HIT"]["HITId"]
            for number in range(hits)
        ]

    def _requester(self, balance: str, currency: str) -> Any:  # noqa: ANN401 - boto3's
        words = ("--balance", balance, "--currency", currency)
        printed = self.run(
            *("market", "account", "add", "Lab", *words, "--database", str(self.database))
        ).stdout
        key = dict(line.removeprefix("export ").split("=") for line in printed.split("\n")[:2])
        client = boto3.Session().client(
            "mturk",
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            aws_access_key_id=key["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=key["AWS_SECRET_ACCESS_KEY"],
        )
        self.stack.callback(client.close)
        return client


def until(holds: Callable[[], object]) -> str:
    """Wait until a process has brought something about; what it is."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not (result := holds()):
        assert time.monotonic() < deadline, "the process has not done it"
        time.sleep(0.2)
    return str(result)


def scraped(url: str) -> Figures:
    """Read the metrics as Prometheus does."""
    reply = httpx.get(url)
    reply.raise_for_status()
    return figures_in(reply.text)


def figures_in(text: str) -> Figures:
    """Read a document in Prometheus' text format."""
    return {
        f"{sample.name}{_shown(sample.labels)}": sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def _shown(labels: dict[str, str]) -> str:
    inside = ",".join(f'{name}="{value}"' for name, value in sorted(labels.items()))
    return f"{{{inside}}}" if inside else ""
