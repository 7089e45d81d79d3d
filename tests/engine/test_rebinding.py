"""A marketplace that moved is recognised, and nothing else is."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from piecework.campaign.assembling import load_campaign
from piecework.cli.main import main
from piecework.domain.errors import RefusedForSafety, StoreError
from piecework.engine.opening import open_on_marketplace
from piecework.engine.run_pass import run_pass
from piecework.marketplace.http.server import Marketplace, serve
from tests.crash.people import People
from tests.crash.world import START
from tests.marketplace.market import free_port
from tests.small_campaign import write_campaign

OLD, NEW = free_port(), free_port()


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "A-REQUESTER")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "no secret")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the small campaign."""
    write_campaign(tmp_path)
    return tmp_path


@contextmanager
def _market(folder: Path, name: str = "m.db", *, port: int = OLD, seed: int = 1) -> Iterator[str]:
    with serve(
        Marketplace(folder / name, rehearsal=True, seed=seed, start=START, port=port)
    ) as running:
        yield running.endpoint_url


def _pass(folder: Path, endpoint: str) -> str:
    with open_on_marketplace(load_campaign(folder / "crash.toml"), endpoint, live=False) as run:
        return run_pass(run, poll_open_hits=True).waiting_for


def _rebind(folder: Path, url: str) -> Result:
    return CliRunner().invoke(main, ["store", "move", str(folder / "crash.toml"), url])


def _copy(database: Path, to: Path) -> None:
    with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(to)) as copy:
        source.backup(copy)


def _bound(folder: Path) -> str:
    with closing(sqlite3.connect(folder / "out/crash/piecework.db")) as store:
        [(environment,)] = store.execute("SELECT environment FROM bound")
    return str(environment)


def test_a_campaign_continues_where_its_marketplace_moved(folder: Path) -> None:
    """People have worked before the move and work after it; each is paid once."""
    with _market(folder) as endpoint:
        assert _pass(folder, endpoint) == "workers"
        people = People(endpoint)
        people.work()
    with _market(folder, port=NEW) as moved:
        with pytest.raises(StoreError, match="it belongs to") as refused:
            _pass(folder, moved)
        assert f"crash.toml {moved}" in str(refused.value.next_step)
        result = _rebind(folder, moved)
        assert result.exit_code == 0, result.output
        assert "is the marketplace that was at" in result.output
        people.endpoint = moved
        for _ in range(20):
            if _pass(folder, moved) == "nobody":
                break
            people.work()
        else:
            raise AssertionError("twenty passes were not enough")
        again = _rebind(folder, moved)
        assert again.exit_code == 1
        assert "already" in again.output


def test_another_marketplace_is_refused(folder: Path) -> None:
    """It has another account, and the store stays where it is."""
    with _market(folder) as endpoint:
        _pass(folder, endpoint)
    with _market(folder, "other.db", port=NEW, seed=2) as other:
        result = _rebind(folder, other)
    assert result.exit_code == 3
    assert "this is another marketplace" in result.output
    assert _bound(folder) == endpoint


def test_a_copy_is_refused_while_the_marketplace_still_runs(folder: Path) -> None:
    """People would work on both."""
    with _market(folder) as endpoint:
        _pass(folder, endpoint)
        _copy(folder / "m.db", folder / "copy.db")
        with _market(folder, "copy.db", port=NEW) as copy:
            result = _rebind(folder, copy)
        assert result.exit_code == 3
        assert "the marketplace still runs there too" in result.output
    assert _bound(folder) == endpoint


def test_an_older_copy_is_recognised_and_has_to_be_compared(folder: Path) -> None:
    """It was restored elsewhere from a backup; passes refuse until `reconcile`."""
    with _market(folder) as endpoint:
        _pass(folder, endpoint)
        _copy(folder / "m.db", folder / "copy.db")
        People(endpoint).work()
        _pass(folder, endpoint)
    with _market(folder, "copy.db", port=NEW) as copy:
        result = _rebind(folder, copy)
        assert result.exit_code == 0, result.output
        assert "piecework store reconcile" in result.output
        with pytest.raises(RefusedForSafety, match="older copy"):
            _pass(folder, copy)
        compared = CliRunner().invoke(main, ["store", "reconcile", str(folder / "crash.toml")])
        assert compared.exit_code == 0, compared.output
        _pass(folder, copy)


def test_a_missing_file_of_hits_is_noticed(folder: Path) -> None:
    """The account is the same, but a HIT carries another campaign's note."""
    with _market(folder) as endpoint:
        _pass(folder, endpoint)
    with closing(sqlite3.connect(folder / "m.db")) as market, market:
        market.execute("UPDATE hits SET annotation = 'x/crash.b0001.r00.000001'")
    with _market(folder, port=NEW) as moved:
        result = _rebind(folder, moved)
    assert result.exit_code == 3
    assert "is not the one that this campaign posted" in result.output


def test_a_campaign_without_a_store_is_refused(folder: Path) -> None:
    """There is nothing to rebind."""
    result = _rebind(folder, "http://127.0.0.1:9")
    assert result.exit_code == 1
    assert "next:" in result.output


def test_an_address_without_a_marketplace_changes_nothing(folder: Path) -> None:
    """The call fails, and the store stays bound."""
    with _market(folder) as endpoint:
        _pass(folder, endpoint)
    result = _rebind(folder, f"http://127.0.0.1:{free_port()}")
    assert result.exit_code != 0
    assert _bound(folder) == endpoint
