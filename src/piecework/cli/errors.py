"""Turns errors, also the system's (a full disk, a lock), into messages and exit codes.

So do the errors of another market's API, and an interruption: after Ctrl-C or SIGTERM, a
command ends within two seconds, in order if that is possible.
"""

import contextlib
import errno
import json
import os
import signal
import sqlite3
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import click

from piecework.cli.lazy_group import LazyGroup
from piecework.domain.errors import ConfigError, PieceworkError, RefusedForSafety
from piecework.domain.text import printable, without_secrets

_BRING_BACK = (
    "restore a copy of piecework.db, then run `piecework store reconcile CAMPAIGN`; until "
    "then piecework refuses to post, so that it posts nothing twice"
)
_THEN = "then run the same command again; it loses nothing and does nothing twice"

_GO_ON = "run the same command again to continue; it loses nothing and does nothing twice"

_UNWRITABLE = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


class ErrorCodes(LazyGroup):
    """A group that turns errors of its commands into a message and an exit code."""

    def invoke(self, ctx: click.Context) -> None:
        """Run a command; 1 failed, 2 used wrongly, 3 refused, 130 interrupted."""
        as_json = "--json" in ctx.args
        try:
            with interruptible():
                super().invoke(ctx)
        except PieceworkError as error:
            sentence, next_step, code = str(error), error.next_step, error.exit_code
        except (KeyboardInterrupt, click.Abort) as end:
            # click.Abort comes from a prompt, and commands prompt before they act.
            at_question = isinstance(end, click.Abort)
            sentence = "interrupted: nothing was done" if at_question else "interrupted"
            next_step, code = "" if at_question else _GO_ON, INTERRUPTED
        except BrokenPipeError:
            # The program that read our output has ended (`| head`).
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(0)
        except (OSError, sqlite3.Error) as fault:
            # A full disk, missing permissions, a port in use: not a fault of piecework.
            (sentence, next_step), code = explain(fault), 1
        except click.UsageError as fault:
            if not as_json:
                raise
            sentence, next_step, code = fault.format_message(), "", fault.exit_code
        else:
            return
        _say(sentence, next_step, code, as_json=as_json)
        ctx.exit(code)


def _say(sentence: str, next_step: str, exit_code: int, *, as_json: bool) -> None:
    sentence, next_step = without_secrets(sentence), without_secrets(next_step)
    if as_json:
        document = {"error": sentence, "next_step": next_step, "exit_code": exit_code}
        click.echo(json.dumps(document, indent=2))
        return
    click.secho(printable(sentence), fg="red", err=True)
    if next_step:
        click.echo(f"next: {printable(next_step)}", err=True)


def explain(fault: OSError | sqlite3.Error) -> tuple[str, str]:
    """Return what went wrong and what to do next."""
    if _is_full(fault):
        return f"the disk is full: {fault}", f"make room (`df -h .`), {_THEN}"
    if isinstance(fault, OSError) and fault.errno == errno.EADDRINUSE:
        return (
            f"another program has the port: {fault.strerror}",
            (
                "name a free port with --port (for `serve`, also --frames-port and "
                "--metrics-port), or end that program: `ss -ltnp` names it"
            ),
        )
    if _code(fault) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return (
            (f"another program has locked the database, and piecework stopped waiting: {fault}"),
            (
                "end that program (`fuser -v FILE` names it; FILE is piecework.db or "
                f"the marketplace's), {_THEN}"
            ),
        )
    if _code(fault) in _DAMAGED:
        return f"the store is damaged: {fault}", _BRING_BACK
    if _code(fault) in _UNWRITABLE:
        return (
            f"piecework cannot write the store: {fault}",
            f"check for a full disk (`df -h .`) or missing permissions, {_THEN}",
        )
    return f"the operating system refused: {fault}", f"{_what_helps(fault)}, {_THEN}"


def _what_helps(fault: OSError | sqlite3.Error) -> str:
    """Return what a person does about the path of a fault, or else about its cause."""
    name = getattr(fault, "filename", None)
    if not isinstance(name, str):
        return "fix that"
    folder = Path(name).absolute().parent
    match getattr(fault, "errno", None):
        case errno.ENOENT if not folder.exists():
            return f"create the folder {folder}, or name another"
        case errno.ENOENT:
            return f"put {name} there, or name another file"
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return f"let your user read and write {name} (`ls -ld` shows who may)"
    return f"move {name} away, or name another path"


def _is_full(fault: OSError | sqlite3.Error) -> bool:
    if isinstance(fault, OSError):
        return fault.errno in {errno.ENOSPC, errno.EDQUOT}
    return _code(fault) == sqlite3.SQLITE_FULL


def _code(fault: OSError | sqlite3.Error) -> int:
    # The lowest byte is the primary result code.
    return int(getattr(fault, "sqlite_errorcode", 0)) & 0xFF


INTERRUPTED = 130
"""The exit code that a shell gives for Ctrl-C."""

_MOST_SECONDS = 1.5
"""How long a command may take to end in order."""

_left = threading.Event()
"""Set when the command has ended, so that its caller reports the end."""


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt in the block for either signal, then end in time.

    Servers install handlers of their own, which replace these.
    """
    _left.clear()
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    former = {
        number: signal.signal(number, _interrupt) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        _left.set()
        for number, handler in former.items():
            signal.signal(number, handler)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    last = threading.Timer(_MOST_SECONDS, _end)
    last.daemon = True
    last.start()
    raise KeyboardInterrupt


def _end() -> None:
    if not _left.is_set():
        sys.stderr.write("interrupted: run the same command again to continue\n")
        sys.stderr.flush()
    os._exit(INTERRUPTED)


@contextmanager
def api_faults() -> Iterator[None]:
    """Turn what a market's client raises into errors of the command.

    Raises:
        ConfigError: the market cannot be called, or refused the call.
        RefusedForSafety: others can read the token's file.
    """
    # Every command loads this module; few have a market's client.
    from piecework.foundation.client.errors import ApiError
    from piecework.foundation.client.token import Exposed

    try:
        yield
    except Exposed as fault:
        raise RefusedForSafety(str(fault), next_step=fault.next_step) from fault
    except ApiError as fault:
        raise ConfigError([printable(str(fault))], next_step=fault.next_step) from fault
