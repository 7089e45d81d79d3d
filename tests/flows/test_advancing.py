"""Passes without Prefect: idempotent, quick where nothing is due, one store a campaign.

Every call that leaves is counted by the marketplace itself, over the real wire.
"""

import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from domain.clock import FixedClock, SystemClock
from domain.errors import RefusedForSafety
from domain.progress import Progress
from flows.looking import look
from flows.orders import Orders
from flows.plainly import advance_plainly
from flows.steps import whole_pass
from flows.steps.progress import progress as read_progress
from flows.workplace import Workplace
from marketplace.http.server import serve
from store.database import open_store
from store.standing import remember
from tests.crash.people import People
from tests.crash.test_crash import CAMPAIGN


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "A-REQUESTER")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "no secret")


@contextmanager
def _world(folder: Path, text: str = CAMPAIGN) -> Iterator[tuple[Orders, People]]:
    (folder / "crash.toml").write_text(text)
    rows = "".join(f"p{n},https://example.org/{n}.jpg\n" for n in range(1, 5))
    (folder / "items.csv").write_text("image_id,url\n" + rows)
    with serve(
        folder / "marketplace.db",
        rehearsal=True,
        seed=1,
        start=datetime(2026, 1, 5, 9, tzinfo=UTC),
    ) as running:
        orders = Orders(campaign=folder / "crash.toml", endpoint=running.endpoint_url)
        yield orders, People(running.endpoint_url)


def _calls(endpoint: str) -> "Counter[str]":
    return Counter(httpx.get(f"{endpoint}/rehearsal/calls").json())


def test_a_pass_with_nothing_due_asks_once_and_says_the_same(tmp_path: Path) -> None:
    """While workers are at work one listing is asked for; at the end, nothing is."""
    with _world(tmp_path) as (orders, people):
        assert look(orders) is None  # nothing has begun
        first = advance_plainly(orders)
        assert first.waiting_for == "workers"
        before_look = _calls(orders.endpoint)
        assert look(orders) == first
        asked = _calls(orders.endpoint) - before_look
        assert asked == Counter({"ListReviewableHITs": 1})
        people.work()
        # Answers are here; but it was asked just now.
        assert look(orders) == first
        assert _calls(orders.endpoint) - before_look == asked
        later = FixedClock(SystemClock().now() + timedelta(minutes=2))
        assert look(orders, clock=later) is None
        reached = advance_plainly(orders)
        while not reached.is_finished:
            people.work()
            reached = advance_plainly(orders)
        files = sorted((tmp_path / "out/crash").rglob("*.*"))
        before = {path: path.stat().st_mtime_ns for path in files}
        away = Orders(campaign=orders.campaign, endpoint=orders.endpoint)
    # The marketplace has gone: a finished campaign does not ask it anything.
    assert look(away) == reached
    assert {
        path: path.stat().st_mtime_ns for path in files if path.suffix != ".lock"
    } == {path: at for path, at in before.items() if path.suffix != ".lock"}


def test_open_hits_make_a_pass_due_though_nothing_has_ended(tmp_path: Path) -> None:
    """Six hours after they were posted, a pass asks them for what they have got."""
    with _world(tmp_path) as (orders, people):
        advance_plainly(orders)
        people.work(at_most=1)
        now = SystemClock().now()
        assert look(orders, clock=FixedClock(now + timedelta(hours=5))) is not None
        assert (
            look(orders, clock=FixedClock(now + timedelta(hours=6, minutes=1))) is None
        )
        assert advance_plainly(orders).answers == 0  # by the real clock it is too early
        assert advance_plainly(orders, harvest=True).answers == 2


@pytest.mark.parametrize("ahead", [timedelta(days=1), timedelta(days=30)])
def test_a_clock_that_was_ahead_holds_nothing_up_when_it_is_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ahead: timedelta
) -> None:
    """Ann's page comes with the next pass, and after it nothing is due for a while."""
    right = SystemClock.now
    with _world(tmp_path) as (orders, people):
        with monkeypatch.context() as wrong:
            wrong.setattr(SystemClock, "now", lambda clock: right(clock) + ahead)
            advance_plainly(orders)
            assert look(orders) is not None
        people.work(at_most=1)
        assert look(orders) is None
        reached = advance_plainly(orders)
        assert (reached.answers, reached.hits_open) == (2, 1)
        assert look(orders) == reached


def test_a_question_that_was_put_off_by_a_wrong_clock_is_asked(tmp_path: Path) -> None:
    """It was asked at an hour that has not come yet."""
    with _world(tmp_path) as (orders, people):
        advance_plainly(orders)
        wrong = FixedClock(SystemClock().now() + timedelta(hours=5))
        assert look(orders, clock=wrong) is not None
        people.work()
        assert look(orders) is None


@pytest.mark.parametrize("by_a_person", ["stop", "decisions"])
def test_what_a_person_says_while_a_pass_ends_is_not_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_a_person: str
) -> None:
    """A command of another process writes when the pass has read all that it says."""

    def piecework(*words: str | Path) -> None:
        program = Path(sys.executable).with_name("piecework")
        subprocess.run([program, *words], check=True, capture_output=True, timeout=60)

    def progress(place: Workplace) -> Progress:
        reached = read_progress(place)
        if by_a_person == "stop":
            piecework("stop", orders.campaign)
        else:
            file = tmp_path / "decisions.csv"
            piecework("decisions", orders.campaign, "--write", file)
            piecework("decisions", orders.campaign, "--read", file, "--by", "ada")
        return reached

    text = CAMPAIGN.replace('by = "policy"', 'by = "person"')
    with _world(tmp_path, text) as (orders, people):
        advance_plainly(orders)
        assert look(orders) is not None
        people.work(0 if by_a_person == "stop" else 2)
        with monkeypatch.context() as patched:
            patched.setattr(whole_pass, "progress", progress)
            reached = advance_plainly(orders)
        assert reached.waiting_for == ("workers" if by_a_person == "stop" else "people")
        assert look(orders) is None


def test_a_store_of_an_earlier_version_is_opened_by_a_pass(tmp_path: Path) -> None:
    """It has no table for when the marketplace was asked, and gets one."""
    with _world(tmp_path) as (orders, _):
        reached = advance_plainly(orders)
        store = open_store(tmp_path / "out/crash/piecework.db")
        store.db.execute("DROP TABLE polls")
        store.db.execute("DELETE FROM _sqlite_migrations WHERE name = 'm_polls'")
        # As that version left it: what it had found still holds.
        remember(store, reached.as_dict(), asked=orders.digest())
        store.close()
        assert look(orders) is None
        assert advance_plainly(orders) == reached
        assert look(orders) == reached


def test_a_look_loads_neither_pandas_nor_prefect(tmp_path: Path) -> None:
    """Where nothing is due, the command does not pay for what it does not use."""
    with _world(tmp_path) as (orders, _):
        advance_plainly(orders)
        program = (
            "import sys; from cli.main import main; main(['advance', sys.argv[1], "
            "'--endpoint', sys.argv[2], '--json'], standalone_mode=False); "
            "print(sorted({'pandas', 'prefect'} & set(sys.modules)), file=sys.stderr)"
        )
        done = subprocess.run(
            [sys.executable, "-c", program, orders.campaign, orders.endpoint],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
            env={
                key: os.environ[key] for key in os.environ if key != "PREFECT_API_URL"
            },
        )
    assert done.stderr.splitlines()[-1] == "[]"
    assert '"waiting_for": "workers"' in done.stdout


def test_a_second_store_of_a_campaign_at_work_is_refused(tmp_path: Path) -> None:
    """A fresh folder on another machine would post everything a second time."""
    with _world(tmp_path) as (orders, _):
        assert advance_plainly(orders).hits_posted == 1
        other = tmp_path / "another machine"
        other.mkdir()
        for name in ("crash.toml", "items.csv"):
            shutil.copy(tmp_path / name, other / name)
        second = Orders(campaign=other / "crash.toml", endpoint=orders.endpoint)
        for _ in range(2):  # and again: a refusal gives birth to nothing
            with pytest.raises(RefusedForSafety, match="whose store is elsewhere"):
                advance_plainly(second)
        books = httpx.get(f"{orders.endpoint}/rehearsal/books").json()
        assert len(books["hits"]) == 1

        anew = Orders(campaign=second.campaign, endpoint=second.endpoint, anew=True)
        assert advance_plainly(anew).hits_posted == 1
        # Born now, it goes on without being told again; so does the first.
        assert advance_plainly(second).waiting_for == "workers"
        assert advance_plainly(orders).waiting_for == "workers"


def test_a_namesake_that_only_begins_alike_is_another_campaign(tmp_path: Path) -> None:
    """`crash` does not mistake the HITs of `crash-two` for its own."""
    with _world(tmp_path) as (orders, _):
        two = tmp_path / "two"
        two.mkdir()
        (two / "crash.toml").write_text(CAMPAIGN.replace('"crash"', '"crash-two"'))
        shutil.copy(tmp_path / "items.csv", two / "items.csv")
        advance_plainly(Orders(campaign=two / "crash.toml", endpoint=orders.endpoint))
        assert advance_plainly(orders).hits_posted == 1


def test_a_rehearsal_is_refused_where_time_is_real(tmp_path: Path) -> None:
    """The orders say rehearsal; the marketplace is live, and nothing is posted."""
    with (
        _world(tmp_path) as (orders, _),
        serve(tmp_path / "live.db") as live,
    ):
        wrong = Orders(
            campaign=orders.campaign, endpoint=live.endpoint_url, rehearsal=True
        )
        with pytest.raises(RefusedForSafety, match="so it is real"):
            advance_plainly(wrong)
