"""sqlite-utils without pandas and numpy.

It imports both if they are installed, to store values of their types. piecework stores
plain values. With pandas, a marketplace would take twice as long to start and 129 MB of
memory instead of 48 MB.

Only commands of piecework data import it in this way: a program that imports piecework may
use sqlite-utils for values of its own.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

_OPTIONAL = ("numpy", "pandas")
_COMMANDS = ("piecework.cli.main", "piecework.marketplace.http.command_line")


class _NotInstalled:
    """Hides packages from the imports of one thread; others may import them now."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()

    def find_spec(self, name: str, *_: object) -> None:
        if name in _OPTIONAL and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(name, name=name)


@contextmanager
def hidden() -> Iterator[None]:
    """Let this thread find neither pandas nor numpy, unless they are loaded already."""
    finder = _NotInstalled()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


with hidden() if any(name in sys.modules for name in _COMMANDS) else nullcontext():
    from sqlite_utils import Database
    from sqlite_utils.migrations import Migrations

__all__ = ["Database", "Migrations"]
