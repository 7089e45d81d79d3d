"""A user's flow that asks is suspended, and continues with the answer.

Prefect's server, its worker, the marketplace and each pass are processes of their own.
"""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from piecework.campaign.assembling import load_campaign
from piecework.engine.opening import open_to_look
from piecework.marketplace.http.server import serve
from piecework.store import hits, ledger
from tests.crash.people import People
from tests.growing_campaign import START, TEXT
from tests.schedule.prefect_apart import PrefectApart, prefect_apart

pytestmark = [pytest.mark.flow, pytest.mark.full]

FLOW = '''
from prefect import flow
from piecework.flows.asking import ask

@flow(persist_result=True)
def caption(campaign: str) -> str:
    """Ask for two captions, one after the other."""
    words = []
    for name in ("a", "b"):
        item = {"url": f"https://example.org/{name}.jpg"}
        answer = ask(item, campaign=campaign, key=name, field="caption")
        words.append(answer.label[0])
    return " and ".join(words)

@flow(persist_result=True)
def impatient(campaign: str) -> str:
    """Ask what nobody answers in time."""
    item = {"url": "https://example.org/c.jpg"}
    answer = ask(
        item, campaign=campaign, key="c", field="caption", timeout=15, on_timeout="none"
    )
    return str(answer.label)
'''
ADVANCE = (
    "import sys; from piecework.flows.advance import advance; "
    "advance(sys.argv[1], poll_open_hits=True)"
)
_PATIENCE = 120.0


def _state(prefect: PrefectApart, run_id: str) -> dict[str, Any]:
    (run,) = prefect.read("flow_runs/filter", flow_runs={"id": {"any_": [run_id]}})
    return run


def _until(
    prefect: PrefectApart, run_id: str, name: str, *, suspensions: int = 0
) -> None:
    """Wait until a run has a state, after it was suspended so often."""
    until = time.monotonic() + _PATIENCE
    while True:
        run = _state(prefect, run_id)
        keys = run["empirical_policy"]["pause_keys"]
        if run["state_name"] == name and len(keys) >= suspensions:
            return
        assert run["state_name"] not in {"Failed", "Crashed"}, prefect.log_tail(
            "worker"
        )
        assert time.monotonic() < until, (run["state_name"], prefect.log_tail("worker"))
        time.sleep(0.5)


def _advance(prefect: PrefectApart, campaign: Path) -> None:
    subprocess.run(
        [sys.executable, "-c", ADVANCE, str(campaign)],
        env=prefect.environment,
        cwd=campaign.parent,
        check=True,
        capture_output=True,
        timeout=_PATIENCE,
    )


def _start(prefect: PrefectApart, name: str, campaign: Path) -> str:
    printed = prefect.run(
        "deployment", "run", f"{name}/{name}", "--param", f"campaign={campaign}"
    )
    (line,) = [line for line in printed.splitlines() if "UUID" in line]
    return line.split(":", 1)[1].strip()


def test_a_flow_is_suspended_until_people_have_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twice in one run: one HIT and one payment for each question."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "A-REQUESTER")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "no secret")
    campaign = tmp_path / "crash.toml"
    campaign.write_text(
        TEXT.replace("items.csv", "asked.jsonl").replace("size = 4", "size = 1")
    )
    (tmp_path / "asking_flow.py").write_text(FLOW)
    script = tuple((f"worker {number}", "good") for number in range(50))
    with (
        serve(tmp_path / "m.db", rehearsal=True, seed=1, start=START) as running,
        prefect_apart(tmp_path / "prefect") as prefect,
    ):
        people = People(running.endpoint_url, script)
        campaign.with_suffix(".deployment.toml").write_text(
            f'endpoint = "{running.endpoint_url}"\n'
        )
        prefect.server()
        prefect.run("work-pool", "create", "piecework", "--type", "process")
        for name in ("caption", "impatient"):
            prefect.run(
                *("--no-prompt", "deploy", f"{tmp_path}/asking_flow.py:{name}"),
                *("--name", name, "--pool", "piecework"),
            )
        prefect.worker()
        run_id = _start(prefect, "caption", campaign)
        for suspensions in (1, 2):
            _until(prefect, run_id, "Suspended", suspensions=suspensions)
            _advance(prefect, campaign)  # nobody has answered yet
            assert _state(prefect, run_id)["state_name"] == "Suspended"
            assert people.work() == 1
            _advance(prefect, campaign)
        _until(prefect, run_id, "Completed")
        run_id = _start(prefect, "impatient", campaign)
        while _state(prefect, run_id)["state_name"] not in {"Completed", "Failed"}:
            _advance(prefect, campaign)
        _until(prefect, run_id, "Completed")
    with open_to_look(load_campaign(campaign)) as opened:
        shown = [name for hit in hits.load(opened.store) for name in hit.item_ids]
        assert sorted(shown) == ["a", "b", "c"]
        assert ledger.balances(opened.store)["rewards"] == 2 * 50
    assert [*(tmp_path / "out/crash/waiting-runs").iterdir()] == []
