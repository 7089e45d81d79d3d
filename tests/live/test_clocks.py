"""Machines whose clocks are wrong, as `faketime` shows the time to real processes."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.crash.people import WITH_A_HALF
from tests.end_to_end.conftest import ROOT
from tests.live.marketplace import InvitedPeople, LiveMarketplace, live_marketplace
from tests.live.test_live_campaigns import Campaign
from tests.small_campaign import write_campaign

FAKETIME = shutil.which("faketime") or ""
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not FAKETIME, reason="faketime is not installed"),
]


@dataclass
class WrongClock(LiveMarketplace):
    """A marketplace on a machine whose clock is an hour ahead."""

    def serving(self) -> list[str]:
        """The command that serves it."""
        return [FAKETIME, "-f", "+1h", *super().serving()]


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Campaign]:
    """The small campaign, before its first pass."""
    write_campaign(tmp_path)
    with live_marketplace(tmp_path) as market:
        yield _campaign_at(tmp_path, market)


def _campaign_at(folder: Path, market: LiveMarketplace) -> Campaign:
    people = InvitedPeople(market.line.address, script=WITH_A_HALF, codes=market.codes)
    return Campaign(folder, market, people)


def _advance(campaign: Campaign, clock: str) -> "subprocess.CompletedProcess[str]":
    """Make a pass on a machine with this clock."""
    piecework = (sys.executable, "-c", "from piecework.cli.main import main; main()")
    words = ("run", "--once", str(campaign.folder / "crash.toml"), "--json")
    more = ("--endpoint", campaign.market.line.address, "--poll-open-hits")
    return subprocess.run(
        [FAKETIME, "-f", clock, *piecework, *words, *more],
        cwd=ROOT,
        env=campaign.environment_of_shell,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.mark.parametrize(
    ("clock", "words"), [("-1h", "60 minutes behind"), ("+1h", "60 minutes ahead of")]
)
def test_a_pass_by_a_clock_an_hour_off_is_refused_in_a_sentence(
    campaign: Campaign, clock: str, words: str
) -> None:
    """The first pass, and one in the middle: nothing is done until the clock is set."""
    for _ in range(2):
        calls = len(campaign.market.line.calls)
        refused = _advance(campaign, clock)
        answer = json.loads(refused.stdout)
        assert refused.returncode == 1
        assert (
            f"this machine's clock is {words} {campaign.market.line.address}'s" in (answer["error"])
        )
        assert "set the clock that is wrong" in answer["next_step"]
        assert "Traceback" not in refused.stderr
        # One call was refused, and no other was made.
        assert len(campaign.market.line.calls) == calls + 1
        assert _advance(campaign, "+0").returncode == 0
        campaign.people.work()
    campaign.to_the_end()
    campaign.check()


def test_machines_whose_clocks_differ_by_minutes_are_warned(campaign: Campaign) -> None:
    """Ten minutes ahead and behind, in turn: both work, and both log it."""
    warned = set()
    for clock in ("+10m", "-10m") * 6:
        end = _advance(campaign, clock)
        assert end.returncode == 0, end
        warned |= {
            words
            for words in ("10 minutes ahead of", "10 minutes behind")
            if f"this machine's clock is {words}" in end.stderr
        }
        if json.loads(end.stdout)["waiting_for"] == "nobody":
            break
        campaign.people.work()
    assert warned == {"10 minutes ahead of", "10 minutes behind"}
    campaign.to_the_end()
    campaign.check()


def test_a_marketplace_whose_clock_is_an_hour_off_is_named(tmp_path: Path) -> None:
    """The pass has the right clock; a sentence says what differs; nothing is done."""
    write_campaign(tmp_path)
    with live_marketplace(tmp_path, kind=WrongClock) as market:
        refused = _advance(_campaign_at(tmp_path, market), "+0")
        assert refused.returncode == 1
        assert "this machine's clock is 60 minutes behind" in refused.stdout
        assert market.books()["hits"] == []
