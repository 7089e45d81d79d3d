"""Ctrl-C and SIGTERM: a command ends within two seconds, in order if that is possible.

Every act of the pipeline may be cut off anywhere (`piecework.store.acting`), so what
does not end in order is left where it is: calls that hang, a Prefect that reports its
end.
"""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType

INTERRUPTED = 130
"""The exit code, as a shell gives it for Ctrl-C."""

_MOST_SECONDS = 1.5
"""How long a command may take to end in order."""

_left = threading.Event()
"""Set when the command was left, so that its end is said elsewhere."""


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt in the block for either signal, and see to its end.

    Programs that serve have handlers of their own, which replace these.
    """
    _left.clear()
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    former = {
        number: signal.signal(number, _interrupt)
        for number in (signal.SIGINT, signal.SIGTERM)
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
        sys.stderr.write("interrupted: the same command goes on where it was\n")
        sys.stderr.flush()
    os._exit(INTERRUPTED)
