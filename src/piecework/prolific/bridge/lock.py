"""One bridge at a time: a lock beside the marketplace's database.

Two would each find the same bonuses unpaid. The operating system lets go of the lock
however the process ends, so nothing has to be cleaned up after a crash. It holds on one
machine, where the database is.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from piecework.prolific.http.errors import Unusable

SUFFIX = ".bridge.lock"


@contextmanager
def only_bridge(database: Path) -> Iterator[None]:
    """Hold a marketplace's database for as long as the block lasts.

    Raises:
        Unusable: another bridge holds it; its process is in the message.
    """
    with database.with_name(database.name + SUFFIX).open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as fault:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            raise Unusable(
                f"{database}: process {holder} serves it for Prolific already",
                next_step="call that one, or end it first",
            ) from fault
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
