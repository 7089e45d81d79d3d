"""The programs of a simulation, each made from its file as often as it is started."""

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from offline_markets.core.clock import to_ms
from offline_markets.prolific.app import Emulator
from offline_markets.prolific.options import Options
from offline_markets.prolific.state import State
from offline_markets.prolific.workspaces import make_account
from piecework.campaign.assembling import load_campaign
from piecework.campaign.opened import CampaignRun
from piecework.domain.progress import Progress
from piecework.engine.opening import open_on_marketplace
from piecework.engine.recover.reconcile import reconcile
from piecework.engine.run_pass import run_pass
from piecework.foundation.client.transport import Patience, Transport
from piecework.marketplace.http.options import Marketplace
from piecework.marketplace.http.server import _prepared
from piecework.marketplace.state import outside_crowd
from piecework.marketplace.state.backend import Backend, Rules, rules_of
from piecework.marketplace.state.clock import AGREEMENT, SHORT
from piecework.marketplace.state.money import MTURK, PriceList
from piecework.marketplace.state.outside_crowd import OutsideMarket
from piecework.markets.prolific.bridge.bridge import NAME, Bridge, Terms
from piecework.markets.prolific.bridge.serving import ProlificCrowd, step
from piecework.markets.prolific.bridge.status import last_start, price_list
from piecework.markets.prolific.calling import Token
from piecework.markets.prolific.client import Prolific
from piecework.platforms.endpoint import Credentials
from tests.fault_simulation.network import AtOnce, InOneGo, Network, OnALoop
from tests.fault_simulation.process import Killed, Program
from tests.marketplace.market import START
from tests.markets.prolific.bridge.town import TERMS

SITE, FRAMES, PROLIFIC = "127.0.0.1:8001", "127.0.0.1:8002", "127.0.0.1:8003"
KEYS = Credentials(access_key="PIPELINE", secret_key="pipeline")  # noqa: S106 - opens nothing
AGREED_CENTS = 2_000


class Time:
    """The true time, and the machines' clocks, which may be off.

    Attributes:
        passed: since the beginning.
        meanwhile: happens while a program waits.
    """

    def __init__(self) -> None:
        self.passed = timedelta()
        self.meanwhile: Callable[[], None] = lambda: None
        self._off: dict[str, timedelta] = {}
        self._set_at = timedelta()
        self._latest = START

    def now(self) -> datetime:
        """The true moment."""
        return START + self.passed

    def sleep(self, seconds: float) -> None:
        """A program waits, and something may happen meanwhile."""
        self.let_pass(seconds)
        self.meanwhile()

    def let_pass(self, seconds: float) -> None:
        """Let time pass."""
        self.passed += timedelta(seconds=seconds)

    def monotonic(self) -> float:
        """Seconds that only grow, whatever a clock says."""
        return self.passed.total_seconds()

    def of(self, program: str) -> datetime:
        """The moment by a program's clock."""
        return self.now() + self._off.get(program, timedelta())

    def set_clock(self, program: str, off: timedelta) -> None:
        """Set the clock of a program's machine so far off."""
        self.latest_believed()
        if self._off.get(program, timedelta()) != off:
            self._off[program], self._set_at = off, self.passed

    def set_all_right(self) -> None:
        """Set all clocks right."""
        for program in tuple(self._off):
            self.set_clock(program, timedelta())

    def is_right(self, program: str) -> bool:
        """Whether a program's clock tells the true time."""
        return not self._off.get(program)

    def latest_believed(self) -> datetime:
        """The latest moment that a marketplace may ever have believed.

        It believes a short jump ahead some minutes after it, and no other.
        """
        off = self._off.get(Served.NAME, timedelta())
        is_short = timedelta() < off <= timedelta(milliseconds=SHORT)
        since = self.passed - self._set_at
        if is_short and since >= timedelta(milliseconds=AGREEMENT):
            self._latest = max(self._latest, self.now() + off)
        return max(self._latest, self.now())


@dataclass(frozen=True, slots=True)
class ClockOf:
    """The clock of a program's machine."""

    time: Time
    program: str

    def now(self) -> datetime:
        """The moment that it tells."""
        return self.time.of(self.program)


class OfflineProlific:
    """Prolific, which is never killed and whose clock is true."""

    def __init__(self, network: Network, time: Time, *, balance: int) -> None:
        options = Options(seed=1, currency="GBP", start=START, clock_runs=True, balance=balance)
        self.state = State(options, lambda: to_ms(time.now()))
        with self.state.transaction():
            make_account(self.state, options.balance)
        network.servers[PROLIFIC] = InOneGo(Emulator(self.state).app())

    def messages(self) -> Counter[tuple[str, str]]:
        """The messages that came, by participant and first line."""
        rows = self.state.rows("SELECT recipient_id, body FROM message")
        return Counter((row["recipient_id"], row["body"].partition("\n")[0]) for row in rows)

    def close(self) -> None:
        """Forget all of it."""
        self.state.close()


class _Log(logging.Handler):
    """What a program's log says of its clock and of Prolific."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line."""
        self.lines.append(record.getMessage())


class Served:
    """The marketplace, and the bridge in the same process if there is one."""

    NAME = "marketplace"

    def __init__(
        self,
        network: Network,
        time: Time,
        database: Path,
        tell: Callable[[str], None],
        terms: Terms | None,
    ) -> None:
        self.network, self.time, self.database = network, time, database
        self.tell, self.terms = tell, terms
        self.prices: PriceList = MTURK
        self.program = Program(self.NAME, tell, is_dead=True)
        self.bridge: Bridge | None = None
        self.loop: OnALoop | None = None
        self._open = ExitStack()
        self._log = _Log()
        self._each_minute: Callable[[], None] = lambda: None

    @property
    def is_up(self) -> bool:
        """Whether it answers."""
        return self.loop is not None and not self.program.is_dead

    @property
    def doubts_the_clock(self) -> bool:
        """Whether its log asks a person to confirm the clock, or to set it."""
        lines = [line for line in self._log.lines if "the clock" in line]
        return bool(lines) and "--clock-is-right" in lines[-1]

    def start(self, steps_left: int | None = None, *, clock_is_right: bool = False) -> None:
        """Start it on its file; it may be killed while it starts."""
        self.clear()
        self.program = Program(self.NAME, self.tell, steps_left)
        try:
            with self.program.at_work():
                self._start(clock_is_right=clock_is_right)
        except Killed:
            self.clear()

    def keep_time(self) -> None:
        """What it does each minute."""
        if self.loop is not None and self.is_up:
            with suppress(Killed):
                self.loop.run(self._keep_time())

    async def _keep_time(self) -> None:
        self._each_minute()

    def _start(self, *, clock_is_right: bool) -> None:
        crowd = None
        logger = logging.getLogger("piecework.marketplace.state.clock")
        self._log = _Log()
        logger.addHandler(self._log)
        self._open.callback(logger.removeHandler, self._log)
        if self.terms is not None:
            clients = [self._client(self._open, tries=2) for _ in range(2)]
            if self.prices is MTURK:
                self.prices = price_list(clients[0], "GBP")
            complete = f"http://{PROLIFIC}/submissions/complete"
            crowd = ProlificCrowd(clients[1:], complete, pool=AtOnce())
        rules = Rules(rehearsal=True, seed=7, start=START, clock_runs=True, prices=self.prices)
        server, _, _ = self._open.enter_context(
            _prepared(
                Marketplace(
                    self.database,
                    rehearsal=True,
                    seed=7,
                    start=START,
                    clock_runs=True,
                    prices=self.prices,
                    port=int(SITE.rpartition(":")[2]),
                    frames_port=int(FRAMES.rpartition(":")[2]),
                    crowds=() if crowd is None else (crowd,),
                    clock_is_right=clock_is_right,
                )
            )
        )
        each_minute = server._each_minute
        assert each_minute is not None
        self._each_minute = each_minute
        app: Any = server.config.app
        self.loop = OnALoop(app, self.program)
        if self.terms is not None:
            backend = Backend(self.database, rules)
            self._open.callback(backend.close)
            with backend.transaction() as transaction:
                outside_crowd.claim(
                    transaction, OutsideMarket(name=NAME, title="Prolific", prices=self.prices)
                )
                last_start(f"http://{PROLIFIC}", self.terms).keep(transaction)
            self.bridge = Bridge(backend, self._client(self._open, tries=3), self.terms)
        self.network.servers[SITE] = self.network.servers[FRAMES] = self.loop

    def _client(self, stack: ExitStack, *, tries: int) -> Prolific:
        wire = Transport(
            f"http://{PROLIFIC}",
            Token("rehearsal-token"),
            patience=Patience(tries=tries),
            sleep=self.time.sleep,
        )
        stack.callback(wire.close)
        return Prolific(wire)

    def change_terms(self, **changes: object) -> None:
        """Serve it on other terms, from the next start on."""
        assert self.terms is not None
        self.terms = replace(self.terms, **changes)  # type: ignore[arg-type]

    def step(self) -> bool:
        """Make a step of the bridge; whether it changed anything or is to go on."""
        assert self.bridge is not None
        try:
            with self.program.at_work():
                return step(self.bridge) or bool(self.bridge.faults)
        except Killed:
            return True

    @contextmanager
    def command(self, steps_left: int | None = None) -> Iterator[Bridge]:
        """What a command on its file works with, which may be killed meanwhile."""
        assert self.terms is not None
        program = Program("prolific command", self.tell, steps_left)
        try:
            with program.at_work(), ExitStack() as stack:
                rules = replace(rules_of(self.database), prices=self.prices)
                backend = stack.enter_context(closing(Backend(self.database, rules)))
                yield Bridge(backend, self._client(stack, tries=3), self.terms)
        except BaseException:
            if not program.is_dead:
                raise
        finally:
            program.bury()

    def kill(self) -> None:
        """End it as a power cut ends a process."""
        self.program.kill()

    def clear(self) -> None:
        """Throw away what it had in memory; end it in order if it lives."""
        if self.loop is not None:
            self.network.servers.pop(SITE, None)
            self.network.servers.pop(FRAMES, None)
            self.loop.close()
        self.loop = self.bridge = None
        self.program.steps_left = None
        with suppress(Killed), self.program.at_work():
            self._open.close()
        self._open = ExitStack()
        self.program.bury()


def terms_of(prolific: OfflineProlific, **changes: object) -> Terms:
    """The terms of a bridge, at the one workspace there."""
    row = prolific.state.row(
        "SELECT workspace.id AS workspace, project.id AS project FROM workspace "
        "JOIN project ON project.workspace_id = workspace.id"
    )
    assert row is not None
    fields: dict[str, Any] = {
        **TERMS,
        "workspace_id": row["workspace"],
        "project_id": row["project"],
        "site_url": f"https://{SITE}",
        "currency": "GBP",
        **changes,
    }
    return Terms(**fields)


class Pipeline:
    """The pipeline: a program for each pass."""

    NAME = "pipeline"

    def __init__(self, campaign: Path, time: Time, tell: Callable[[str], None]) -> None:
        self.campaign, self.time, self.tell = campaign, time, tell
        self.out = load_campaign(campaign).out

    @property
    def store(self) -> Path:
        """The file of its store."""
        return self.out / "piecework.db"

    def make_pass(self, steps_left: int | None = None) -> Progress | None:
        """Make a pass; how far the campaign is, or `None` if the pass was killed.

        Raises:
            PieceworkError: it failed with a sentence.
        """
        program = Program(self.NAME, self.tell, steps_left)
        try:
            with program.at_work(), self._opened() as run:
                return run_pass(run, poll_open_hits=True)
        except BaseException:
            if program.is_dead:
                return None
            raise
        finally:
            program.bury()

    def reconcile(self, steps_left: int | None = None) -> bool:
        """Give the command that a pass has named; whether it came to its end."""
        program = Program("reconcile", self.tell, steps_left)
        try:
            with program.at_work(), self._opened(allow_restored=True) as run:
                return not reconcile(run, dry_run=False).refused
        except BaseException:
            if program.is_dead:
                return False
            raise
        finally:
            program.bury()

    @contextmanager
    def _opened(self, *, allow_restored: bool = False) -> Iterator[CampaignRun]:
        """The campaign, opened as a command opens it."""
        with open_on_marketplace(
            load_campaign(self.campaign),
            f"http://{SITE}",
            live=True,
            spend_at_most_cents=AGREED_CENTS,
            credentials=KEYS,
            allow_restored=allow_restored,
        ) as run:
            yield replace(run, most_calls=1)
