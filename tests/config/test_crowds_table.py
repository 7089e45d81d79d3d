"""`markets`: shares, or the cheapest within a deadline; each fault named."""

from pathlib import Path

import pytest

from piecework.campaign.assembling import load_campaign
from piecework.domain.crowds import Crowds
from piecework.domain.errors import ConfigError
from tests.small_campaign import CAMPAIGN, write_campaign


def crowds(folder: Path, lines: str, *, top: str = "") -> Crowds | None:
    """What a file with these lines of `[markets]`, or at its top, says."""
    table = f"[markets]\n{lines}" if lines else ""
    return load_campaign(write_campaign(folder, f"{top}{CAMPAIGN}{table}")).crowds


def test_shares_add_up_to_the_whole(tmp_path: Path) -> None:
    """Each market keeps its own, whatever the order of the lines."""
    assert crowds(tmp_path, "connect = 40\nprolific = 60\n") == Crowds(
        percent=(("prolific", 60), ("connect", 40))
    )
    three = crowds(tmp_path, "connect = 30\nprolific = 60\npanel = 10\n")
    assert three is not None
    assert dict(three.percent) == {"prolific": 60, "connect": 30, "panel": 10}


def test_the_cheapest_has_a_deadline(tmp_path: Path) -> None:
    """Half an hour is 1,800 seconds."""
    top = 'markets = ["connect", "prolific"]\ncheapest_within_hours = 0.5\n'
    stated = crowds(tmp_path, "", top=top)
    assert stated == Crowds(cheapest=("connect", "prolific"), within_seconds=1800)
    assert stated.markets == ("connect", "prolific")


def test_without_the_table_no_market_is_named(tmp_path: Path) -> None:
    """The marketplace's first crowd gets every HIT."""
    campaign = load_campaign(write_campaign(tmp_path))
    assert campaign.crowds is None
    assert campaign.markets == ("",)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("prolific = 60\nconnect = 30", "add up to 90 per cent, not to 100"),
        ("prolific = 100\nconnect = 0", "markets.connect: .*greater than or equal to 1"),
        ("prolific = 60.5\nconnect = 40", "markets.prolific: .*valid integer"),
        ("prolific = true", "markets.prolific: .*valid integer"),
        ("prolific = 60\nmturk = 40", "no such market: 'mturk'; it knows prolific"),
        ("prolific = 60\npanle = 40", "no such market: 'panle'; did you mean 'panel'"),
        ("cheapest = ['connect']", "markets.cheapest: is markets = .* now, at the top"),
    ],
)
def test_a_fault_is_one_sentence(tmp_path: Path, lines: str, words: str) -> None:
    """With the line of the table or key."""
    with pytest.raises(ConfigError, match=words) as raised:
        crowds(tmp_path, lines)
    (fault,) = raised.value.faults
    assert "crash.toml:" in fault
    assert "markets" in fault


@pytest.mark.parametrize(
    ("top", "words"),
    [
        ("markets = {}", "markets: name at least one market"),
        ('markets = ["connect", "mturk"]', "no such market: 'mturk'"),
        ('markets = ["connect", "connect"]', "a market twice"),
        ("cheapest_within_hours = 72", "chooses among markets; write markets = "),
        ('markets = ["connect"]\ncheapest_within_hours = 0', "cheapest_within_hours: .*than 0"),
        (
            "markets = { prolific = 60, panel = 40 }\ncheapest_within_hours = 72",
            "leaves no shares; write the markets as a list",
        ),
    ],
)
def test_markets_and_a_deadline_belong_together(tmp_path: Path, top: str, words: str) -> None:
    """One sentence each."""
    with pytest.raises(ConfigError, match=words) as raised:
        crowds(tmp_path, "", top=f"{top}\n")
    assert len(raised.value.faults) == 1


def test_one_market_twice_is_no_toml(tmp_path: Path) -> None:
    """The file itself is refused."""
    with pytest.raises(ConfigError, match="not valid TOML"):
        crowds(tmp_path, "prolific = 50\nprolific = 50")


def test_the_market_needs_room_among_the_requirements(tmp_path: Path) -> None:
    """MTurk allows ten; piecework adds up to four of them then."""
    table = """[requirements]
countries = ["US"]
"""
    whole = f"{CAMPAIGN}{table}qualifications = {[f'Q{n} Exists' for n in range(6)]}\n"
    assert len(load_campaign(write_campaign(tmp_path, whole)).requirements) == 7
    with pytest.raises(ConfigError, match="adds up to 4"):
        load_campaign(write_campaign(tmp_path, f"{whole}[markets]\nprolific = 100\n"))
