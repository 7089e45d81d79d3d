"""Processes of their own that begin in milliseconds: forked where all is imported."""

import multiprocessing
from multiprocessing.context import ForkServerContext

_IMPORTED = (
    "tests.crash.disturbed",
    "tests.crash.test_paying",
    "tests.crash.warm",  # the last: it freezes what there is
)


def apart() -> ForkServerContext:
    """A context whose processes begin with everything imported and warm."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(_IMPORTED))
    return context
