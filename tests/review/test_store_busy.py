"""A store that is locked or away under the review page: a sentence, and no waiting."""

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from threading import Event

import httpx
import pytest

from piecework.review import desk
from piecework.store import decisions
from piecework.store.database import Store, open_store
from tests.conftest import absent
from tests.postgres_server import installed_initdb, running_postgres
from tests.review import stores
from tests.review.conftest import Served, served
from tests.review.test_wire import CARD, form_of
from tests.small_campaign import CAMPAIGN
from tests.stores import KINDS, stored_in, url_of

of_each_kind = pytest.mark.parametrize("page", KINDS, indirect=True)
of_postgresql = pytest.mark.parametrize("page", ["postgresql"], indirect=True)


@pytest.fixture
def page(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Served]:
    """The page of a store in a file, or in a schema of PostgreSQL."""
    text = stored_in(CAMPAIGN, tmp_path, url_of(request))
    with stores.opened(tmp_path, campaign=text) as run, served(run) as started:
        yield started


@contextmanager
def another(page: Served) -> Iterator[Store]:
    """Another process's connection to the store."""
    with closing(open_store(page.run.store.address)) as store:
        yield store


def decided(ada: httpx.Client, form: dict[str, str]) -> httpx.Response:
    """Send a decision."""
    return ada.post("/decide", data={**form, "act": "drop"})


def is_busy(reply: httpx.Response, words: str) -> bool:
    """Whether a reply says in a sentence that the store does not answer."""
    says_when = int(reply.headers.get("retry-after", 0)) > 0
    return reply.status_code == 503 and words in reply.text and says_when


def test_a_page_that_ends_waits_for_the_work_that_has_begun(tmp_path: Path) -> None:
    """Its store is closed next, and a connection that is closed at work ends the process."""
    begun, goes_on = Event(), Event()

    def slow(store: Store) -> int:
        begun.set()
        assert goes_on.wait(60)
        return int(store.db.execute("SELECT count(*) FROM bound").fetchone()[0])

    with stores.opened(tmp_path, campaign=CAMPAIGN) as run, ThreadPoolExecutor(2) as others:
        thread = desk.StoreThread(run.store)
        answer = others.submit(asyncio.run, thread.run(partial(slow, run.store)))
        assert begun.wait(60)
        end = others.submit(thread.close)
        assert wait([end], timeout=0.5).not_done
        goes_on.set()
        end.result(60)
        assert answer.result(60) == 1


@of_each_kind
def test_a_page_under_a_lock_says_so_and_all_others_are_served(page: Served) -> None:
    """Nothing is stored, soon; the same form is taken when the lock is gone."""
    with page.client() as ada, page.client("grace") as grace:
        form = {**CARD, **form_of(ada, CARD)}
        with another(page) as other, ThreadPoolExecutor(4) as browsers, other.db.exclusive():
            began = time.monotonic()
            replies = [browsers.submit(decided, ada, form) for _ in range(3)]
            static = grace.get("/static/review.css")
            assert time.monotonic() - began < desk.LOCK_SECONDS
            assert static.status_code == 200
            for reply in replies:
                assert is_busy(reply.result(), "Nothing was stored")
            # What only reads is shown.
            assert ada.get("/card", params=CARD).status_code == 200
        assert decisions.load_decisions(page.run.store) == []
        assert decided(ada, form).status_code == 303
    assert [each.verdict for each in decisions.load_decisions(page.run.store)] == ["drop"]


@of_postgresql
def test_a_page_whose_tables_are_locked_says_so(page: Served) -> None:
    """As while a database is maintained; reading waits for such a lock, too."""
    with page.client() as ada, another(page) as other:
        with other.db.exclusive():
            other.db.execute("LOCK TABLE answers, hits, store_counts")
            assert is_busy(ada.get("/"), "Nothing was stored")
        assert ada.get("/").status_code == 200


@of_postgresql
def test_a_lost_connection_is_made_again(page: Served) -> None:
    """The request that finds it lost is told so; the next ones are served."""
    with page.client() as ada, another(page) as other:
        assert ada.get("/").status_code == 200
        pid = page.run.store.db.conn.info.backend_pid
        other.db.execute("SELECT pg_terminate_backend(?)", [pid])
        assert is_busy(ada.get("/"), "look at its card again")
        assert ada.get("/").status_code == 200
        # The new connection waits as shortly as the first one.
        form = {**CARD, **form_of(ada, CARD)}
        with other.db.exclusive():
            assert is_busy(decided(ada, form), "Nothing was stored")


@of_postgresql
def test_a_database_that_hangs_keeps_no_other_page_waiting(
    page: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its session is stopped in the middle; the request before others is not known."""
    pid = page.run.store.db.conn.info.backend_pid
    with page.client() as ada, page.client("grace") as grace:
        form = {**CARD, **form_of(ada, CARD)}
        os.kill(pid, signal.SIGSTOP)
        try:
            with monkeypatch.context() as patch:
                patch.setattr(desk, "ANSWER_SECONDS", 2.0)
                assert is_busy(decided(ada, form), "look at its card again")
                assert is_busy(decided(grace, form), "Nothing was stored")
            assert grace.get("/static/review.css").status_code == 200
        finally:
            os.kill(pid, signal.SIGCONT)
        assert grace.get("/card", params=CARD).status_code == 200


def test_a_database_that_is_away_is_said(tmp_path: Path) -> None:
    """No server listens any more where the store was."""
    initdb = installed_initdb()
    if initdb is None:
        absent("postgresql", "PostgreSQL is not installed")
    with ExitStack() as server:
        url = server.enter_context(running_postgres(initdb))
        text = stored_in(CAMPAIGN, tmp_path, url)
        with (
            stores.opened(tmp_path, campaign=text) as run,
            served(run) as page,
            page.client() as ada,
        ):
            form = {**CARD, **form_of(ada, CARD)}
            server.close()
            assert is_busy(decided(ada, form), "look at its card again")
            assert is_busy(ada.get("/"), "look at its card again")
            assert ada.get("/static/review.css").status_code == 200
