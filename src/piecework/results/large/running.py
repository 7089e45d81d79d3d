"""Runners for the parts: this process, or the workers of a Dask cluster.

Parts exchange only files, so a cluster of several machines needs a folder that all of them
see. If a worker dies, only its current part is lost, and another worker does it. A command
takes an existing cluster, or processes on this machine.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from piecework.domain.errors import ConfigError, PieceworkError
from piecework.domain.extras import load_extra

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["LOCAL", "Do", "OnProgress", "PartRunner", "here", "on_dask"]

OnProgress = Callable[[str, int, int], None]
"""Called with the step, the number of finished parts, and the number of parts."""


Do = Callable[[int], None]
"""Does the part with this number."""

PartRunner = Callable[[str, Do, Sequence[int]], None]
"""Does a step for these parts, and raises the first error that one of them raises."""


def here(on_progress: OnProgress) -> PartRunner:
    """Run in this process, one part after another."""

    def run_parts(step: str, do: Do, parts: Sequence[int]) -> None:
        for done, part in enumerate(parts):
            on_progress(step, done, len(parts))
            do(part)
        on_progress(step, len(parts), len(parts))

    return run_parts


@contextmanager
def on_dask(address: str, on_progress: OnProgress, *, processes: int = 2) -> Iterator[PartRunner]:
    """Run on the cluster at the address, or on `LOCAL`, which ends with the context.

    Raises:
        ConfigError: Dask is not installed, or no scheduler answers at the address.
    """
    with dask_client(address, processes=processes) as client:
        from distributed import as_completed  # noqa: PLC0415 - an extra
        from distributed.scheduler import KilledWorker  # noqa: PLC0415

        def run_parts(step: str, do: Do, parts: Sequence[int]) -> None:
            futures = client.map(do, parts, pure=False, retries=0, key=step)
            on_progress(step, 0, len(parts))
            try:
                for done, future in enumerate(as_completed(futures), start=1):
                    future.result()
                    on_progress(step, done, len(parts))
            except KilledWorker as fault:
                raise PieceworkError(
                    f"{step}: {TRIES} processes died on the same part; there may be "
                    "too little memory",
                    next_step="run the same command again: it continues from there",
                ) from fault
            finally:
                client.cancel(futures)

        yield run_parts


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
