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
import httpx
import pytest
from click.testing import CliRunner, Result

from piecework.campaign.assembling import load_campaign
from piecework.cli.main import main
from piecework.cli.schedules import Interval
from piecework.marketplace.http.server import Marketplace, serve
from piecework.store.lock import only_pass
from tests.conftest import ROOT, in_full
from tests.schedule.prefect_apart import PrefectApart, prefect_apart
from tests.schedule.rehearsed import CAMPAIGN
from tests.small_campaign import write_campaign

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


@pytest.mark.parametrize("mark", in_full(None))
def test_campaigns_of_one_file_name_have_deployments_of_their_own(
    tmp_path: Path,
    mark: None,  # noqa: ARG001
) -> None:
    """Each keeps its own when the command is typed again."""
    files = [tmp_path / folder / "days.toml" for folder in ("a", "b")]
    with prefect_apart(tmp_path / "prefect", {}) as prefect:
        prefect.server()
        for file in files:
            file.parent.mkdir()
            file.write_text(CAMPAIGN.format(pictures=5, batches=1))
        for every in ("5m", "10m"):
            for file in files:
                words = (file, *_LOCAL, "--rehearsal", "--every", every)
                done = _typed(prefect.environment, *words)
                assert done.returncode == 0, done.stderr
        known = {each["name"]: each for each in prefect.read("deployments/filter")}
    first, second = sorted(known)
    assert first == "days"
    assert re.fullmatch("days-[0-9a-f]{8}", second)
    for name, file in zip((first, second), files, strict=True):
        assert known[name]["parameters"] == {"campaign": str(file)}
        [schedule] = known[name]["schedules"]
        assert schedule["schedule"]["interval"] == 600


@pytest.mark.parametrize("mark", in_full(None))
def test_a_deployment_of_another_origin_is_taken_over(tmp_path: Path, mark: None) -> None:  # noqa: ARG001
    """Whoever made its schedules; and a name that Prefect forbids is no obstacle."""
    files = [tmp_path / name for name in ("advance.toml", "R&D <50%>.toml")]
    with prefect_apart(tmp_path / "prefect", {}) as prefect:
        prefect.server()
        prefect.deploy(every_seconds=300, campaign=str(files[0]))
        (by_file,) = (
            each for each in prefect.read("deployments/filter") if each["name"] == "advance"
        )
        more = [{"schedule": {"interval": 60}, "slug": "mine"}]
        added = f"{prefect.api}/deployments/{by_file['id']}/schedules"
        httpx.post(added, json=more, timeout=60).raise_for_status()
        for file in files:
            file.write_text(CAMPAIGN.format(pictures=5, batches=1))
            words = (file, *_LOCAL, "--rehearsal", "--every", "10m")
            done = _typed(prefect.environment, *words)
            assert done.returncode == 0, done.stderr
        known = {
            each["parameters"]["campaign"]: each
            for each in prefect.read("deployments/filter")
            if each["entrypoint"].endswith("advance.advance")
        }
    assert known[str(files[0])]["id"] == by_file["id"]
    assert re.fullmatch("R-D -50---[0-9a-f]{8}", known[str(files[1])]["name"])
    for deployment in known.values():
        [schedule] = deployment["schedules"]
        assert (schedule["slug"], schedule["schedule"]["interval"]) == ("passes", 600)


@pytest.mark.parametrize("mark", in_full(None))
def test_a_pass_in_prefect_beside_another_ends_with_the_same_code(
    tmp_path: Path,
    mark: None,  # noqa: ARG001
) -> None:
    """As without Prefect: no failure for systemd, and no success."""
    campaign = write_campaign(tmp_path)
    market = Marketplace(tmp_path / "m.db", rehearsal=True, seed=1)
    with serve(market) as running, prefect_apart(tmp_path / "prefect", {}) as prefect:
        prefect.server()
        keys = {"AWS_ACCESS_KEY_ID": "A-REQUESTER", "AWS_SECRET_ACCESS_KEY": "no secret"}
        environment = prefect.environment | keys
        words = (campaign, "--endpoint", running.endpoint_url, "--once", "--poll-open-hits")
        begun = _typed(environment, *words)
        assert begun.returncode == 0, begun.stderr
        with only_pass(load_campaign(campaign).store):
            done = _typed(environment, *words)
    assert done.returncode == 5, done.stderr
    assert "next: wait until it ends" in done.stderr
    assert not done.stdout


@pytest.mark.parametrize("mark", in_full(None))
def test_all_commands_find_the_store_of_a_linked_campaign_file(
    tmp_path: Path,
    mark: None,  # noqa: ARG001
) -> None:
    """One pass began it, and `run` makes the others."""
    (there := tmp_path / "there").mkdir()
    link = tmp_path / "crash.toml"
    link.symlink_to(write_campaign(there))
    shutil.copy(there / "items.csv", tmp_path)
    keys = {"AWS_ACCESS_KEY_ID": "A-REQUESTER", "AWS_SECRET_ACCESS_KEY": "no secret"}
    environment = os.environ | keys | {"PREFECT_API_URL": ""}
    with serve(Marketplace(tmp_path / "m.db", rehearsal=True, seed=1)) as running:
        at = ("--endpoint", running.endpoint_url)
        begun = _typed(environment, link, *at, "--once")
        assert begun.returncode == 0, begun.stderr
        CliRunner().invoke(main, ["stop", str(link)], env=keys)
        done = _typed(environment, link, *at)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/crash/report.html").exists()
    assert not (there / "out").exists()


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


@pytest.mark.parametrize("amount", ["60.00", "70", *in_full("", "60")])
def test_the_same_command_with_another_time_states_the_same(campaign: Path, amount: str) -> None:
    """What is not stated is as the deployment file has it; an amount is no text."""
    away = {
        "PREFECT_API_URL": "http://127.0.0.1:9/api",
        "PREFECT_CLIENT_MAX_RETRIES": "0",
        "AWS_ACCESS_KEY_ID": "A-REQUESTER",
        "AWS_SECRET_ACCESS_KEY": "no secret",
        "PIECEWORK_ALTHOUGH_UNSEEN": "1",
    }
    market = Marketplace(campaign.with_name("m.db"), rehearsal=True, seed=1)
    with serve(market) as running:
        campaign.with_suffix(".deployment.toml").write_text(
            f'endpoint = "{running.endpoint_url}"\nlive = true\nspend_at_most = "60"\n'
        )
        words = ["--endpoint", running.endpoint_url, "--live", "--every", "10m"]
        words += ["--spend-at-most", amount] if amount else []
        done = _typed(os.environ | away, campaign, *words)
    other = "spend_at_most is '60' there, not '70.00'"
    assert (done.returncode, other in done.stderr) == ((3, True) if amount == "70" else (2, False))
    assert ("the Prefect server" in done.stderr) == (amount != "70"), done.stderr


@pytest.mark.parametrize("option", ["--although closed", "--although unseen", "--metrics-folder ."])
def test_an_option_reaches_each_pass_or_is_refused(
    campaign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    """A line has it, with a path that holds in any folder; a worker has a variable instead."""
    for name in ("CLOSED", "UNSEEN"):
        monkeypatch.setenv(f"PIECEWORK_ALTHOUGH_{name}", "")  # put back afterwards
    monkeypatch.chdir(tmp_path)
    words = ["run", str(campaign), *_LOCAL, "--every", "5m", *option.split()]
    printed = CliRunner().invoke(main, words, env={"PREFECT_API_URL": ""})
    assert f" {option.replace(' .', f' {tmp_path}')}" in printed.output.splitlines()[1]
    away = {"PREFECT_API_URL": "http://127.0.0.1:9/api"}
    refused = _typed(os.environ | away, *words[1:])
    assert refused.returncode == 2
    variable = f"PIECEWORK_{re.sub('[ -]', '_', option.strip('-. ').upper())}"
    assert f"next: set {variable} in the environment" in refused.stderr


def _lines(campaign: Path, url: str, config: Path) -> Result:
    words = ["run", str(campaign), *_LOCAL, "--rehearsal", "--every", "5m"]
    settings = {"PREFECT_API_URL": "", "PIECEWORK_CONFIG": os.path.relpath(config), "LABELS": "x"}
    return CliRunner().invoke(main, words, env={**settings, "PIECEWORK_STORE_URL": url})


def test_passes_use_the_store_that_the_command_uses(campaign: Path, tmp_path: Path) -> None:
    """The lines name the variables that choose it, unless they would show a password."""
    (config := tmp_path / "lab.toml").touch()
    for password in ("", ":${LABELS}"):
        url = f"postgresql://ann{password}@127.0.0.1:1/db?sslmode=require"
        printed = _lines(campaign, url, config)
        assert printed.exit_code == 0, printed.output
        line, service = printed.output.splitlines()[1], printed.output.replace("$$", "$")
        for setting in (f"PIECEWORK_CONFIG={config}", f"PIECEWORK_STORE_URL={url}"):
            assert setting in line
            assert setting in service.partition("ExecStart=/usr/bin/env")[2]
        assert "loginctl enable-linger" in printed.output
    for user, query in (
        ("ann:secret", ""),
        ("ann:[secret", ""),
        ("ann", "?password=secret"),
        ("ann", "?sslmode=require&pass%77ord=secret"),
        ("ann", "?sslpassword=secret"),
    ):
        refused = _lines(campaign, f"postgresql://{user}@127.0.0.1:1/db{query}", config)
        assert refused.exit_code == 2
        assert "PIECEWORK_STORE_URL has a password" in refused.output
        assert "secret" not in refused.output
    # The machine's file comes first, and needs no variable for its password.
    config.write_text("[store]\nurl = ''\n")
    kept = _lines(campaign, "postgresql://ann:secret@127.0.0.1:1/db", config)
    assert (kept.exit_code, "PIECEWORK_STORE_URL" in kept.output) == (0, False)


def test_units_of_two_campaigns_never_share_a_name(tmp_path: Path) -> None:
    """Whatever folder a file is in, and whatever script names it."""
    units: list[str] = []
    for name in ("a/days.toml", "b/days.toml", "a/鳥.toml", "a/花.toml"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(CAMPAIGN.format(pictures=5, batches=1))
        words = ["run", str(path), *_LOCAL, "--rehearsal", "--every", "5m", "--json"]
        shown = CliRunner().invoke(main, words, env={"PREFECT_API_URL": ""})
        units += json.loads(shown.output)["systemd"]
    assert len({*units}) == len(units) == 8
    assert all(re.fullmatch(r"piecework-[a-z0-9-]+\.(service|timer)", unit) for unit in units)


def test_a_linked_campaign_file_is_named_as_it_was_typed(campaign: Path, tmp_path: Path) -> None:
    """Its store, and the deployment file, are beside the link."""
    link = tmp_path / "here" / "linked.toml"
    link.parent.mkdir()
    link.symlink_to(campaign)
    shutil.copy(tmp_path / "items.csv", link.parent)
    words = ["run", str(link), *_LOCAL, "--every", "5m", "--json"]
    shown = json.loads(CliRunner().invoke(main, words, env={"PREFECT_API_URL": ""}).output)
    assert f" run {link} --once " in shown["cron"]
    assert load_campaign(link).path == link


@pytest.mark.parametrize(
    ("status", "helps"),
    [(401, "correct PREFECT_API_AUTH_STRING"), *in_full((200, "with PREFECT_API_URL= "))],
)
def test_only_what_helps_against_a_fault_of_the_server_is_advised(
    campaign: Path, status: int, helps: str
) -> None:
    """It is there, so starting one does not help: it refuses the caller, or what is sent."""

    class Refuses(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(status if self.path.endswith("/health") else 422)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self._answer(422)

        def _answer(self, code: int) -> None:
            self.send_response(code)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

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
    assert f"next: {helps}" in done.stderr
    assert "prefect server start" not in done.stderr


@pytest.mark.parametrize("place", ["profile", *in_full("PREFECT_API_URL", "prefect.toml")])
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
        (("--once", "--poll-seconds", "5"), "--poll-seconds: no use with --once or --every"),
        (("--every", "5m", "--poll-seconds", "5"), "--poll-seconds: no use with --once"),
        (("--once", "--rehearsal", "--live"), "--live: no use with --rehearsal"),
        (("--once", "--rehearsal", "--spend-at-most", "5"), "--spend-at-most: no use with"),
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
