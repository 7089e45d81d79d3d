"""A flow that asks is suspended, and continues with the answer, also after a kill.

Prefect's server, its worker, the marketplace and each pass are processes of their own.
"""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from piecework.campaign.assembling import load_campaign
from piecework.domain.clock import SystemClock
from piecework.engine.opening import open_to_look
from piecework.marketplace.http.server import Marketplace, serve
from piecework.simulation.crowd.browser import Page
from piecework.store import campaign_facts, hits, ledger
from tests.conftest import ROOT
from tests.crash.people import People
from tests.growing_campaign import START, TEXT
from tests.schedule.prefect_apart import PrefectApart, prefect_apart

pytestmark = [pytest.mark.flow, pytest.mark.full]

FLOW = '''
import os, signal
from botocore.httpsession import URLLib3Session
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

@flow(persist_result=True)
def fragile(campaign: str, key: str, kill_at: int) -> str:
    """Ask, and die by a signal right after a call to the marketplace."""
    send, calls = URLLib3Session.send, []

    def sent(session, request):
        answer = send(session, request)
        calls.append(request)
        if len(calls) == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    URLLib3Session.send = sent
    item = {"url": f"https://example.org/{key}.jpg"}
    return ask(item, campaign=campaign, key=key, field="caption").label[0]
'''
ADVANCE = (
    "import sys; from piecework.flows.advance import advance; "
    "advance(sys.argv[1], poll_open_hits=True)"
)
_PATIENCE = 600.0
_PIECEWORK = Path(sys.executable).with_name("piecework")


def _state(prefect: PrefectApart, run_id: str) -> dict[str, Any]:
    (run,) = prefect.read("flow_runs/filter", flow_runs={"id": {"any_": [run_id]}})
    return run


def _until(prefect: PrefectApart, run_id: str, name: str, *, suspensions: int = 0) -> None:
    """Wait until a run has a state, after it was suspended so often."""
    ends = {name, "Failed", "Crashed"}
    assert _until_any(prefect, run_id, ends, suspensions=suspensions) == name, prefect.log_tail(
        "worker"
    )


def _until_any(prefect: PrefectApart, run_id: str, names: set[str], *, suspensions: int = 0) -> str:
    until = time.monotonic() + _PATIENCE
    while True:
        run = _state(prefect, run_id)
        keys = run["empirical_policy"]["pause_keys"] or []
        if run["state_name"] in names and len(keys) >= suspensions:
            return str(run["state_name"])
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


def _start(prefect: PrefectApart, name: str, **parameters: object) -> str:
    """Run a deployment; return the run's id."""
    # A flow is named after its function, with hyphens.
    printed = prefect.run(
        *("deployment", "run", f"{name.replace('_', '-')}/{name}"),
        *("--params", json.dumps(parameters, default=str)),
    )
    (line,) = [line for line in printed.splitlines() if "UUID" in line]
    return line.split(":", 1)[1].strip()


@dataclass(frozen=True)
class Asked:
    """A campaign that flows ask, on a marketplace and a Prefect server."""

    campaign: Path
    people: People
    prefect: PrefectApart

    def deploy(self, file: Path, *flows: str) -> None:
        """Deploy flows of a file, each under its own name."""
        for name in flows:
            self.prefect.run(
                *("--no-prompt", "deploy", f"{file}:{name}"),
                *("--name", name, "--pool", "piecework"),
            )


@contextmanager
def _asked(folder: Path, campaign: Path, people: People | None = None) -> Iterator[Asked]:
    with (
        serve(Marketplace(folder / "m.db", rehearsal=True, seed=1, start=START)) as running,
        prefect_apart(folder / "prefect") as prefect,
    ):
        script = tuple((f"worker {number}", "good") for number in range(50))
        people = people or People("", script)
        people.endpoint = running.endpoint_url
        campaign.with_suffix(".deployment.toml").write_text(
            f'endpoint = "{running.endpoint_url}"\n'
        )
        prefect.server()
        prefect.run("work-pool", "create", "piecework", "--type", "process")
        prefect.worker()
        yield Asked(campaign, people, prefect)


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    """A campaign of captions, and the deployed flows of `FLOW`."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "A-REQUESTER")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "no secret")
    campaign = tmp_path / "crash.toml"
    campaign.write_text(TEXT.replace("items.csv", "asked.jsonl").replace("batch = 4", "batch = 1"))
    (tmp_path / "asking_flow.py").write_text(FLOW)
    with _asked(tmp_path, campaign) as asked:
        asked.deploy(tmp_path / "asking_flow.py", "caption", "impatient", "fragile")
        yield asked


def _check_books(campaign: Path, keys: Sequence[str]) -> None:
    """Each key was asked in one HIT; no run waits any more."""
    with open_to_look(load_campaign(campaign)) as opened:
        shown = [name for hit in hits.load_hits(opened.store) for name in hit.item_ids]
        assert sorted(shown) == sorted(keys)
    assert [*(campaign.parent / "out/crash/waiting-runs").iterdir()] == []


def _paid(campaign: Path) -> int:
    with open_to_look(load_campaign(campaign)) as opened:
        return ledger.balances(opened.store)["rewards"]


def test_a_flow_is_suspended_until_people_have_answered(asked: Asked) -> None:
    """Twice in one run: one HIT and one payment for each question."""
    prefect, campaign = asked.prefect, asked.campaign
    run_id = _start(prefect, "caption", campaign=campaign)
    for suspensions in (1, 2):
        _until(prefect, run_id, "Suspended", suspensions=suspensions)
        _advance(prefect, campaign)  # it is not answered yet
        assert _state(prefect, run_id)["state_name"] == "Suspended"
        assert asked.people.work() == 1
        _advance(prefect, campaign)
    _until(prefect, run_id, "Completed")
    run_id = _start(prefect, "impatient", campaign=campaign)
    words = ["run", str(campaign), "--endpoint", asked.people.endpoint, "--once"]
    while _state(prefect, run_id)["state_name"] not in {"Completed", "Failed"}:
        # While nothing is due, too, the command lets it continue when its time is over.
        done = subprocess.run(
            [_PIECEWORK, *words],
            env=prefect.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=_PATIENCE,
        )
        # The flow itself is at work on the campaign when it begins.
        assert done.returncode == 0 or "is working on this campaign" in done.stderr, done.stderr
    _until(prefect, run_id, "Completed")
    _check_books(campaign, ["a", "b", "c"])
    assert _paid(campaign) == 2 * 50


def test_flows_of_a_stopped_campaign_end(asked: Asked) -> None:
    """One that waits is resumed, and none that asks afterwards is suspended."""
    prefect, campaign = asked.prefect, asked.campaign
    first = _start(prefect, "caption", campaign=campaign)
    _until(prefect, first, "Suspended")
    second = _start(prefect, "fragile", campaign=campaign, key="z", kill_at=0)
    _until(prefect, second, "Suspended")
    with open_to_look(load_campaign(campaign)) as opened:
        campaign_facts.record_stop(opened.store, at=opened.clock.now())
    assert asked.people.work() == 1
    _advance(prefect, campaign)
    for run_id in (first, second):
        _until(prefect, run_id, "Failed")
        assert "not all are answered" in _state(prefect, run_id)["state"]["message"]
    _check_books(campaign, ["a"])


@pytest.mark.full(weeks=3)
def test_a_flow_that_is_killed_at_each_call_asks_and_pays_once(asked: Asked) -> None:
    """A second run with the same key is answered, and so is one that lived on."""
    prefect, campaign = asked.prefect, asked.campaign
    keys: list[str] = []
    is_killed = True
    while is_killed:
        keys.append(f"k{len(keys) + 1}")
        first = _start(prefect, "fragile", campaign=campaign, key=keys[-1], kill_at=len(keys))
        is_killed = _until_any(prefect, first, {"Crashed", "Suspended"}) == "Crashed"
        if is_killed:
            run_id = _start(prefect, "fragile", campaign=campaign, key=keys[-1], kill_at=0)
            _until(prefect, run_id, "Suspended")
        else:
            run_id = first
        assert asked.people.work() == 1
        _advance(prefect, campaign)
        _until(prefect, run_id, "Completed")
    assert len(keys) > 3
    _check_books(campaign, keys)
    assert _paid(campaign) == 50 * len(keys)


def test_the_example_flows_are_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Moderation waits for people, suspended; the other two are rehearsed."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "A-REQUESTER")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "no secret")
    examples = tmp_path / "ask"
    shutil.copytree(ROOT / "docs/how-to/ask", examples)
    script = tuple((f"worker {number}", "yes") for number in range(3))
    people = People("", script, fill_in=_attack)
    with _asked(tmp_path, examples / "moderation.toml", people) as asked:
        asked.deploy(examples / "moderation.py", "moderate")
        asked.deploy(examples / "active_learning.py", "learn")
        asked.deploy(examples / "weekly_sample.py", "check_week")
        prefect = asked.prefect
        comments = [
            {"item_id": f"c{number}", "comment": f"Comment {number}."} for number in range(3)
        ]
        run_id = _start(prefect, "moderate", comments=comments, scores=[0.01, 0.6, 0.99])
        _until(prefect, run_id, "Suspended")
        assert people.work() == 3
        _advance(prefect, asked.campaign)
        _until(prefect, run_id, "Completed")
        pool = _headlines(45)
        run_id = _start(prefect, "learn", pool=pool, rounds=2, per_round=9, rehearse=True)
        _until(prefect, run_id, "Completed")
        # Two weeks, in case that one ends now.
        now = SystemClock().now()
        weeks = [day.strftime("%G-W%V") for day in (now, now + timedelta(days=7))]
        rows = [
            f"{week}-{number},https://example.org/{number}.jpg,A dog.,{week},{truth}\n"
            for week in weeks
            for number in range(20)
            for truth in ["incongruent" if number % 2 else "congruent"]
        ]
        table = tmp_path / "table.csv"
        table.write_text("pair_id,url,description,week,truth.congruent\n" + "".join(rows))
        run_id = _start(prefect, "check_week", table=table, rehearse=True)
        # Half of the descriptions are wrong, which is what the flow is for.
        assert _until_any(prefect, run_id, {"Completed", "Failed"}) == "Failed"
        message = _state(prefect, run_id)["state"]["message"]
        assert any(week in message for week in weeks)
        assert "of the descriptions are true" in message


def _attack(assignment_id: str, page: Page, manner: str) -> dict[str, str]:
    return {**page.fixed, "assignmentId": assignment_id, "attack": manner}


def _headlines(count: int) -> list[dict[str, str]]:
    words = {"sports": "match goal", "science": "cell planet", "business": "bank profit"}
    sections = [*words] * (count // 3)
    return [
        {
            "item_id": f"h{number}",
            "headline": f"{words[section]} {number}",
            "truth.section": section,
        }
        for number, section in enumerate(sections)
    ]
