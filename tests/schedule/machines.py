"""Machines that share no file system: workers of one Prefect, each with its own disk.

Each has a mount namespace of its own, in which the campaign's path is its own folder,
and its own host name. So the path of the campaign is the same on each machine, as a
deployment wants it, and the files are not.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tests.schedule.prefect_apart import PrefectApart, flow_runs_of

_BIN = Path(sys.executable).parent
_ENTER = 'mount --bind "$0" "$1" && hostname "$2" && shift 2 && exec "$@"'


@dataclass(slots=True)
class Machine:
    """A machine with a process worker, which can be killed and started again.

    Attributes:
        name: its host name.
        home: its own files: the campaign's in `site`, Prefect's in `prefect`.
        site: the path of the campaign's folder, on all machines.
        prefect: the server whose runs it makes.
        keys: more variables of its environment.
    """

    name: str
    home: Path
    site: Path
    prefect: PrefectApart
    keys: dict[str, str]
    _worker: "subprocess.Popen[bytes] | None" = field(default=None, init=False)

    def receive(self, *files: Path) -> None:
        """Copy the campaign's files to this machine."""
        disk = self.home / "site"
        disk.mkdir(parents=True, exist_ok=True)
        for file in files:
            shutil.copy(file, disk)

    def start(self) -> None:
        """Start a worker, which makes one run at a time."""
        words = ("prefect", "worker", "start", "--pool", "piecework")
        more = ("--type", "process", "--limit", "1", "--name", self.name)
        with (self.home / "worker.log").open("ab") as log:
            self._worker = subprocess.Popen(
                self._inside(*words, *more),
                env=self._environment,
                cwd=self.home,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self) -> int:
        """End all its processes as a power cut would; return how many runs there were.

        The connections end with the processes, as those of a machine that has crashed
        and is up again.
        """
        assert self._worker is not None
        killed = self.kill_run()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._worker.pid, signal.SIGKILL)
        self._worker.wait(timeout=30)
        self._worker = None
        # The worker may have started a run meanwhile.
        return killed + self.kill_run()

    def kill_run(self) -> int:
        """End the run that is under way, and let the worker live."""
        pids = self.runs()
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return len(pids)

    def stall_run(self) -> list[int]:
        """Stop the run that is under way; return its processes, to continue them."""
        pids = self.runs()
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
        return pids

    def runs(self) -> list[int]:
        """The processes of flow runs on this machine."""
        return flow_runs_of(self._prefect_home)

    @property
    def is_up(self) -> bool:
        """Whether its worker was started."""
        return self._worker is not None

    def piecework(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run a command of piecework on this machine."""
        environment = {**self._environment}
        del environment["PREFECT_API_URL"]
        return subprocess.run(
            self._inside("piecework", *words),
            env=environment,
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    @property
    def _prefect_home(self) -> Path:
        return self.home / "prefect"

    @property
    def _environment(self) -> dict[str, str]:
        home = {"PREFECT_HOME": str(self._prefect_home)}
        return {**self.prefect.environment, **self.keys, **home}

    def _inside(self, program: str, *words: str) -> list[str]:
        enter = ("unshare", "--mount", "--uts", "sh", "-c", _ENTER)
        disk = (str(self.home / "site"), str(self.site), self.name)
        return [*enter, *disk, str(_BIN / program), *words]
