"""Metrics of passes in a file: what ended, what failed, and what was killed."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from prometheus_client.parser import text_string_to_metric_families

from piecework.cli.main import main
from piecework.domain.clock import FixedClock
from piecework.domain.errors import CampaignBusy
from piecework.domain.store_address import in_folder
from piecework.engine.watching import metrics_file
from piecework.engine.watching.metrics_file import WatchedPasses
from piecework.engine.watching.pass_watcher import watch_passes
from piecework.marketplace.http.server import Marketplace, serve
from piecework.store.lock import only_pass
from tests.small_campaign import write_campaign

_DYING = """
import os, signal, sys
from pathlib import Path
from piecework.engine.watching.pass_watcher import watch_passes
with watch_passes(Path("birds.toml"), Path(sys.argv[1])):
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A marketplace, and the keys of a requester."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "A-REQUESTER")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "no secret")
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    start = datetime(2026, 1, 5, 9, tzinfo=UTC)
    with serve(Marketplace(tmp_path / "market.db", rehearsal=True, seed=1, start=start)) as running:
        yield running.endpoint_url


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder that node_exporter reads."""
    path = tmp_path / "textfile"
    path.mkdir()
    return path


def read_samples(folder: Path) -> dict[str, float]:
    """Each line's value by its name and its labels, without the campaign's."""
    (path,) = folder.glob("*.prom")
    samples = {}
    for family in text_string_to_metric_families(path.read_text(encoding="utf-8")):
        for sample in family.samples:
            labels = dict(sample.labels)
            assert labels.pop("campaign") == path.stem.removeprefix("piecework-")
            name = " ".join([sample.name, *labels.values()])
            samples[name.removeprefix("piecework_")] = sample.value
    return samples


def advance(campaign: Path, endpoint: str, *words: str) -> Result:
    """One pass by the command."""
    called = ["run", "--once", str(campaign), "--endpoint", endpoint, *words]
    return CliRunner().invoke(main, called)


def test_a_pass_writes_what_it_knows(endpoint: str, folder: Path, tmp_path: Path) -> None:
    """The figures are those of `--json`, and the steps that had work are timed."""
    campaign = write_campaign(tmp_path)
    watched = ("--metrics-folder", str(folder), "--json")
    done = advance(campaign, endpoint, *watched)
    assert done.exit_code == 0, done.output
    progress = json.loads(done.stdout)
    samples = read_samples(folder)
    assert samples["passes_total done"] == 1
    assert samples["passes_total failed"] == 0
    assert samples["pass_running"] == samples["pass_consecutive_failures"] == 0
    assert (
        0
        < samples["pass_last_start_timestamp_seconds"]
        <= samples["pass_last_end_timestamp_seconds"]
    )
    launched = samples["pass_step_seconds_total launch"]
    assert 0 < launched <= samples["pass_duration_seconds"]
    assert samples["campaign_hits open"] == progress["hits_open"] > 0
    held = samples[f"campaign_money_cents held {progress['currency']}"]
    assert held == progress["held_cents"] > 0
    budget = samples[f"campaign_budget_cents {progress['currency']}"]
    assert budget == progress["budget_cents"]
    assert samples["campaign_answers_missing"] == progress["missing"]
    assert samples["campaign_waiting workers"] == 1
    due_at = datetime.fromisoformat(progress["due_at"]).timestamp()
    assert samples["pass_next_due_timestamp_seconds"] == due_at
    # The next pass finds that nothing is due, and says the same.
    advance(campaign, endpoint, *watched)
    again = read_samples(folder)
    assert again["passes_total done"] == 2
    assert again["campaign_hits open"] == progress["hits_open"]
    assert again["pass_step_seconds_total launch"] == launched


def test_a_file_that_another_user_can_read(folder: Path) -> None:
    """node_exporter runs as a user of its own; nothing unfinished stays behind."""
    old = os.umask(0o077)
    try:
        with watch_passes(Path("birds.toml"), folder) as watch:
            watch.stop("interrupted")
    finally:
        os.umask(old)
    (path,) = folder.glob("*.prom")
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    names = {file.name for file in folder.iterdir()}
    assert names == {"piecework-birds.prom", ".piecework-birds.lock"}


def test_three_failures_are_counted_until_a_pass_succeeds(
    endpoint: str, folder: Path, tmp_path: Path
) -> None:
    """A file with a fault fails before anything is known of the campaign."""
    campaign = write_campaign(tmp_path)
    whole = campaign.read_text(encoding="utf-8")
    watched = ("--metrics-folder", str(folder))
    campaign.write_text("name = ", encoding="utf-8")
    for number in (1, 2, 3):
        assert advance(campaign, endpoint, *watched).exit_code != 0
        samples = read_samples(folder)
        assert samples["pass_consecutive_failures"] == number
        assert samples["passes_total failed"] == number
    campaign.write_text(whole, encoding="utf-8")
    assert advance(campaign, endpoint, *watched).exit_code == 0
    samples = read_samples(folder)
    assert samples["pass_consecutive_failures"] == 0
    assert samples["passes_total failed"] == 3


def test_a_killed_pass_counts_when_the_next_begins(folder: Path) -> None:
    """The mark of its beginning stays; a failure after it is the second in a row."""
    for number in (1, 2):
        killed = subprocess.run(
            [sys.executable, "-c", _DYING, str(folder)], check=False, timeout=240
        )
        assert killed.returncode < 0
        samples = read_samples(folder)
        assert samples["pass_running"] == 1
        assert samples["pass_consecutive_failures"] == number - 1
    with pytest.raises(ZeroDivisionError), watch_passes(Path("birds.toml"), folder):
        _ = 1 / 0
    samples = read_samples(folder)
    assert samples["pass_running"] == 0
    assert samples["passes_total killed"] == 2
    assert samples["pass_consecutive_failures"] == 3


def test_a_busy_pass_disturbs_nothing_of_the_other(folder: Path) -> None:
    """The one at work is still at work, and no failure is counted."""
    campaign = Path("birds.toml")
    with watch_passes(campaign, folder) as first:
        with pytest.raises(CampaignBusy), watch_passes(campaign, folder):
            raise CampaignBusy("another")
        samples = read_samples(folder)
        assert samples["pass_running"] == 1
        assert samples["passes_total busy"] == 1
        assert samples["pass_consecutive_failures"] == 0
        first.stop("interrupted")
    assert read_samples(folder)["pass_running"] == 0


def test_the_command_tells_busy_from_failed(endpoint: str, folder: Path, tmp_path: Path) -> None:
    """A person's command may hold the campaign; that needs no alert."""
    campaign = write_campaign(tmp_path)
    with only_pass(in_folder(tmp_path / "out" / "crash")):
        refused = advance(campaign, endpoint, "--metrics-folder", str(folder))
    assert refused.exit_code == 5, refused.output
    samples = read_samples(folder)
    assert samples["passes_total busy"] == 1
    assert samples["pass_consecutive_failures"] == 0


def test_a_damaged_file_is_begun_again(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """As a full disk or an editor leaves it."""
    (folder / "piecework-birds.prom").write_bytes(b'piecework_passes_total{x="\xff')
    WatchedPasses(folder, "birds").begin()
    assert read_samples(folder)["pass_running"] == 1
    assert "is begun again" in caplog.text


def test_a_folder_that_is_gone_stops_no_pass(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Answers are worth more than their metrics."""
    with watch_passes(Path("birds.toml"), tmp_path / "gone") as watch:
        assert watch.time_step("launch", lambda: 5) == 5
        watch.stop("interrupted")
    assert "No such file or directory" in caplog.text


def test_a_schedule_names_the_folder_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prefect's flows take it from the environment of their worker."""
    monkeypatch.setenv("PIECEWORK_METRICS_FOLDER", str(folder))
    with watch_passes(Path("/srv/birds.toml")) as watch:
        watch.stop("interrupted")
    assert read_samples(folder)["passes_total interrupted"] == 1


def test_times_are_the_clock_s(folder: Path) -> None:
    """Unix seconds."""
    clock = FixedClock(datetime(2026, 3, 1, 12, tzinfo=UTC))
    passes = WatchedPasses(folder, "birds", clock=clock)
    passes.begin()
    passes.fail()
    samples = read_samples(folder)
    assert samples["pass_last_start_timestamp_seconds"] == clock.moment.timestamp()
    assert metrics_file.SUCCEEDED.removeprefix("piecework_") not in samples
