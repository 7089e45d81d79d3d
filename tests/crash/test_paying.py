"""A death while bonuses are paid, or a rejection is taken back, pays no worker twice.

`piecework pay --rejected` and `pay` run in separate processes and are killed by SIGKILL
around calls to a real marketplace: before the call, before its reply is read, before
its outcome is recorded. Then the same command runs again, and both books are checked.
"""

import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import get_args

import httpx
import pytest

from piecework.campaign.assembling import load_campaign
from piecework.campaign.opened import CampaignRun
from piecework.domain.clock import FixedClock, SystemClock
from piecework.domain.errors import ConfigError
from piecework.domain.ids import AssignmentId
from piecework.engine.opening import open_for_rehearsal
from piecework.engine.payments.due_bonuses import top_ups
from piecework.engine.payments.pay import close_interrupted, pay_bonuses, unreject
from piecework.engine.run_pass import run_pass
from piecework.marketplace.http.server import Marketplace, serve
from piecework.store import assignments, ledger
from tests.crash.apart import apart
from tests.crash.disturbed import LONGEST_PASS_SECONDS
from tests.crash.passing import Death, Moment, _watch, calls_made
from tests.crash.people import People
from tests.small_campaign import write_campaign

# The rejected worker is paid (one call). All took 12 minutes: at $5 an hour that is
# $1.00, so each of the six who were paid 50 cents gets 50 cents more (six calls).
CALLS = 13


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished campaign, with its marketplace's file."""
    folder = tmp_path_factory.mktemp("finished")
    path = write_campaign(folder)
    start = SystemClock().now() - timedelta(hours=2)
    with serve(Marketplace(folder / "market.db", rehearsal=True, seed=1, start=start)) as running:
        people = People(running.endpoint_url, minutes=(12,) * 8)
        with open_for_rehearsal(load_campaign(path), running.endpoint_url, SystemClock()) as run:
            while not run_pass(run).is_finished:
                people.work()
    return folder


def rejected_of(run: CampaignRun) -> AssignmentId:
    """The one assignment that the policy rejected."""
    with sqlite3.connect(run.store.address.path) as store:
        (assignment_id,) = store.execute(
            "SELECT subject_id FROM decisions WHERE verdict = 'reject'"
        ).fetchone()
    return AssignmentId(assignment_id)


def _all_money(
    campaign: Path, endpoint: str, calls: Path, death: Death | None, now: datetime
) -> None:
    opened = open_for_rehearsal(load_campaign(campaign), endpoint, FixedClock(now))
    with opened as many:
        # One call at a time, so that each has its number.
        run = replace(many, most_calls=1)
        _watch(run, calls, death)
        close_interrupted(run)
        name = rejected_of(run)
        if assignments.verdict_and_outcome(run.store, name)[0] == "reject":
            unreject(run, name, because="It was fine.", by="ada")
        pay_bonuses(run, top_ups(run))


def ask(campaign: Path, endpoint: str, death: Death | None, now: datetime) -> int | None:
    """Pay and take back in a new process; return its exit code (-9: killed)."""
    return in_a_process(_all_money, campaign, endpoint, death, now)


def in_a_process(
    target: Callable[..., None], campaign: Path, endpoint: str, death: Death | None, now: datetime
) -> int | None:
    """Call a function that pays in a new process; return its exit code."""
    calls = campaign.with_suffix(".calls")
    process = apart().Process(target=target, args=(campaign, endpoint, calls, death, now))
    process.start()
    process.join(timeout=LONGEST_PASS_SECONDS)
    if process.is_alive():
        process.kill()
        raise TimeoutError("paying took longer than four minutes")
    return process.exitcode


def paid_to_the_end(finished: Path, folder: Path, *deaths: Death, hours_dead: int = 0) -> list[str]:
    """Die as told, repeat until it is done, check both books; return the calls made."""
    shutil.copytree(finished, folder, dirs_exist_ok=True)
    campaign, now = folder / "crash.toml", SystemClock().now()
    with serve(Marketplace(folder / "market.db", rehearsal=True, seed=1)) as running:
        for death in deaths:
            assert ask(campaign, running.endpoint_url, death, now) == -9
            now += timedelta(hours=hours_dead)
            httpx.put(
                f"{running.endpoint_url}/rehearsal/clock", json={"now": now.isoformat()}
            ).raise_for_status()
        assert ask(campaign, running.endpoint_url, None, now) == 0
        books = httpx.get(f"{running.endpoint_url}/rehearsal/books").json()
        with open_for_rehearsal(
            load_campaign(campaign), running.endpoint_url, FixedClock(now)
        ) as run:
            mine = ledger.balances(run.store)
            with pytest.raises(ConfigError, match="is not rejected"):
                unreject(run, rejected_of(run), because="It was fine.", by="ada")
    bonuses = Counter(bonus["assignment_id"] for bonus in books["bonuses"])
    assert sorted(bonuses.values()) == [1] * 6
    assert {bonus["cents"] for bonus in books["bonuses"]} == {50}
    assert {assignment["status"] for assignment in books["assignments"]} == {"Approved"}
    # Six rewards of 50 cents and six bonuses of 50, each with a fee of 10.
    assert (mine["rewards"], mine["bonuses"], mine["fees"]) == (300, 300, 120)
    assert (books["fees_cents"], books["balance_cents"]) == (120, 1_000_000 - 720)
    assert mine["requester"] == -720
    return calls_made(campaign.with_suffix(".calls"))


def test_undisturbed_it_makes_the_calls_that_are_killed(finished: Path, tmp_path: Path) -> None:
    """An approval and six bonuses, each looked for first, without any further call."""
    calls = paid_to_the_end(finished, tmp_path)
    assert calls == ["ApproveAssignment"] + ["ListBonusPayments", "SendBonus"] * 6
    assert len(calls) == CALLS


@pytest.mark.parametrize("moment", get_args(Moment))
@pytest.mark.parametrize(
    "call",
    [1, 3, *(pytest.param(call, marks=pytest.mark.full) for call in (2, *range(4, CALLS + 1)))],
)
def test_a_death_around_a_call_pays_nobody_twice_and_forgets_nobody(
    finished: Path, tmp_path: Path, call: int, moment: Moment
) -> None:
    """Each bonus is paid once, the rejection taken back once; ledger equals books."""
    paid_to_the_end(finished, tmp_path, Death(call, moment))


@pytest.mark.parametrize("call", [1, 3])
def test_what_the_platform_s_token_does_not_remember_is_looked_for(
    finished: Path, tmp_path: Path, call: int
) -> None:
    """After 25 hours the same token would pay again."""
    death = Death(call, "reply lost")
    paid_to_the_end(finished, tmp_path, death, hours_dead=25)


def test_a_second_death_while_looking_changes_nothing(finished: Path, tmp_path: Path) -> None:
    """The look-up is repeated; the second call of the sequence is the look-up."""
    calls = paid_to_the_end(
        finished, tmp_path, Death(3, "reply lost"), Death(4, "before the record")
    )
    assert calls[3:5] == ["ListBonusPayments", "ListBonusPayments"]
    assert calls.count("SendBonus") == 6
