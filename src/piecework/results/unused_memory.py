"""Memory that a step has left goes back to the system, before the next one starts."""

import ctypes

import pyarrow as pa


def give_back() -> None:
    """Return what this process keeps for later use; where that can be asked for."""
    pa.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc alone
    if trim is not None:
        trim(0)
