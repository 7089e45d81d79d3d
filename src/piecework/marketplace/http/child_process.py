"""Runs a rehearsal's marketplace in a child process that ends with its parent.

The pipe to the child's standard input carries no data: when it closes, the child knows
that the parent closed it or was killed. The child's first line of output is a JSON
document with its addresses or the reason why it cannot start. A failed start is
therefore raised here as for a marketplace in a thread.
"""

import json
import os
import select
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from datetime import datetime
from pathlib import Path

from piecework.marketplace.http.options import Marketplace, Running
from piecework.marketplace.state.money import PriceList
from piecework.marketplace.state.storage import WrongDatabaseError

_ROOT = Path(__file__).resolve().parents[3]
PROGRAM = ("piecework.marketplace",)
_STOP_SECONDS = 30.0

_LOOK_SECONDS = 1.0

START_FAULTS: tuple[type[Exception], ...] = (
    WrongDatabaseError,
    sqlite3.OperationalError,
    sqlite3.DatabaseError,
    OSError,
)
"""Exceptions of a failed start that callers may catch; narrower ones first."""


@contextmanager
def serve_apart(marketplace: Marketplace, *, program: Sequence[str] = PROGRAM) -> Iterator[Running]:
    """Run a rehearsing marketplace in a child process while the block lasts.

    The child ends with the block, or when this process is killed. Ctrl-C in a terminal
    does not reach it, so it still answers while the block exits.

    Args:
        marketplace: the marketplace, which must rehearse; `serve_forever` serves real
            workers and money. Only what its command line offers may differ from the
            defaults.
        program: the module that serves it, with its own options, which may import what
            the marketplace may not (`piecework.marketplace.http.server`).

    Raises:
        WrongDatabaseError: the database belongs to another start.
        sqlite3.DatabaseError: the file is not a database, or cannot be written.
        OSError: a port is in use.
        RuntimeError: the child ended for another reason, which its own output states.
    """
    if not marketplace.rehearsal:
        raise ValueError("a child process can only serve a rehearsal")
    with subprocess.Popen(  # noqa: S603 - our own module
        _command(program, marketplace),
        cwd=_ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # In a separate session, the terminal's Ctrl-C reaches only the parent.
        start_new_session=True,
    ) as child:
        try:
            yield _where_it_is(child)
        finally:
            _stop(child)


def end_with_parent() -> None:
    """Stop this process in order when its parent has ended."""
    parent = os.getppid()

    def wait() -> None:
        # EOF is not enough: a process that the parent forked also holds the pipe.
        while os.getppid() == parent and not _has_ended(sys.stdin.fileno()):
            continue
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, name="parent watch", daemon=True).start()


def report_of(outcome: Running | Exception) -> str:
    """Return one line of JSON about a start: the addresses, or the fault."""
    if isinstance(outcome, Running):
        return json.dumps({"endpoint_url": outcome.endpoint_url, "frames_url": outcome.frames_url})
    arguments: list[object] = [str(outcome)]
    if isinstance(outcome, OSError):
        arguments = [outcome.errno, outcome.strerror, outcome.filename]
    kind = next(kind for kind in START_FAULTS if isinstance(outcome, kind))
    report = {"fault": kind.__name__, "arguments": arguments}
    if code := getattr(outcome, "sqlite_errorcode", None):
        report["sqlite_errorcode"] = code  # distinguishes a full disk from a damaged file
    return json.dumps(report)


def _command(program: Sequence[str], marketplace: Marketplace) -> list[str]:
    command = [sys.executable, "-m", *program, "--attached"]
    for option in fields(marketplace):
        value = getattr(marketplace, option.name)
        if value == option.default:
            continue
        command.append(f"--{option.name.replace('_', '-')}")
        if value is not True:
            command.append(_word(value))
    return command


def _word(value: object) -> str:
    """Return a value as the command line takes it."""
    if isinstance(value, Path):
        return str(value.resolve())
    if isinstance(value, datetime):
        return value.isoformat()
    return json.dumps(value.members()) if isinstance(value, PriceList) else str(value)


def _where_it_is(child: "subprocess.Popen[bytes]") -> Running:
    report = json.loads(_first_line(child) or "{}")
    if "endpoint_url" in report:
        return Running(**report)
    for kind in START_FAULTS:
        if kind.__name__ == report.get("fault"):
            fault = kind(*report["arguments"])
            if isinstance(fault, sqlite3.Error) and "sqlite_errorcode" in report:
                fault.sqlite_errorcode = report["sqlite_errorcode"]
            raise fault
    raise RuntimeError("The marketplace did not start; see its log.")


def _first_line(child: "subprocess.Popen[bytes]") -> bytes:
    return child.stdout.readline() if child.stdout is not None else b""


def _stop(child: "subprocess.Popen[bytes]") -> None:
    child.terminate()
    try:
        child.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()


def _has_ended(pipe: int) -> bool:
    readable, _, _ = select.select([pipe], [], [], _LOOK_SECONDS)
    return bool(readable) and not os.read(pipe, 1)
