"""`market serve --crowd panel` as a process, its requester, and people who come over HTTP."""

import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from piecework.markets.panel.rehearsal.simulated_panel import SimulatedPanel, Terms, panel_file
from tests.marketplace.served_apart import PIECEWORK, ServedForCrowd
from tests.markets.panel.scene import SECRET, USUAL, Visitor


class Served(ServedForCrowd):
    """A marketplace's process, a requester's boto3 client, and the panel itself."""

    def __init__(
        self, folder: Path, stack: ExitStack, *, file: str = "", terms: Terms = USUAL
    ) -> None:
        self.file = folder / "panel.toml"
        self.file.write_text(file or panel_file(terms))
        self.panel = SimulatedPanel(SECRET)
        variables = {"PANEL_SECRET": SECRET}
        super().__init__(folder, stack, variables, currency=terms.currency)
        self.process = self.serve()

    def serve(self) -> "subprocess.Popen[str]":
        """Start it, or start it again."""
        return self.serve_for("--crowd", "panel", "--panel", str(self.file))

    def serve_again(self) -> None:
        """Start it after it was killed."""
        self.process = self.serve()

    def spoken_at_the_start(self) -> str:
        """What it prints on stderr until it listens, when started once more."""
        site, frames = self.ports
        words = [
            *("market", "serve", "--database", str(self.database), "--port", str(site)),
            *("--frames-port", str(frames), "--crowd", "panel"),
        ]
        with subprocess.Popen(
            [*PIECEWORK, *words, "--panel", str(self.file)],
            env=self.environment,
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
        return self.run(*words, "--database", str(self.database))

    def submitted(self, hits: list[str]) -> list[dict[str, Any]]:
        """All assignments of HITs."""
        return [
            assignment
            for hit in hits
            for assignment in self.requester.list_assignments_for_hit(HITId=hit)["Assignments"]
        ]

    def visitor(self) -> Visitor:
        """A browser that nobody has used."""
        visitor = Visitor(self.endpoint)
        self.stack.callback(visitor.http.close)
        return visitor
