"""What Prefect shows of passes that fail, and which of them pause the schedule.

One campaign on a real server; each pass is a process, made when it is asked for.
"""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from piecework.campaign.rehearsal_folders import go_on
from piecework.config.campaign_file import parse
from piecework.domain.store_address import in_folder
from piecework.marketplace.http.server import Marketplace, serve
from piecework.store.lock import only_pass
from tests.crash.people import People
from tests.growing_campaign import START
from tests.schedule.prefect_apart import ROOT, PrefectApart, prefect_apart
from tests.small_campaign import write_campaign

pytestmark = [pytest.mark.flow, pytest.mark.full]

SETTINGS = {"PREFECT_SERVER_SERVICES_TRIGGERS_ENABLED": "true"}
_PATIENCE = 600.0
_IMPATIENT = """
import runpy
from datetime import timedelta
import piecework.flows.prefect_tasks as tasks
tasks._SILENCE = timedelta(seconds=1)
runpy.run_module("prefect.engine", run_name="__main__")
"""
"""A flow run whose patience with silent runs is short."""


@dataclass(frozen=True)
class _Scheduled:
    """A campaign with a deployment on a server, and the automations that ship."""

    campaign: Path
    prefect: PrefectApart

    def point_to(self, endpoint: str) -> None:
        """Write the deployment file."""
        self.campaign.with_suffix(".deployment.toml").write_text(
            f'endpoint = "{endpoint}"\nrehearsal = true\n'
        )

    def created(self) -> str:
        """Create a run; return its id."""
        deployment = self.prefect.deployment("advance")["id"]
        return self.prefect.created(f"deployments/{deployment}/create_flow_run")

    def advance(self, *program: str) -> dict[str, Any]:
        """Make a pass as a worker does; return its run."""
        run = self.created()
        subprocess.run(
            [sys.executable, *(program or ("-m", "prefect.engine"))],
            env={**self.prefect.environment, "PREFECT__FLOW_RUN_ID": run},
            cwd=self.campaign.parent,
            check=False,
            timeout=_PATIENCE,
        )
        return self.prefect.get(f"flow_runs/{run}")

    def is_paused(self) -> bool:
        """Whether the deployment's schedule makes no passes."""
        return bool(self.prefect.deployment("advance")["paused"])

    def resume(self) -> None:
        """Let it make passes again."""
        deployment = self.prefect.deployment("advance")["id"]
        url = f"{self.prefect.api}/deployments/{deployment}/resume_deployment"
        httpx.post(url, timeout=_PATIENCE).raise_for_status()

    def events(self, name: str, *, least: int = 1) -> list[dict[str, Any]]:
        """Return all events of a name, once there are as many as this.

        Prefect stores an event some time after it came.
        """
        _until(lambda: len(self._events(name)) >= least)
        return self._events(name)

    def _events(self, name: str) -> list[dict[str, Any]]:
        wanted = {"filter": {"event": {"name": [name]}}}
        reply = httpx.post(f"{self.prefect.api}/events/filter", json=wanted, timeout=_PATIENCE)
        events: list[dict[str, Any]] = reply.raise_for_status().json()["events"]
        return events


@pytest.fixture(scope="module")
def scheduled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Scheduled]:
    """No worker: the tests start the runs themselves."""
    folder = tmp_path_factory.mktemp("campaign")
    campaign = write_campaign(folder)
    with prefect_apart(folder / "prefect", SETTINGS) as prefect:
        prefect.server()
        prefect.deploy(every_seconds=86400, campaign=str(campaign))
        for name in ("faults-of-files", "finished"):
            file = ROOT / f"docs/how-to/automations/{name}.yaml"
            prefect.run("automation", "create", "--from-file", file)
        yield _Scheduled(campaign, prefect)


def _until(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + _PATIENCE
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.3)


def _failures(scheduled: _Scheduled, times: int) -> list[str]:
    """Make passes that fail; return the messages of their states."""
    messages = []
    for _ in range(times):
        run = scheduled.advance()
        assert run["state_name"] == "Failed"
        messages.append(str(run["state"]["message"]))
    return messages


def test_only_faults_of_files_pause_the_schedule(scheduled: _Scheduled) -> None:
    """Each message has the next step; several faults of a file are counted."""
    scheduled.point_to("http://127.0.0.1:9")
    for message in _failures(scheduled, 3):
        assert "http://127.0.0.1:9" in message
        assert "; next: " in message
    scheduled.campaign.with_suffix(".deployment.toml").write_text(
        'endpoint = 1\nrehearsl = true\nlive = "no"\n'
    )
    for message in _failures(scheduled, 2):
        assert message.startswith("3 faults: (1) ")
    assert not scheduled.is_paused()
    _failures(scheduled, 1)
    _until(scheduled.is_paused)
    events = scheduled.events("piecework.pass.failed", least=6)
    faults = [event["resource"]["piecework.fault"] for event in events]
    assert sorted(faults) == ["files"] * 3 + ["marketplace"] * 3
    scheduled.resume()


def test_what_passes_find_is_shown_in_the_end(scheduled: _Scheduled) -> None:
    """A lock, dead runs, and an end that is told once and pauses the schedule."""
    folder = scheduled.campaign.parent
    with serve(Marketplace(folder / "m.db", rehearsal=True, seed=1, start=START)) as running:
        scheduled.point_to(running.endpoint_url)
        rehearsed = go_on(parse(scheduled.campaign))
        with only_pass(in_folder(rehearsed.out), by="piecework stop"):
            busy = scheduled.advance()
        assert busy["state_name"] == "AnotherPassIsAtWork"
        assert "(piecework stop) is working on this campaign; next: " in (busy["state"]["message"])
        dead = _dead_runs(scheduled)
        run = scheduled.advance("-c", _IMPATIENT)
        for kind, run_id in dead.items():
            shown = scheduled.prefect.get(f"flow_runs/{run_id}")
            assert shown["state_name"] == "Crashed", kind
            assert "Later passes continue its work" in shown["state"]["message"]
        people = People(running.endpoint_url)
        while run["state_name"] != "Finished":
            assert run["state_name"] == "Completed"
            assert not scheduled.is_paused()
            people.work()
            run = scheduled.advance()
        _until(scheduled.is_paused)
        scheduled.resume()
        assert scheduled.advance()["state_name"] == "Finished"
        _until(scheduled.is_paused)
        (event,) = scheduled.events("piecework.campaign.finished")
        assert event["payload"]["is_finished"]


def _dead_runs(scheduled: _Scheduled) -> dict[str, str]:
    """Runs whose machine went down, in the states in which it left them."""
    dead = {}
    for kind in ("PENDING", "RUNNING"):
        dead[kind] = scheduled.created()
        url = f"{scheduled.prefect.api}/flow_runs/{dead[kind]}/set_state"
        body = {"state": {"type": kind, "name": kind.title()}, "force": True}
        httpx.post(url, json=body, timeout=_PATIENCE).raise_for_status()
    time.sleep(2)  # longer than the patience of the run that looks
    return dead
