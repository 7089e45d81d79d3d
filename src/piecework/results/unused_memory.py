"""Return memory that a finished step no longer needs to the system."""

import ctypes

import pyarrow as pa


def give_back() -> None:
    """Return memory that this process keeps for later use, where that is possible."""
    pa.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc only
    if trim is not None:
        trim(0)
