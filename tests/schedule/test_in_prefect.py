"""What Prefect's pages show of a campaign, and what an automation does with it.

One campaign on a real server with a real worker; a pass is made when it is asked for.
"""

import csv
import json
import re
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from operator import itemgetter
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.schedule.prefect_apart import ROOT, PrefectApart, prefect_apart
from tests.schedule.rehearsed import CAMPAIGN

pytestmark = [pytest.mark.flow, pytest.mark.full]

_PIECEWORK = Path(sys.executable).with_name("piecework")
_PATIENCE = 240.0


@dataclass
class _Shown:
    """What a server showed of one campaign, read when it was over."""

    runs: list[dict[str, Any]]
    logs: list[dict[str, Any]]
    artifacts: list[dict[str, Any]]
    events: list[dict[str, Any]]
    calls: list[dict[str, str]]
    console: str
    typed: set[str] = field(default_factory=set)
    worker_ids: set[str] = field(default_factory=set)


@contextmanager
def _webhook() -> Iterator[tuple[str, list[dict[str, str]]]]:
    """An address, and the JSON documents that were posted to it."""
    calls: list[dict[str, str]] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            calls.append(json.loads(body))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_words: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/people", calls
        server.shutdown()


def _automate(prefect: PrefectApart, url: str) -> None:
    """A block for the address, then the automation (docs/how-to/watch.md)."""
    script = (
        "import sys; from prefect.blocks.webhook import Webhook; "
        "print(Webhook(url=sys.argv[1]).save('people'))"
    )
    block = subprocess.run(
        [sys.executable, "-c", script, url],
        env=prefect.environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=_PATIENCE,
    ).stdout.strip()
    words = (ROOT / "docs/how-to/automations/waits-for-people.yaml").read_text()
    file = prefect.home / "waits.yaml"
    file.write_text(words.replace("block_document_id: BLOCK_ID", f"block_document_id: {block}"))
    prefect.run("automation", "create", "--from-file", file)
    prefect.run(
        *("automation", "create", "--from-file"),
        ROOT / "docs/how-to/automations/faults-of-files.yaml",
    )


def _until(is_so: Callable[[], object], explanation: Callable[[], str]) -> None:
    until = time.monotonic() + _PATIENCE
    while not is_so():
        assert time.monotonic() < until, explanation()
        time.sleep(0.3)


def _lines_are_there(prefect: PrefectApart) -> bool:
    """Whether the lines on the worker's console were sent, which takes seconds."""
    console = (prefect.home / "worker.log").read_text()
    counts = Counter(_messages_of_passes(prefect.read("logs/filter")))
    is_last_there = any(message.endswith("spent; finished") for message in counts)
    return is_last_there and all(
        console.count(message) == times for message, times in counts.items()
    )


def _messages_of_passes(logs: list[dict[str, Any]]) -> list[str]:
    ours = "piecework."
    return [str(log["message"]) for log in logs if log["name"].startswith(ours)]


def _tell_that_people_are_waited_for(prefect: PrefectApart, campaign: Path) -> None:
    """Twice, as two passes would, with what the campaign's pass says of itself."""
    script = (
        "import sys; from dataclasses import replace; from pathlib import Path\n"
        "from piecework.campaign.assembling import load_with_results\n"
        "from piecework.flows.prefect_pages import tell_of_end\n"
        "from piecework.engine.opening import open_to_look\n"
        "from piecework.engine.progress import read_progress\n"
        "campaign = load_with_results(Path(sys.argv[1]))\n"
        "with open_to_look(campaign) as run:\n"
        "    progress = read_progress(run)\n"
        "at_people = replace(progress, waiting_for='people', to_decide=7)\n"
        "for _ in range(2):\n"
        "    tell_of_end(sys.argv[1], at_people, campaign.store)\n"
    )
    subprocess.run(
        [sys.executable, "-c", script, campaign],
        env=prefect.environment,
        cwd=ROOT,
        check=True,
        timeout=_PATIENCE,
    )


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Shown]:
    """The campaign, driven to its end by passes; then a person is waited for."""
    folder = tmp_path_factory.mktemp("campaign")
    campaign = folder / "days.toml"
    campaign.write_text(CAMPAIGN.format(pictures=5, batches=1))
    settings = {
        "PREFECT_SERVER_SERVICES_TRIGGERS_ENABLED": "true",
        "PREFECT_API_EVENTS_STREAM_OUT_ENABLED": "false",
    }
    with (
        prefect_apart(folder / "prefect", settings) as prefect,
        _webhook() as (url, calls),
        subprocess.Popen(
            [_PIECEWORK, "market", "serve", "--simulate", campaign, "--port", "0"],
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        ) as crowd,
    ):
        try:
            assert crowd.stdout is not None
            address = re.search(r"http://\S+", crowd.stdout.readline())
            assert address is not None
            campaign.with_suffix(".deployment.toml").write_text(
                f'endpoint = "{address.group()}"\nrehearsal = true\n'
            )
            prefect.server()
            prefect.deploy(every_seconds=86400, campaign=str(campaign))
            _relative_path_is_refused(prefect)
            _automate(prefect, url)
            prefect.worker()
            while crowd.poll() is None:
                prefect.run_to_its_end("advance")
            assert crowd.returncode == 0
            prefect.run_to_its_end("rehearse")  # finds nothing left to do
            _tell_that_people_are_waited_for(prefect, campaign)
            _until(lambda: calls, lambda: prefect.log_tail("server"))
            _until(lambda: _lines_are_there(prefect), lambda: prefect.log_tail("worker"))
            with sqlite3.connect(folder / "out/days/rehearsals/1/piecework.db") as store:
                workers = store.execute("SELECT DISTINCT worker_id FROM assignments")
                worker_ids = {str(row[0]) for row in workers}
            yield _Shown(
                runs=prefect.read("flow_runs/filter"),
                logs=prefect.read("logs/filter"),
                # The server returns them in no stated order; the latest status counts.
                artifacts=sorted(
                    prefect.read("artifacts/filter"), key=itemgetter("created"), reverse=True
                ),
                events=_events(prefect),
                calls=calls,
                console=(prefect.home / "worker.log").read_text(),
                typed=_captions(folder / "out/days/rehearsals/1/dataset/captions.csv"),
                worker_ids=worker_ids,
            )
        finally:
            if crowd.poll() is None:
                crowd.kill()


def _events(prefect: PrefectApart) -> list[dict[str, Any]]:
    reply = httpx.post(f"{prefect.api}/events/filter", json={"limit": 50}, timeout=30)
    page = reply.raise_for_status().json()
    events = list(page["events"])
    while page["next_page"]:
        page = httpx.get(page["next_page"], timeout=30).raise_for_status().json()
        events += page["events"]
    return events


def _relative_path_is_refused(prefect: PrefectApart) -> None:
    """Neither a deployment nor a run takes one."""
    with pytest.raises(AssertionError, match=r"does not\s+match"):
        prefect.run("deployment", "run", "advance/advance", "-p", "campaign=days.toml")
    with pytest.raises(AssertionError, match=r"409 Conflict.*'days\.toml'"):
        prefect.deploy(every_seconds=86400, campaign="days.toml")


def _captions(file: Path) -> set[str]:
    with file.open(newline="", encoding="utf-8") as rows:
        return {text for row in csv.DictReader(rows) if len(text := row["caption"]) > 9}


def test_a_run_carries_campaign_and_batch_in_name_and_tags(shown: _Shown) -> None:
    """So a person finds the runs of a batch on Prefect's pages."""
    ended = [run for run in shown.runs if run["state_name"] == "Finished"]
    assert ended
    ended += [run for run in shown.runs if run["name"].startswith("rehearse")]
    assert {run["name"].partition(" ")[0] for run in ended} == {"advance", "rehearse"}
    for run in ended:
        assert run["name"].endswith(" days, batch 1 of 1")
        assert {"piecework", "campaign:days", "batch:1"} <= {*run["tags"]}


def test_what_passes_say_stands_in_their_runs_once(shown: _Shown) -> None:
    """On Prefect's pages and on the worker's console, and with nobody's words or id."""
    ours = [log for log in shown.logs if log["name"].startswith("piecework.")]
    messages = [str(log["message"]) for log in ours]
    assert "5 assignments came in" in messages
    assert any(message.endswith("spent; finished") for message in messages)
    finished = [run["id"] for run in shown.runs if run["state_name"] == "Finished"]
    assert {log["flow_run_id"] for log in ours} & {*finished}
    for message, times in Counter(messages).items():
        assert shown.console.count(message) == times, message
    whole = "\n".join(str(log["message"]) for log in shown.logs) + shown.console
    assert shown.typed
    assert shown.worker_ids
    assert not [text for text in shown.typed | shown.worker_ids if text in whole]


def test_artifacts_are_read_in_the_browser(shown: _Shown) -> None:
    """Each says what it is, and none leads to a file of the worker's machine."""
    keys = {str(artifact["key"]) for artifact in shown.artifacts}
    assert {f"days-{what}" for what in ("progress", "status", "report")} <= keys
    for artifact in shown.artifacts:
        assert artifact["description"], artifact["key"]
        assert "file://" not in str(artifact["data"])
        assert artifact["type"] in {"markdown", "progress", "table"}
    report = next(artifact for artifact in shown.artifacts if artifact["key"] == "days-report")
    status = next(artifact for artifact in shown.artifacts if artifact["key"] == "days-status")
    assert all(f"| {what} |" in status["data"] for what in ("Done", "Cost", "Left"))
    assert "**Next:** nothing; the report is" in status["data"]
    assert "| Images | 5 |" in report["data"]
    assert "out/days/rehearsals/1/report.html" in report["data"]


def test_a_person_is_told_once_that_decisions_wait(shown: _Shown) -> None:
    """The automation that is shipped calls a webhook, though every pass says it."""
    assert shown.calls == [{"text": "days: 7 decisions wait for a person (piecework review --csv)"}]


def test_what_passes_did_are_events(shown: _Shown) -> None:
    """Their counts add up to the campaign's."""
    counts = Counter[str]()
    for event in shown.events:
        if event["event"].startswith(("piecework.hits.", "piecework.answers.")):
            assert event["resource"]["prefect.resource.id"] == "piecework.campaign.days"
            counts[event["event"]] += sum(
                event["payload"].get(name, 0) for name in ("hits", "answers")
            )
    finished = next(
        event["payload"]
        for event in shown.events
        if event["event"] == "piecework.campaign.finished"
    )
    assert counts == {
        "piecework.hits.posted": finished["hits_posted"],
        "piecework.answers.collected": finished["answers"],
        "piecework.answers.decided": finished["answers"],
    }


def test_the_dataset_is_an_asset_that_comes_from_the_campaign(shown: _Shown) -> None:
    """Materialized once, by the pass that finished the campaign."""
    (event,) = [
        event
        for event in shown.events
        if event["event"] == "prefect.asset.materialization.succeeded"
    ]
    key = event["resource"]["prefect.resource.id"]
    assert re.fullmatch(r"file://[^/]+/.*/out/days/rehearsals/1/dataset", key)
    sources = {
        related["prefect.resource.id"]
        for related in event["related"]
        if related["prefect.resource.role"] == "asset"
    }
    assert [*sources] == [key.replace("out/days/rehearsals/1/dataset", "days.toml")]
