"""The example flows of docs/how-to/prefect-flows.md, on a real server with a real worker."""

import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from piecework.marketplace.http.server import Marketplace, serve
from tests.conftest import ROOT
from tests.crash.people import SCRIPT, People
from tests.growing_campaign import START
from tests.schedule.prefect_apart import PrefectApart, prefect_apart
from tests.small_campaign import CAMPAIGN

pytestmark = [pytest.mark.flow, pytest.mark.full]

_PATIENCE = 600.0
_SETTINGS = {
    "PREFECT_SERVER_SERVICES_TRIGGERS_ENABLED": "true",
    "PREFECT_API_EVENTS_STREAM_OUT_ENABLED": "false",
}
_FLOWS = ROOT / "docs/how-to/flows"


@dataclass(frozen=True)
class _Own:
    """A folder with the example flows and a campaign, deployed."""

    folder: Path
    prefect: PrefectApart
    people: People

    @property
    def campaign(self) -> Path:
        return self.folder / "birds.toml"

    def started(self, deployment: str, /, **parameters: object) -> str:
        """The id of a new run of a deployment."""
        known = self.prefect.get(f"deployments/name/{deployment}")
        return self.prefect.created(
            f"deployments/{known['id']}/create_flow_run", parameters=parameters
        )

    def until(self, run_id: str, *names: str) -> dict[str, Any]:
        """Wait until a run has a state of one of these names."""
        until = time.monotonic() + _PATIENCE
        while (run := self.prefect.get(f"flow_runs/{run_id}"))["state_name"] not in names:
            is_over = run["state_type"] in {"FAILED", "CRASHED", "CANCELLED"}
            assert not is_over, (run["state"], self.prefect.log_tail("worker"))
            assert time.monotonic() < until, self.prefect.log_tail("worker")
            time.sleep(0.3)
        return run


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[_Own]:
    """The marketplace, the server, its worker, and all flows deployed."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "A-REQUESTER")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "no secret")
    folder = tmp_path / "flows"
    shutil.copytree(_FLOWS, folder)
    campaign = folder / "birds.toml"
    campaign.write_text(CAMPAIGN.replace('name = "crash"', 'name = "birds"'))
    (folder / "table.csv").write_text(
        "image_id,url,needs_caption\n"
        + "".join(f"{name},https://example.org/{name}.jpg,yes\n" for name in "abcd")
        + "e,https://example.org/e.jpg,no\n"
    )
    with (
        serve(Marketplace(tmp_path / "m.db", rehearsal=True, seed=1, start=START)) as market,
        prefect_apart(tmp_path / "prefect", _SETTINGS) as prefect,
    ):
        deployment = f'endpoint = "{market.endpoint_url}"\n'
        campaign.with_suffix(".deployment.toml").write_text(deployment)
        prefect.server()
        prefect.deploy(every_seconds=86_400, campaign=str(campaign), poll_open_hits=True)
        _save_secret(prefect, "warehouse", f"sqlite:///{folder / 'warehouse.db'}")
        for file, flow in (("arrivals", "caption_arrivals"), ("approval", "start_campaign")):
            prefect.run(
                *("--no-prompt", "deploy", f"{folder / file}.py:{flow}"),
                *("--name", "birds", "--pool", "piecework"),
            )
        every = ("--no-prompt", "deploy", "--all", "--prefect-file")
        prefect.run(*every, "publish.yaml", folder=folder)
        prefect.worker()
        yield _Own(folder, prefect, People(market.endpoint_url, (*SCRIPT, *SCRIPT)))


def _save_secret(prefect: PrefectApart, name: str, value: str) -> None:
    script = (
        "import sys; from prefect.blocks.system import Secret; "
        "Secret(value=sys.argv[2]).save(sys.argv[1])"
    )
    subprocess.run(
        [sys.executable, "-c", script, name, value],
        env=prefect.environment,
        check=True,
        timeout=_PATIENCE,
    )


def test_a_campaign_is_filled_approved_driven_and_published_by_own_flows(own: _Own) -> None:
    """Rehearse and advance are subflows; a person resumes; the end starts the last flow."""
    prefect = own.prefect
    advance = prefect.deployment("advance")
    prefect.posted(f"deployments/{advance['id']}/pause_deployment")

    # 1. Subflows: the items are written, the campaign is rehearsed, a pass posts the first HITs.
    first = own.started(
        "caption-arrivals/birds", table=str(own.folder / "table.csv"), campaign=str(own.campaign)
    )
    own.until(first, "Completed")
    children = prefect.read("flow_runs/filter", flow_runs={"parent_flow_run_id": {"any_": [first]}})
    assert sorted(run["name"].partition(" ")[0] for run in children) == ["advance", "rehearse"]
    assert (own.folder / "items.csv").read_text().count("example.org") == 4

    # 2. Approval: nothing is resumed before the person has answered.
    approval = own.started(
        "start-campaign/birds", campaign=str(own.campaign), deployment="advance/advance"
    )
    own.until(approval, "Suspended")
    assert prefect.deployment("advance")["paused"]
    # As the form on the run's page does.
    prefect.posted(f"flow_runs/{approval}/resume", run_input={"approved_by": "ada"})
    own.until(approval, "Completed")
    assert not prefect.deployment("advance")["paused"]

    # 3. The event of the campaign's end starts `publish`.
    until = time.monotonic() + _PATIENCE
    while (state := prefect.run_to_its_end("advance")["state_name"]) != "Finished":
        assert time.monotonic() < until, state
        own.people.work()
    while not (published := _runs_of(prefect, "publish")):
        assert time.monotonic() < until, prefect.log_tail("server")
        time.sleep(0.3)
    own.until(published[0]["id"], "Completed")
    with sqlite3.connect(own.folder / "warehouse.db") as warehouse:
        (rows,) = warehouse.execute("SELECT count(*) FROM captions").fetchone()
    assert rows == 8
    artifacts = prefect.read("artifacts/filter")
    assert [a for a in artifacts if a["key"] == "birds-published" and "8 captions" in a["data"]]


def _runs_of(prefect: PrefectApart, flow: str) -> list[dict[str, Any]]:
    return prefect.read("flow_runs/filter", flows={"name": {"any_": [flow]}})
