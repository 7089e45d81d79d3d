"""Turns errors, also the system's (a full disk, a lock), into messages and exit codes.

With `--json` an error is a JSON document on stdout: `error`, `next_step`, `exit_code`.
"""

import errno
import json
import os
import sqlite3
import sys
from pathlib import Path

import click

from piecework.cli.interruption import INTERRUPTED, interruptible
from piecework.cli.lazy_group import LazyGroup
from piecework.domain.errors import PieceworkError
from piecework.domain.printable import printable

_BRING_BACK = (
    "restore a copy of piecework.db, then run `piecework reconcile CAMPAIGN`; until "
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
