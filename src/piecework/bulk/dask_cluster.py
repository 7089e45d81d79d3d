"""A Dask cluster for a command: an existing one, or processes on this machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from piecework.domain.errors import ConfigError
from piecework.domain.extras import load_extra

if TYPE_CHECKING:  # an extra
    from distributed import Client

LOCAL = "local"
"""Instead of an address: a cluster of processes on this machine."""

TRIES = 3
"""How many processes may die of the same work before it fails."""

_PROCESSES = 2
_SECONDS_TO_CONNECT = 20

_OF_PROCESSES = {
    "distributed.scheduler.allowed-failures": TRIES,
    # By default, malloc returns each freed array to the system, and the profiler looks
    # at every stack a hundred times a second: a third more processor time.
    "distributed.nanny.pre-spawn-environ": {"OMP_NUM_THREADS": 1},
    "distributed.worker.profile.enabled": False,
}
"""Settings of a local cluster. A cluster of several machines has its own."""


@contextmanager
def dask_client(address: str, *, processes: int = _PROCESSES) -> Iterator["Client"]:
    """Yield a client of the cluster at the address; `LOCAL` ends with the context.

    Raises:
        ConfigError: Dask is not installed, or no scheduler answers at the address.
    """
    load_extra("distributed", extra="dask", use="--dask")
    from distributed import Client, LocalCluster  # noqa: PLC0415 - an extra

    if address == LOCAL:
        import dask  # noqa: PLC0415 - an extra

        with (
            dask.config.set(_OF_PROCESSES),
            LocalCluster(
                n_workers=processes,
                threads_per_worker=1,
                dashboard_address="127.0.0.1:0",
                memory_limit=0,
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = Client(address, timeout=_SECONDS_TO_CONNECT)
    except (OSError, ValueError, TimeoutError) as fault:
        raise ConfigError(
            [f"--dask {address}: no scheduler answers ({fault})"],
            next_step="dask scheduler starts a cluster; --dask without an address uses "
            "this machine",
        ) from fault
    with client:
        yield client
