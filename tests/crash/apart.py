"""Separate processes that start in milliseconds: forked after all imports."""

import multiprocessing
from multiprocessing.context import ForkServerContext

_IMPORTED = (
    "tests.crash.disturbed",
    "tests.crash.test_paying",
    "tests.crash.warm",  # the last: it freezes what there is
)


def apart() -> ForkServerContext:
    """Return a context with processes that start with everything imported and warm."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(_IMPORTED))
    return context
