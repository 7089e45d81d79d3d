"""Figures of the state of a marketplace, read from its file for each scrape.

The connection only reads, and sees committed data. With the write-ahead log it neither
waits for a writer nor makes one wait. Each query reads running totals or a small table,
or counts what waits along an index, so its cost does not grow with the finished work.
"""

import logging
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from piecework.foundation.sqlitefile.files import size_of
from piecework.marketplace.state import clock

_LOG = logging.getLogger(__name__)

_TIMEOUT_SECONDS = 0.2
_COUNTED = {
    "assignments": ("state", "Assignments by state."),
    "hits": ("state", "HITs by state."),
    "visits": ("stage", "Visits of people of another market by stage."),
}
"""The label and the meaning of each running total."""

_ACCOUNTS = {"available": "available", "held": "held", "paid": "worker", "fees": "fees"}
"""The account kinds by the label that shows them."""

_TOTALS = "SELECT counted, state, number FROM state_totals"
_MONEY = "SELECT kind, sum(balance_cents) FROM accounts GROUP BY kind"
_DELIVERIES = "SELECT count(*) FROM deliveries WHERE status = 'Waiting'"
_GIVEN_UP = "SELECT count(*) FROM deliveries WHERE status = 'Failed'"
_OLDEST_DELIVERY = (
    "SELECT events.at_ms FROM deliveries JOIN events ON events.id = deliveries.event "
    "WHERE deliveries.status = 'Waiting' ORDER BY deliveries.id LIMIT 1"
)
_STUDIES = (
    "SELECT count(*) FILTER (WHERE trouble <> '' AND stage <> 'Retired'), "
    "coalesce(sum(undecided), 0) FROM studies"
)
_BONUSES = (
    "SELECT count(*), coalesce(sum(cents), 0) FROM (SELECT cents FROM bonus_lines "
    "WHERE batch IS NULL UNION ALL SELECT cents FROM bonus_batches "
    # CROSS JOIN keeps this order: the few batches at work first.
    "CROSS JOIN bonus_lines ON bonus_lines.batch = bonus_batches.id "
    "WHERE bonus_batches.stage <> 'Paid' "
    # Those that the bridge has not listed yet (`bridging/settling.py`).
    "UNION ALL SELECT bonuses.cents FROM bonuses "
    "LEFT JOIN assignments ON assignments.id = bonuses.assignment "
    "JOIN visits ON visits.id = coalesce(assignments.visit, bonuses.paid_visit) "
    "JOIN outside_markets ON outside_markets.name = visits.market "
    "WHERE has_bridge AND bonuses.id > (SELECT coalesce(max(bonus), 0) FROM bonus_lines))"
)
_MESSAGES = (
    "SELECT count(*) FROM messages JOIN participants "
    "ON participants.worker = messages.worker "
    "JOIN outside_markets ON outside_markets.name = participants.market "
    "WHERE has_bridge AND messages.sent_there IS NULL"
)


class StateFigures(Collector):
    """Reads the figures when they are asked for, always in the same thread.

    Args:
        database: the marketplace's file.
        currency: the currency of its money.
        has_bridge: whether figures of studies at another market are read too.
    """

    def __init__(self, database: Path, currency: str, *, has_bridge: bool) -> None:
        self._database = database
        self._currency = currency
        self._has_bridge = has_bridge
        self._conn: sqlite3.Connection | None = None

    def collect(self) -> Iterator[Metric]:
        """Yield all figures; without those of the tables if they cannot be read."""
        began = time.perf_counter()
        try:
            families = self._read()
        except sqlite3.Error as fault:
            _LOG.warning("the figures of the database cannot be read: %s", fault)
            self.close()
            families = []
        yield from families
        yield _gauge(
            "database_readable",
            "1 if the last scrape could read the database, otherwise 0.",
            float(bool(families)),
        )
        yield _gauge(
            "database_read_seconds",
            "How long the last scrape took to read the database.",
            time.perf_counter() - began,
        )
        yield _gauge("database_bytes", "Size of the database file.", size_of(self._database))
        yield _gauge(
            "database_log_bytes",
            "Size of the write-ahead log beside the database file.",
            size_of(self._database.with_name(f"{self._database.name}-wal")),
        )

    def close(self) -> None:
        """Close the connection; another scrape opens it again."""
        if self._conn is not None:
            self._conn.close()
            self._conn = None

    def _read(self) -> list[Metric]:
        conn = self._conn
        if conn is None:
            conn = self._conn = sqlite3.connect(
                f"{self._database.absolute().as_uri()}?mode=ro",
                uri=True,
                isolation_level=None,
                timeout=_TIMEOUT_SECONDS,
                check_same_thread=False,  # closed by the thread that serves
            )
        # One snapshot for all figures; it ends at once, so that the log can be folded.
        conn.execute("BEGIN")
        try:
            families = [*self._of_work(conn), *self._of_deliveries(conn)]
            if self._has_bridge:
                families += self._of_bridge(conn)
        finally:
            conn.execute("ROLLBACK")
        return families

    def _of_work(self, conn: sqlite3.Connection) -> Iterator[Metric]:
        totals = {
            counted: GaugeMetricFamily(f"piecework_{counted}", meaning, labels=[label])
            for counted, (label, meaning) in _COUNTED.items()
        }
        for counted, state, number in conn.execute(_TOTALS):
            totals[counted].add_metric([state], number)
        yield from totals.values()
        balances = dict(conn.execute(_MONEY))
        money = GaugeMetricFamily(
            "piecework_money_cents",
            "Money in minor units: available to requesters, held for open HITs, paid "
            "to workers, and fees.",
            labels=["account", "currency"],
        )
        for account, kind in _ACCOUNTS.items():
            money.add_metric([account, self._currency], balances.get(kind, 0))
        yield money

    def _of_deliveries(self, conn: sqlite3.Connection) -> Iterator[Metric]:
        yield _gauge(
            "deliveries_waiting",
            "Notifications that wait for their delivery.",
            _number(conn, _DELIVERIES),
        )
        yield _gauge(
            "deliveries_given_up",
            "Notifications that were given up after ten tries, while they are kept.",
            _number(conn, _GIVEN_UP),
        )
        at_ms, age_seconds = _number(conn, _OLDEST_DELIVERY), 0.0
        if at_ms:
            age_seconds = max(0.0, (_now_ms(conn) - at_ms) / clock.SECOND)
        yield _gauge(
            "delivery_oldest_age_seconds",
            "Age of the oldest notification that waits; 0 if none waits.",
            age_seconds,
        )

    def _of_bridge(self, conn: sqlite3.Connection) -> Iterator[Metric]:
        in_trouble, undecided = conn.execute(_STUDIES).fetchone()
        yield _gauge(
            "bridge_studies_in_trouble", "Studies that something keeps from continuing.", in_trouble
        )
        yield _gauge(
            "bridge_undecided_submissions",
            "Submissions that were undecided at the other market when last read.",
            undecided,
        )
        number, cents = conn.execute(_BONUSES).fetchone()
        yield _gauge(
            "bridge_bonuses_waiting", "Bonuses that the other market has not paid yet.", number
        )
        waiting = GaugeMetricFamily(
            "piecework_bridge_bonuses_waiting_cents",
            "The amount of these bonuses in minor units.",
            labels=["currency"],
        )
        waiting.add_metric([self._currency], cents)
        yield waiting
        yield _gauge(
            "bridge_messages_waiting",
            "Requesters' messages to participants that are not sent yet.",
            _number(conn, _MESSAGES),
        )


def _gauge(name: str, meaning: str, value: float) -> Metric:
    return GaugeMetricFamily(f"piecework_{name}", meaning, value=value)


def _number(conn: sqlite3.Connection, query: str, *values: str) -> int:
    """Return the number that a query finds; 0 if it has no row."""
    with closing(conn.execute(query, values)) as rows:
        row = rows.fetchone()
    return 0 if row is None else int(row[0])


def _now_ms(conn: sqlite3.Connection) -> int:
    """Return the marketplace's time, which in a rehearsal is not the machine's."""
    virtual_ms = clock.virtual_ms(conn)
    return clock.machine_ms() if virtual_ms is None else virtual_ms
