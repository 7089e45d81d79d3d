"""The thread in which the pages work with the store, one request at a time.

A store may be locked by a pass, or its database may be away. Then the pages that need
it are told so, and all others, such as pictures and signing in, are served meanwhile.
"""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

from piecework.domain.errors import StoreError, StoreLocked
from piecework.foundation.server.limits import say_once_a_second
from piecework.store.database import Store

LOCK_SECONDS = 2.0
"""How long a page waits until other processes have written."""

ANSWER_SECONDS = 10.0
"""How long a browser waits, with the requests before its own."""

_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")


class StoreThread:
    """One thread for all work with a store.

    Args:
        store: the store; from now on it waits only shortly for other writers.
    """

    def __init__(self, store: Store) -> None:
        store.db.wait_for_locks(LOCK_SECONDS)
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="store")
        say_once_a_second("piecework.review.replies", __name__)

    async def run(self, work: Callable[[], _T]) -> _T:
        """Return what a function returns that works with the store.

        Raises:
            StoreLocked: the store does not answer, and the function was not called.
            StoreError: the store does not answer.
            Exception: what the function raises.
        """
        task = self._executor.submit(copy_context().run, work)
        answer = asyncio.wrap_future(task)
        try:
            return await asyncio.wait_for(asyncio.shield(answer), ANSWER_SECONDS)
        except TimeoutError as late:
            answer.add_done_callback(_note_late)
            # Work that waits for its turn is not begun any more.
            error = StoreLocked if task.cancel() else StoreError
            raise error("it took too long") from late


def _note_late(answer: asyncio.Future[Any]) -> None:
    """Log how work ended that no browser waits for any more."""
    if not answer.cancelled() and (fault := answer.exception()) is not None:
        _LOG.warning("a page came too late: %s", fault)
