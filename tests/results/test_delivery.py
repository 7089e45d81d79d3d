"""`export` writes to the sinks of a campaign file; one that fails fails alone."""

import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from piecework.campaign.assembling import load_campaign
from piecework.campaign.exchange.sinks import SinkFailed
from piecework.cli.main import main
from piecework.results.releases import reach_sinks
from tests.importing.batches import stances, write
from tests.trusted import own

SINKS = """
sink = ["nowhere://results", "copies", "sqlite:///${WAREHOUSE}#stance history"]
"""


def piecework(*words: object) -> Result:
    """Run a command here."""
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Imported answers, three sinks, the first of which cannot be opened."""
    path = tmp_path / "stance.toml"
    batch = write(tmp_path / "batch.csv", stances())
    done = piecework("data", "import", batch, "--as", path)
    assert done.exit_code == 0, done.output
    monkeypatch.setenv("WAREHOUSE", str(tmp_path / "warehouse.db"))
    path.write_text(SINKS + path.read_text())
    return own(path)


def test_a_sink_that_fails_keeps_nothing_else_back(campaign: Path, tmp_path: Path) -> None:
    """Dataset, report and the other sinks are written; the same command goes on."""
    failed = piecework("export", campaign)
    assert failed.exit_code == 1
    assert "nowhere://results" in failed.output
    folder = load_campaign(campaign).out
    assert (folder / "report.html").exists()
    assert (tmp_path / "copies/000001/manifest.json").exists()
    with sqlite3.connect(tmp_path / "warehouse.db") as warehouse:
        (rows,) = warehouse.execute("SELECT count(*) FROM stance").fetchone()
        (aside,) = warehouse.execute("SELECT count(*) FROM stance_set_aside").fetchone()
    # Three assignments about two items each; one assignment was rejected.
    assert (rows, aside) == (4, 2)

    with pytest.raises(SinkFailed, match="nowhere://results"):
        reach_sinks(load_campaign(campaign))
    campaign.write_text(campaign.read_text().replace("nowhere://results", "more"))
    own(campaign)
    reach_sinks(load_campaign(campaign))
    again = piecework("export", campaign)
    assert again.exit_code == 0, again.output
    assert "latest release: 1 in" in again.output
    assert (tmp_path / "more/000001/manifest.json").exists()
    assert not (tmp_path / "copies/000002").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("#stance history", " history"), "'history' is for a table"),
        (("#stance", "#a; drop"), "'a; drop' is no name"),
        (('"copies"', '{ goes = "copies" }'), "write an address as text"),
    ],
)
def test_a_sink_that_cannot_be_is_a_fault_of_the_file(
    campaign: Path, change: tuple[str, str], words: str
) -> None:
    """With its place, before anything is written."""
    campaign.write_text(campaign.read_text().replace(*change))
    own(campaign)
    refused = piecework("export", campaign)
    assert refused.exit_code == 2
    assert words in refused.output
