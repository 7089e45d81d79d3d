"""One pass at a time: a lock on the campaign's folder that dies with its process.

The operating system lets go of it however the process ends, so nothing has to be
cleaned up after a crash. It holds on one machine, where the store is.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from piecework.domain.errors import CampaignBusy
from piecework.store.files import make_private_folder

FILE_NAME = ".piecework.lock"


@contextmanager
def only_pass(folder: Path) -> Iterator[None]:
    """Hold a campaign's folder for as long as the block lasts.

    Raises:
        CampaignBusy: another process holds it; its number is in the message.
    """
    make_private_folder(folder)
    with (folder / FILE_NAME).open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as fault:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            raise CampaignBusy(
                f"{folder}: process {holder} is working on this campaign",
                next_step="wait until it ends, or end it; `piecework status` may look",
            ) from fault
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
