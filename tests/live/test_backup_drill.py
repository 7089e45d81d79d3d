"""The machine is lost under load, and its files come back from the bucket.

People do HITs on a live marketplace, a campaign makes passes, and both databases are
replicated to S3 as moto serves it. Then every process is killed as by a power cut, and
all files are deleted. What was acknowledged is compared with what comes back, and the
campaign continues to its end.
"""

import json
import os
import shutil
import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path

import click
import httpx
import pytest
from moto.server import ThreadedMotoServer

from piecework.campaign.assembling import load_campaign
from piecework.engine.opening import open_on_marketplace
from piecework.engine.run_pass import run_pass
from piecework.marketplace.state.accounts import Key
from piecework.simulation.crowd.browser import Page, read_page
from tests.backup.conftest import litestream_of, s3
from tests.campaign.exchange.conftest import S3
from tests.conftest import in_full
from tests.crash.apart import apart
from tests.crash.disturbed import Ended, ended, run_in_files
from tests.crash.people import _form
from tests.live.marketplace import InvitedPeople, LiveMarketplace, live_marketplace
from tests.live.test_live_campaigns import run_command_in
from tests.live.test_restores import Restorable
from tests.marketplace.market import free_port
from tests.marketplace.served_apart import Figures, scraped
from tests.small_campaign import CAMPAIGN, write_campaign

__all__ = ["s3"]

PATIENCE_SECONDS = 60.0
OUTPUTS = ("said.txt", "complained.txt")
STEADY = CAMPAIGN.replace("5.00", "2000000.00").replace("20.00", "90000.00")


@dataclass
class CommandUnderWay:
    """A command in a process of its own, which starts in milliseconds."""

    folder: Path
    process: BaseProcess

    @classmethod
    def begin(cls, folder: Path, *words: str, **variables: str) -> "CommandUnderWay":
        """Start it, with more variables; its output goes into files of the folder."""
        folder.mkdir(exist_ok=True)
        for name in OUTPUTS:
            (folder / name).write_text("")
        process = apart().Process(
            target=run_command_in, args=(folder, {**os.environ, **variables}, words)
        )
        process.start()
        return cls(folder, process)

    def wait_for(self, text: str) -> None:
        """Wait until it has printed this."""
        wait_for(
            lambda: (
                any(text in (self.folder / name).read_text() for name in OUTPUTS)
                or not self.process.is_alive()
            )
        )
        assert self.process.is_alive(), (self.folder / OUTPUTS[1]).read_text()

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.process.join()


@dataclass
class MarketplaceApart(LiveMarketplace):
    """The same marketplace, started in milliseconds."""

    command: CommandUnderWay | None = None

    def start(self) -> None:
        """Serve the file until `kill`; returns when it listens."""
        folder = self.database.parent / "serve"
        self.command = CommandUnderWay.begin(folder, "market", "serve", *self.options())
        self.command.wait_for("marketplace at")

    def kill(self) -> None:
        """End it as a power cut would."""
        assert self.command is not None
        self.command.kill()


@dataclass
class Drill(Restorable):
    """A campaign whose two databases are backed up.

    Attributes:
        metrics_port: where the marketplace's metrics are.
        writes_results: each pass writes dataset and report, as the command does, which
            takes most of the time of the last one.
        acknowledged: when the reply to each submission was read, by assignment.
    """

    metrics_port: int = 0
    writes_results: bool = True
    acknowledged: dict[str, float] = field(default_factory=dict)
    _under_way: str = ""
    _backing_up: CommandUnderWay | None = None

    def __post_init__(self) -> None:
        """Note which assignment each submission is for."""
        self.people.fill_in = self._fill_in

    def begin_backup_of_store(self) -> None:
        """`piecework store backup` beside the passes; returns when the store is copied."""
        self._backing_up = CommandUnderWay.begin(
            self.folder / "backup",
            *("store", "backup", str(self.store), "--to", "s3://results/store"),
        )
        self._backing_up.wait_for("has every commit")

    def advance(self) -> Ended:
        """One pass."""
        if self.writes_results:
            return super().advance()
        process = apart().Process(
            target=_make_pass, args=(self.folder, self.market.key, self.market.line.address)
        )
        process.start()
        return ended(process, self.folder)

    def figures(self) -> Figures:
        """The marketplace's metrics."""
        return scraped(f"http://127.0.0.1:{self.metrics_port}/metrics")

    def work_until_the_machine_is_lost(self) -> None:
        """People take HITs, one after another, until a reply does not come."""
        with suppress(httpx.HTTPError, ValueError, AssertionError):
            self.work()

    def lose_the_machine(self) -> None:
        """Kill every process at once, as a power cut does."""
        for path in (self.market.database, self.store):
            os.kill(litestream_of(path), signal.SIGKILL)
        self.market.kill()
        self.end_backup()

    def end_backup(self) -> None:
        """Kill `piecework store backup`, if it runs."""
        if self._backing_up is not None:
            self._backing_up.kill()
            self._backing_up = None

    def delete_files(self) -> None:
        """Delete both databases, and all that was beside them."""
        for path in (self.market.database, self.store):
            for file in path.parent.glob(f"{path.name}*"):
                if file.is_dir():
                    shutil.rmtree(file)
                else:
                    file.unlink()

    def restore(self, name: str, file: Path) -> str:
        """`piecework store restore`; what it prints."""
        done = self.command("store", "restore", f"s3://results/{name}", str(file))
        assert done.code == 0, done
        return done.output

    def restore_both(self) -> None:
        """Both files, which do not exist."""
        assert "restored the marketplace" in self.restore("market", self.market.database)
        assert "restored the store" in self.restore("store", self.store)

    def to_the_end(self) -> None:
        """Compare both, and continue; in the end the books agree."""
        done = self.campaign_command("store", "reconcile")
        assert done.code == 0, done
        self.until("nobody")
        self.pay()
        self.check()
        agreed = self.campaign_command("store", "reconcile")
        assert "store and marketplace agree" in agreed.output, agreed

    def _take_one(self, name: str) -> bool:
        is_done = super()._take_one(name)
        if is_done:
            self.acknowledged[self._under_way] = time.monotonic()
        return is_done

    def _fill_in(self, assignment_id: str, page: Page, manner: str) -> dict[str, str]:
        self._under_way = assignment_id
        return _form(assignment_id, page, manner)


def _make_pass(folder: Path, key: Key, endpoint: str) -> None:
    """A pass without results, in a process of its own."""
    os.environ["AWS_ACCESS_KEY_ID"] = key.access_key
    os.environ["AWS_SECRET_ACCESS_KEY"] = key.secret

    def work(folder: Path) -> None:
        loaded = load_campaign(folder / "crash.toml")
        with open_on_marketplace(loaded, endpoint, live=False) as run:
            progress = run_pass(run, poll_open_hits=True)
        click.echo(json.dumps({"waiting_for": progress.waiting_for}))

    run_in_files(folder, work, ())


@dataclass(frozen=True)
class Loss:
    """What a lost machine took with it.

    Attributes:
        submissions: acknowledged ones that did not come back.
        seconds: from the oldest of them to the end; 0 without any.
        commits: of the marketplace, that did not come back.
        lag_seconds: what the metric said just before.
    """

    submissions: int
    seconds: float
    commits: int
    lag_seconds: float


@pytest.fixture
def s3_endpoint() -> Iterator[str]:
    """A server with S3's interface for this drill alone.

    A marketplace that is killed leaves a Litestream that sends its last commits. On a
    server that drills share, it would write them among the files of the next one.
    """
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def drill(tmp_path: Path, s3: S3) -> Iterator[Drill]:
    """A campaign of four HITs, before its first pass."""
    del s3  # it has set the environment
    write_campaign(tmp_path, STEADY, pictures=8)
    port = free_port()
    words = ("--backup", "s3://results/market", "--metrics-port", str(port))
    with live_marketplace(tmp_path, *words, kind=MarketplaceApart) as market:
        people = InvitedPeople(market.line.address, codes=market.codes)
        drill = Drill(tmp_path, market, people, metrics_port=port)
        try:
            yield drill
        finally:
            drill.end_backup()


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it never came about"
        time.sleep(0.05)


def count(database: Path) -> int:
    """How many commits a database has counted."""
    with closing(sqlite3.connect(database)) as conn:
        return int(conn.execute("PRAGMA user_version").fetchone()[0])


def submitted(database: Path) -> set[str]:
    """The assignments that a marketplace has answers of."""
    with closing(sqlite3.connect(database)) as conn:
        rows = conn.execute("SELECT assignment_id FROM assignments WHERE answer <> ''")
        return {row[0] for row in rows}


def _is_replicated(drill: Drill) -> bool:
    figures = drill.figures()
    return figures["piecework_backup_running"] == 1 and figures["piecework_backup_lag_commits"] == 0


def _lose_and_restore(drill: Drill, after: int) -> Loss:
    """Lose the machine after this number of acknowledged submissions."""
    known = len(drill.acknowledged)
    working = threading.Thread(target=drill.work_until_the_machine_is_lost)
    working.start()
    wait_for(lambda: len(drill.acknowledged) >= known + after)
    lag_seconds = drill.figures()["piecework_backup_lag_seconds"]
    lost_at = time.monotonic()
    drill.lose_the_machine()
    working.join()
    commits = count(drill.market.database)
    drill.delete_files()
    drill.restore_both()
    commits -= count(drill.market.database)
    restored = submitted(drill.market.database)
    drill.market.start()
    lost = {name: at for name, at in drill.acknowledged.items() if name not in restored}
    # The metric was honest: all that was older than it said has come back.
    assert all(at > lost_at - lag_seconds - 1 for at in lost.values())
    return Loss(
        submissions=len(lost),
        seconds=max((lost_at - at for at in lost.values()), default=0.0),
        commits=commits,
        lag_seconds=lag_seconds,
    )


@pytest.mark.parametrize(
    ("after", "is_whole"), [(3, False), *in_full((1, True), (2, True), (3, True))]
)
def test_a_campaign_continues_after_its_machine_was_lost(
    drill: Drill, after: int, *, is_whole: bool
) -> None:
    """Nothing is posted or paid twice, and the books agree in the end."""
    drill.writes_results = is_whole
    made = drill.advance()
    assert made.code == 0, made
    drill.begin_backup_of_store()
    wait_for(lambda: _is_replicated(drill))
    loss = _lose_and_restore(drill, after)
    sys.stdout.write(f"{loss}\n")
    drill.to_the_end()


@pytest.mark.full
@pytest.mark.parametrize("seconds", [0.3, 0.8, 1.5])
def test_a_campaign_continues_after_its_machine_was_lost_during_a_pass(
    drill: Drill, seconds: float
) -> None:
    """The two replicas end at different moments, so either may know more."""
    made = drill.advance()
    assert made.code == 0, made
    drill.work()
    drill.begin_backup_of_store()
    wait_for(lambda: _is_replicated(drill))
    address = drill.market.line.address
    words = ("run", "--once", str(drill.folder / "crash.toml"), "--endpoint", address)
    key = drill.market.key
    passing = CommandUnderWay.begin(
        drill.folder / "pass",
        *words,
        AWS_ACCESS_KEY_ID=key.access_key,
        AWS_SECRET_ACCESS_KEY=key.secret,
    )
    time.sleep(seconds)
    drill.lose_the_machine()
    passing.kill()
    counts = {path: count(path) for path in (drill.market.database, drill.store)}
    drill.delete_files()
    drill.restore_both()
    for path, before in counts.items():
        sys.stdout.write(f"{path.name}: {before - count(path)} commits lost\n")
    drill.market.start()
    drill.to_the_end()


@dataclass
class Person:
    """An invited worker with a browser's session."""

    name: str
    client: httpx.Client
    assignment_id: str = ""
    form: dict[str, str] = field(default_factory=dict)

    def accept(self) -> None:
        """Take the first HIT that is offered, and fill it in."""
        groups = self.client.get("/worker/hits").json()["hit_groups"]
        [group, *_] = [group for group in groups if group["may_accept"]]
        accepted = self.client.post(f"/worker/groups/{group['hit_group_id']}/accept")
        self.assignment_id = accepted.raise_for_status().json()["assignment_id"]
        page = read_page(self.client.get(accepted.json()["frame_url"]).text)
        self.form = _form(self.assignment_id, page, "good")

    def submit(self) -> httpx.Response:
        """Send the form."""
        return self.client.post("/mturk/externalSubmit", data=self.form)


@contextmanager
def _person(drill: Drill, name: str) -> Iterator[Person]:
    asked = {"Accept": "application/json"}
    with httpx.Client(base_url=drill.market.line.address, timeout=30, headers=asked) as client:
        drill.people.sign_in(name, client)
        yield Person(name, client)


def _status(drill: Drill, assignment_id: str) -> str | None:
    with closing(sqlite3.connect(drill.market.database)) as conn:
        row = conn.execute(
            "SELECT status FROM assignments WHERE assignment_id = ?", [assignment_id]
        ).fetchone()
    return None if row is None else str(row[0])


@pytest.mark.full
def test_what_workers_and_requester_do_about_a_lost_submission(drill: Drill) -> None:
    """The replica stands still while two people submit; both saw an acknowledgement.

    Ann accepted before that, and bob after it. Ann can send her answer again. Bob's
    assignment is unknown: he gets his text back, and may do a HIT again. Nobody is paid
    twice, and bob can be compensated for what he did.
    """
    made = drill.advance()
    assert made.code == 0, made
    drill.begin_backup_of_store()
    with _person(drill, "ann") as ann, _person(drill, "bob") as bob:
        ann.accept()
        wait_for(lambda: _is_replicated(drill))
        os.kill(litestream_of(drill.market.database), signal.SIGSTOP)
        bob.accept()
        for person in (ann, bob):
            assert person.submit().status_code == httpx.codes.OK
        wait_for(lambda: drill.figures()["piecework_backup_lag_commits"] >= 2)
        drill.lose_the_machine()
        drill.delete_files()
        drill.restore_both()
        drill.market.start()

        assert _status(drill, ann.assignment_id) == "Accepted"
        again = ann.submit()
        assert again.status_code == httpx.codes.OK, again.text
        assert _status(drill, ann.assignment_id) == "Submitted"

        assert _status(drill, bob.assignment_id) is None
        refused = bob.submit()
        assert refused.status_code == httpx.codes.CONFLICT
        assert "not one of your assignments" in refused.text
        shown = bob.client.post(
            "/mturk/externalSubmit", data=bob.form, headers={"Accept": "text/html"}
        )
        assert bob.form["caption.1"] in shown.text
        bob.accept()
        assert bob.submit().status_code == httpx.codes.OK
    drill.to_the_end()
    paid = drill.market.books()["assignments"]
    assert len({each["assignment_id"] for each in paid}) == len(paid)
