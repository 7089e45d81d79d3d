"""Runs the same tests again and again, in forks of a process that is warm already.

Importing pytest, pandas and botocore costs more than the tests of a mutant. They are
imported once; our own modules are read anew by each fork, since one of them changed.
Each line of the input is a run. The answer is a line: pytest's exit code, or "time".
The first run is of the unchanged file; what takes much longer than it hangs.
"""

import contextlib
import gc
import os
import select
import signal
import sys
import time
from pathlib import Path

import pytest

_COPY = str(Path.cwd()) + os.sep


_FIRST, _LEAST, _LONGER = 600.0, 12.0, 4
"""Seconds for the first run, for each other at least, and times the first's own."""


def main(arguments: list[str]) -> None:
    """Serve runs until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    # Compiled files are written now, of what is unchanged, and read by all forks.
    sys.dont_write_bytecode = False
    pytest.main(["--collect-only", *arguments])
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(_COPY):
            del sys.modules[name]
    sys.dont_write_bytecode = True
    gc.freeze()  # pytest collects garbage three times a run
    seconds = _FIRST
    for _ in sys.stdin:
        begun = time.monotonic()
        print(_run(seconds, arguments), file=answers, flush=True)
        if seconds == _FIRST:
            seconds = max(_LEAST, _LONGER * (time.monotonic() - begun))


def _run(seconds: float, arguments: list[str]) -> str:
    child = os.fork()
    if child == 0:
        os.setsid()
        os._exit(int(pytest.main(arguments)))
    ended = os.pidfd_open(child)
    in_time, _, _ = select.select([ended], [], [], seconds)
    os.close(ended)
    # What the tests started ends with them, or when the time is over.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return str(os.waitstatus_to_exitcode(status)) if in_time else "time"


if __name__ == "__main__":
    main(sys.argv[1:])
