"""A death while a qualification is granted or revoked leaves no half state.

The step runs in a separate process and is killed by SIGKILL around each call to a real
marketplace. Then the same step runs twice more, and both sides are compared.
"""

import itertools
import shutil
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import get_args

import pytest

from piecework.campaign.assembling import load_campaign
from piecework.domain.clock import FixedClock, SystemClock
from piecework.engine.earn import earn, records_of
from piecework.engine.opening import open_for_rehearsal
from piecework.engine.run_pass import run_pass
from piecework.marketplace.http.server import Marketplace, serve
from tests.conftest import in_full
from tests.crash.passing import Death, Moment, _watch, calls_made
from tests.crash.people import People
from tests.crash.test_paying import in_a_process
from tests.engine.test_earned import EARNED, RULE, TEXT
from tests.small_campaign import write_campaign

CREATE, ASSOCIATE, NOTIFY, DISASSOCIATE = CALLS = (
    "CreateQualificationType",
    "AssociateQualificationWithWorker",
    "NotifyWorkers",
    "DisassociateQualificationFromWorker",
)
LAPSED = timedelta(days=200)


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a campaign in which ann has earned it, and no rule was applied."""
    folder = tmp_path_factory.mktemp("worked")
    path = write_campaign(folder, TEXT.replace(EARNED, ""), pictures=10)
    start = SystemClock().now() - timedelta(hours=2)
    with serve(Marketplace(folder / "market.db", rehearsal=True, seed=1, start=start)) as running:
        people = People(running.endpoint_url, script=(("ann", "good"), ("bob", "shout")))
        with open_for_rehearsal(load_campaign(path), running.endpoint_url, SystemClock()) as run:
            run_pass(run)
            people.work()
            run_pass(run)
    (folder / "captioner.toml").write_text(RULE)
    path.write_text(TEXT)
    return folder


def _earn(campaign: Path, endpoint: str, calls: Path, death: Death | None, now: datetime) -> None:
    opened = open_for_rehearsal(load_campaign(campaign), endpoint, FixedClock(now))
    with opened as run:
        _watch(replace(run, most_calls=1), calls, death)
        earn(run)


def _changed_to_the_end(
    worked: Path, folder: Path, death: Death | None = None
) -> tuple[list[str], Counter[str]]:
    """Grant, and revoke 200 days later; die once as asked; return calls, messages."""
    shutil.copytree(worked, folder, dirs_exist_ok=True)
    campaign, now = folder / "crash.toml", SystemClock().now()
    calls = campaign.with_suffix(".calls")
    with serve(Marketplace(folder / "market.db", rehearsal=True, seed=1)) as running:
        for at, holds in ((now, True), (now + LAPSED, False)):
            for attempt in range(3):
                is_last = death is None or len(calls_made(calls)) >= death.call
                ended = in_a_process(
                    *(_earn, campaign, running.endpoint_url), *(None if is_last else death, at)
                )
                died = not is_last and len(calls_made(calls)) >= death.call  # type: ignore[union-attr]
                assert ended == (-9 if died else 0), attempt
            assert _holders(folder) == (["ann"] if holds else [])
        with open_for_rehearsal(
            load_campaign(campaign), running.endpoint_url, FixedClock(now)
        ) as run:
            [rule] = run.campaign.earned
            with records_of(run, rule) as records:
                changes = records.changes(rule.name)
    assert [change.change for change in changes] == ["grant", "revoke"]
    assert all(change.done_at and change.notified_at for change in changes)
    return calls_made(calls), _messages(folder)


def _holders(folder: Path) -> list[str]:
    with closing(sqlite3.connect(folder / "market.db")) as market:
        rows = market.execute(
            "SELECT handle FROM qualifications JOIN workers ON workers.id = worker "
            "WHERE qualifications.status = 'Granted'"
        )
        return [handle for (handle,) in rows]


def _messages(folder: Path) -> Counter[str]:
    with closing(sqlite3.connect(folder / "market.db")) as market:
        rows = market.execute("SELECT text FROM messages")
        return Counter("lapsed" if "lapsed" in text else "earned" for (text,) in rows)


@pytest.mark.full
def test_undisturbed_it_makes_these_calls(worked: Path, tmp_path: Path) -> None:
    """One of each, and none when it is repeated."""
    calls, messages = _changed_to_the_end(worked, tmp_path)
    assert tuple(calls) == CALLS
    assert messages == {"earned": 1, "lapsed": 1}


_EACH = list(itertools.product(range(1, len(CALLS) + 1), get_args(Moment)))
_SHORT = [(4, "reply lost")]


@pytest.mark.parametrize(
    ("call", "moment"), [*_SHORT, *in_full(*(case for case in _EACH if case not in _SHORT))]
)
def test_a_death_around_a_call_changes_once(
    worked: Path, tmp_path: Path, call: int, moment: Moment
) -> None:
    """A change that the marketplace has is found, and not made again."""
    calls, messages = _changed_to_the_end(worked, tmp_path, Death(call, moment))
    made = Counter(calls)
    again = moment == "before the call"
    for number, name in enumerate(CALLS, start=1):
        if name in (ASSOCIATE, DISASSOCIATE):
            assert made[name] == (2 if again and number == call else 1)
    # Only the message about a grant may come twice.
    is_repeated = call == 3 and not again
    assert messages == {"earned": 2 if is_repeated else 1, "lapsed": 1}
