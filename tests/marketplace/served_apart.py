"""`piecework serve` in a process of its own, with the addresses that it prints."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from prometheus_client.parser import text_string_to_metric_families

ROOT = Path(__file__).resolve().parents[2]
SERVE = [
    *(sys.executable, "-c", "from piecework.cli.main import main; main()"),
    "serve",
]

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
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
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
