"""A lock beside the marketplace's database that allows one bridge to each market.

Two bridges to one market would each find the same bonuses unpaid. The operating system
releases the lock when the process ends, so a crash leaves nothing to clean up. The lock
works only on the machine that holds the database.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from piecework.webclient.errors import Unusable

SUFFIX = "bridge.lock"


@contextmanager
def only_bridge(database: Path, market: str) -> Iterator[None]:
    """Lock a marketplace's database for as long as the block lasts.

    Args:
        database: the marketplace's database.
        market: the outside market's display name; each market has a bridge.

    Raises:
        Unusable: another bridge holds the lock; the message names its process.
    """
    name = f"{database.name}.{market.lower()}.{SUFFIX}"
    with database.with_name(name).open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as fault:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            raise Unusable(
                f"{database}: process {holder} already serves it for {market}",
                next_step="use that process, or end it first",
            ) from fault
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
