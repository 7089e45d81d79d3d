"""A file of metrics in Prometheus' text format, replaced as a whole.

node_exporter's textfile collector reads all files `*.prom` of a folder. It may read at
any moment, so a file is written beside its name and then renamed.
"""

import fcntl
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from piecework.engine.watching.figures import FIGURES, Sample, Samples

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
