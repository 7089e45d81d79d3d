"""Campaigns on a live marketplace, where signatures count and people were invited.

Replies get lost on the wire, passes are killed, the marketplace is away. In the end
both sides' books agree, and everybody is paid once.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from tests.crash.apart import apart
from tests.crash.campaign import check_store
from tests.crash.disturbed import Ended, ended, run_in_files
from tests.crash.people import WITH_A_HALF
from tests.end_to_end.conftest import ROOT
from tests.live.disturbed_line import Act, Moment
from tests.live.marketplace import InvitedPeople, LiveMarketplace, live_marketplace
from tests.small_campaign import write_campaign

MOST_PASSES = 60
SPENDING = {
    "CreateQualificationType": 2,  # the claim of the name, and who is excluded
    "CreateHITType": 1,
    "CreateHITWithHITType": 3,
    "CreateAdditionalAssignmentsForHIT": 2,
    "ApproveAssignment": 6,
    "RejectAssignment": 1,
    "AssociateQualificationWithWorker": 3,
}
"""The calls that the campaign makes and that change something, counted by the test of
an undisturbed one."""

Plan = dict[tuple[str, int, Moment], Act]


@dataclass
class Campaign:
    """A campaign at work on a live marketplace, one pass a process."""

    folder: Path
    market: LiveMarketplace
    people: InvitedPeople
    codes: list[int | None] = field(default_factory=list)
    _pass: BaseProcess | None = None

    @property
    def environment(self) -> dict[str, str]:
        """What a requester's shell has."""
        return {
            "AWS_ACCESS_KEY_ID": self.market.key.access_key,
            "AWS_SECRET_ACCESS_KEY": self.market.key.secret,
        }

    @property
    def environment_of_shell(self) -> dict[str, str]:
        """The whole environment of a command in that shell."""
        inherited = {**os.environ, **self.environment}
        inherited.pop("PREFECT_API_URL", None)
        return inherited

    def to_the_end(self) -> None:
        """Passes and people in turn, until nobody is waited for."""
        for _ in range(MOST_PASSES):
            made = self._advance()
            self.codes.append(made.code)
            if made.code == 1:
                assert "Traceback" not in made.complained, made
                assert "next: " in made.complained, made
            elif made.code == 0 and '"waiting_for": "nobody"' in made.output:
                return
            elif made.code == 0 and '"waiting_for": "workers"' in made.output:
                assert self.people.work(), made
            else:
                assert made.code in (0, -signal.SIGKILL), made
        raise AssertionError(f"{MOST_PASSES} passes were not enough")

    def _advance(self) -> Ended:
        words = ("run", "--once", str(self.folder / "crash.toml"), "--json")
        more = ("--endpoint", self.market.line.address, "--poll-open-hits")
        self._pass = apart().Process(
            target=run_command_in, args=(self.folder, self.environment, (*words, *more))
        )
        self._pass.start()
        return ended(self._pass, self.folder)

    def kill(self) -> None:
        """End the pass that is under way, as a power cut would."""
        assert self._pass is not None
        assert self._pass.pid is not None
        os.kill(self._pass.pid, signal.SIGKILL)

    def check(self) -> None:
        """The books of both sides say the same, which is what the script leads to.

        A marketplace of one's own takes no fees unless its machine states some.
        """
        check_store(self.market.books(), self.folder / "out/crash/piecework.db", fee=0)


def run_command_in(folder: Path, environment: dict[str, str], words: tuple[str, ...]) -> None:
    """A command in a process of its own, with a requester's keys."""
    os.environ.pop("PREFECT_API_URL", None)
    os.environ.update(environment)
    run_in_files(folder, None, words)


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Campaign]:
    """The small campaign, before its first pass."""
    write_campaign(tmp_path)
    with live_marketplace(tmp_path) as market:
        people = InvitedPeople(market.line.address, script=WITH_A_HALF, codes=market.codes)
        yield Campaign(tmp_path, market, people)


def _away(market: LiveMarketplace, seconds: float) -> Act:
    """Kill the marketplace, and start it again after so many seconds."""

    def act() -> None:
        market.kill()
        threading.Timer(seconds, market.start).start()

    return act


def _nothing() -> None:
    """The reply is lost, and that is all."""


@pytest.mark.full
def test_an_undisturbed_campaign_makes_the_calls_that_are_disturbed(campaign: Campaign) -> None:
    """On a live marketplace it makes each call that changes something once."""
    campaign.to_the_end()
    campaign.check()
    calls = campaign.market.line.calls
    assert {name: calls.count(name) for name in SPENDING} == SPENDING
    assert set(campaign.codes) == {0}


@pytest.mark.full
def test_lost_replies_deaths_and_an_outage_change_nothing(campaign: Campaign) -> None:
    """All in one campaign: the end is that of a calm one."""
    plan: Plan = {
        ("CreateHITType", 1, "after"): _nothing,
        ("CreateHITWithHITType", 1, "after"): _nothing,
        ("CreateHITWithHITType", 3, "after"): campaign.kill,
        ("ListAssignmentsForHIT", 1, "before"): _away(campaign.market, 3),
        ("ApproveAssignment", 1, "after"): _nothing,
        ("ApproveAssignment", 3, "after"): campaign.kill,
        ("RejectAssignment", 1, "after"): campaign.kill,
        ("AssociateQualificationWithWorker", 1, "after"): _nothing,
        ("AssociateQualificationWithWorker", 3, "before"): campaign.kill,
        ("CreateAdditionalAssignmentsForHIT", 1, "after"): campaign.kill,
    }
    campaign.market.line.plan |= plan
    campaign.to_the_end()
    campaign.check()
    assert set(campaign.market.line.met) == set(plan)
    assert campaign.codes.count(-signal.SIGKILL) == 5


EACH = [
    (operation, number, moment, is_death)
    for operation, times in SPENDING.items()
    for number in range(1, times + 1)
    for moment, is_death in (("after", False), ("before", True), ("after", True))
]


@pytest.mark.full
@pytest.mark.parametrize(("operation", "number", "moment", "is_death"), EACH)
def test_a_fault_at_any_call_that_spends_changes_nothing(
    campaign: Campaign, operation: str, number: int, moment: Moment, *, is_death: bool
) -> None:
    """Each call alone: its reply is lost, or its pass dies before or after it."""
    act = campaign.kill if is_death else _nothing
    campaign.market.line.plan[operation, number, moment] = act
    campaign.to_the_end()
    campaign.check()
    assert campaign.market.line.met == [(operation, number, moment)]


@pytest.mark.full
@pytest.mark.flow
def test_run_waits_for_a_minute_without_a_marketplace(campaign: Campaign) -> None:
    """It says so, goes on posting, and what follows is as ever."""
    line = campaign.market.line
    line.plan["CreateHITWithHITType", 1, "after"] = _away(campaign.market, 60)
    log_path = campaign.folder / "told"
    again = f"{line.address} answers again, after 6"
    with (
        log_path.open("w") as stderr,
        subprocess.Popen(
            [
                *(Path(sys.executable).with_name("piecework"), "run"),
                *(campaign.folder / "crash.toml", "--endpoint", line.address),
            ],
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            text=True,
            cwd=ROOT,
            env={
                **os.environ,
                **campaign.environment,
                "PREFECT_HOME": str(campaign.folder / "prefect"),
                "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "300",
            },
        ) as run,
    ):
        try:
            _wait(lambda: line.calls.count("CreateHITWithHITType") > 1, run, 400)
            # A try while nothing answers is a call too.
            _wait(lambda: again in log_path.read_text(), run, 120)
            # Its pass ends within seconds; then it waits for workers.
            time.sleep(10)
        finally:
            run.send_signal(signal.SIGINT)
            run.wait(timeout=60)
    log_text = log_path.read_text()
    assert f"{line.address} does not answer; waiting for" in log_text
    assert again in log_text
    campaign.to_the_end()
    campaign.check()
    assert set(campaign.codes) == {0}


def _wait(until: Callable[[], bool], process: "subprocess.Popen[str]", seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not until():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.2)
