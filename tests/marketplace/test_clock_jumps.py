"""A clock that jumps ahead pays, ends and deletes nothing by itself."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from piecework.cli.main import main
from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.http.server import Marketplace, serve
from piecework.marketplace.requester.api import perform_operation
from piecework.marketplace.state import accounts, backend, clock
from piecework.marketplace.state.backend import Backend, Rules
from piecework.marketplace.state.clock import AGREEMENT, PLAUSIBLE, SHORT, Moment, WatchedClock
from piecework.marketplace.workers import invitations
from tests.marketplace.market import HIT_TYPE, QUESTION

NOON = 1_800_000_000_000
MINUTE = 60 * clock.SECOND
APPROVED_AFTER = timedelta(days=2)


@dataclass
class Clocks:
    """What the machine's two clocks say; the test moves them."""

    machine_ms: int = NOON
    steady_ms: int = 5_000

    def pass_by(self, **duration: float) -> None:
        """Time passes, and both clocks count it."""
        passed = timedelta(**duration) // timedelta(milliseconds=1)
        self.machine_ms += passed
        self.steady_ms += passed

    def jump(self, **duration: float) -> None:
        """The machine's clock is set; the steady one is not."""
        self.machine_ms += timedelta(**duration) // timedelta(milliseconds=1)


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    """The two clocks of this process's marketplaces."""
    clocks = Clocks()
    monkeypatch.setattr(clock, "machine_ms", lambda: clocks.machine_ms)
    monkeypatch.setattr(backend, "steady_ms", lambda: clocks.steady_ms)
    return clocks


@dataclass
class Town:
    """A live marketplace, a signed-in worker, and a requester.

    Attributes:
        database: its file.
        url: of the site, where it is served.
        cookie: of the worker.
        key: the requester's access key.
        hits: that the requester has posted.
    """

    database: Path
    cookie: str
    key: str
    hits: list[dict[str, Any]]
    url: str = ""

    def get(self, path: str) -> httpx.Response:
        """A page of the site, as the worker asks for it."""
        return httpx.get(f"{self.url}{path}", headers=self._headers)

    def post(self, path: str, **form: str) -> httpx.Response:
        """A form of the site, sent by the worker."""
        return httpx.post(f"{self.url}{path}", data=form, headers=self._headers)

    def accept(self, hit: dict[str, Any]) -> str:
        """Take a HIT; the assignment's id."""
        way = f"/worker/groups/{hit['HITGroupId']}/accept"
        reply = self.post(way, hit_id=hit["HITId"])
        assert reply.status_code == 201, reply.text
        return str(reply.json()["assignment_id"])

    def submit(self, assignment_id: str) -> None:
        """Send its answer."""
        reply = self.post("/mturk/externalSubmit", assignmentId=assignment_id, caption="A bird.")
        assert reply.status_code == 200, reply.text

    def work(self, hit: dict[str, Any]) -> str:
        """Take a HIT and send its answer; the assignment's id."""
        assignment_id = self.accept(hit)
        self.submit(assignment_id)
        return assignment_id

    def ask(self, operation: str, **members: object) -> dict[str, Any]:
        """A call of the requester's, by another process."""
        with closing(Backend(self.database, Rules())) as beside:
            return perform_operation(beside, self.key, operation, members)

    def status(self, assignment_id: str) -> str:
        """Of an assignment."""
        document = self.ask("GetAssignment", AssignmentId=assignment_id)
        return str(document["Assignment"]["AssignmentStatus"])

    @property
    def _headers(self) -> dict[str, str]:
        return {"Cookie": f"worker_session={self.cookie}", "Accept": "application/json"}


@pytest.fixture
def town(tmp_path: Path, clocks: Clocks) -> Town:
    """Four HITs of 30 days; work is approved after two."""
    del clocks
    database = tmp_path / "live.db"
    with closing(Backend(database, Rules())) as made:
        with made.transaction() as transaction:
            key = accounts.give_key(transaction, "lab", deposit_cents=10_000).access_key
            new = accounts.NewWorker(handle="ann", country="DE")
            code = invitations.invite(transaction, new, lifetime_ms=clock.DAY).code
        hits = [
            perform_operation(
                made,
                key,
                "CreateHIT",
                {
                    **HIT_TYPE,
                    "AutoApprovalDelayInSeconds": int(APPROVED_AFTER.total_seconds()),
                    "AssignmentDurationInSeconds": 3600,
                    "LifetimeInSeconds": 30 * 86_400,
                    "Question": QUESTION,
                },
            )["HIT"]
            for _ in range(4)
        ]
    with serve(Marketplace(database, trust_local=True)) as running:
        entered = httpx.post(f"{running.endpoint_url}/worker/sign-in", data={"invitation": code})
    cookie = entered.headers["set-cookie"].partition(";")[0].partition("=")[2]
    return Town(database, cookie, key, hits)


@contextmanager
def served(town: Town, *, clock_is_right: bool = False) -> Iterator[Town]:
    """The marketplace of the town, in a thread."""
    with serve(
        Marketplace(town.database, trust_local=True, clock_is_right=clock_is_right)
    ) as running:
        town.url = running.endpoint_url
        yield town


def test_a_clock_400_days_ahead_changes_nothing_while_work_goes_on(
    town: Town, clocks: Clocks
) -> None:
    """Pages are looked at, work comes in, and then somebody sets the clock right."""
    with served(town):
        waiting = town.work(town.hits[0])
        begun = town.accept(town.hits[1])
        clocks.jump(days=400)
        # Her session, her work and the list are as they were.
        assert town.get("/worker/hits").status_code == 200
        town.submit(begun)
        later = town.work(town.hits[2])
        for assignment_id in (waiting, begun, later):
            assert town.status(assignment_id) == "Submitted"
        clocks.pass_by(days=1)
        assert town.get("/worker/hits").status_code == 200
        clocks.jump(days=-400)
        assert town.get("/worker/hits").status_code == 200
        for assignment_id in (waiting, begun, later):
            assert town.status(assignment_id) == "Submitted"
        untouched = town.ask("GetHIT", HITId=town.hits[3]["HITId"])["HIT"]
        assert untouched["HITStatus"] == "Assignable"
        # What comes due as time passes is done as ever.
        clocks.pass_by(days=1, minutes=1)
        assert town.get("/worker/hits").status_code == 200
        assert town.status(later) == "Approved"


def test_what_comes_due_by_the_steady_clock_is_done_under_a_wrong_one(
    town: Town, clocks: Clocks
) -> None:
    """Workers are paid in time, however far ahead the clock is."""
    with served(town):
        assignment_id = town.work(town.hits[0])
        clocks.jump(days=400)
        clocks.pass_by(days=1, hours=23)
        assert town.get("/worker/hits").status_code == 200
        assert _stored(town, assignment_id) == "Submitted"
        clocks.pass_by(hours=2)
        assert town.get("/worker/hits").status_code == 200
        assert _stored(town, assignment_id) == "Approved"


def test_a_start_under_a_wrong_clock_approves_nothing_until_it_is_confirmed(
    town: Town, clocks: Clocks
) -> None:
    """Not by the server, nor by a command beside it; then a person says so."""
    with served(town):
        assignment_id = town.work(town.hits[0])
    clocks.jump(days=400)
    listed = ["workers", "list", "--database", str(town.database)]
    assert CliRunner().invoke(main, listed).exit_code == 0
    with served(town):
        for _ in range(3):
            clocks.pass_by(minutes=30)
            assert town.get("/worker/hits").status_code in (200, 401)
        assert town.status(assignment_id) == "Submitted"
    with served(town):
        assert town.get("/worker/hits").status_code in (200, 401)
        assert town.status(assignment_id) == "Submitted"
    with served(town, clock_is_right=True):
        assert town.get("/worker/hits").status_code in (200, 401)
        assert _stored(town, assignment_id) == "Approved"
    # It is confirmed for good.
    with served(town):
        assert town.status(assignment_id) == "Approved"


def test_a_hit_that_was_posted_under_a_wrong_clock_is_listed(town: Town, clocks: Clocks) -> None:
    """Its moment is to come; a program that looks for its HIT finds it all the same."""
    clocks.jump(days=5)
    with served(town):
        type_id = town.hits[0]["HITTypeId"]
        posted = town.ask(
            "CreateHITWithHITType", HITTypeId=type_id, Question=QUESTION, LifetimeInSeconds=86_400
        )["HIT"]
        clocks.jump(days=-5)
        listed = [hit["HITId"] for hit in town.ask("ListHITs")["HITs"]]
        assert posted["HITId"] in listed
        for hit in town.hits:
            town.work(hit)
        way = f"/worker/groups/{posted['HITGroupId']}/accept"
        assert town.post(way).status_code == 201


def _runs_on(town: Town, clocks: Clocks, *, clock_is_right: bool = False) -> None:
    """A marketplace starts on the file and works for eleven minutes."""
    rules = Rules(clock_is_right=clock_is_right)
    with closing(Backend(town.database, rules)) as started:
        started.keep_time()
        clocks.pass_by(minutes=11)
        started.keep_time()
        started.catch_up()


def _ahead_at_a_start(town: Town, clocks: Clocks) -> None:
    del town
    clocks.jump(days=5)


def _ahead_and_believed(town: Town, clocks: Clocks) -> None:
    clocks.jump(days=2, hours=12)
    _runs_on(town, clocks)


def _ahead_and_confirmed(town: Town, clocks: Clocks) -> None:
    clocks.jump(days=400)
    _runs_on(town, clocks, clock_is_right=True)


def _set_right_after_it_was_behind(town: Town, clocks: Clocks) -> None:
    clocks.jump(hours=26)
    _runs_on(town, clocks)


@pytest.mark.parametrize(
    ("behind_hours", "change"),
    [
        (0, _ahead_at_a_start),
        (0, _ahead_and_believed),
        (0, _ahead_and_confirmed),
        (26, _set_right_after_it_was_behind),
    ],
)
def test_no_change_of_the_clock_lets_a_call_be_done_twice(
    town: Town, clocks: Clocks, behind_hours: int, change: Callable[[Town, Clocks], None]
) -> None:
    """A client repeats calls after a kill; HITs, slots and bonuses exist once."""
    with served(town):
        assignment_id = town.work(town.hits[0])
    assignment = town.ask("GetAssignment", AssignmentId=assignment_id)["Assignment"]
    calls: dict[str, dict[str, object]] = {
        "CreateHITWithHITType": {
            "HITTypeId": town.hits[0]["HITTypeId"],
            "Question": QUESTION,
            "LifetimeInSeconds": 86_400,
        },
        "CreateAdditionalAssignmentsForHIT": {
            "HITId": town.hits[1]["HITId"],
            "NumberOfAdditionalAssignments": 2,
        },
        "SendBonus": {
            "WorkerId": assignment["WorkerId"],
            "AssignmentId": assignment_id,
            "BonusAmount": "1.00",
            "Reason": "Good.",
        },
    }
    clocks.jump(hours=-behind_hours)
    for operation, members in calls.items():
        town.ask(operation, **members, UniqueRequestToken="once")
    change(town, clocks)
    for operation, members in calls.items():
        with pytest.raises(Refusal, match="already"):
            town.ask(operation, **members, UniqueRequestToken="once")


def test_a_live_marketplace_forgets_a_token_after_it_has_run_for_24_hours(
    town: Town, clocks: Clocks
) -> None:
    """In several processes; the hours in which none runs do not count."""
    call: dict[str, Any] = {
        "HITTypeId": town.hits[0]["HITTypeId"],
        "Question": QUESTION,
        "LifetimeInSeconds": 86_400,
        "UniqueRequestToken": "once",
    }
    town.ask("CreateHITWithHITType", **call)
    for _ in range(2):
        with pytest.raises(Refusal, match="already exists"):
            town.ask("CreateHITWithHITType", **call)
        with closing(Backend(town.database, Rules())) as running:
            clocks.pass_by(hours=12)
            running.keep_time()
        clocks.pass_by(hours=2)
    town.ask("CreateHITWithHITType", **call)


def test_a_start_under_a_wrong_clock_ends_no_session_for_good(town: Town, clocks: Clocks) -> None:
    """Somebody signs in meanwhile; when the clock is right, all sessions go on."""
    clocks.jump(days=400)
    with closing(Backend(town.database, Rules())) as beside, beside.transaction() as transaction:
        new = accounts.NewWorker(handle="bo", country="DE")
        code = invitations.invite(transaction, new, lifetime_ms=clock.DAY).code
    with served(town):
        form = {"invitation": code}
        assert httpx.post(f"{town.url}/worker/sign-in", data=form).status_code < 400
        clocks.jump(days=-400)
        assert town.get("/worker/hits").status_code == 200


def test_a_weekend_off_is_believed_after_some_minutes(town: Town, clocks: Clocks) -> None:
    """Nobody has to say anything."""
    with served(town):
        assignment_id = town.work(town.hits[0])
    clocks.jump(days=2, hours=12)
    with served(town):
        assert town.get("/worker/hits").status_code == 200
        assert _stored(town, assignment_id) == "Submitted"
        clocks.pass_by(minutes=11)
        assert town.get("/worker/hits").status_code == 200
        assert _stored(town, assignment_id) == "Approved"


def test_a_marketplace_without_visitors_keeps_the_time(town: Town, clocks: Clocks) -> None:
    """So a restart after quiet weeks is no jump: the server keeps it each minute."""
    with closing(Backend(town.database, Rules())) as quiet:
        clocks.pass_by(days=20)
        quiet.keep_time()
        # As after a kill: nothing more is written.
        with ExitStack() as stack:
            after = stack.enter_context(closing(Backend(town.database, Rules())))
            with after.transaction() as transaction:
                assert transaction.held_ms == 0


def _stored(town: Town, assignment_id: str) -> str:
    """A status as the server left it, with nothing caught up by looking."""
    with (
        closing(Backend(town.database, Rules())) as beside,
        beside.without_catch_up() as transaction,
    ):
        row = transaction.first_row(
            "SELECT status FROM assignments WHERE assignment_id = ?", assignment_id
        )
    assert row is not None
    return str(row["status"])


def test_a_clock_that_is_corrected_a_little_is_followed() -> None:
    """As by NTP: ahead or back, up to what a signature may be off."""
    watched = WatchedClock(NOON, 0, NOON - PLAUSIBLE)
    assert watched.read(NOON, 0) == Moment(NOON)
    assert watched.read(NOON + PLAUSIBLE, 0) == Moment(NOON + PLAUSIBLE)
    assert watched.read(NOON - PLAUSIBLE, 0) == Moment(NOON - PLAUSIBLE)


def test_a_jump_in_a_running_process_is_ignored_and_short_ones_are_believed_later() -> None:
    """The steady clock counts on meanwhile; a second jump begins the wait again."""
    watched = WatchedClock(NOON, 0, None)
    assert watched.read(NOON + SHORT, 0) == Moment(NOON)
    assert watched.read(NOON + SHORT + MINUTE, MINUTE) == Moment(NOON + MINUTE)
    again = NOON + SHORT // 2
    half = AGREEMENT // 2
    assert watched.read(again + half, half) == Moment(NOON + half)
    late = half + AGREEMENT - 1
    assert watched.read(again + late, late) == Moment(NOON + late)
    assert watched.read(again + late + 1, late + 1) == Moment(again + late + 1)
    # Longer ones never are.
    far = again + SHORT + PLAUSIBLE + 1
    for minutes in range(0, 10_000, 7):
        steady = late + 1 + minutes * MINUTE
        moment = watched.read(far + steady, steady)
        assert moment == Moment(again + steady)


def test_a_machine_that_begins_in_1970_and_learns_the_time_has_not_jumped() -> None:
    """Such as one without a battery: it is told by NTP some seconds later."""
    known = NOON - MINUTE
    watched = WatchedClock(0, 0, known)
    assert watched.read(5 * clock.SECOND, 5 * clock.SECOND).now_ms == 5 * clock.SECOND
    assert watched.known_ms == known + 5 * clock.SECOND
    assert watched.read(NOON, 9 * clock.SECOND) == Moment(NOON)


def test_a_clock_that_was_set_back_counts_after_some_minutes() -> None:
    """Who confirmed a wrong time and set the clock right is protected again."""
    year = 365 * clock.DAY
    watched = WatchedClock(NOON + year, 0, None)
    assert watched.read(NOON, 1) == Moment(NOON)
    assert watched.read(NOON + AGREEMENT, 1 + AGREEMENT) == Moment(NOON + AGREEMENT)
    steady = 2 + AGREEMENT
    assert watched.read(NOON + year, steady) == Moment(NOON + AGREEMENT + 1)
