"""A bridge reads beside a server, on its own connection."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from piecework.marketplace.requester.api import perform_operation
from piecework.marketplace.state.backend import Backend, Rules
from tests.marketplace.market import HIT_TYPE, QUESTION, START

POSTED = {**HIT_TYPE, "LifetimeInSeconds": 60, "Question": QUESTION}
RULES = Rules(rehearsal=True, seed=1, start=START)
STATUS = "SELECT status FROM hits"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Backend]:
    """A marketplace with a HIT."""
    with closing(Backend(tmp_path / "market.db", RULES)) as backend:
        perform_operation(backend, "KEY", "CreateHIT", POSTED)
        yield backend


@pytest.fixture
def bridge(server: Backend) -> Iterator[Backend]:
    """The same marketplace, on another connection."""
    with closing(Backend(server.database, RULES)) as backend:
        yield backend


def test_a_server_writes_while_a_bridge_reads(server: Backend, bridge: Backend) -> None:
    """The bridge sees one state to the end; afterwards it sees the next."""
    with bridge.reading() as transaction:
        assert len(transaction.all(STATUS)) == 1
        perform_operation(server, "KEY", "CreateHIT", POSTED)
        assert len(transaction.all(STATUS)) == 1
    with bridge.reading() as transaction:
        assert len(transaction.all(STATUS)) == 2


def test_reading_writes_nothing(bridge: Backend) -> None:
    """Not even after an error; the connection can write again afterwards."""
    with pytest.raises(sqlite3.OperationalError, match="readonly"), bridge.reading() as transaction:
        transaction.execute("DELETE FROM hits")
    with bridge.transaction() as transaction:
        assert [row["status"] for row in transaction.all(STATUS)] == ["Assignable"]
        transaction.execute("UPDATE hits SET annotation = 'seen'")


def test_what_came_due_is_done_before(server: Backend, bridge: Backend) -> None:
    """As in a transaction that may write."""
    with server.transaction() as transaction:
        now_ms = transaction.now_ms
    server.move_clock(now_ms + 3_600_000)
    with bridge.reading() as transaction:
        [hit] = transaction.all(STATUS)
    assert hit["status"] == "Reviewable"


def test_where_writes_wait_reading_is_refused_and_loses_none(server: Backend) -> None:
    """A server reads in the transactions that share its commits."""
    with server.group_commits(lambda: None, lambda: None):
        perform_operation(server, "KEY", "CreateHIT", POSTED)
        with (
            pytest.raises(sqlite3.OperationalError, match="within a transaction"),
            server.reading(),
        ):
            pass
        server.commit()
    with server.transaction() as transaction:
        assert len(transaction.all(STATUS)) == 2
