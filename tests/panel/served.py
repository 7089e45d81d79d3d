"""`serve --crowd panel` as a process, its requester, and people who come over HTTP."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import boto3

from piecework.rehearsal.panel.simulated_panel import SimulatedPanel, Terms, panel_file
from tests.marketplace.market import HIT_TYPE, QUESTION, free_port
from tests.panel.scene import SECRET, USUAL, Visitor

PIECEWORK = (sys.executable, "-c", "from piecework.cli.main import main; main()")


class Served:
    """A marketplace's process, a requester's boto3 client, and the panel itself."""

    def __init__(
        self, folder: Path, stack: ExitStack, *, file: str = "", terms: Terms = USUAL
    ) -> None:
        self.database, self._stack = folder / "market.db", stack
        self.file = folder / "panel.toml"
        self.file.write_text(file or panel_file(terms))
        self.panel = SimulatedPanel(SECRET)
        self._ports = free_port(), free_port()
        self.endpoint = f"http://127.0.0.1:{self._ports[0]}"
        self.requester = self._requester(terms.currency)
        self.process = self.serve()

    def serve(self) -> "subprocess.Popen[str]":
        """Start it, or start it again."""
        site, frames = self._ports
        return self._stack.enter_context(
            _process(
                *("serve", "--database", str(self.database)),
                *("--port", str(site), "--frames-port", str(frames)),
                *("--frames-url", f"http://localhost:{frames}"),
                *("--crowd", "panel", "--panel", str(self.file)),
            )
        )

    def serve_again(self) -> None:
        """Start it after it was killed."""
        self.process = self.serve()

    def spoken_at_the_start(self) -> str:
        """What it prints on stderr until it listens, when started once more."""
        site, frames = self._ports
        words = [
            *("serve", "--database", str(self.database), "--port", str(site)),
            *("--frames-port", str(frames), "--crowd", "panel"),
        ]
        with subprocess.Popen(
            [*PIECEWORK, *words, "--panel", str(self.file)],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            assert " at http" in process.stdout.readline()
            process.terminate()
            return process.communicate(timeout=60)[1]

    def kill(self) -> None:
        """End the process at once (SIGKILL), as a power cut would."""
        self.process.kill()
        self.process.wait()

    def command(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """What a command says of its file."""
        return subprocess.run(
            [*PIECEWORK, *words, "--database", self.database],
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )

    def post(self, hits: int, *, most: int = 1, **changes: object) -> list[str]:
        """Post HITs of one type, each for so many workers."""
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

    def submitted(self, hits: list[str]) -> list[dict[str, Any]]:
        """All assignments of HITs."""
        return [
            assignment
            for hit in hits
            for assignment in self.requester.list_assignments_for_hit(HITId=hit)[
                "Assignments"
            ]
        ]

    def visitor(self) -> Visitor:
        """A browser that nobody has used."""
        visitor = Visitor(self.endpoint)
        self._stack.callback(visitor.http.close)
        return visitor

    def _requester(self, currency: str) -> Any:  # noqa: ANN401 - boto3's
        printed = self.command(
            *("requester", "add", "Lab", "--balance", "100", "--currency", currency)
        ).stdout
        key = dict(
            line.removeprefix("export ").split("=") for line in printed.split("\n")[:2]
        )
        client = boto3.Session().client(
            "mturk",
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            aws_access_key_id=key["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=key["AWS_SECRET_ACCESS_KEY"],
        )
        self._stack.callback(client.close)
        return client


def environment() -> dict[str, str]:
    """The environment of commands, with the secret."""
    return {**os.environ, "PANEL_SECRET": SECRET}


@contextmanager
def _process(*words: str) -> Iterator["subprocess.Popen[str]"]:
    with subprocess.Popen(
        [*PIECEWORK, *words],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            assert " at http" in process.stdout.readline()
            yield process
        finally:
            process.kill()
