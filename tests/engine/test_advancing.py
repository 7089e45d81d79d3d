"""Passes without Prefect: idempotent, quick where nothing is due, one store a campaign.

Every call that leaves is counted by the marketplace itself, over the real wire.
"""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pandas as pd
import pytest

from piecework.campaign.exchange.sinks import SinkFailed
from piecework.campaign.opened import CampaignRun
from piecework.cli.main import main
from piecework.domain.clock import FixedClock, SystemClock
from piecework.domain.errors import RefusedForSafety, StoreError
from piecework.domain.progress import Progress
from piecework.engine import run_pass
from piecework.engine.pass_request import PassRequest
from piecework.engine.progress import read_progress
from piecework.engine.quick_check import cached_progress
from piecework.engine.snapshot import Reader
from piecework.marketplace.http.server import Marketplace, serve
from piecework.results.whole_pass import advance_without_prefect
from tests.crash.apart import apart
from tests.crash.disturbed import LONGEST_PASS_SECONDS
from tests.crash.people import People
from tests.growing_campaign import TEXT as GROWING
from tests.small_campaign import CAMPAIGN, write_campaign
from tests.stores import KINDS, stored_in


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "A-REQUESTER")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "no secret")


@contextmanager
def _world(folder: Path, text: str = CAMPAIGN) -> Iterator[tuple[PassRequest, People]]:
    path = write_campaign(folder, text)
    with serve(
        Marketplace(
            folder / "marketplace.db",
            rehearsal=True,
            seed=1,
            start=datetime(2026, 1, 5, 9, tzinfo=UTC),
        )
    ) as running:
        request = PassRequest(campaign=path, endpoint=running.endpoint_url)
        yield request, People(running.endpoint_url)


def _calls(endpoint: str) -> "Counter[str]":
    return Counter(httpx.get(f"{endpoint}/rehearsal/calls").json())


@pytest.mark.parametrize("store_url", KINDS, indirect=True)
def test_a_pass_with_nothing_due_asks_once_and_says_the_same(
    tmp_path: Path, store_url: str
) -> None:
    """While workers are at work one listing is asked for; at the end, nothing is."""
    with _world(tmp_path, stored_in(CAMPAIGN, tmp_path, store_url)) as (request, people):
        assert cached_progress(request) is None  # nothing has begun
        first = advance_without_prefect(request)
        assert first.waiting_for == "workers"
        before_look = _calls(request.endpoint)
        assert cached_progress(request) == first
        asked = _calls(request.endpoint) - before_look
        assert asked == Counter({"ListReviewableHITs": 1})
        people.work()
        # Answers are here; but it was asked just now.
        assert cached_progress(request) == first
        assert _calls(request.endpoint) - before_look == asked
        later = FixedClock(SystemClock().now() + timedelta(minutes=2))
        assert cached_progress(request, clock=later) is None
        reached = advance_without_prefect(request)
        while not reached.is_finished:
            people.work()
            reached = advance_without_prefect(request)
        files = sorted((tmp_path / "out").rglob("*.*"))
        before = {path: path.stat().st_mtime_ns for path in files}
        away = PassRequest(campaign=request.campaign, endpoint=request.endpoint)
    # The marketplace has gone: a finished campaign does not ask it anything.
    assert cached_progress(away) == reached
    assert {path: path.stat().st_mtime_ns for path in files if path.suffix != ".lock"} == {
        path: at for path, at in before.items() if path.suffix != ".lock"
    }


@pytest.mark.full
def test_a_sink_that_failed_is_written_by_the_next_pass(tmp_path: Path) -> None:
    """The campaign is finished and paid; passes go on until the sink is written."""
    sink = tmp_path / "away/answers.db"
    text = CAMPAIGN.replace('formats = ["csv"]', 'formats = ["parquet"]')
    text = f'sink = "sqlite:///{sink}#answers"\n{text}'
    with _world(tmp_path, text) as (request, people):

        def advance_to_the_end() -> None:
            while not advance_without_prefect(request).is_finished:
                people.work()

        with pytest.raises(SinkFailed, match="unable to open"):
            advance_to_the_end()
        assert cached_progress(request) is None
        with pytest.raises(SinkFailed):
            advance_without_prefect(request)
        calls = _calls(request.endpoint)
        sink.parent.mkdir()
        assert cached_progress(request) is None
        reached = advance_without_prefect(request)
        assert reached.is_finished
        assert cached_progress(request) == reached
        later = _calls(request.endpoint) - calls
        assert not {name for name in later if name.startswith(("Create", "Approve"))}
    with closing(sqlite3.connect(sink)) as written:
        (rows,) = written.execute("SELECT count(*) FROM answers").fetchone()
    assert rows == reached.accepted > 0


def test_a_source_that_cannot_be_read_is_tried_by_each_pass(tmp_path: Path) -> None:
    """Its file may come back exactly as it was."""
    with _world(tmp_path, GROWING) as (request, _):
        assert advance_without_prefect(request).waiting_for == "workers"
        items = tmp_path / "items.csv"
        away = items.rename(tmp_path / "away.csv")
        without = advance_without_prefect(request)
        assert without.source is not None
        assert str(items) in without.source.fault
        assert cached_progress(request) is None
        away.rename(items)
        again = advance_without_prefect(request)
        assert again.source is not None
        assert again.source.fault == ""
        assert cached_progress(request) == again


def test_open_hits_make_a_pass_due_though_nothing_has_ended(tmp_path: Path) -> None:
    """Six hours after they were posted, a pass asks them for what they have got."""
    with _world(tmp_path) as (request, people):
        advance_without_prefect(request)
        people.work(at_most=1)
        now = SystemClock().now()
        early = FixedClock(now + timedelta(hours=5))
        assert cached_progress(request, clock=early) is not None
        due = FixedClock(now + timedelta(hours=6, minutes=1))
        assert cached_progress(request, clock=due) is None
        # By the real clock it is too early.
        assert advance_without_prefect(request).answers == 0
        assert advance_without_prefect(request, poll_open_hits=True).answers == 2


def test_rows_that_wait_for_their_batch_make_no_pass_due_before_it(tmp_path: Path) -> None:
    """They wait for a day at most, and a whole pass before would find nothing."""
    text = GROWING.replace("batch = 4", "batch = 8")
    with _world(tmp_path, text) as (request, _):
        began = SystemClock().now()
        first = advance_without_prefect(request)
        assert first.waiting_for == "new rows"
        due = datetime.fromisoformat(first.due_at) - began
        assert timedelta(hours=24) <= due < timedelta(hours=24, minutes=5)
        for hours in (0.1, 6, 12, 17.9, 18.1, 23.9):
            at = FixedClock(began + timedelta(hours=hours))
            assert cached_progress(request, clock=at) == first, hours
        at = FixedClock(began + due)
        assert cached_progress(request, clock=at) is None


@pytest.mark.parametrize("ahead", [timedelta(days=1), timedelta(days=30)])
def test_a_clock_that_was_ahead_holds_nothing_up_when_it_is_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ahead: timedelta
) -> None:
    """Ann's page comes with the next pass, and after it nothing is due for a while."""
    right = SystemClock.now
    with _world(tmp_path) as (request, people):
        with monkeypatch.context() as wrong:
            wrong.setattr(SystemClock, "now", lambda clock: right(clock) + ahead)
            advance_without_prefect(request)
            assert cached_progress(request) is not None
        people.work(at_most=1)
        assert cached_progress(request) is None
        reached = advance_without_prefect(request)
        assert (reached.answers, reached.hits_open) == (2, 1)
        assert cached_progress(request) == reached


def test_a_question_that_was_put_off_by_a_wrong_clock_is_asked(tmp_path: Path) -> None:
    """It was asked at an hour that has not come yet."""
    with _world(tmp_path) as (request, people):
        advance_without_prefect(request)
        wrong = FixedClock(SystemClock().now() + timedelta(hours=5))
        assert cached_progress(request, clock=wrong) is not None
        people.work()
        assert cached_progress(request) is None


def _piecework(*words: str | Path) -> None:
    main([str(word) for word in words])


@pytest.mark.parametrize("by_a_person", ["stop", "decisions"])
def test_what_a_person_says_while_a_pass_ends_is_not_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_a_person: str
) -> None:
    """A command of another process writes when the pass has read all that it says."""

    def piecework(*words: str | Path) -> None:
        command = apart().Process(target=_piecework, args=words)
        command.start()
        command.join(timeout=LONGEST_PASS_SECONDS)
        assert command.exitcode == 0

    def read_and_let_a_person_act(run: CampaignRun, reader: Reader) -> Progress:
        reached = read_progress(run, reader)
        if by_a_person == "stop":
            piecework("stop", request.campaign)
        else:
            file = tmp_path / "decisions.csv"
            piecework("review", request.campaign, "--csv", file)
            table = pd.read_csv(file, dtype=str, keep_default_na=False)
            table.assign(verdict=table["proposed"]).to_csv(file, index=False)
            piecework("review", request.campaign, "--read", file, "--by", "ada")
        return reached

    text = CAMPAIGN.replace('by = "policy"', 'by = "person"')
    with _world(tmp_path, text) as (request, people):
        advance_without_prefect(request)
        assert cached_progress(request) is not None
        people.work(0 if by_a_person == "stop" else 2)
        with monkeypatch.context() as patched:
            patched.setattr(run_pass, "read_progress", read_and_let_a_person_act)
            reached = advance_without_prefect(request)
        assert reached.waiting_for == ("workers" if by_a_person == "stop" else "people")
        assert cached_progress(request) is None


def test_a_store_of_another_version_is_refused_by_a_pass(tmp_path: Path) -> None:
    """Also where the quick look before it does not find the tables that it asks for."""
    with _world(tmp_path) as (request, _):
        advance_without_prefect(request)
        path = tmp_path / "out/crash/piecework.db"
        with closing(sqlite3.connect(path)) as store, store:
            store.execute("ALTER TABLE last_pass RENAME TO standing")
            store.execute("UPDATE _sqlite_migrations SET name = 'm001_first_loop'")
        assert cached_progress(request) is None
        with pytest.raises(StoreError, match="another version"):
            advance_without_prefect(request)


def test_a_look_loads_neither_pandas_nor_prefect(tmp_path: Path) -> None:
    """Where nothing is due, the command does not pay for what it does not use."""
    with _world(tmp_path) as (request, _):
        advance_without_prefect(request)
        program = (
            "import sys; from piecework.cli.main import main; "
            "main(['run', '--once', sys.argv[1], '--endpoint', sys.argv[2], '--json'], "
            "standalone_mode=False); "
            "print(sorted({'pandas', 'prefect'} & set(sys.modules)), file=sys.stderr)"
        )
        done = subprocess.run(
            [sys.executable, "-c", program, request.campaign, request.endpoint],
            capture_output=True,
            text=True,
            timeout=LONGEST_PASS_SECONDS,
            check=True,
            env={key: os.environ[key] for key in os.environ if key != "PREFECT_API_URL"},
        )
    assert done.stderr.splitlines()[-1] == "[]"
    assert '"waiting_for": "workers"' in done.stdout


def test_a_second_store_of_a_campaign_at_work_is_refused(tmp_path: Path) -> None:
    """A fresh folder on another machine would post everything a second time."""
    with _world(tmp_path) as (request, _):
        assert advance_without_prefect(request).hits_posted == 1
        other = tmp_path / "another machine"
        other.mkdir()
        for name in ("crash.toml", "items.csv"):
            shutil.copy(tmp_path / name, other / name)
        second = PassRequest(campaign=other / "crash.toml", endpoint=request.endpoint)
        for _ in range(2):  # and again: a refusal gives birth to nothing
            with pytest.raises(RefusedForSafety, match="whose store is elsewhere"):
                advance_without_prefect(second)
        books = httpx.get(f"{request.endpoint}/rehearsal/books").json()
        assert len(books["hits"]) == 1

        anew = PassRequest(
            campaign=second.campaign, endpoint=second.endpoint, allow_second_store=True
        )
        assert advance_without_prefect(anew).hits_posted == 1
        # Born now, it goes on without being told again; so does the first.
        assert advance_without_prefect(second).waiting_for == "workers"
        assert advance_without_prefect(request).waiting_for == "workers"


def test_a_namesake_that_only_begins_alike_is_another_campaign(tmp_path: Path) -> None:
    """`crash` does not mistake the HITs of `crash-two` for its own."""
    with _world(tmp_path) as (request, _):
        two = tmp_path / "two"
        two.mkdir()
        (two / "crash.toml").write_text(CAMPAIGN.replace('"crash"', '"crash-two"'))
        shutil.copy(tmp_path / "items.csv", two / "items.csv")
        advance_without_prefect(PassRequest(campaign=two / "crash.toml", endpoint=request.endpoint))
        assert advance_without_prefect(request).hits_posted == 1


def test_a_rehearsal_is_refused_where_time_is_real(tmp_path: Path) -> None:
    """The request says rehearsal; the marketplace is live, and nothing is posted."""
    with _world(tmp_path) as (request, _), serve(Marketplace(tmp_path / "live.db")) as live:
        wrong = PassRequest(campaign=request.campaign, endpoint=live.endpoint_url, rehearsal=True)
        with pytest.raises(RefusedForSafety, match="so it is real"):
            advance_without_prefect(wrong)


def _modules_after(*command: str) -> set[str]:
    """The modules that a command of a fresh process has imported at its end."""
    program = (
        "import sys; from piecework.cli.main import main; "
        f"main({list(command)!r}, standalone_mode=False); print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=240
    )
    return set(done.stderr.splitlines()[-1].split())


COMPUTING = {"pandas", "numpy", "pyarrow", "scipy", "matplotlib", "PIL"}
SERVING = {"prefect", "prometheus_client"}


def test_what_finds_nothing_to_do_loads_no_more_than_it_did(tmp_path: Path) -> None:
    """They run every few minutes for weeks; an import too early is seen in no other test."""
    with _world(tmp_path) as (request, _people):
        assert advance_without_prefect(request).waiting_for == "workers"
        path = str(request.campaign)
        quick = _modules_after("run", "--once", path, "--endpoint", request.endpoint)
        status, check = _modules_after("status", path), _modules_after("check", path)
        # It goes through all steps: the marketplace is asked about each open HIT.
        whole = _modules_after(
            "run", "--once", "--poll-open-hits", path, "--endpoint", request.endpoint
        )
    own = [sum(name.startswith("piecework") for name in modules) for modules in (quick, status)]
    # Other versions of Python and of libraries have some more modules.
    assert own[0] <= 124, quick
    assert own[1] <= 237, status
    assert len(quick) <= 720
    assert len(status) <= 710
    assert not (COMPUTING | SERVING) & (quick | status | whole)
    assert not ((COMPUTING | SERVING) - {"PIL"}) & check
    assert "boto3" not in status | check


def test_a_pass_loads_neither_plots_nor_word_lists() -> None:
    """Only results need them; they would double the start of every other pass."""
    program = (
        "import sys, piecework.engine.run_pass, piecework.engine.opening; "
        "dear = {'matplotlib', 'wordfreq', 'sacrebleu', 'scipy.stats', 'selectolax'}; "
        "print(sorted(dear & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
