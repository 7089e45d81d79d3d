"""Ctrl-C and SIGTERM: a command ends within two seconds, in order if that is possible.

Every act of the pipeline may be cut off at any point (`piecework.store.acting`), so a
command that cannot end in order in time (a call that hangs, a Prefect that reports its
end) just exits.
"""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType

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
