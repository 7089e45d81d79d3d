"""The metrics of a campaign's passes, and the file in which a process counts its passes.

A value comes from the progress that a pass returns, so it costs no query. Labels are
states, accounts and names of steps; no label names a worker, an item or an address.

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
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeVar

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from piecework.domain.clock import Clock, SystemClock
from piecework.domain.progress import Progress, SourceState, Waiting

Sample = tuple[str, tuple[str, ...]]
"""A metric's name and the values of its labels, in the order of `Figure.labels`."""
Samples = Mapping[Sample, float]
Outcome = Literal["done", "failed", "busy", "killed", "interrupted"]
"""How a pass ended; a killed pass is counted when the next pass begins."""

OUTCOMES: tuple[Outcome, ...] = ("done", "failed", "busy", "killed", "interrupted")
_WAITING: tuple[Waiting, ...] = (
    "nobody",
    "workers",
    "people",
    "the next pass",
    "the next day",
    "the next month",
    "new rows",
)
_SECONDS_PER_DAY = 86_400


@dataclass(frozen=True, slots=True)
class Figure:
    """A metric.

    Attributes:
        meaning: a sentence for people.
        labels: its labels; each metric also has `campaign`.
        is_counter: whether it only grows.
    """

    meaning: str
    labels: tuple[str, ...] = ()
    is_counter: bool = False


PASSES = "piecework_passes_total"
RUNNING = "piecework_pass_running"
STARTED = "piecework_pass_last_start_timestamp_seconds"
ENDED = "piecework_pass_last_end_timestamp_seconds"
SUCCEEDED = "piecework_pass_last_success_timestamp_seconds"
DURATION = "piecework_pass_duration_seconds"
FAILURES = "piecework_pass_consecutive_failures"
STEP_SECONDS = "piecework_pass_step_seconds_total"
NEXT_DUE = "piecework_pass_next_due_timestamp_seconds"

FIGURES: Mapping[str, Figure] = {
    PASSES: Figure("Passes by outcome.", ("outcome",), is_counter=True),
    RUNNING: Figure("1 while a pass is at work or after it was killed, otherwise 0."),
    STARTED: Figure("When the last pass began (Unix time)."),
    ENDED: Figure("When the last pass ended (Unix time)."),
    SUCCEEDED: Figure("When the last pass ended without a failure (Unix time)."),
    DURATION: Figure("Duration of the last pass that ended."),
    FAILURES: Figure("Passes that failed or were killed since the last success."),
    STEP_SECONDS: Figure("Time that passes spent in each step.", ("step",), is_counter=True),
    NEXT_DUE: Figure("From when on a pass has work to do (Unix time), if known."),
    "piecework_campaign_items": Figure("Items of the campaign."),
    "piecework_campaign_hits": Figure("Posted HITs: open or ended.", ("state",)),
    "piecework_campaign_hits_refused": Figure(
        "Planned HITs that wait because their market refused some."
    ),
    "piecework_campaign_assignments": Figure(
        "Collected assignments: rejected or not_rejected.", ("state",)
    ),
    "piecework_campaign_answers": Figure(
        "Collected answers: accepted, dropped, surplus or undecided.", ("state",)
    ),
    "piecework_campaign_answers_missing": Figure("Accepted answers that are still wanted."),
    "piecework_campaign_workers_excluded": Figure("Workers who get no more HITs."),
    "piecework_campaign_decisions_waiting": Figure("Decisions that wait for a person."),
    "piecework_campaign_auto_approval_timestamp_seconds": Figure(
        "When the marketplace pays the first assignment that waits for a person."
    ),
    "piecework_campaign_money_cents": Figure(
        "Money in minor units: rewards, bonuses, compensations and fees that were "
        "paid, and held for open HITs.",
        ("account", "currency"),
    ),
    "piecework_campaign_budget_cents": Figure(
        "The most that the campaign may spend, in minor units.", ("currency",)
    ),
    "piecework_campaign_waiting": Figure(
        "1 for whom the campaign waits, otherwise 0.", ("waiting_for",)
    ),
    "piecework_campaign_cap_reached": Figure(
        "1 if answers are missing and no more can be bought, otherwise 0."
    ),
    "piecework_campaign_source_readable": Figure(
        "1 if the source of new items could be read, otherwise 0."
    ),
    "piecework_campaign_source_rows_waiting": Figure(
        "Rows of the source that wait for their batch."
    ),
    "piecework_campaign_source_rows_quarantined": Figure("Rows of the source that cannot be used."),
    "piecework_campaign_source_behind_seconds": Figure(
        "Work that waits, at the speed of the last week; 0 if the campaign keeps up."
    ),
}
"""All metrics of passes."""

OF_PROGRESS = frozenset(
    {NEXT_DUE, *(name for name in FIGURES if name.startswith("piecework_campaign_"))}
)
"""The metrics that each pass replaces, once it knows the progress."""


def of_progress(progress: Progress, *, now: datetime) -> dict[Sample, float]:
    """Return the values of `OF_PROGRESS`; metrics that do not apply are left out.

    Args:
        progress: the result of a pass.
        now: when the pass ended.
    """
    counts = {
        ("items", ()): progress.items,
        ("hits", ("open",)): progress.hits_open,
        ("hits", ("ended",)): progress.hits_posted - progress.hits_open,
        ("hits_refused", ()): progress.refused,
        ("assignments", ("rejected",)): progress.rejected,
        ("assignments", ("not_rejected",)): progress.submitted - progress.rejected,
        ("answers", ("accepted",)): progress.accepted,
        ("answers", ("dropped",)): progress.dropped,
        ("answers", ("surplus",)): progress.surplus,
        ("answers", ("undecided",)): progress.undecided,
        ("answers_missing", ()): progress.missing,
        ("workers_excluded", ()): progress.excluded,
        ("decisions_waiting", ()): progress.to_decide,
        ("cap_reached", ()): progress.cap_reached,
    }
    values = {
        (f"piecework_campaign_{name}", labels): float(number)
        for (name, labels), number in counts.items()
    }
    for party in _WAITING:
        sample = ("piecework_campaign_waiting", (party,))
        values[sample] = float(progress.waiting_for == party)
    return {
        **values,
        **_money(progress),
        **(_source(progress.source) if progress.source else {}),
        **_times(progress, now),
    }


def _money(progress: Progress) -> dict[Sample, float]:
    currency = progress.currency
    accounts = {
        "rewards": progress.rewards_cents,
        "bonuses": progress.bonuses_cents,
        "compensations": progress.compensations_cents,
        "fees": progress.fees_cents,
        "held": progress.held_cents,
    }
    budget = ("piecework_campaign_budget_cents", (currency,))
    return {
        budget: float(progress.budget_cents),
        **{
            ("piecework_campaign_money_cents", (account, currency)): float(cents)
            for account, cents in accounts.items()
        },
    }


def _source(source: SourceState) -> dict[Sample, float]:
    values = {
        "readable": float(not source.fault),
        "rows_waiting": float(source.waiting),
        "rows_quarantined": float(source.quarantined),
        "behind_seconds": source.behind_days * _SECONDS_PER_DAY,
    }
    return {(f"piecework_campaign_source_{name}", ()): value for name, value in values.items()}


def _times(progress: Progress, now: datetime) -> dict[Sample, float]:
    """Return times that lie ahead; those of a rehearsal are not the machine's."""
    if progress.is_rehearsal:
        return {}
    due_at = progress.goes_on_at or progress.due_at
    if progress.waiting_for == "the next pass":
        due_at = now.isoformat()
    moments = {
        NEXT_DUE: due_at,
        "piecework_campaign_auto_approval_timestamp_seconds": progress.pays_itself_at,
    }
    return {
        (name, ()): datetime.fromisoformat(text).timestamp()
        for name, text in moments.items()
        if text
    }


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
                if sample[0] in OF_PROGRESS:
                    del values[sample]
            values.update(of_progress(progress, now=now))
            values[SUCCEEDED, ()] = now.timestamp()
            values[FAILURES, ()] = 0

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
        if values.get((RUNNING, ())):
            _count(values, "killed")
            _fail(values)
        values[RUNNING, ()] = 1
        values[STARTED, ()] = self._clock.now().timestamp()
        values.setdefault((FAILURES, ()), 0)
        for outcome in OUTCOMES:
            values.setdefault((PASSES, (outcome,)), 0)

    def _end(self, outcome: Outcome, change: Callable[[dict[Sample, float]], None]) -> None:
        """Record an end, unless no pass is at work."""
        if self._began is None:
            return
        seconds, self._began = time.monotonic() - self._began, None

        def change_all(values: dict[Sample, float]) -> None:
            change(values)
            _count(values, outcome)
            for name, spent in self._step_seconds.items():
                sample = (STEP_SECONDS, (name,))
                values[sample] = values.get(sample, 0.0) + spent
            if outcome != "busy":  # the pass that is at work will say these
                values[DURATION, ()] = seconds
                values[ENDED, ()] = self._clock.now().timestamp()
            if self._held is not None:
                values[RUNNING, ()] = 0

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
    sample = (PASSES, (outcome,))
    values[sample] = values.get(sample, 0) + 1


def _fail(values: dict[Sample, float]) -> None:
    sample = (FAILURES, ())
    values[sample] = values.get(sample, 0) + 1
