"""`export` and `report` read the campaign where the passes of its deployment work."""

from pathlib import Path
from typing import Any

import pytest
from prefect import Flow

from piecework.campaign.rehearsal_folders import go_on
from piecework.config.campaign_file import parse
from piecework.flows.exporting import export, report
from tests.small_campaign import write_campaign


@pytest.mark.parametrize("flow", [export, report], ids=lambda flow: flow.name)
def test_results_of_a_rehearsed_schedule_are_of_its_rehearsal(
    tmp_path: Path, flow: Flow[..., Any]
) -> None:
    """Without the deployment file they are of live work alone, never of simulated workers."""
    path = write_campaign(tmp_path)
    deployment = path.with_suffix(".deployment.toml")
    deployment.write_text('endpoint = "http://127.0.0.1:9"\nrehearsal = true\n')
    live = parse(path).store
    live.path.parent.mkdir(parents=True)
    live.path.touch()
    assert "no rehearsal has begun" in flow.fn(str(path)).message
    live.path.unlink()
    rehearsed = go_on(parse(path)).store.path
    for words, store in (("rehearsal = true\n", rehearsed), ("", parse(path).store.path)):
        deployment.write_text(f'endpoint = "http://127.0.0.1:9"\n{words}')
        # Neither has begun, so no server of Prefect has to start.
        assert f"{store}: there is no store yet" in flow.fn(str(path)).message
