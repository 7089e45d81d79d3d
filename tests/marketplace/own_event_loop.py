"""Runs a coroutine where no other loop is in the way.

A browser test of the same process leaves Playwright's loop in the main thread, and
`asyncio.run` beside it is refused; so the outcome would hang on which tests meet.
"""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

_T = TypeVar("_T")


def run_in_thread(work: Coroutine[Any, Any, _T]) -> _T:
    """What the coroutine gives, run in a thread of its own."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()
