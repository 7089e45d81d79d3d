"""One seeded run of store, marketplace, bridge and Prolific, in one process.

The seed draws what happens next, what is lost on the way, who is killed and where.
After every step the books of all four are read. Then faults end, people finish what
they hold, and the campaign has to come to its end with all books alike.
"""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

from offline_markets_tests.prolific.people import Researcher
from piecework.domain.errors import PieceworkError
from piecework.domain.progress import Progress
from piecework.marketplace.state.clock import to_ms
from tests.fault_simulation.laws import Books, BrokenLawError
from tests.fault_simulation.machine import simulated
from tests.fault_simulation.network import Call, Cut, Network, NotReached
from tests.fault_simulation.operator import Operator
from tests.fault_simulation.parts import (
    FRAMES,
    KEYS,
    PROLIFIC,
    SITE,
    OfflineProlific,
    Pipeline,
    Served,
    Time,
    terms_of,
)
from tests.fault_simulation.people import Person, SimulatedParticipant, SimulatedWorker
from tests.fault_simulation.process import Program
from tests.fault_simulation.requester import RequesterProgram
from tests.marketplace.market import Market
from tests.small_campaign import CAMPAIGN, write_campaign

ROUNDS = (40, 90)
MOST_DAYS = 60
CAPS = (100_000, 100_000, 1_500, 3_000)
"""At Prolific; the lower ones bind, and are raised in the end."""
_SHOWN_AFTER = ((0, 600), (0, 600), (300, 600), (3600, 4500))
"""After so many seconds Prolific shows a bonus, and so long none is paid at a start."""
_CONTROLS = ("/emulator/", "/rehearsal/")
_OPERATIONS = (
    "ApproveAssignment",
    "CreateHITWithHITType",
    "CreateAdditionalAssignmentsForHIT",
    "ListAssignmentsForHIT",
    "ListHITs",
    None,
)
_AT_PROLIFIC = (
    "bulk-approve-submissions",
    "create-bonus-payments",
    "create-study",
    "get-submissions",
    "pay-bonus-payments",
    "publish-study",
    "transition-submission",
    "update-study",
    None,
)


@dataclass
class Simulation:
    """A run, from its seed.

    Attributes:
        trace: what happened, a line each.
        progress: as the last pass told it.
    """

    folder: Path
    seed: int
    say: Callable[[str], None] = lambda _: None
    trace: list[str] = field(default_factory=list)
    progress: Progress | None = None
    steps: int = 0
    deaths: int = 0
    _is_disturbed: bool = True
    _is_between: bool = False
    _looks_at: timedelta = timedelta()
    _copies: dict[Path, list[Path]] = field(default_factory=dict)

    def run(self) -> None:
        """All of it.

        Raises:
            BrokenLawError: a law is broken.
        """
        self.rng, self.time = Random(self.seed), Time()  # noqa: S311 - no secret
        self.network = Network(self)
        self.time.meanwhile = self._while_waiting
        self.has_participants = self.rng.random() < 0.75
        with (
            simulated(self.network, self.time, Random(self.seed + 2**32)),  # noqa: S311 - none
            ExitStack() as stack,
        ):
            self._begin(stack)
            self._disturbed_part()
            self._quiet_part()

    def tell(self, sentence: str) -> None:
        """Keep and print what happens."""
        line = f"{self.time.passed.total_seconds() / 3600:9.2f} h  {sentence}"
        self.trace.append(line)
        self.say(line)

    def _begin(self, stack: ExitStack) -> None:
        self._write_campaign()
        terms = None
        self.settling_seconds, pause = self.rng.choice(_SHOWN_AFTER)
        prolific = OfflineProlific(self.network, self.time, balance=1_000_000)
        stack.callback(prolific.close)
        if self.has_participants:
            terms = terms_of(
                prolific,
                spend_at_most_cents=self.rng.choice(CAPS),
                hits_per_visit=self.rng.choice((0, 1, 2, 2)),
                screen_out_cents=self.rng.choice((0, 0, 20)),
                settle_seconds=self.rng.choice((0, 0, 30)),
                bonus_pause_seconds=pause,
            )
        database = self.folder / "market.db"
        self.served = Served(self.network, self.time, database, self._died, terms)
        stack.callback(self.served.clear)
        self._is_disturbed = False
        self.served.start()
        self._is_disturbed = True
        self.pipeline = Pipeline(self.folder / "crash.toml", self.time, self._died)
        self.researcher = Researcher(f"http://{PROLIFIC}")
        stack.callback(self.researcher.http.close)
        self._draw_switches()
        self.market = Market(f"http://{SITE}", f"http://{FRAMES}")
        stack.callback(self.market.close)
        # A live marketplace has its requesters before anything is copied.
        self._is_disturbed = False
        for key in (KEYS.access_key, "LAB0", "LAB1"):
            self.market.requester(key).get_account_balance()
        self._is_disturbed = True
        self.programs = [
            RequesterProgram(f"LAB{number}", self.market, self.rng, self)
            for number in range(self.rng.choice((1, 1, 2)))
        ]
        self.people: list[Person] = []
        for _ in range(self.rng.randint(4, 7)):
            self._new_person()
        self.books = Books(
            self.served,
            self.pipeline.store,
            self.researcher.books,
            self.programs,
            prolific.messages,
            lambda: to_ms(self.time.latest_believed()),
        )
        self.operator = Operator(self.served, self.books, self.rng, self)
        kind = "participants" if self.has_participants else "workers"
        cap = terms.spend_at_most_cents if terms else 0
        self.tell(f"seed {self.seed}: {len(self.people)} {kind}, cap {cap}, {terms}")

    def _draw_switches(self) -> None:
        """Prolific is as its document says, or as others saw it."""
        drawn = {
            "publishing_seconds": self.rng.choice((0, 0, 600)),
            "settling_seconds": self.settling_seconds,
            "stop_awaits_review": self.rng.random() < 0.3,
            "rejection_pauses": self.rng.random() < 0.5,
            "publishes_at_once": self.rng.random() < 0.3,
            "unreject": self.rng.random() < 0.7,
            "late_completion": self.rng.random() < 0.2,
            "errors": self.rng.choice(("documented", "bare")),
        }
        self.researcher.control("PUT", "/switches", drawn)

    def _write_campaign(self) -> None:
        text = CAMPAIGN
        if self.has_participants:
            text = text.replace('reward = "', 'reward = "£')
        hours = self.rng.choice((24, 72, 720))
        text = text.replace("[posting]", f"[posting]\nauto_approval_hours = {hours}")
        write_campaign(self.folder, text)

    def _new_person(self) -> Person:
        person: Person
        if self.has_participants:
            self._is_disturbed, was_disturbed = False, self._is_disturbed
            person = SimulatedParticipant(f"http://{SITE}", self.researcher, self.rng, self)
            self._is_disturbed = was_disturbed
        else:
            person = self._new_worker(len(self.people))
        self.people.append(person)
        return person

    def _new_worker(self, number: int) -> SimulatedWorker:
        """Somebody who signs in; under the same number they are the same again."""
        self._is_disturbed, was_disturbed = False, self._is_disturbed
        worker = SimulatedWorker(f"http://{SITE}", f"w{number}", self.rng, self)
        self._is_disturbed = was_disturbed
        return worker

    # What people and programs tell.

    def sent_in(self, assignment_id: str) -> None:
        """An answer was acknowledged."""
        self.books.acknowledged.add(assignment_id)

    def _died(self, sentence: str) -> None:
        self.deaths += 1
        self.tell(sentence)

    # What becomes of calls.

    def before(self, call: Call) -> None:
        """Time passes, others act, and the call may be lost."""
        if any(part in call.address for part in _CONTROLS):
            return
        self.time.let_pass(self.rng.uniform(0.01, 0.3))
        if not self._is_disturbed:
            return
        if call.caller and self.rng.random() < 0.04:
            self._let_others_act()
        if self.rng.random() < (0.03 if call.is_spending else 0.008):
            self.tell(f"lost: the request {call}")
            raise NotReached

    def after(self, call: Call) -> None:
        """The reply may be lost."""
        if not self._is_disturbed or any(part in call.address for part in _CONTROLS):
            return
        if self.rng.random() < (0.06 if call.is_spending else 0.012):
            self.tell(f"lost: the reply to {call}")
            raise Cut

    def _while_waiting(self) -> None:
        """A marketplace that is away may come back while it is waited for."""
        waiting = Program.current()
        if waiting is self.served.program or not self._is_disturbed:
            return  # A bridge that was killed meanwhile does not start itself.
        if not self.served.is_up and self.rng.random() < 0.1:
            self._between(self._start_marketplace)

    def _let_others_act(self) -> None:
        """Something happens while a program waits for a reply."""
        act = self.rng.choice((self._a_person, self._a_program, self._kill))
        self._between(act)

    def _between(self, act: Callable[[], None]) -> None:
        """Do what is no part of the program at work."""
        if self._is_between or (self.served.loop and self.served.loop.is_busy):
            return
        running, Program.running[:] = [*Program.running], []
        self._is_between = True
        try:
            act()
        finally:
            self._is_between = False
            Program.running[:] = running

    # What happens.

    def _disturbed_part(self) -> None:
        events: list[tuple[int, Callable[[], None]]] = [
            (4, self._pass),
            (7 if self.has_participants else 0, self._bridge),
            (2 if self.has_participants else 0, self._operate),
            (20, self._a_person),
            (18, self._a_program),
            (4, self._minutes),
            (2, self._hours),
            (1, self._day),
            (1, self._script),
            (1, self._unscript),
            (1, self._clock),
            (1, self._heed_the_clock),
            (1, self._kill),
            (1, self._doom),
            (2, self._copy),
            (2, self._restore),
        ]
        weights = [weight for weight, _ in events]
        for _ in range(self.rng.randint(*ROUNDS)):
            [(_, event)] = self.rng.choices(events, weights)
            event()
            self.steps += 1
            if not self.served.is_up and self.rng.random() < 0.6:
                self._start_marketplace()
            self.books.check()

    def _start_marketplace(self) -> None:
        doom = self.rng.randint(1, 6) if self._is_disturbed and self.rng.random() < 0.1 else None
        self.served.start(doom)
        if self.served.is_up:
            self.served.program.steps_left = None
            self.tell("the marketplace is started again")

    def _steps_left(self, likely: float, most: int) -> int | None:
        if self._is_disturbed and self.rng.random() < likely:
            return self.rng.randint(1, most)
        return None

    def _pass(self) -> None:
        try:
            progress = self.pipeline.make_pass(self._steps_left(0.3, 70))
        except PieceworkError as fault:
            self.tell(f"a pass ends with a sentence: {str(fault)[:150]}")
            if "piecework store reconcile" in fault.next_step:
                self._reconcile()
            elif not self._is_disturbed:
                raise
            return
        if progress is not None:
            self.progress = progress
            self.tell(f"a pass: waiting for {progress.waiting_for}")

    def _reconcile(self) -> None:
        """A person gives the command that the pass has named."""
        try:
            is_done = self.pipeline.reconcile(self._steps_left(0.3, 70))
        except PieceworkError as fault:
            self.tell(f"reconcile ends with a sentence: {str(fault)[:150]}")
            if not self._is_disturbed:
                raise
            return
        if is_done:
            self.books.is_restored = False
            self.tell("store and marketplace are reconciled")

    def _bridge(self) -> None:
        if not self.served.is_up:
            return
        self.served.program.steps_left = self._steps_left(0.25, 30)
        has_changed = self.served.step()
        self.served.program.steps_left = None
        if has_changed and self.served.bridge is not None:
            self.tell(f"a step of the bridge {self.served.bridge.faults or ''}")
        self._note_comparison()

    def _note_comparison(self) -> None:
        bridge = self.served.bridge
        self.books.is_compared |= bridge is not None and bridge.is_compared

    def _operate(self) -> None:
        """A person does what the marketplace's announcements name."""
        self.operator.act(self._steps_left(0.25, 20))

    def _a_person(self) -> None:
        person = self.rng.choice(self.people)
        for _ in range(self.rng.choice((1, 2, 4, 6))):
            person.act()

    def _a_program(self) -> None:
        self.rng.choice(self.programs).act()

    def _minutes(self) -> None:
        self._let_pass(self.rng.uniform(1, 25) * 60)

    def _hours(self) -> None:
        self._let_pass(self.rng.uniform(1, 10) * 3600)

    def _day(self) -> None:
        self._let_pass(self.rng.uniform(1, 4) * 24 * 3600)
        self.tell("days pass")

    def _let_pass(self, seconds: float) -> None:
        self.time.let_pass(seconds)
        self.served.keep_time()

    def _kill(self) -> None:
        if self.served.is_up:
            self._died("the marketplace is killed between two calls")
            self.served.kill()

    def _doom(self) -> None:
        """The marketplace dies at some commit or call of the next requests."""
        if self.served.is_up:
            self.served.program.steps_left = self.rng.randint(1, 12)

    def _script(self) -> None:
        """The servers themselves fail by a script, until the next one."""
        first = {"call": self.rng.randint(1, 4), "times": self.rng.randint(1, 8)}
        if self.has_participants and self.rng.random() < 0.6:
            kind = self.rng.choice(
                ("throttle", "refuse", "server_error", "bad_gateway", "lose_reply", "lag")
            )
            fault: dict[str, Any] = {"kind": kind, **first}
            if kind == "lag":
                # A list that lags hides a study that the file lacks, too.
                seconds = 3600 if self.books.is_compared else 0
                fault = {"kind": kind, "seconds": seconds}
            else:
                fault["operation"] = self.rng.choice(_AT_PROLIFIC)
            self.researcher.control("PUT", "/faults", [fault])
            self.tell(f"at Prolific: {fault}")
            return
        kind = self.rng.choice(("throttle", "server_error", "lose_reply", "lag"))
        fault = {"kind": kind, **first}
        if kind == "lag":
            fault = {"kind": kind, "seconds": 3600}
        else:
            fault["operation"] = self.rng.choice(_OPERATIONS)
        if self.served.is_up:
            self.market.set_faults(fault)
            self.tell(f"at the marketplace: {fault}")

    def _unscript(self) -> None:
        self.researcher.control("PUT", "/faults", [])
        if self.served.is_up:
            self.market.set_faults()

    def _clock(self) -> None:
        """A machine's clock is set wrong, or right again."""
        program = self.rng.choice(("pipeline", Served.NAME))
        hours = self.rng.choice((0, 0, -1, -26, 1, 26, 120))
        self.time.set_clock(program, timedelta(hours=hours))
        self.tell(f"the clock of the {program} is {hours:+} h off")
        self.served.keep_time()

    def _heed_the_clock(self) -> None:
        """A person reads that the marketplace doubts its clock, and looks at it."""
        if not self.served.doubts_the_clock:
            return
        if not self.time.is_right(Served.NAME):
            self.time.set_clock(Served.NAME, timedelta())
            self.tell("a person sets the marketplace's clock right")
            self.served.keep_time()
            return
        self.served.start(clock_is_right=True)
        self.tell("a person says that the marketplace's clock is right")

    def _copy(self) -> None:
        """A copy of each file is put away, as a nightly job does."""
        for file in self._restorable():
            # A store of which nothing was kept yet is not continued from: its pass is refused.
            if file.exists() and (file != self.pipeline.store or _is_named(file)):
                copies = self._copies.setdefault(file, [])
                copies.append(self.folder / f"{file.stem}-{len(copies)}.copy")
                copy_database(file, copies[-1])
                self.tell(f"{copies[-1].name} is put away")

    def _restorable(self) -> list[Path]:
        return [self.pipeline.store, self.served.database]

    def _restore(self) -> None:
        """One file, or each, is put back to a copy of some age."""
        for file, copies in self._copies.items():
            if self.rng.random() < 0.7:
                self._put_back(file, self.rng.choice(copies))

    def _put_back(self, file: Path, copy: Path) -> None:
        if file == self.served.database:
            self.served.kill()
            self.served.clear()
        for suffix in ("", "-wal", "-shm"):
            file.with_name(file.name + suffix).unlink(missing_ok=True)
        shutil.copyfile(copy, file)
        self.tell(f"{file.name} is put back to {copy.name}")
        if file == self.served.database:
            self._forget_with_the_marketplace()

    def _forget_with_the_marketplace(self) -> None:
        """What came after its copy was made is lost; people and programs learn it."""
        self.books.forget_what_is_lost()
        self.researcher.control("PUT", "/faults", [])
        self.served.start()
        workers = [each for each in self.people if isinstance(each, SimulatedWorker)]
        for number, before in enumerate(workers):
            again = self._new_worker(number)
            again.go_on_with(before.accepted, self.books.assignments("Accepted"))
            self.people[number] = again
        for person in self.people:
            if isinstance(person, SimulatedParticipant):
                person.forget_what_is_lost(self.books.assignments())

    # The end.

    def _quiet_part(self) -> None:
        """Faults end; what is under way comes to its end."""
        self.tell("quiet from here on")
        self._is_disturbed = False
        self.time.set_all_right()
        self.served.program.steps_left = None
        if self.has_participants:
            self.served.clear()
            self.served.change_terms(spend_at_most_cents=max(CAPS))
        if not self.served.is_up:
            self._start_marketplace()
        self._heed_the_clock()
        self._unscript()
        for person in self.people:
            person.finish()
        for _ in range(MOST_DAYS):
            if self._a_quiet_day():
                break
        else:
            raise BrokenLawError(
                f"after {MOST_DAYS} days there is no end: {self.progress}, "
                f"{self.books.unsettled() if self.has_participants else ''}"
            )
        if self.has_participants:
            self.operator.compare()
        self.books.check_end()
        self.tell("all books agree")

    def _a_quiet_day(self) -> bool:
        """Passes, steps and people until nothing moves; whether all is at its end."""
        for _ in range(6):
            self._settle()
            if not self._is_finished or self.time.passed >= self._looks_at:
                self._looks_at = self.time.passed + timedelta(days=5)
                self._pass()
            for program in self.programs:
                program.finish()
            self._settle()
            if not self._answer_all():
                break
        self._settle()
        if self.has_participants:
            self.operator.act(is_steady=True)
        self.books.check()
        if self._is_finished and not (self.has_participants and self.books.unsettled()):
            self._pass()
            return self._is_finished
        self._let_pass(26 * 3600)
        return False

    @property
    def _is_finished(self) -> bool:
        return self.progress is not None and self.progress.is_finished

    def _settle(self) -> None:
        if not self.has_participants:
            return
        for _ in range(40):
            is_done = not self.served.step()
            self._note_comparison()
            if is_done:
                return
        assert self.served.bridge is not None
        raise BrokenLawError(f"the bridge does not settle: {self.served.bridge.faults}")

    def _answer_all(self) -> bool:
        """New people do well what is offered, one HIT or visit each; whether any is."""
        for number in range(6):
            person: Any = self._new_person()
            if not person.take():
                self.people.pop()
                return number > 0
            person.finish()
        return True


def _is_named(store: Path) -> bool:
    with closing(sqlite3.connect(store)) as database:
        return database.execute("SELECT name FROM bound").fetchone()[0] is not None


def copy_database(database: Path, to: Path) -> None:
    """Copy a database as of its last commit."""
    with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(to)) as target:
        source.backup(target)
