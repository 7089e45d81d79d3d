"""A Prefect server and a process worker, each a process of its own that can be killed.

They live in a folder of their own, on a free port, and reach no other host. What is
ended is ended by process id: a worker with the flow runs that it has started.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import yaml

from tests.marketplace.market import free_port

ROOT = Path(__file__).resolve().parents[2]
_BIN = Path(sys.executable).parent
_PATIENCE = 600.0


@dataclass(slots=True)
class PrefectApart:
    """Started with `server()` and `worker()`; `kill` sends SIGKILL to whole groups."""

    home: Path
    port: int
    settings: dict[str, str] = field(default_factory=dict)
    """More of Prefect's settings, of which the address is always this one's."""
    running: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    @property
    def api(self) -> str:
        """The address of the server's API."""
        return f"http://127.0.0.1:{self.port}/api"

    @property
    def environment(self) -> dict[str, str]:
        """What every process of this Prefect is started with."""
        return {
            **os.environ,
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "DO_NOT_TRACK": "1",
            "PREFECT_WORKER_QUERY_SECONDS": "1",
            "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": (
                "prefect.server.concurrency.lease_storage.filesystem"
            ),
            # An interval of seconds would be a hundred runs at once.
            "PREFECT_SERVER_SERVICES_SCHEDULER_MAX_RUNS": "10",
            "PREFECT_SERVER_SERVICES_SCHEDULER_LOOP_SECONDS": "20",
            "PREFECT_SERVER_SERVICES_TRIGGERS_ENABLED": "false",
            **self.settings,
            "PREFECT_HOME": str(self.home),
            "PREFECT_API_URL": self.api,
        }

    def server(self) -> None:
        """Start the server and wait until it answers."""
        self._start("server", "prefect", "server", "start", "--port", str(self.port))
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            try:
                if httpx.get(f"{self.api}/health", timeout=5).is_success:
                    return
            except httpx.TransportError:
                time.sleep(0.2)
        raise TimeoutError(self.log_tail("server"))

    def worker(self) -> None:
        """Start a process worker of the pool that `prefect.yaml` names."""
        self._start(
            "worker", "prefect", "worker", "start", "--pool", "piecework",
            "--type", "process",
        )  # fmt: skip

    def deploy(
        self,
        *,
        every_seconds: int,
        at_once: int = 1,
        poll_open_hits: bool = False,
        **parameters: object,
    ) -> None:
        """Deploy `prefect.yaml` with another campaign and a shorter interval.

        Args:
            every_seconds: the schedule's interval.
            at_once: how many runs of a deployment there may be.
            poll_open_hits: let each pass ask the marketplace for answers.
            parameters: of the flows.
        """
        words: dict[str, Any] = yaml.safe_load((ROOT / "prefect.yaml").read_text())
        for deployment in words["deployments"]:
            wanted = set(deployment["parameters"])
            deployment["parameters"] |= {
                name: value for name, value in parameters.items() if name in wanted
            }
            if poll_open_hits and deployment["name"] == "advance":
                deployment["parameters"]["poll_open_hits"] = True
            if "concurrency_limit" in deployment:
                deployment["concurrency_limit"]["limit"] = at_once
            for schedule in deployment.get("schedules", ()):
                schedule["interval"] = every_seconds
        file = self.home / "prefect.yaml"
        file.write_text(yaml.safe_dump(words))
        pool = {"name": "piecework", "type": "process"}
        reply = httpx.post(f"{self.api}/work_pools/", json=pool, timeout=30)
        if reply.status_code != httpx.codes.CONFLICT:  # it is there already
            reply.raise_for_status()
        self.run("--no-prompt", "deploy", "--all", "--prefect-file", file)

    def run(self, *words: str | Path, folder: Path = ROOT) -> str:
        """One `prefect` command in a folder; what it printed."""
        done = subprocess.run(
            [_BIN / "prefect", *words],
            env={**self.environment, "PWD": str(folder)},
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def run_to_its_end(self, flow: str) -> dict[str, Any]:
        """Ask for a run as `prefect deployment run` does; return it when it is over."""
        return self.wait_for_end(
            self.created(f"deployments/{self.deployment(flow)['id']}/create_flow_run")
        )

    def wait_for_end(self, run: str) -> dict[str, Any]:
        """Wait until a run is over; return it."""
        until = time.monotonic() + _PATIENCE
        while True:
            shown = self.get(f"flow_runs/{run}")
            if shown["state_type"] in {"COMPLETED", "FAILED", "CRASHED", "CANCELLED"}:
                return shown
            assert time.monotonic() < until, self.log_tail("worker")
            time.sleep(0.3)

    def deployment(self, flow: str) -> dict[str, Any]:
        """What the server shows of the deployment of a flow, which has its name."""
        return self.get(f"deployments/name/{flow}/{flow}")

    def get(self, what: str) -> dict[str, Any]:
        """What the server's API shows."""
        reply = httpx.get(f"{self.api}/{what}", timeout=_PATIENCE).raise_for_status()
        shown: dict[str, Any] = reply.json()
        return shown

    def created(self, what: str, **wanted: object) -> str:
        """The id of what a call creates."""
        return str(self.posted(what, **wanted).json()["id"])

    def posted(self, what: str, **wanted: object) -> httpx.Response:
        """The answer to a call; a busy server may first answer 5xx."""
        until = time.monotonic() + _PATIENCE
        while True:
            reply = httpx.post(f"{self.api}/{what}", json=wanted, timeout=_PATIENCE)
            if not reply.is_server_error or time.monotonic() > until:
                return reply.raise_for_status()
            time.sleep(1)

    def states(self) -> list[str]:
        """Names of the states of all flow runs that have begun, oldest first."""
        begun = {"state": {"type": {"not_any_": ["SCHEDULED"]}}}
        runs = self.read("flow_runs/filter", flow_runs=begun)
        return [str(run["state_name"]) for run in sorted(runs, key=_began)]

    def read(self, what: str, **wanted: object) -> list[dict[str, Any]]:
        """All of something that fits a filter, as the server's API lists it."""
        reply = httpx.post(f"{self.api}/{what}", json={"limit": 200, **wanted}, timeout=120)
        reply.raise_for_status()
        rows: list[dict[str, Any]] = reply.json()
        return rows

    def kill(self, name: str) -> int:
        """SIGKILL to a process and all that it started, as a machine's end would.

        Returns how many passes died with it.
        """
        # The passes first: they are soon over.
        killed = self._kill_passes() if name == "worker" else 0
        self.kill_alone(name)
        # The worker may have started one meanwhile.
        return killed + (self._kill_passes() if name == "worker" else 0)

    def _kill_passes(self) -> int:
        passes = flow_runs_of(self.home)
        for pid in passes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return len(passes)

    def kill_alone(self, name: str) -> int:
        """SIGKILL to a process, while the passes that it started go on.

        Returns how many passes were at work a moment later.
        """
        process = self.running.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=30)
        return len(flow_runs_of(self.home))

    def log_tail(self, name: str) -> str:
        """What a process has printed."""
        return (self.home / f"{name}.log").read_text()[-4000:]

    def _start(self, name: str, *words: str) -> None:
        with (self.home / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(
                [_BIN / words[0], *words[1:]],
                env=self.environment,
                cwd=self.home,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )


def flow_runs_of(home: Path) -> list[int]:
    """Return the processes of flow runs of a worker with this `PREFECT_HOME`.

    A worker starts them in sessions of their own.
    """
    mine = f"PREFECT_HOME={home}".encode()
    pids = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "environ").read_bytes().split(b"\0")
            is_run = any(word.startswith(b"PREFECT__FLOW_RUN_ID=") for word in words)
            if mine in words and is_run:
                pids.append(int(folder.name))
    return pids


def _began(flow_run: dict[str, Any]) -> str:
    return str(flow_run["start_time"])


@contextmanager
def prefect_apart(home: Path, settings: dict[str, str] | None = None) -> Iterator[PrefectApart]:
    """A Prefect of its own; nothing is started yet, and nothing is left running."""
    home.mkdir(parents=True)
    prefect = PrefectApart(home, free_port(), settings or {})
    try:
        yield prefect
    finally:
        for name in list(prefect.running):
            prefect.kill(name)
