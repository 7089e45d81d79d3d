"""Runners for the parts: this process, or the workers of a Dask cluster.

Parts exchange only files, so a cluster of several machines needs a folder that all of
them see. If a worker dies, only its current part is lost, and another worker does it.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from piecework.bulk.dask_cluster import LOCAL, TRIES, dask_client
from piecework.domain.errors import PieceworkError

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
