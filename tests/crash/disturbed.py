"""Run a pass in a separate process, with a fault at a chosen call.

Every call of the platform goes through botocore. Its events tell when a request is
about to leave, when the reply has arrived, and when it has been read. A call is named
by its operation and its number among the campaign's calls of it, so that the order of
concurrent calls does not matter.
"""

import fcntl
import os
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click
import urllib3

from piecework.campaign.assembling import load_campaign
from piecework.campaign.opened import CampaignRun
from piecework.cli.main import main
from piecework.domain.clock import Clock, SystemClock
from piecework.engine.opening import open_for_rehearsal
from piecework.engine.recover.reconcile import reconcile
from piecework.engine.run_pass import run_pass
from piecework.platforms import calling
from piecework.store.connection import Connection as StoreConnection
from piecework.store.postgres.database import PostgresDatabase
from tests.crash.apart import apart
from tests.crash.faults import Fault
from tests.crash.world import World

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

AT_ONCE = 4
LONGEST_PASS_SECONDS = 240
_PATIENCE_SECONDS = 0.5
_LOCK_WAIT_MS = 300


@dataclass(frozen=True, slots=True)
class Call:
    """The `nth` call (from 1) of an operation in a campaign."""

    operation: str
    nth: int

    def __str__(self) -> str:
        """Return its name in the table."""
        return f"{self.operation} {self.nth}"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended: exit code (-9: killed), standard output and error."""

    code: int | None
    output: str
    complained: str


def pass_apart(world: World, fault: Fault | None = None, call: Call | None = None) -> Ended:
    """Run one pass in a new process, with the fault around it."""
    context = apart()
    (world.folder / "jumped").write_text(str(world.jumped))
    here, there = context.Pipe()
    process = context.Process(
        target=run_in_files, args=(world.folder, _pass, (there, world.endpoint, fault, call))
    )
    process.start()
    there.close()
    with here:
        while _asks(here):
            assert fault is not None
            world.strike(fault.world)
            here.send(world.jumped)
    return ended(process, world.folder)


def run_command(world: World, *words: str) -> Ended:
    """Run `piecework` with these arguments, in a new process."""
    process = apart().Process(target=run_in_files, args=(world.folder, None, words))
    process.start()
    return ended(process, world.folder)


def calls_made(folder: Path) -> list[Call]:
    """Return the calls that were begun, including retries, in order."""
    path = folder / "calls"
    seen: dict[str, int] = {}
    calls = []
    for operation in path.read_text().split() if path.exists() else []:
        seen[operation] = seen.get(operation, 0) + 1
        calls.append(Call(operation, seen[operation]))
    return calls


def _asks(here: "Connection[float, str]") -> bool:
    try:
        if not here.poll(LONGEST_PASS_SECONDS):
            raise TimeoutError("a pass took longer than four minutes")
        here.recv()
    except EOFError:
        return False
    return True


def ended(process: "BaseProcess", folder: Path) -> Ended:
    """Wait for the end of a process with its output in this folder."""
    process.join(timeout=LONGEST_PASS_SECONDS)
    if process.is_alive():
        process.kill()
        raise TimeoutError("a process took longer than four minutes")
    output, complained = ((folder / name).read_text() for name in ("said.txt", "complained.txt"))
    return Ended(process.exitcode, output, complained)


def run_in_files(
    folder: Path, work: Callable[..., None] | None, arguments: tuple[object, ...]
) -> None:
    """Run work or a command, with output in files and errors as the command has them.

    The real click group turns errors into messages and exit codes.
    """
    for stream, name in ((sys.stdout, "said.txt"), (sys.stderr, "complained.txt")):
        file = os.open(folder / name, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        os.dup2(file, stream.fileno())
    if work is None:
        main([str(word) for word in arguments])
        return
    command = click.Command("pass", callback=lambda: work(folder, *arguments))
    type(main)(commands={"pass": command})(["pass"])


@dataclass(slots=True)
class _JumpingClock:
    """The machine's clock, shifted by some seconds."""

    jumped: float
    _clock: Clock

    def now(self) -> datetime:
        return self._clock.now() + timedelta(seconds=self.jumped)


def _pass(
    folder: Path,
    there: "Connection[str, float]",
    endpoint: str,
    fault: Fault | None,
    call: Call | None,
) -> None:
    # Do not wait between botocore's retries; they are not tested here.
    calling.PATIENCE_SECONDS = calling.FIRST_SECONDS = _PATIENCE_SECONDS
    calling._FIRST_DELAY = 0.001
    clock = _JumpingClock(float((folder / "jumped").read_text()), SystemClock())
    loaded = load_campaign(folder / "crash.toml")
    with open_for_rehearsal(loaded, endpoint, clock, recognises_copies=True) as run:
        at_once = replace(run, most_calls=AT_ONCE)
        if run.store.db.kind == "sqlite":
            run.store.db.execute(f"PRAGMA busy_timeout = {_LOCK_WAIT_MS}")
        _Watch(folder, there, fault, call, clock).over(run)
        click.echo(run_pass(at_once).waiting_for)


def reconcile_apart(world: World) -> Ended:
    """Reconcile a restored store and its marketplace, in a new process."""
    process = apart().Process(
        target=run_in_files, args=(world.folder, _reconcile, (world.endpoint,))
    )
    process.start()
    return ended(process, world.folder)


def _reconcile(folder: Path, endpoint: str) -> None:
    loaded = load_campaign(folder / "crash.toml")
    with open_for_rehearsal(
        loaded, endpoint, SystemClock(), recognises_copies=True, allow_restored=True
    ) as run:
        reconcile(run, dry_run=False)


class _Watch:
    """Counts the calls that leave, and disturbs the chosen one."""

    def __init__(
        self,
        folder: Path,
        there: "Connection[str, float]",
        fault: Fault | None,
        call: Call | None,
        clock: _JumpingClock,
    ) -> None:
        self._folder, self._there, self._clock = folder, there, clock
        self._fault, self._call = fault, call
        self._mine = threading.local()
        self._awaits_commit = self._has_committed = False

    def over(self, run: CampaignRun) -> None:
        client = run.platform._client
        client.meta.events.register_first("before-send.mturk", self._count)
        if self._fault is None or self._fault.kind == "script":
            if self._fault is not None and "slower" in self._fault.name:
                pool = client._endpoint.http_session._manager  # type: ignore[attr-defined]  # botocore's own
                pool.connection_pool_kw["timeout"] = urllib3.Timeout(_PATIENCE_SECONDS)
            return
        if self._fault.where.endswith("commit"):
            client.meta.events.register_last("after-call.mturk", self._await_commit)
            self._listen_to(run.store.db)
            return
        client.meta.events.register_last(f"{self._fault.where}.mturk", self._meet)

    def _listen_to(self, db: StoreConnection) -> None:
        """Call `_trace` with each statement before it runs."""
        if not isinstance(db, PostgresDatabase):
            db.conn.set_trace_callback(self._trace)
            return
        run = db.run

        def traced(statements: str) -> tuple[object, ...]:
            self._trace("COMMIT" if statements.endswith("COMMIT") else statements)
            return run(statements)

        db.run = traced  # type: ignore[method-assign]

    def _count(self, event_name: str, **_: object) -> None:
        operation = event_name.rsplit(".", 1)[-1]
        with (self._folder / "calls").open("a+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            nth = 1 + file.read().split().count(operation)
            file.write(operation + "\n")
        self._mine.call = Call(operation, nth)

    def _await_commit(self, **_: object) -> None:
        self._awaits_commit |= self._mine.call == self._call

    def _trace(self, statement: str) -> None:
        """Die at or after the commit that is awaited."""
        assert self._fault is not None
        is_commit = statement == "COMMIT" and self._awaits_commit
        is_now = is_commit and self._fault.where == "at-commit"
        if is_now or self._has_committed:
            os.kill(os.getpid(), signal.SIGKILL)
        self._has_committed = is_commit

    def _meet(self, **_: object) -> None:
        if self._mine.call != self._call:
            return
        assert self._fault is not None
        if self._fault.kind == "death":
            os.kill(os.getpid(), signal.SIGKILL)
        self._there.send("now")
        self._clock.jumped = self._there.recv()
