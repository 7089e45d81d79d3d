"""Who watches the passes of a process: a file of metrics, or nothing."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from piecework.domain.errors import CampaignBusy
from piecework.domain.progress import Progress
from piecework.foundation.tracing.spans import Span, sending, span

_T = TypeVar("_T")

METRICS_FOLDER = "PIECEWORK_METRICS_FOLDER"
"""The environment variable with the folder, for commands and for Prefect's workers."""


class Watch(Protocol):
    """Learns when passes begin and end."""

    def begin(self) -> None:
        """A pass is at work from now on; it does nothing while one is."""

    def end(self, progress: Progress) -> None:
        """The pass at work came to its end."""

    def fail(self) -> None:
        """The pass at work failed."""

    def stop(self, outcome: Literal["busy", "interrupted"]) -> None:
        """The pass at work ended without success or failure."""

    def time_step(self, name: str, step: Callable[[], _T]) -> _T:
        """Run a step of the pass at work."""
        ...


class Unwatched:
    """Watches nothing."""

    def begin(self) -> None:
        """Do nothing."""

    def end(self, progress: Progress) -> None:
        """Do nothing."""

    def fail(self) -> None:
        """Do nothing."""

    def stop(self, outcome: Literal["busy", "interrupted"]) -> None:
        """Do nothing."""

    def time_step(self, _name: str, step: Callable[[], _T]) -> _T:
        """Run a step."""
        return step()


def pass_span(campaign: Path) -> AbstractContextManager[Span]:
    """Return the span of one pass, around all its steps and calls."""
    named = {"piecework.campaign": campaign.stem}
    return span("pass", named, is_shared=True)


@contextmanager
def watch_passes(campaign: Path, folder: Path | None = None) -> Iterator[Watch]:
    """Watch the passes that a block makes; the first begins with the block.

    Traces are sent meanwhile, if the environment asks for them.

    A pass that is still at work when the block ends has failed.

    Args:
        campaign: path of the campaign file; its stem is the label `campaign`.
        folder: where the metrics are written; by default that of the environment
            variable `METRICS_FOLDER`. Without both, nothing is watched.
    """
    named = folder or os.environ.get(METRICS_FOLDER)
    watch: Watch = Unwatched()
    if named:
        # The library takes time to import, and most users have no Prometheus.
        from piecework.engine.watching.metrics_file import WatchedPasses  # noqa: PLC0415

        watch = WatchedPasses(Path(named), campaign.stem)
    watch.begin()
    try:
        with sending("piecework"):
            yield watch
    except CampaignBusy:
        watch.stop("busy")
        raise
    except Exception:
        watch.fail()
        raise
    except BaseException:
        watch.stop("interrupted")
        raise
    watch.fail()  # nothing, unless a pass is still at work
