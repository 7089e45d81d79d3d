"""A full disk beside a pass: the database's, the metrics', that of a store's copy."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import psycopg
import pytest
from click.testing import CliRunner, Result

from piecework.cli.main import main
from piecework.config.campaign_file import parse
from piecework.domain.store_address import StoreAddress, in_folder
from piecework.store.database import exists
from tests.conftest import absent, in_full
from tests.crash.campaign import check_store
from tests.crash.passing_on import KEYS, advance_apart, passes
from tests.crash.people import WITH_A_HALF, People
from tests.crash.world import World, can_mount, small_disk, without_room
from tests.postgres_server import installed_initdb, running_postgres
from tests.small_campaign import CAMPAIGN, write_campaign
from tests.stores import stored_in

pytestmark = pytest.mark.skipif(not can_mount(), reason="only root can make a small disk to fill")
TABLES_BYTES = 24_000_000


def _piecework(*words: str | Path) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


@dataclass
class Disk:
    """A small disk with the tables of a database.

    Attributes:
        url: of the database, whose new tables are on the disk.
        folder: the disk.
    """

    url: str
    folder: Path


@pytest.fixture
def disk() -> Iterator[Disk]:
    """A server with a tablespace on a small disk."""
    initdb = installed_initdb()
    if initdb is None:
        absent("postgresql", "PostgreSQL is not installed")
    # The server's user has to reach it, so it is not in pytest's private folder.
    mine = Path(tempfile.mkdtemp(prefix="piecework-tables-"))
    mine.chmod(0o755)
    folder = mine / "disk"
    # The server ends first: its open files would keep the disk.
    with small_disk(folder, TABLES_BYTES), running_postgres(initdb) as url:
        folder.chmod(0o755)
        tables = folder / "tables"
        tables.mkdir()
        shutil.chown(tables, "postgres")
        with psycopg.connect(url, autocommit=True) as admin:
            admin.execute(f"CREATE TABLESPACE small LOCATION '{tables}'".encode())
            admin.execute("ALTER ROLE writer SET default_tablespace = small")
        yield Disk(url, folder)
    folder.rmdir()
    mine.rmdir()


@pytest.mark.parametrize("passes_before", [1, *in_full(0)])
def test_a_pass_goes_on_once_the_database_has_room(
    tmp_path: Path, disk: Disk, passes_before: int
) -> None:
    """PostgreSQL answers 53100 to the first pass, and to one that collects."""
    world = World(tmp_path)
    campaign = write_campaign(tmp_path, stored_in(CAMPAIGN, tmp_path, disk.url))
    with world.marketplace(apart=False):
        people = People(world.endpoint, script=WITH_A_HALF)
        for _ in range(passes_before):
            assert advance_apart(world).code == 0
            people.work()
        with without_room(disk.folder):
            for _ in range(2):
                refused = advance_apart(world)
                assert refused.code == 1, refused
                answer = json.loads(refused.output)
                assert "the disk of the database is full" in answer["error"]
                assert "make room on its server" in answer["next_step"]
                assert "run the same command again" in answer["next_step"]
                assert "Traceback" not in refused.complained
        end = passes(world, people)
        assert end.code == 0, end
        books = httpx.get(f"{world.endpoint}/rehearsal/books").json()
        check_store(books, parse(campaign).store)


def test_metrics_without_room_stop_no_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A warning; the next pass with room writes them whole."""
    world = World(tmp_path)
    write_campaign(tmp_path)
    folder = tmp_path / "metrics"
    lock = folder / ".piecework-crash.lock"
    monkeypatch.setenv("PIECEWORK_METRICS_FOLDER", str(folder))
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    with small_disk(folder), world.marketplace(apart=False):
        words = ("run", "--once", tmp_path / "crash.toml", "--endpoint", world.endpoint)
        with without_room(folder):
            done = _piecework(*words)
            assert done.exit_code == 0, done.output
            assert "metrics" in done.stderr
            # A lock, and no part of a file.
            assert {*folder.iterdir()} == {folder / "filler", lock}
        assert _piecework(*words).exit_code == 0
        (metrics,) = folder.glob("*.prom")
        assert 'piecework_passes_total{campaign="crash",outcome="done"}' in (metrics.read_text())
        assert {*folder.iterdir()} == {metrics, lock}


def test_a_store_is_copied_once_there_is_room(tmp_path: Path, postgres_url: str) -> None:
    """From a database to a file on a full disk: a sentence, and no file."""
    address = _begun(tmp_path, postgres_url)
    source = f"{address.url}#{address.schema}"
    with small_disk(tmp_path / "disk"):
        target = tmp_path / "disk" / "crash"
        with without_room(tmp_path / "disk"):
            refused = _piecework("store", "copy", source, target)
            assert refused.exit_code == 1, refused.output
            assert "full" in refused.stderr
            assert "run the same command again" in refused.stderr
            assert not exists(in_folder(target))
        done = _piecework("store", "copy", source, target)
        assert done.exit_code == 0, done.output
        assert not [*target.glob("*.unfinished*")]


def test_a_store_is_copied_into_a_database_once_there_is_room(tmp_path: Path, disk: Disk) -> None:
    """And from a file into a database whose disk is full: no table is left."""
    _begun(tmp_path, "")
    words = ("store", "copy", tmp_path / "out" / "crash", disk.url)
    with without_room(disk.folder):
        refused = _piecework(*words)
        assert refused.exit_code == 1, refused.output
        assert "the disk of the database is full" in refused.stderr
        with psycopg.connect(disk.url) as admin:
            tables = admin.execute(
                "SELECT tablename FROM pg_tables WHERE schemaname LIKE 'piecework%'"
            ).fetchall()
        assert tables == []
    done = _piecework(*words)
    assert done.exit_code == 0, done.output


def _begun(folder: Path, url: str) -> StoreAddress:
    """Make the first pass of a campaign; return where its store is."""
    world = World(folder)
    campaign = write_campaign(folder, stored_in(CAMPAIGN, folder, url))
    with world.marketplace(apart=False):
        assert advance_apart(world).code == 0
    return parse(campaign).store
