"""Passes of one process, counted in a file of metrics while they begin and end.

A pass is a short process, so Prometheus cannot ask it. docs/internals/decisions/watching.md says
why it is a file. A killed pass cannot say that it was killed. Therefore each pass marks
its beginning, and holds a lock that the system releases when the process ends. The next
pass knows from both that the last pass was killed. The file is in Prometheus' text
format and is replaced as a whole.
"""

import fcntl
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from piecework.domain.clock import Clock, SystemClock
from piecework.domain.progress import Progress
from piecework.engine.watching import figures
from piecework.engine.watching.figures import FIGURES, Outcome, Sample, Samples

_LOG = logging.getLogger(__name__)
_CAMPAIGN = "campaign"
_FOR_ALL = 0o644
"""node_exporter is another user of the machine."""


class TextFile:
    """The metrics of one campaign.

    Args:
        folder: the folder that node_exporter reads.
        campaign: the value of the label `campaign`.
    """

    def __init__(self, folder: Path, campaign: str) -> None:
        self.path = folder / f"piecework-{campaign}.prom"
        self._campaign = campaign

    @contextmanager
    def changing(self) -> Iterator[dict[Sample, float]]:
        """Yield the values of the file; what the block makes of them is written.

        One process at a time has them.

        Raises:
            OSError: the folder cannot be read or written.
        """
        descriptor = os.open(self.path.parent, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            values = self.read()
            yield values
            self._write(values)
        finally:
            os.close(descriptor)

    def read(self) -> dict[Sample, float]:
        """Return the values of the file; empty if it is missing or damaged."""
        try:
            return dict(self._read())
        except FileNotFoundError:
            return {}
        except (KeyError, ValueError) as fault:
            _LOG.warning("%s cannot be read, so it is begun again: %s", self.path, fault)
            return {}

    def _read(self) -> Iterator[tuple[Sample, float]]:
        text = self.path.read_text(encoding="utf-8")
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                if sample.name in FIGURES:
                    labels = FIGURES[sample.name].labels
                    values = tuple(sample.labels[label] for label in labels)
                    yield (sample.name, values), sample.value

    def _write(self, values: Samples) -> None:
        registry = CollectorRegistry()
        registry.register(_Collected(values, self._campaign))
        beside = self.path.with_name(f".{self.path.name}.new")
        try:
            descriptor = os.open(beside, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, _FOR_ALL)
            with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor has no path
                os.fchmod(descriptor, _FOR_ALL)
                file.write(generate_latest(registry))
            beside.replace(self.path)
        finally:
            beside.unlink(missing_ok=True)


class _Collected(Collector):
    """The values as families, which the library then writes."""

    def __init__(self, values: Samples, campaign: str) -> None:
        self._values, self._campaign = values, campaign

    def collect(self) -> Iterator[Metric]:
        for name, figure in FIGURES.items():
            make = CounterMetricFamily if figure.is_counter else GaugeMetricFamily
            family = make(name, figure.meaning, labels=[_CAMPAIGN, *figure.labels])
            for (of, labels), value in self._values.items():
                if of == name:
                    family.add_metric([self._campaign, *labels], value)
            if family.samples:
                yield family


_T = TypeVar("_T")


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
