"""What was reported as done survives a power cut, in store and marketplace.

Real processes work, and each write, truncation and sync of their files is logged. Then
the files are reconstructed as power cuts at many moments would leave them (`power.py`),
opened by the real code, and compared with what had been reported by then.
"""

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from piecework.marketplace.state import ledger
from piecework.marketplace.state.backend import Backend, Rules
from piecework.store.database import open_store
from piecework.store.intents import Intent, read_outcome
from tests.conftest import ROOT
from tests.crash import power
from tests.crash.power import Change, can_log, compiled, cuts, logging_environment
from tests.marketplace.market import QUESTION, Market, post

if TYPE_CHECKING:
    from mypy_boto3_mturk import MTurkClient

pytestmark = pytest.mark.skipif(
    not can_log(), reason="a C compiler is needed to log what a process writes"
)
FEW, MANY = 40, 400
_COMMAND = (sys.executable, "-c", "from piecework.cli.main import main; main()")
LONG_QUESTION = QUESTION.replace("What is it?", "What is it? " * 2_000)
SEEDS = [
    (1, FEW),
    *(pytest.param(seed, MANY, marks=pytest.mark.full(weeks=5)) for seed in range(2, 7)),
]


@dataclass(frozen=True, slots=True)
class Worked:
    """What processes did in a folder, and what they reported, with times."""

    folder: Path
    changes: list[Change]
    reports: list[tuple[str, str, int]]

    def reported_before(self, moment_ns: int, word: str) -> set[str]:
        """Return what had been reported of this kind."""
        return {
            key for reported, key, at_ns in self.reports if reported == word and at_ns < moment_ns
        }


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled logging library."""
    return compiled(tmp_path_factory.mktemp("library"))


@pytest.fixture(scope="module")
def store_worked(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Worked:
    """A store from its creation, over two sessions."""
    return _store_worked(library, tmp_path_factory.mktemp("store"), syncs="yes")


@pytest.fixture(scope="module")
def market_worked(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Worked:
    """A live marketplace from its creation, with concurrent requesters and a worker."""
    return _market_worked(library, tmp_path_factory.mktemp("market"))


@pytest.fixture(scope="module")
def market_created(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Worked:
    """A marketplace that a command has created."""
    folder = tmp_path_factory.mktemp("created")
    environment = _logging(library, folder)
    database = str(folder / "disk" / "market.db")
    _document(environment, "market", "account", "add", "lab", "--database", database, "--json")
    return Worked(folder / "disk", power.read_log(folder / "log"), [])


@pytest.mark.parametrize(("seed", "count"), SEEDS)
def test_a_store_keeps_intents_and_outcomes(
    store_worked: Worked, tmp_path: Path, seed: int, count: int
) -> None:
    """The store has the intent of each call that left, and each recorded outcome."""
    assert len(store_worked.reported_before(sys.maxsize, "closed")) == 96
    for moment_ns, left in cuts(
        store_worked.folder, store_worked.changes, tmp_path, seed=seed, count=count
    ):
        assert _lost_from_store(store_worked, moment_ns, left) == set()


def test_a_store_that_does_not_wait_for_the_disk_loses_outcomes(
    library: Path, tmp_path: Path
) -> None:
    """A store without syncs, as in a rehearsal, loses data: the cuts are effective."""
    (tmp_path / "store").mkdir()
    worked = _store_worked(library, tmp_path / "store", syncs="no")
    lost: set[str] = set()
    for moment_ns, left in cuts(worked.folder, worked.changes, tmp_path, seed=1, count=FEW):
        try:
            lost |= _lost_from_store(worked, moment_ns, left)
        except (AssertionError, Exception):  # noqa: BLE001 - a damaged file is a loss
            lost.add("the file")
    assert lost


def test_a_store_whose_first_page_was_torn_begins_again(
    store_worked: Worked, tmp_path: Path
) -> None:
    """The page may lack its first sector; the journal beside it undoes that."""
    for left in _first_page_torn(store_worked, tmp_path):
        open_store(left / "piecework.db", create=True).close()


def test_a_marketplace_whose_first_page_was_torn_begins_again(
    market_created: Worked, tmp_path: Path
) -> None:
    """The same for the file of a marketplace."""
    for left in _first_page_torn(market_created, tmp_path):
        Backend(left / "market.db", Rules()).close()


def _first_page_torn(worked: Worked, into: Path) -> Iterator[Path]:
    """Cut the power at the first write of the database, in many ways."""
    changes = worked.changes
    first = next(
        number
        for number, change in enumerate(changes)
        if change.kind == "W" and change.path.endswith(".db")
    )
    torn = 0
    for seed in range(20):
        for _, left in cuts(worked.folder, changes[: first + 1], into, seed=seed, count=1):
            torn += any(file.read_bytes()[:1] == b"\0" for file in left.glob("*.db"))
            yield left
    assert torn


@pytest.mark.full
@pytest.mark.parametrize(("seed", "count"), SEEDS)
def test_a_marketplace_keeps_what_it_acknowledged(
    market_worked: Worked, tmp_path: Path, seed: int, count: int
) -> None:
    """HITs and submissions with replies that were read exist; invariants hold."""
    assert len(market_worked.reported_before(sys.maxsize, "posted")) == 48
    assert len(market_worked.reported_before(sys.maxsize, "submitted")) == 16
    for moment_ns, left in cuts(
        market_worked.folder, market_worked.changes, tmp_path, seed=seed, count=count
    ):
        database = left / "market.db"
        with closing(Backend(database, Rules())) as backend, backend.transaction() as transaction:
            assert ledger.broken_laws(transaction) == []
        with closing(sqlite3.connect(database)) as conn:
            assert conn.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            hits = {row[0] for row in conn.execute("SELECT hit_id FROM hits")}
            submitted = "SELECT assignment_id FROM assignments WHERE status != 'Accepted'"
            assignments = {row[0] for row in conn.execute(submitted)}
        assert market_worked.reported_before(moment_ns, "posted") <= hits
        assert market_worked.reported_before(moment_ns, "submitted") <= assignments


def _lost_from_store(worked: Worked, moment_ns: int, left: Path) -> set[str]:
    """Open what is left like the same command; return what was reported and lost."""
    with closing(open_store(left / "piecework.db", create=True)) as store:
        assert store.db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        outcomes = {
            key: read_outcome(store, Intent(key=key, operation="publish", subject=("hit", key)))
            for key in worked.reported_before(moment_ns, "left")
        }
        records = store.db.execute("SELECT stopped_at FROM stops")
        recorded = {key for (key,) in records}
    undeclared = {key for key, row in outcomes.items() if row is None}
    closed = {key for key, row in outcomes.items() if row and row[0] is not None}
    # An outcome and what follows from it both exist or neither.
    assert closed <= recorded
    return undeclared | worked.reported_before(moment_ns, "closed") - (closed & recorded)


def _logging(library: Path, folder: Path) -> dict[str, str]:
    """Make a folder to work in; the environment of processes whose changes are logged."""
    (folder / "disk").mkdir()
    return logging_environment(library, folder / "disk", folder / "log")


def _store_worked(library: Path, folder: Path, *, syncs: str) -> Worked:
    disk, log = folder / "disk", folder / "log"
    environment = _logging(library, folder)
    words = ("tests.crash.power_store", str(disk / "piecework.db"), syncs)
    ended = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line.split() for line in ended.stdout.splitlines()]
    return Worked(disk, power.read_log(log), [(word, key, int(at)) for word, key, at in lines])


def _market_worked(library: Path, folder: Path) -> Worked:
    disk, log = folder / "disk", folder / "log"
    environment = _logging(library, folder)
    database = str(disk / "market.db")
    more = ("--database", database, "--json")
    money = ("--balance", "1000.00")
    key = _document(environment, "market", "account", "add", "lab", *money, *more)
    invited = _document(environment, "market", "people", "invite", "ann", *more)
    code = invited["link"].partition("invitation=")[2]
    reports: list[tuple[str, str, int]] = []
    # Twice, so that the log is checkpointed between them.
    for _ in range(2):
        with _served(database, environment) as market, ThreadPoolExecutor(4) as pool:
            client = market.requester(key["access_key_id"])
            at_work = [pool.submit(_post, client, reports) for _ in range(3)]
            at_work += [pool.submit(_work, market, client, code, reports)]
            for work in at_work:
                work.result()
    return Worked(disk, power.read_log(log), reports)


@contextmanager
def _served(database: str, environment: dict[str, str]) -> Iterator[Market]:
    command = [*_COMMAND, "market", "serve", "--database", database, "--trust-local"]
    command += ["--port", "0", "--frames-port", "0"]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    ) as serving:
        try:
            assert serving.stdout is not None
            words = serving.stdout.readline().split()
            with closing(Market(words[2], words[5])) as market:
                yield market
        finally:
            serving.terminate()


def _document(environment: dict[str, str], *words: str) -> dict[str, str]:
    done = subprocess.run(
        [*_COMMAND, *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    document: dict[str, str] = json.loads(done.stdout)
    return document


def _post(client: "MTurkClient", reports: list[tuple[str, str, int]]) -> None:
    for _ in range(8):
        made = post(client, MaxAssignments=2, Question=LONG_QUESTION)
        reports.append(("posted", made["HITId"], time.monotonic_ns()))


def _work(
    market: Market, client: "MTurkClient", code: str, reports: list[tuple[str, str, int]]
) -> None:
    form = {"invitation": code}
    with httpx.Client(base_url=market.endpoint) as site:
        site.post("/worker/sign-in", data=form, headers={"accept": "text/html"})
        site.headers["accept"] = "application/json"
        for _ in range(8):
            group = post(client, Title="One of many")["HITGroupId"]
            taken = site.post(f"/worker/groups/{group}/accept").json()
            answer_form = {"assignmentId": taken["assignment_id"], "caption": "A bird."}
            site.post("/mturk/externalSubmit", data=answer_form).raise_for_status()
            reports.append(("submitted", taken["assignment_id"], time.monotonic_ns()))
