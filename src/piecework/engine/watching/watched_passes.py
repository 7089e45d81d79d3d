"""Passes of one process, counted in a file of metrics while they begin and end.

A pass is a short process, so Prometheus cannot ask it. docs/decisions/watching.md says
why it is a file. A killed pass cannot say that it was killed. Therefore each pass marks
its beginning, and holds a lock that the system releases when the process ends. The next
pass knows from both that the last pass was killed.
"""

import fcntl
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from piecework.domain.clock import Clock, SystemClock
from piecework.domain.progress import Progress
from piecework.engine.watching import figures
from piecework.engine.watching.figures import Outcome, Sample
from piecework.engine.watching.text_file import TextFile

_T = TypeVar("_T")
_LOG = logging.getLogger(__name__)


class WatchedPasses:
    """Counts passes over a campaign; a file that cannot be written stops no pass.

    Args:
        folder: where the file of metrics is.
        campaign: the value of the label `campaign`.
        clock: the machine's by default.
    """

    def __init__(self, folder: Path, campaign: str, *, clock: Clock | None = None) -> None:
        self._file = TextFile(folder, campaign)
        self._lock = folder / f".piecework-{campaign}.lock"
        self._clock = clock or SystemClock()
        self._held: int | None = None
        self._began: float | None = None
        self._step_seconds: dict[str, float] = {}

    def begin(self) -> None:
        """Mark that a pass is at work; it does nothing while one is."""
        if self._began is not None:
            return
        self._began = time.monotonic()
        self._step_seconds = {}
        self._change(self._mark_beginning)

    def end(self, progress: Progress) -> None:
        """Record that the pass at work came to its end, and what it returned."""
        now = self._clock.now()

        def change(values: dict[Sample, float]) -> None:
            for sample in [*values]:
                if sample[0] in figures.OF_PROGRESS:
                    del values[sample]
            values.update(figures.of_progress(progress, now=now))
            values[figures.SUCCEEDED, ()] = now.timestamp()
            values[figures.FAILURES, ()] = 0

        self._end("done", change)

    def fail(self) -> None:
        """Record that the pass at work failed."""
        self._end("failed", _fail)

    def stop(self, outcome: Outcome) -> None:
        """Record that the pass at work ended without success or failure."""
        self._end(outcome, lambda _values: None)

    def time_step(self, name: str, step: Callable[[], _T]) -> _T:
        """Run a step and count its seconds; the pass's end writes them."""
        began = time.monotonic()
        try:
            return step()
        finally:
            seconds = time.monotonic() - began
            self._step_seconds[name] = self._step_seconds.get(name, 0.0) + seconds

    def _mark_beginning(self, values: dict[Sample, float]) -> None:
        self._held = _locked(self._lock)
        if self._held is None:
            return  # another process is at work, so this pass is probably refused
        if values.get((figures.RUNNING, ())):
            _count(values, "killed")
            _fail(values)
        values[figures.RUNNING, ()] = 1
        values[figures.STARTED, ()] = self._clock.now().timestamp()
        values.setdefault((figures.FAILURES, ()), 0)
        for outcome in figures.OUTCOMES:
            values.setdefault((figures.PASSES, (outcome,)), 0)

    def _end(self, outcome: Outcome, change: Callable[[dict[Sample, float]], None]) -> None:
        """Record an end, unless no pass is at work."""
        if self._began is None:
            return
        seconds, self._began = time.monotonic() - self._began, None

        def change_all(values: dict[Sample, float]) -> None:
            change(values)
            _count(values, outcome)
            for name, spent in self._step_seconds.items():
                sample = (figures.STEP_SECONDS, (name,))
                values[sample] = values.get(sample, 0.0) + spent
            if outcome != "busy":  # the pass that is at work will say these
                values[figures.DURATION, ()] = seconds
                values[figures.ENDED, ()] = self._clock.now().timestamp()
            if self._held is not None:
                values[figures.RUNNING, ()] = 0

        self._change(change_all)
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def _change(self, change: Callable[[dict[Sample, float]], None]) -> None:
        try:
            with self._file.changing() as values:
                change(values)
        except OSError as fault:
            _LOG.warning(
                "the metrics of this pass cannot be written to %s: %s",
                *(self._file.path, fault.strerror or fault),
            )


def _locked(path: Path) -> int | None:
    """Return a descriptor whose lock ends with the process; `None` if it is held."""
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def _count(values: dict[Sample, float], outcome: Outcome) -> None:
    sample = (figures.PASSES, (outcome,))
    values[sample] = values.get(sample, 0) + 1


def _fail(values: dict[Sample, float]) -> None:
    sample = (figures.FAILURES, ())
    values[sample] = values.get(sample, 0) + 1
