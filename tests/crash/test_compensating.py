"""A death while a compensation is paid pays nobody twice and forgets nobody.

`piecework pay --compensate` runs in a separate process and is killed by SIGKILL around each
call to a real marketplace. Then the same command runs twice more, and both books are
checked.
"""

import shutil
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import get_args

import httpx
import pytest

from piecework.campaign.assembling import load_campaign
from piecework.domain.clock import FixedClock, SystemClock
from piecework.engine.opening import open_for_rehearsal
from piecework.engine.payments.compensations import pay_compensation, plan_compensation
from piecework.engine.payments.pay import close_interrupted
from piecework.engine.run_pass import run_pass
from piecework.marketplace.http.server import Marketplace, serve
from piecework.store import assignments, ledger
from tests.crash.passing import Death, Moment, _watch, calls_made
from tests.crash.people import People
from tests.crash.test_paying import in_a_process
from tests.small_campaign import write_campaign

CALLS = ["GetAccountBalance", "SendBonus"]
"""Whether it was paid already, and the payment."""


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a campaign with paid work, with its marketplace's file."""
    folder = tmp_path_factory.mktemp("begun")
    path = write_campaign(folder)
    start = SystemClock().now() - timedelta(hours=2)
    with serve(Marketplace(folder / "market.db", rehearsal=True, seed=1, start=start)) as running:
        people = People(running.endpoint_url)
        with open_for_rehearsal(load_campaign(path), running.endpoint_url, SystemClock()) as run:
            run_pass(run)
            people.work()
            run_pass(run)
    return folder


def _compensate(
    campaign: Path, endpoint: str, calls: Path, death: Death | None, now: datetime
) -> None:
    opened = open_for_rehearsal(load_campaign(campaign), endpoint, FixedClock(now))
    with opened as many:
        run = replace(many, most_calls=1)
        _watch(run, calls, death)
        close_interrupted(run)
        worker = run.pseudonym(assignments.load_assignments(run.store)[0].worker_id)
        planned = plan_compensation(run, worker, "1.00", because="The page broke.")
        if not planned.was_paid:
            pay_compensation(run, planned)


def _ask(campaign: Path, endpoint: str, death: Death | None, now: datetime) -> int | None:
    """Pay in a new process; return its exit code (-9: killed)."""
    return in_a_process(_compensate, campaign, endpoint, death, now)


def _paid_to_the_end(
    begun: Path, folder: Path, death: Death | None = None, hours_dead: int = 0
) -> list[str]:
    """Die as told, repeat it twice, check both books; return the calls made."""
    shutil.copytree(begun, folder, dirs_exist_ok=True)
    campaign, now = folder / "crash.toml", SystemClock().now()
    with serve(Marketplace(folder / "market.db", rehearsal=True, seed=1)) as running:
        before = httpx.get(f"{running.endpoint_url}/rehearsal/books").json()
        if death is not None:
            assert _ask(campaign, running.endpoint_url, death, now) == -9
            now += timedelta(hours=hours_dead)
            httpx.put(
                f"{running.endpoint_url}/rehearsal/clock", json={"now": now.isoformat()}
            ).raise_for_status()
        for _ in range(2):
            assert _ask(campaign, running.endpoint_url, None, now) == 0
        books = httpx.get(f"{running.endpoint_url}/rehearsal/books").json()
        with open_for_rehearsal(
            load_campaign(campaign), running.endpoint_url, FixedClock(now)
        ) as run:
            mine = ledger.balances(run.store)
    assert [payment["cents"] for payment in books["compensations"]] == [100]
    assert books["fees_cents"] - before["fees_cents"] == 20
    assert (mine["compensations"], mine["fees"]) == (100, books["fees_cents"])
    return calls_made(campaign.with_suffix(".calls"))


def test_undisturbed_it_makes_the_calls_that_are_killed(begun: Path, tmp_path: Path) -> None:
    """The second command makes no call: the store knows that it was paid."""
    assert _paid_to_the_end(begun, tmp_path) == CALLS


@pytest.mark.parametrize("moment", get_args(Moment))
@pytest.mark.parametrize(
    ("call", "hours_dead"),
    [(2, 25), *(pytest.param(call, 0, marks=pytest.mark.full) for call in (1, 2))],
)
def test_a_death_around_a_call_pays_once(
    begun: Path, tmp_path: Path, call: int, hours_dead: int, moment: Moment
) -> None:
    """Also after a day, when a request token would be forgotten."""
    _paid_to_the_end(begun, tmp_path, Death(call, moment), hours_dead)
