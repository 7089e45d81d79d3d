"""What the bridge reports of its steps, and what the metrics make of it."""

import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from piecework.marketplace.watching.metrics import Metrics
from piecework.markets.bridging.accounts import Pace, Running
from piecework.markets.prolific.bridge import serving
from piecework.markets.prolific.bridge.bridge import Bridge
from piecework.markets.prolific.bridge.serving import step
from tests.marketplace.market import free_port
from tests.marketplace.served_apart import figures_in, scraped, until
from tests.markets.prolific.bridge.served import Served
from tests.markets.prolific.bridge.test_pay import decide
from tests.markets.prolific.bridge.town import Town, Visitor

_QUICK = Pace(first_seconds=0.01, longest_seconds=0.01, look_seconds=0.01)
_LAST = "piecework_bridge_last_success_timestamp_seconds"


def _after_steps(town: Town, number: int) -> dict[str, float]:
    """The metrics after so many steps of the bridge."""
    metrics = Metrics(has_bridge=True)
    enough = threading.Event()
    seen: list[float] = []

    def observe(*, seconds: float, faults: int, is_whole: bool) -> None:
        metrics.observe_step(seconds=seconds, faults=faults, is_whole=is_whole)
        seen.append(seconds)
        if len(seen) == number:
            enough.set()

    running = Running(town.bridge, step, pace=_QUICK, after_step=observe)
    with running.running():
        assert enough.wait(30)
    return figures_in(metrics.text().decode())


def test_steps_are_counted_with_their_durations(town: Town) -> None:
    """And the time of the last one without a fault is known."""
    before = time.time()  # noqa: TID251 - the machine's, as Prometheus compares
    figures = _after_steps(town, 2)
    number = figures['piecework_bridge_steps_total{outcome="ok"}']
    assert number >= 2
    assert figures["piecework_bridge_step_seconds_count"] == number
    assert figures["piecework_bridge_step_seconds_sum"] > 0
    assert before <= figures[_LAST] <= before + 60


def _refused(bridge: Bridge) -> None:
    bridge.faults.append("refused")


def _locked(_: Bridge) -> None:
    raise sqlite3.OperationalError("database is locked")


def _mistaken(_: Bridge) -> None:
    raise RuntimeError("a mistake")


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [(_refused, "faults"), (_locked, "broken"), (_mistaken, "broken")],
    ids=["refused", "locked", "mistaken"],
)
def test_a_step_with_a_fault_is_no_success(
    town: Town, monkeypatch: pytest.MonkeyPatch, fault: Callable[[Bridge], None], outcome: str
) -> None:
    """Whether Prolific refused a call, or the step itself broke off."""
    monkeypatch.setattr(serving, "send", fault)
    figures = _after_steps(town, 1)
    assert figures[f'piecework_bridge_steps_total{{outcome="{outcome}"}}'] >= 1
    assert figures['piecework_bridge_steps_total{outcome="ok"}'] == 0
    assert figures[_LAST] == 0
    refused = figures["piecework_bridge_faults_total"]
    assert (refused >= 1) == (outcome == "faults")


def test_what_waits_for_the_bridge_is_counted(town: Town) -> None:
    """A bonus and a message wait until the bridge has passed them on."""
    town.post()
    town.settle()
    person = town.visitor()
    person.work(town.study())
    decide(town, person, "approve", 0)
    town.settle()
    [row] = town.rows("SELECT assignment_id FROM assignments")
    town.requester.send_bonus(
        WorkerId=person.worker_id,
        AssignmentId=row["assignment_id"],
        BonusAmount="0.25",
        Reason="Thorough.",
    )
    town.requester.notify_workers(
        Subject="Hello", MessageText="Thank you.", WorkerIds=[person.worker_id]
    )
    metrics = Metrics(has_bridge=True)
    with metrics.with_figures(town.bridge.backend.database, "GBP"):
        waiting = figures_in(metrics.text().decode())
        town.settle()
        settled = figures_in(metrics.text().decode())
    cents = 'piecework_bridge_bonuses_waiting_cents{currency="GBP"}'
    for figures, number in ((waiting, 1), (settled, 0)):
        assert figures["piecework_bridge_bonuses_waiting"] == number
        assert figures[cents] == 25 * number
        assert figures["piecework_bridge_messages_waiting"] == number
        assert figures['piecework_visits{stage="Done"}'] == 1


@pytest.mark.full
def test_a_served_bridge_shows_its_steps_visits_and_money(tmp_path: Path) -> None:
    """Two processes, as an operator starts them; the figures equal the file's."""
    with ExitStack() as stack:
        port = free_port()
        served = Served(tmp_path, stack, words=("--metrics-port", str(port)))
        url = f"http://127.0.0.1:{port}/metrics"
        served.post(2)
        visitor = Visitor(served.endpoint, served.researcher, country="GB")
        with visitor.http:
            until(visitor.studies)
            assert visitor.arrive(visitor.studies()[0]).status_code == 201
            figures = scraped(url)
        with closing(sqlite3.connect(served.database)) as conn:
            (held,) = conn.execute("SELECT sum(held_cents) FROM hits").fetchone()
    assert figures['piecework_visits{stage="Open"}'] == 1
    assert figures['piecework_bridge_steps_total{outcome="ok"}'] >= 1
    assert figures[_LAST] == pytest.approx(time.time(), abs=60)  # noqa: TID251 - as above
    assert figures["piecework_bridge_studies_in_trouble"] == 0
    money = 'piecework_money_cents{account="held",currency="GBP"}'
    assert figures[money] == held > 0
