"""A campaign rehearsed with a simulated panel: dataset, report and pay list."""

import csv
import signal
import subprocess
import sys
import time
from collections import Counter
from itertools import count
from pathlib import Path

import pytest

from piecework.domain.errors import ConfigError
from piecework.engine.progress import read_progress
from piecework.markets.panel.rehearsal.offline import AtPanel
from piecework.markets.panel.rehearsal.simulated_panel import SimulatedPanel
from piecework.report.books import Books
from piecework.results.whole_pass import write_results
from piecework.simulation.crowd.crowd import Event
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.rehearsal import rehearsal_at, work_through
from tests.conftest import ROOT
from tests.engine.test_qualification import CAMPAIGN as GATED
from tests.engine.test_qualification import written as gated_campaign
from tests.markets.prolific.test_rehearsal import rows, working_on, write, written

_KILLED = """
import sys
from pathlib import Path
from piecework.simulation.rehearsals.rehearsal import rehearsal_at, work_through
from piecework.simulation.rehearsals.campaign import prepare
with rehearsal_at(prepare(Path(sys.argv[1])), ["panel"]) as (run, crowd, panel):
    left = [int(sys.argv[2])]
    def tell(event):
        left[0] -= event.kind == "accept"
        if not left[0]:
            print("now", flush=True)
            sys.stdin.read()
    crowd._tell = tell
    work_through(run, crowd)
"""


def _rehearse(path: Path) -> tuple[Books, SimulatedPanel]:
    """Rehearse a campaign without Prefect, to its end."""
    with rehearsal_at(prepare(path), ["panel"]) as (run, crowd, panel):
        work_through(run, crowd)
        books = panel.close_books(run)
        assert read_progress(run).is_finished
        write_results(run)
        at_panel = panel.markets["panel"]
        assert isinstance(at_panel, AtPanel)
        return books, at_panel.simulated


def _check(folder: Path, books: Books, panel: SimulatedPanel) -> None:
    """Three ledgers agree, and whoever did approved work is on the list once."""
    assert books.broken_laws == ()
    assert books.pipeline == books.marketplace == books.outside > 0
    database = folder / "out/visited/marketplace.db"
    done = rows(
        database,
        "SELECT visits.submission_id FROM visits JOIN assignments "
        "ON assignments.visit = visits.id WHERE assignments.status = 'Approved' "
        "GROUP BY visits.id",
    )
    sessions = {row["submission_id"].rpartition("/")[2] for row in done}
    assert panel.paid_sessions == sessions
    with (folder / "out/visited/pay-list-1.csv").open(newline="") as file:
        listed = Counter(
            line["Session"] for line in csv.DictReader(file) if line["Kind"] == "visit"
        )
    assert listed == dict.fromkeys(sessions, 1)
    twice = rows(
        database,
        "SELECT 1 FROM assignments WHERE status IN ('Approved', 'Rejected') "
        "GROUP BY hit, worker HAVING count(*) > 1",
    )
    assert not twice


@pytest.mark.full
def test_a_whole_campaign(tmp_path: Path) -> None:
    """With drop-outs, links opened twice, second sessions and forged links."""
    path = write(tmp_path)
    books, panel = _rehearse(path)
    _check(tmp_path, books, panel)
    assert panel.forged_links > 0
    assert panel.sessions("complete")
    assert panel.sessions("quota_full")
    assert "taken by the panel" in "".join(books.lines())
    report = (tmp_path / "out/visited/report.html").read_text()
    assert "The panel&#39;s" in report or "The panel's" in report
    # The same command on the finished rehearsal changes nothing.
    before = written(tmp_path)
    again, _ = _rehearse(path)
    assert again == books
    assert written(tmp_path) == before


@pytest.mark.full
def test_the_same_seed_gives_the_same_results(tmp_path: Path) -> None:
    """Although secret and codes are drawn anew."""
    for name in ("one", "two"):
        _rehearse(write(tmp_path / name))
    assert written(tmp_path / "one") == written(tmp_path / "two")


class _BrokenOffError(Exception):
    """Something that ends a rehearsal in the middle of a visit."""


@pytest.mark.full
def test_a_rehearsal_that_breaks_off_continues(tmp_path: Path) -> None:
    """In the middle of visits; nobody does a HIT twice or is paid twice."""
    path = write(tmp_path)
    with pytest.raises(_BrokenOffError):
        _break_off(path)
    _check(tmp_path, *_rehearse(path))


def _break_off(path: Path) -> None:
    with rehearsal_at(prepare(path), ["panel"]) as (run, crowd, _):
        begun = count(1)

        def tell(event: Event) -> None:
            if event.kind == "accept" and next(begun) == 20:
                raise _BrokenOffError

        crowd._tell = tell
        work_through(run, crowd)


@pytest.mark.full
def test_a_rehearsal_that_is_killed_continues(tmp_path: Path) -> None:
    """Twice, with SIGKILL; the marketplace's process ends with it."""
    path = write(tmp_path)
    for hits in (5, 12):
        command = [sys.executable, "-c", _KILLED, str(path), str(hits)]
        with subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "now\n"
            process.send_signal(signal.SIGKILL)
        patience = count()
        while working_on(tmp_path) and next(patience) < 100:
            time.sleep(0.1)
        assert not working_on(tmp_path)
    _check(tmp_path, *_rehearse(path))


def test_a_campaign_with_a_test_is_refused(tmp_path: Path) -> None:
    """In a sentence, before anything is posted."""
    campaign = prepare(gated_campaign(tmp_path, GATED))
    with (
        pytest.raises(ConfigError, match="take no qualification tests"),
        rehearsal_at(campaign, ["panel"]),
    ):
        pass
