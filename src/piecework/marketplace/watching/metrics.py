"""All metrics of a marketplace's process, and the port of their own that serves them.

Labels have few values: operations of the service model, templates of routes, codes of
refusals, states. Text from a request never becomes a label.

`/metrics` is served on this machine only, in a thread of its own. The site's ports may be
open to the world, so they never serve it. A scrape that takes long does not delay the
site, whose event loop is another.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.metrics_core import Metric
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from piecework.foundation.hosts import is_loopback
from piecework.foundation.server.limits import (
    LOOPBACK,
    Connections,
    Limits,
    Listening,
    listen,
    origin,
)
from piecework.foundation.server.server import Server
from piecework.marketplace.state import clock
from piecework.marketplace.watching.state_figures import StateFigures
from piecework.marketplace.watching.watched_requests import AnsweredRequest

UNKNOWN = "unknown"
"""The label of calls whose operation does not exist, or was not read."""
NO_PAGE = "none"
"""The label of requests for paths that have no page."""
OTHER = "other"
_MOST_CODES = 100
_FAULT, _BROKEN = 400, 500
_SECONDS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_STEP_SECONDS = (0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)


class Distance(Protocol):
    """The distance between the database and its replica."""

    @property
    def seconds(self) -> float:
        """Age of the oldest commit that the replica lacks; 0 if it lacks none."""

    @property
    def commits(self) -> int:
        """How many commits the replica lacks."""

    @property
    def is_running(self) -> bool:
        """Whether the last attempt to complete the replica succeeded."""


class Replica(Protocol):
    """A continuous backup, which is made elsewhere: only how far it is behind is shown."""

    def distance(self) -> Distance:
        """Return how far it is behind now."""


class Registry(CollectorRegistry):
    """A registry without the times at which counters were created.

    They would double the number of series, and the library can only omit them for the
    whole process.
    """

    def collect(self) -> Iterator[Metric]:
        """Yield all families."""
        for family in super().collect():
            family.samples = [
                sample for sample in family.samples if not sample.name.endswith("_created")
            ]
            yield family


class Metrics:
    """The metrics of one process.

    Args:
        has_bridge: whether a bridge to another market runs in this process.
        replica: the continuous backup of the database, if there is one.
    """

    def __init__(self, *, has_bridge: bool = False, replica: Replica | None = None) -> None:
        self._registry = Registry()
        self._has_bridge = has_bridge
        self._codes: set[str] = set()
        ProcessCollector(registry=self._registry)
        self._calls = self._counter(
            "calls",
            "Calls of the requester API by operation and outcome: ok, refused (4xx), "
            "failed (5xx) or cut (the connection ended before the reply).",
            "operation",
            "outcome",
        )
        self._call_seconds = Histogram(
            "piecework_call_seconds",
            "Duration of calls, from the request's head to the reply's last bytes.",
            ["operation"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._call_errors = self._counter(
            "call_errors", "Calls that were not done, by the code of the reply.", "code"
        )
        self._pages = self._counter(
            "page_requests",
            "Requests for workers' and other pages by route template and status class.",
            "page",
            "status",
        )
        self._page_seconds = Histogram(
            "piecework_page_seconds",
            "Duration of requests for pages.",
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._lost_lines = self._counter(
            "access_log_lost_lines", "Lines of the access log that were not written."
        )
        if has_bridge:
            self._add_bridge()
        if replica is not None:
            self._add_backup(replica)

    def _add_backup(self, replica: Replica) -> None:
        for name, meaning, read in (
            (
                "lag_seconds",
                "Age of the oldest commit that the replica lacks; 0 if it lacks none.",
                lambda: replica.distance().seconds,
            ),
            (
                "lag_commits",
                "Commits that the replica lacks.",
                lambda: float(replica.distance().commits),
            ),
            (
                "running",
                "1 if the last attempt to complete the replica succeeded, otherwise 0.",
                lambda: float(replica.distance().is_running),
            ),
        ):
            gauge = Gauge(f"piecework_backup_{name}", meaning, registry=self._registry)
            gauge.set_function(read)

    def _add_bridge(self) -> None:
        self._steps = self._counter(
            "bridge_steps",
            "Steps of the bridge by outcome: ok, faults (a call was "
            "refused or lost) or broken (the step ended early).",
            "outcome",
        )
        for outcome in ("ok", "faults", "broken"):
            self._steps.labels(outcome)
        self._step_seconds = Histogram(
            "piecework_bridge_step_seconds",
            "Duration of the bridge's steps.",
            buckets=_STEP_SECONDS,
            registry=self._registry,
        )
        self._step_faults = self._counter(
            "bridge_faults", "Calls of the bridge that were refused or lost."
        )
        self._last_success = Gauge(
            "piecework_bridge_last_success_timestamp_seconds",
            "When the last step without a fault ended (Unix time); 0 before the first.",
            registry=self._registry,
        )

    def observe_request(self, answered: AnsweredRequest) -> None:
        """Count a request."""
        if not answered.is_call:
            page = answered.route or NO_PAGE
            status = f"{answered.status // 100}xx" if answered.status else "cut"
            self._pages.labels(page, status).inc()
            self._page_seconds.observe(answered.seconds)
            return
        operation = answered.facts.operation or UNKNOWN
        self._calls.labels(operation, _outcome(answered.status)).inc()
        self._call_seconds.labels(operation).observe(answered.seconds)
        if answered.status >= _FAULT:
            code = answered.facts.error or f"HTTP{answered.status}"
            self._call_errors.labels(self._bounded(code)).inc()

    def observe_step(self, *, seconds: float, faults: int, is_whole: bool) -> None:
        """Count a step of the bridge.

        Args:
            seconds: its duration.
            faults: how many of its calls were refused or lost.
            is_whole: whether it came to its end.
        """
        is_ok = is_whole and not faults
        outcome = "ok" if is_ok else "faults" if is_whole else "broken"
        self._steps.labels(outcome).inc()
        self._step_seconds.observe(seconds)
        self._step_faults.inc(faults)
        if is_ok:
            self._last_success.set(clock.machine_ms() / clock.SECOND)

    def count_lost_lines(self, lines: int) -> None:
        """Count lines that the access log has lost."""
        self._lost_lines.inc(lines)

    @contextmanager
    def with_figures(self, database: Path, currency: str) -> Iterator[None]:
        """Add the figures of a marketplace's state while the block lasts."""
        figures = StateFigures(database, currency, has_bridge=self._has_bridge)
        # Registered without being described first: that would read the database.
        self._registry.register(figures)
        try:
            yield
        finally:
            self._registry.unregister(figures)
            figures.close()

    def text(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self._registry)

    def _counter(self, name: str, meaning: str, *labels: str) -> Counter:
        return Counter(f"piecework_{name}", meaning, labels, registry=self._registry)

    def _bounded(self, code: str) -> str:
        """Return a code, or `OTHER` once there are too many.

        A rehearsal's fault script may answer any code.
        """
        if code not in self._codes:
            if len(self._codes) >= _MOST_CODES:
                return OTHER
            self._codes.add(code)
        return code


def _outcome(status: int) -> str:
    if not status:
        return "cut"
    if status < _FAULT:
        return "ok"
    return "refused" if status < _BROKEN else "failed"


_MOST_CONNECTIONS = 16
_START_SECONDS = 30.0
_STOP_SECONDS = 1


class MetricsPort:
    """A port for metrics.

    Args:
        metrics: what it serves.
        port: 0 takes a free one.

    Attributes:
        metrics: what it serves.
    """

    def __init__(self, metrics: Metrics, port: int) -> None:
        self.metrics = metrics
        self._port = port

    @contextmanager
    def bound(self) -> Iterator[Listening]:
        """Bind the port for as long as the block lasts.

        Raises:
            OSError: the port is in use; the message names it.
        """
        connections = Connections(Limits(), most=_MOST_CONNECTIONS)
        with closing(connections), closing(listen(LOOPBACK, self._port, connections)) as listening:
            yield listening

    @contextmanager
    def serving(self, listening: Listening, database: Path, currency: str) -> Iterator[str]:
        """Serve the metrics of a process and its database; give their address.

        Args:
            listening: the bound port.
            database: the marketplace's file, already opened by this process.
            currency: the currency of its money.
        """
        with self.metrics.with_figures(database, currency):
            server = Server(_app(self.metrics), listening.connections, stop_seconds=_STOP_SECONDS)
            thread = threading.Thread(
                target=server.run, args=([listening],), name="metrics", daemon=True
            )
            thread.start()
            try:
                _wait_until_started(server, thread)
                yield f"{origin(LOOPBACK, listening)}/metrics"
            finally:
                server.should_exit = True
                thread.join()


def _app(metrics: Metrics) -> Starlette:
    async def answer(request: Request) -> Response:
        if not _is_of_this_machine(request.headers.get("host", "")):
            return PlainTextResponse("Ask for 127.0.0.1.\n", status_code=421)
        return Response(metrics.text(), media_type=CONTENT_TYPE_LATEST)

    return Starlette(routes=[Route("/metrics", answer, methods=["GET"])])


def _is_of_this_machine(host: str) -> bool:
    """Return whether a request names this machine.

    A page in a browser on this machine can give its own name this machine's address.
    """
    try:
        return is_loopback(urlsplit(f"//{host}").hostname or "")
    except ValueError:
        return False


def _wait_until_started(server: Server, thread: threading.Thread) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not server.started:
        if not thread.is_alive() or time.monotonic() > deadline:
            raise RuntimeError("The metrics are not served; the log says why.")
        time.sleep(0.005)
