"""One pass at a time: a lock on the campaign that ends with its process.

The operating system releases the lock on the folder when the process ends for any
reason, so a crash needs no cleanup. It holds on one machine, where the store is. For a
store in PostgreSQL, the database also has a lock, which holds for all machines
(`piecework.store.postgres.sessions`).
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from piecework.domain.errors import CampaignBusy
from piecework.domain.store_address import StoreAddress
from piecework.store.files import make_private_folder, what_helps

FILE_NAME = ".piecework.lock"


@contextmanager
def only_pass(address: StoreAddress, *, by: str = "a pass") -> Iterator[None]:
    """Lock a campaign for the duration of the block.

    Args:
        address: where the campaign's store is.
        by: what locks it, as others read it while they find it locked.

    Raises:
        CampaignBusy: another process holds the lock; the message has what it does and
            its id.
        StoreError: the store's database cannot be used.
    """
    with _locked(address.folder, by):
        if not address.url:
            yield
            return
        from piecework.store.postgres import sessions  # noqa: PLC0415 - an extra installs the driver

        with sessions.locked(address, by=by):
            yield


@contextmanager
def only_copy(address: StoreAddress) -> Iterator[None]:
    """Keep passes from a store while it is copied.

    For a store in PostgreSQL no folder is locked: that of the other store may be it.

    Raises:
        CampaignBusy: a pass works on it.
        StoreError: the store's database cannot be used.
    """
    by = "piecework store"
    if not address.url:
        with _locked(address.folder, by):
            yield
        return
    from piecework.store.postgres import sessions  # noqa: PLC0415 - an extra installs the driver

    with sessions.locked(address, by=by):
        yield


@contextmanager
def one_at_a_time(folder: Path, *, by: str) -> Iterator[None]:
    """Lock a folder for the moments of a block; wait for another process's moments."""
    with _locked(folder, by, waits=True):
        yield


@contextmanager
def _locked(folder: Path, by: str, *, waits: bool = False) -> Iterator[None]:
    make_private_folder(folder)
    with (folder / FILE_NAME).open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
        except BlockingIOError as fault:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            raise CampaignBusy(
                f"{folder}: process {holder} is working on this campaign",
                next_step=what_helps(holder),
            ) from fault
        file.truncate(0)
        file.write(f"{os.getpid()} ({by})")
        file.flush()
        yield
