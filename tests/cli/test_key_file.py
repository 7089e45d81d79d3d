"""`market serve CAMPAIGN` leaves a key beside the campaign, and `run` needs no endpoint."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner, Result

from piecework.cli.main import main
from piecework.platforms.endpoint import key_path
from tests.marketplace.market import free_port
from tests.small_campaign import CAMPAIGN, write_campaign
from tests.trusted import own

_PIECEWORK = Path(sys.executable).with_name("piecework")


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A campaign with pictures in a folder, and a user who has only AWS's keys of a bucket."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDOFABUCKET")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")
    for name in ("PIECEWORK_ENDPOINT", "PIECEWORK_ACCESS_KEY_ID", "PREFECT_API_URL"):
        monkeypatch.delenv(name, raising=False)
    return write_campaign(tmp_path, CAMPAIGN)


@contextmanager
def _served(campaign: Path, *words: str) -> Iterator[str]:
    database = campaign.parent / "market.db"
    ports = ("--port", "0", "--frames-port", "0", "--database", str(database))
    with subprocess.Popen(
        [_PIECEWORK, "market", "serve", campaign, *ports, *words], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[2]
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)


def _run(campaign: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["run", str(campaign), "--once", "--json", *words])


def test_a_campaign_runs_where_it_is_served_without_an_endpoint(campaign: Path) -> None:
    """Its budget is in the account, its key in a file for its owner, kept at the next start."""
    with _served(campaign) as url:
        file = key_path(campaign)
        assert file.stat().st_mode & 0o777 == 0o600
        first = json.loads(file.read_text())
        assert first["endpoint"] == url
        done = _run(campaign)
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["hits_posted"] > 0
        database = str(campaign.parent / "market.db")
        words = ["market", "account", "list", "--database", database, "--json"]
        [account] = json.loads(CliRunner().invoke(main, words).stdout)
        assert account["access_key_id"] == first["access_key"]
    with _served(campaign) as url:
        second = json.loads(file.read_text())
        assert second["access_key"] == first["access_key"]
        assert httpx.get(url).status_code < 500


def test_a_site_for_a_network_is_called_on_this_machine(campaign: Path) -> None:
    """A class opens the laptop's address; `run` needs no endpoint, and asks for --live."""
    port = free_port()
    words = (
        *("--host", "0.0.0.0", "--port", str(port), "--site-url", f"http://192.0.2.9:{port}"),  # noqa: S104 - as the page says
        *("--frames-url", f"http://laptop.local:{port}"),
    )
    with _served(campaign, *words) as url:
        assert url == f"http://192.0.2.9:{port}"
        known = json.loads(key_path(campaign).read_text())["endpoint"]
        assert known == f"http://127.0.0.1:{port}"
        refused = _run(campaign)
        assert (refused.exit_code, "add --live" in refused.output) == (3, True), refused.output
        live = _run(campaign, "--live", "--spend-at-most", "20")
        assert json.loads(live.stdout)["hits_posted"] > 0


def test_own_people_are_paid_in_the_campaign_s_currency(campaign: Path) -> None:
    """A marketplace in pounds is served again like any other."""
    text = campaign.read_text()
    campaign.write_text(text.replace('reward = "0.50"', 'reward = "£0.50"'))
    own(campaign)
    with _served(campaign):
        done = _run(campaign)
        assert done.exit_code == 0, done.output
    with _served(campaign) as url:
        assert httpx.get(url).status_code < 500
    words = ["market", "account", "list", "--database", str(campaign.parent / "market.db")]
    listed = CliRunner().invoke(main, words).stdout
    assert "£" in listed
    assert "$" not in listed


def test_a_key_that_was_revoked_is_replaced(campaign: Path) -> None:
    """The next start gives another; the account and its money stay."""
    with _served(campaign):
        first = json.loads(key_path(campaign).read_text())["access_key"]
    database = str(campaign.parent / "market.db")
    words = ["market", "account", "revoke", first, "--database", database]
    assert CliRunner().invoke(main, words).exit_code == 0
    with _served(campaign):
        assert json.loads(key_path(campaign).read_text())["access_key"] != first
        assert _run(campaign).exit_code == 0


def _elsewhere(file: Path) -> None:
    key = json.loads(file.read_text())
    file.write_text(json.dumps(key | {"endpoint": "https://hits.example.org"}))


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (lambda file: file.chmod(0o644), 3, "its owner alone must be able to read it"),
        (lambda file: file.write_text("{}"), 3, "is not a file of `piecework market serve"),
        (lambda file: file.unlink(), 2, "Missing option '--endpoint'"),
        (_elsewhere, 2, "Missing option '--endpoint'"),
    ],
    ids=["for others", "no key", "gone", "elsewhere"],
)
def test_a_file_that_anybody_may_have_made_is_not_used(
    campaign: Path, change: object, code: int, words: str
) -> None:
    """One that others read, or that leads to another machine, as a stranger's campaign may."""
    file = key_path(campaign)
    file.parent.mkdir()
    key = {"endpoint": "http://127.0.0.1:9", "access_key": "A", "secret_key": "B"}
    file.write_text(json.dumps(key))
    file.chmod(0o600)
    change(file)  # type: ignore[operator]
    refused = CliRunner().invoke(main, ["run", str(campaign), "--once"])
    assert refused.exit_code == code, refused.output
    assert words in refused.output
