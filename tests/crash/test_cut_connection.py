"""The line to PostgreSQL is cut at a COMMIT, or goes silent: nothing is half done."""

import json
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from piecework.config.campaign_file import parse
from tests.conftest import ROOT, in_full
from tests.crash.campaign import check_store
from tests.crash.passing_on import passes
from tests.crash.people import WITH_A_HALF, People
from tests.crash.postgres_line import Moment, line_to
from tests.crash.world import World, can_mount
from tests.small_campaign import CAMPAIGN, write_campaign
from tests.stores import stored_in

# The tables, a HIT's intent, what came, decisions, payments, the last totals.
FEW: tuple[tuple[int, Moment], ...] = ((20, "after"),)
MOMENTS: tuple[Moment, ...] = ("before", "after")
MANY = [
    (number, moment)
    for number in range(1, 100, 4)
    for moment in MOMENTS
    if (number, moment) not in FEW
]


@pytest.mark.parametrize(("number", "moment"), [*FEW, *in_full(*MANY, weeks=4)])
def test_a_connection_cut_at_a_commit_loses_and_doubles_nothing(
    tmp_path: Path, postgres_url: str, number: int, moment: Moment
) -> None:
    """Whether the server got the COMMIT or not: a sentence, and the next pass goes on.

    If it did, the pass cannot know that its transaction is stored.
    """
    world = World(tmp_path)
    with line_to(postgres_url) as line, world.marketplace(apart=False):
        text = stored_in(CAMPAIGN, tmp_path, line.url)
        campaign = write_campaign(tmp_path, text)
        people = People(world.endpoint, script=WITH_A_HALF)
        line.cut_at, line.moment = number, moment
        end = passes(world, people)
        if end.code == 0:
            assert line.commits < number
            pytest.skip(f"the campaign has {line.commits} transactions")
        assert end.code == 1, end
        assert line.was_cut
        answer = json.loads(end.output)
        assert "the connection to the database was lost" in answer["error"]
        assert "run the same command again" in answer["next_step"]
        assert "Traceback" not in end.complained
        end = passes(world, people)
        assert end.code == 0, end
        theirs = httpx.get(f"{world.endpoint}/rehearsal/books").json()
        check_store(theirs, parse(campaign).store)


@pytest.mark.full
@pytest.mark.skipif(not can_mount(), reason="only root can have a network of its own")
def test_a_connection_that_goes_silent_ends_the_pass_within_minutes(tmp_path: Path) -> None:
    """No reply and no RST, as behind a firewall that forgets: a sentence, then on.

    Without a limit, Linux sends again for a quarter of an hour.
    """
    done = subprocess.run(
        ["unshare", "--net", sys.executable, "-m", "tests.crash.silent_line", tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["code"] == 1
    assert "the connection to the database was lost" in answer["silent"]
    assert "run the same command again" in answer["silent"]
    assert "Traceback" not in answer["silent"]
    assert answer["seconds"] < 150, answer
