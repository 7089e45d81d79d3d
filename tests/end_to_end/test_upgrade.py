"""The next version of piecework takes over files in use, and goes back to before."""

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

import piecework
from tests.crash.people import People
from tests.marketplace.market import HIT_TYPE, QUESTION, Market, Worker, free_port
from tests.small_campaign import write_campaign

# In `make test` tests/foundation/sqlitefile/test_migrations.py copies a file before it is
# brought up to date, and both test_strange_files.py refuse files of a later version.
pytestmark = pytest.mark.full

PIECEWORK = (sys.executable, "-c", "from piecework.cli.main import main; main()")
_PACKAGE = Path(piecework.__file__).parent
_NEXT = {
    "store/schema": "CREATE TABLE weather (day TEXT PRIMARY KEY) STRICT;",
    "store/postgres_schema": "CREATE TABLE weather (day TEXT PRIMARY KEY);",
    "marketplace/schema": "CREATE TABLE weather (day TEXT PRIMARY KEY) STRICT;",
}
"""What the tables of the next version have more."""


@pytest.fixture(scope="module")
def next_version(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for PYTHONPATH with the package and one more migration of each kind."""
    folder = tmp_path_factory.mktemp("next")
    _link(_PACKAGE, folder / "piecework", but=[_PACKAGE / name for name in _NEXT])
    for name, statement in _NEXT.items():
        (folder / "piecework" / name / "m002_weather.sql").write_text(statement)
    return folder


def _link(source: Path, target: Path, *, but: list[Path]) -> None:
    """Link what a folder holds, and copy some folders in it.

    Folders that are links keep what Python compiled for them: compiling a whole copy
    would take longer than the test.
    """
    target.mkdir()
    for path in source.iterdir():
        if path in but:
            shutil.copytree(path, target / path.name)
        elif any(path in copied.parents for copied in but):
            _link(path, target / path.name, but=but)
        elif path.name != "__pycache__":
            (target / path.name).symlink_to(path)


@dataclass
class Machine:
    """A marketplace's process and a campaign's passes, of either version."""

    folder: Path
    port: int = field(default_factory=free_port)
    frames_port: int = field(default_factory=free_port)

    @property
    def endpoint(self) -> str:
        """Where the marketplace is."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def database(self) -> Path:
        """The marketplace's file."""
        return self.folder / "market.db"

    @contextmanager
    def served(self, version: Path | None = None) -> Iterator["subprocess.Popen[str]"]:
        """Serve the marketplace until the block ends, then end it in order."""
        with self.process(
            *("market", "serve", "--rehearsal", "--database", str(self.database)),
            *("--port", str(self.port), "--frames-port", str(self.frames_port)),
            version=version,
        ) as process:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert self.endpoint in line, process.communicate()
            yield process
            process.terminate()
            process.wait(timeout=60)

    @contextmanager
    def process(
        self, *words: str, version: Path | None = None
    ) -> Iterator["subprocess.Popen[str]"]:
        """A command of this version, or of the one in a folder."""
        environment = {
            **os.environ,
            "AWS_ACCESS_KEY_ID": "A-REQUESTER",
            "AWS_SECRET_ACCESS_KEY": "no secret",
        }
        if version is not None:
            environment["PYTHONPATH"] = str(version)
        with subprocess.Popen(
            [*PIECEWORK, *words],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    def command(self, *words: str, version: Path | None = None) -> tuple[int, str]:
        """What a command says, and its exit code."""
        with self.process(*words, version=version) as process:
            output, errors = process.communicate(timeout=120)
        return process.returncode, output + errors

    def advance(self, version: Path | None = None) -> str:
        """Make a pass; what it says."""
        words = ("run", "--once", "crash.toml", "--endpoint", self.endpoint)
        code, output = self.command(*words, "--poll-open-hits", version=version)
        assert code == 0, output
        return output

    def hits(self) -> list[str]:
        """The notes of all HITs at the marketplace."""
        with closing(sqlite3.connect(self.database)) as market:
            return [note for (note,) in market.execute("SELECT annotation FROM hits")]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A folder with the small campaign."""
    write_campaign(tmp_path)
    return Machine(tmp_path)


@pytest.mark.parametrize("passes", [2, 20])
def test_the_next_version_continues_and_this_one_refuses_and_goes_back(
    machine: Machine, next_version: Path, passes: int
) -> None:
    """Marketplace and store are copied first; nothing is posted twice either way."""
    store = machine.folder / "out/crash/piecework.db"
    with machine.served():
        machine.advance()
        people = People(machine.endpoint)
        people.work()
    with machine.served(next_version):
        machine.advance(next_version)
        assert (machine.folder / "market.db.before-m002_weather").is_file()
        before = store.with_name("piecework.db.before-m002_weather")
        assert before.is_file()
        code, refused = machine.command(
            "run", "--once", "crash.toml", "--endpoint", machine.endpoint
        )
        assert code == 1, refused
        assert "by a later version" in refused
        assert "before-*" in refused
        for _ in range(passes):
            people.work()
            if "nobody" in machine.advance(next_version):
                break
        assert len(set(machine.hits())) == len(machine.hits())
    code, refused = machine.command(
        "market", "serve", "--rehearsal", "--database", "market.db", "--port", "0"
    )
    assert code == 1
    assert "by a later version" in refused
    # Back to before, with this version: both files are as old as each other.
    for path in (machine.database, store):
        for log in ("-wal", "-shm"):
            path.with_name(path.name + log).unlink(missing_ok=True)
        path.with_name(f"{path.name}.before-m002_weather").replace(path)
    with machine.served():
        machine.command("store", "reconcile", "crash.toml")
        machine.advance()
        assert len(set(machine.hits())) == len(machine.hits())


class _Clicker(threading.Thread):
    """A worker who takes and sends HITs, and tries again while the server is away."""

    def __init__(self, market: str, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self.worker, self.stop = Worker(market), stop
        self.acknowledged: list[str] = []

    def run(self) -> None:
        """Work until told to stop."""
        while not self.stop.is_set():
            try:
                self._work_once()
            except (httpx.TransportError, httpx.HTTPStatusError):
                self.stop.wait(0.05)

    def _work_once(self) -> None:
        for group in self.worker.groups():
            accepted = self.worker.accept(group["hit_group_id"]).raise_for_status().json()
            for _ in range(200):
                try:
                    sent = self.worker.submit(accepted["assignment_id"])
                except httpx.TransportError:
                    self.stop.wait(0.05)
                    continue
                # 409: the first try had arrived, only its reply was lost.
                assert sent.status_code in (200, 409), sent.text
                self.acknowledged.append(accepted["assignment_id"])
                break


def test_a_rolling_restart_loses_no_submission(machine: Machine, next_version: Path) -> None:
    """Eight workers send without pause while the versions change, three times."""
    stop = threading.Event()
    clickers: list[_Clicker] = []
    for version in (None, next_version, next_version, next_version):
        with machine.served(version):
            if not clickers:
                market = Market(machine.endpoint, machine.endpoint)
                requester = market.requester()
                kind = requester.create_hit_type(**HIT_TYPE)["HITTypeId"]
                for _ in range(400):
                    requester.create_hit_with_hit_type(
                        HITTypeId=kind,
                        Question=QUESTION,
                        MaxAssignments=9,
                        LifetimeInSeconds=86_400,
                    )
                market.close()
                clickers = [_Clicker(machine.endpoint, stop) for _ in range(8)]
                for clicker in clickers:
                    clicker.start()
            wanted = sum(len(each.acknowledged) for each in clickers) + 100
            while sum(len(each.acknowledged) for each in clickers) < wanted:
                assert any(each.is_alive() for each in clickers)
                stop.wait(0.05)
    stop.set()
    for clicker in clickers:
        clicker.join(timeout=60)
    acknowledged = [each for clicker in clickers for each in clicker.acknowledged]
    assert len(set(acknowledged)) == len(acknowledged) >= 400
    with closing(sqlite3.connect(machine.database)) as file:
        submitted = {
            assignment
            for (assignment,) in file.execute(
                "SELECT assignment_id FROM assignments WHERE submitted_ms IS NOT NULL"
            )
        }
    assert set(acknowledged) <= submitted
