"""`run --every`: a deployment at a real Prefect server, or lines that cron and systemd take."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from piecework.cli.main import main
from piecework.cli.schedules import Interval
from piecework.marketplace.http.server import Marketplace, serve
from tests.conftest import ROOT, in_full
from tests.schedule.prefect_apart import PrefectApart, prefect_apart
from tests.schedule.rehearsed import CAMPAIGN

_PIECEWORK = Path(sys.executable).with_name("piecework")
_LOCAL = ("--endpoint", "http://127.0.0.1:9")


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """A campaign whose file's name has what cron, systemd and a shell each read otherwise."""
    path = tmp_path / "50% of $x.toml"
    text = CAMPAIGN.format(pictures=5, batches=1)
    path.write_text(text.replace("scenes = 5", 'file = "items.csv"'))
    (tmp_path / "items.csv").write_text("image_id,url\na,http://127.0.0.1:9/a.png\n")
    return path


def _typed(environment: dict[str, str], *words: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [_PIECEWORK, "run", *words],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def _deployed(prefect: PrefectApart) -> dict[str, Any]:
    [deployment] = prefect.read("deployments/filter")
    return deployment


@pytest.mark.parametrize("mark", in_full(None))
def test_a_worker_makes_the_passes_of_a_registered_campaign(tmp_path: Path, mark: None) -> None:  # noqa: ARG001
    """One command in place of two files; typed again with another time, it stays one."""
    campaign = tmp_path / "days.toml"
    campaign.write_text(CAMPAIGN.format(pictures=5, batches=1))
    with (
        prefect_apart(tmp_path / "prefect", {}) as prefect,
        subprocess.Popen(
            [_PIECEWORK, "market", "serve", "--simulate", campaign, "--port", "0"],
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        ) as market,
    ):
        try:
            assert market.stdout is not None
            address = re.search(r"http://\S+", market.stdout.readline())
            assert address is not None
            prefect.server()
            at = ("--endpoint", address.group(), "--rehearsal")
            first, done = (
                _typed(prefect.environment, campaign, *at, "--every", every)
                for every in ("5m", "1d")
            )
            assert (first.returncode, done.returncode) == (0, 0), first.stderr + done.stderr
            assert done.stdout.startswith("advance/days: a pass every day, by the Prefect server")
            deployment = _deployed(prefect)
            [schedule] = deployment["schedules"]
            assert schedule["schedule"]["interval"] == 86400
            assert deployment["entrypoint"] == "piecework.flows.advance.advance"
            assert deployment["parameters"] == {"campaign": str(campaign)}
            assert deployment["concurrency_options"]["collision_strategy"] == "CANCEL_NEW"
            prefect.worker()
            run = prefect.created(f"deployments/{deployment['id']}/create_flow_run")
            ended = prefect.wait_for_end(run)
            assert ended["state_type"] == "COMPLETED", prefect.log_tail("worker")
        finally:
            market.kill()
    other = _typed(prefect.environment, campaign, *_LOCAL, "--rehearsal", "--every", "5m")
    assert other.returncode == 3
    assert "states what scheduled passes may do: endpoint is" in other.stderr


def test_a_server_that_is_away_leaves_no_deployment_file(campaign: Path, tmp_path: Path) -> None:
    """The same command is typed again later, perhaps with another amount."""
    away = {
        **os.environ,
        "PREFECT_API_URL": "http://127.0.0.1:9/api",
        "PREFECT_HOME": str(tmp_path / "prefect"),
        "PREFECT_CLIENT_MAX_RETRIES": "0",
    }
    done = _typed(away, campaign, *_LOCAL, "--every", "5m")
    assert done.returncode == 2, done.stderr
    assert "the Prefect server http://127.0.0.1:9/api" in done.stderr
    assert not [*campaign.parent.glob("*.deployment.toml")]


def test_a_server_that_refuses_the_caller_names_the_variable(campaign: Path) -> None:
    """It is there, so starting one does not help."""

    class Refuses(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(401)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Refuses)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    settings = {
        "PREFECT_API_URL": f"http://127.0.0.1:{server.server_port}/api",
        "PREFECT_API_AUTH_STRING": "ada:wrong",
        "PREFECT_CLIENT_MAX_RETRIES": "0",
    }
    done = _typed({**os.environ, **settings}, campaign, *_LOCAL, "--every", "5m")
    server.shutdown()
    server.server_close()
    assert done.returncode == 2, done.stderr
    assert "next: correct PREFECT_API_AUTH_STRING" in done.stderr
    assert "prefect server start" not in done.stderr


@pytest.mark.parametrize("place", ["PREFECT_API_URL", "profile", "prefect.toml"])
def test_the_server_is_the_one_that_prefect_would_use(
    campaign: Path, tmp_path: Path, place: str
) -> None:
    """Wherever its URL stands; the sentence says which server and where that was read."""
    at, home = "http://127.0.0.1:9/api", tmp_path / "prefect"
    home.mkdir()
    environment = {name: each for name, each in os.environ.items() if "PREFECT" not in name}
    environment |= {"PREFECT_HOME": str(home), "PREFECT_CLIENT_MAX_RETRIES": "0"}
    if place == "PREFECT_API_URL":
        environment[place], source = at, place
    elif place == "profile":
        text = f'active = "lab"\n[profiles.lab]\nPREFECT_API_URL = "{at}"\n'
        (home / "profiles.toml").write_text(text)
        source = "Prefect's profile lab"
    else:
        (tmp_path / "prefect.toml").write_text(f'[api]\nurl = "{at}"\n')
        source = "Prefect's settings of this folder"
    words = [str(_PIECEWORK), "run", str(campaign), *_LOCAL, "--every", "5m"]
    done, without = (
        subprocess.run(
            words, env=each, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
        )
        for each in (environment, {**environment, "PREFECT_API_URL": ""})
    )
    assert done.returncode == 2, done.stdout
    assert f"the Prefect server {at} (from {source})" in done.stderr
    assert without.returncode == 0, without.stderr
    assert "a line for `crontab -e`" in without.stdout


def test_without_prefect_it_prints_what_cron_and_systemd_take(campaign: Path) -> None:
    """Each runs the same words; nothing is written."""
    environment = {name: each for name, each in os.environ.items() if "PREFECT" not in name}
    done = _typed(environment, campaign, *_LOCAL, "--every", "5m", "--json")
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    wanted = [str(_PIECEWORK), "run", str(campaign), "--once", *_LOCAL]
    line = shown["cron"].removeprefix("*/5 * * * * ").replace(r"\%", "%")
    words = subprocess.run(
        ["sh", "-c", f"printf '%s\\n' {line}"], capture_output=True, text=True, check=True
    )
    assert words.stdout.splitlines() == wanted
    (service, timer) = shown["systemd"].values()
    command = re.search("^ExecStart=(.*)$", service, re.MULTILINE)
    assert command is not None
    assert command[1].replace("%%", "%").replace("$$", "$") == " ".join(
        f'"{word}"' if " " in word else word for word in wanted
    )
    assert "OnUnitInactiveSec=300s" in timer
    assert {path.name for path in campaign.parent.iterdir()} == {campaign.name, "items.csv"}


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not on this machine")
def test_systemd_accepts_the_units(campaign: Path, tmp_path: Path) -> None:
    """As its own checker reads them."""
    words = ["run", str(campaign), *_LOCAL, "--every", "2h", "--json"]
    shown = CliRunner().invoke(main, words, env={"PREFECT_API_URL": ""})
    for name, text in json.loads(shown.output)["systemd"].items():
        (tmp_path / name).write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", *tmp_path.glob("piecework-*.timer")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("text", ["", "0m", "5", "5s", "-5m", "8d", "1.5h", "1e3m", "9" * 99 + "m"])
def test_what_is_no_time_between_passes_is_refused(text: str) -> None:
    """With examples of what is."""
    with pytest.raises(click.BadParameter, match="a time such as 5m, 2h or 1d"):
        Interval().convert(text, None, None)


@pytest.mark.parametrize(
    ("every", "when"),
    [("1m", "* * * * *"), ("15m", "*/15 * * * *"), ("60m", "0 * * * *"), ("6h", "0 */6 * * *")],
)
def test_cron_repeats_after_the_same_time(campaign: Path, every: str, when: str) -> None:
    """Only times that divide an hour or a day; otherwise systemd alone is offered."""
    words = ["run", str(campaign), *_LOCAL, "--json", "--every"]
    shown = CliRunner().invoke(main, [*words, every], env={"PREFECT_API_URL": ""})
    assert json.loads(shown.output)["cron"].startswith(f"{when} /")
    other = CliRunner().invoke(main, [*words, "7m"], env={"PREFECT_API_URL": ""})
    assert json.loads(other.output)["cron"] == ""
    assert Interval().convert("7m", None, None) == timedelta(minutes=7)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--once", "--every", "5m"), "give either --once or --every"),
        (("--every", "5m", "--poll-open-hits"), "--poll-open-hits goes with --once"),
        (("--rehearsal",), "--rehearsal goes with --once or --every"),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    campaign: Path, words: tuple[str, ...], complaint: str
) -> None:
    """Before anything is asked or written."""
    refused = CliRunner().invoke(main, ["run", str(campaign), *_LOCAL, *words])
    assert refused.exit_code == 2
    assert complaint in refused.output


@pytest.mark.parametrize("simulates", [True, False])
def test_no_schedule_is_made_for_workers_of_the_other_kind(
    campaign: Path,
    tmp_path: Path,
    simulates: bool,  # noqa: FBT001 - a case
) -> None:
    """Each of its passes would be refused."""
    market = Marketplace(tmp_path / "m.db", rehearsal=simulates, simulates=simulates, seed=1)
    with serve(market) as running:
        words = ["run", str(campaign), "--endpoint", running.endpoint_url, "--every", "5m"]
        words += [] if simulates else ["--rehearsal"]
        refused = CliRunner().invoke(main, words, env={"PREFECT_API_URL": ""})
    assert refused.exit_code == 3
    assert ("simulated workers work" if simulates else "so it is real") in refused.output
    assert "crontab" not in refused.output


def test_another_machine_needs_live_on_a_schedule_too(campaign: Path) -> None:
    """No line is printed that would be refused each time."""
    words = ["run", str(campaign), "--endpoint", "https://hits.example.org", "--every", "5m"]
    refused = CliRunner().invoke(main, words, env={"PREFECT_API_URL": ""})
    assert refused.exit_code == 3
    assert "crontab" not in refused.output
