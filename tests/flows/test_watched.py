"""A deployed flow writes metrics where its worker's environment says."""

from pathlib import Path

import pytest

from piecework.campaign.rehearsal_folders import go_on
from piecework.config.campaign_file import parse
from piecework.domain.store_address import in_folder
from piecework.flows.advance import advance
from piecework.store.lock import only_pass
from tests.engine.test_watched_passes import read_samples
from tests.small_campaign import write_campaign


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that node_exporter reads."""
    path = tmp_path / "textfile"
    path.mkdir()
    monkeypatch.setenv("PIECEWORK_METRICS_FOLDER", str(path))
    return path


def test_a_flow_without_its_deployment_file_has_failed(folder: Path, tmp_path: Path) -> None:
    """It failed before it knew its campaign, and is counted."""
    campaign = write_campaign(tmp_path)
    # Without a run of Prefect, no server has to start.
    state = advance.fn(str(campaign))
    assert state.is_failed()
    assert "crash.deployment.toml" in (state.message or "")
    assert "; next: write it: endpoint" in (state.message or "")
    samples = read_samples(folder)
    assert samples["passes_total failed"] == 1
    assert samples["pass_consecutive_failures"] == 1


def test_a_flow_that_another_pass_keeps_waiting_is_busy(folder: Path, tmp_path: Path) -> None:
    """Its run ends well, so only the outcome tells."""
    campaign = write_campaign(tmp_path)
    campaign.with_suffix(".deployment.toml").write_text(
        'endpoint = "http://127.0.0.1:9"\nrehearsal = true\n'
    )
    with only_pass(in_folder(go_on(parse(campaign)).out)):
        state = advance.fn(str(campaign))
    assert state.name == "AnotherPassIsAtWork"
    assert "(a pass) is working" in (state.message or "")
    assert "; next: wait until it ends" in (state.message or "")
    samples = read_samples(folder)
    assert samples["passes_total busy"] == 1
    assert samples["passes_total failed"] == samples["pass_running"] == 0


def test_a_dry_run_is_no_pass(folder: Path, tmp_path: Path) -> None:
    """A person looks; the schedule's figures stay."""
    assert advance.fn(str(write_campaign(tmp_path)), dry_run=True).is_failed()
    assert not [*folder.iterdir()]
