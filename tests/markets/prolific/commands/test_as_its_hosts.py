"""Programs with Prolific's host built in reach the emulator, and no other host."""

import os
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from offline_markets.prolific.options import Options
from offline_markets.prolific.server import serve
from offline_markets_tests.prolific.people import STUDY
from piecework.foundation.server.stand_in.relay import RunningStandIn
from piecework.markets.prolific.commands.emulator import HOSTS, standing_in

# What a program would run that knows one address and reads the usual variables.
_PROGRAM = (
    "import os, urllib.request, json\n"
    "request = urllib.request.Request('https://api.prolific.com/api/v1/users/me/',"
    " headers={'Authorization': 'Token any'})\n"
    "print(json.load(urllib.request.urlopen(request, timeout=30))['id'])\n"
)
_COMMAND = [sys.executable, "-c", "from piecework.cli.main import main; main()"]


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStandIn]:
    """An emulator behind Prolific's names."""
    folder = tmp_path_factory.mktemp("prolific")
    with serve(Options()) as url, standing_in(url, folder / "names") as running:
        yield running


def test_links_name_the_host_and_the_scheme_of_the_caller(stand_in: RunningStandIn) -> None:
    """A program follows them through the proxy, which takes nothing but TLS."""
    with _client(stand_in) as client:
        for _ in range(2):
            made = client.post("https://api.prolific.com/api/v1/studies/", json=STUDY)
            assert made.status_code == 201
        listed = client.get("https://api.prolific.com/api/v1/studies/?page_size=1")
        link = listed.json()["_links"]["next"]["href"]
        assert link.startswith("https://api.prolific.com/api/v1/studies/?")
        assert client.get(link).json()["results"]


def _client(stand_in: RunningStandIn) -> httpx.Client:
    trusts = ssl.create_default_context(cafile=stand_in.authority)
    return httpx.Client(
        proxy=stand_in.proxy_url, verify=trusts, headers={"Authorization": "Token any"}, timeout=30
    )


def test_an_unchanged_program_reaches_the_emulator(stand_in: RunningStandIn) -> None:
    """By the variables alone, in a process of its own."""
    environment = {"PATH": os.environ["PATH"], **stand_in.environment()}
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.strip()) == 24


@pytest.mark.parametrize("host", HOSTS)
def test_both_names_lead_to_one_account(stand_in: RunningStandIn, host: str) -> None:
    """Many calls on one connection, with bodies in both directions."""
    with _client(stand_in) as http:
        made = http.post(f"https://{host}/api/v1/studies/", json=STUDY)
        assert made.status_code == 201, made.text
        for _ in range(5):
            read = http.get(f"https://{host}/api/v1/studies/{made.json()['id']}/")
            assert read.json()["name"] == STUDY["name"]


def test_no_other_host_is_reached(stand_in: RunningStandIn) -> None:
    """Neither another of Prolific's, nor one that it contains, nor plain HTTP."""
    with _client(stand_in) as http:
        for host in ("app.prolific.com", "example.org", "api.prolific.com.example.org"):
            with pytest.raises(httpx.ProxyError):
                http.get(f"https://{host}/")
        assert http.get("http://api.prolific.com/api/v1/users/me/").status_code == 403


def test_the_authority_signs_for_no_other_name(stand_in: RunningStandIn) -> None:
    """A program that does not trust it refuses the connection."""
    with (
        httpx.Client(proxy=stand_in.proxy_url, timeout=30) as http,
        pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"),
    ):
        http.get("https://api.prolific.com/api/v1/users/me/")


def test_the_command_prints_what_a_shell_needs(tmp_path: Path) -> None:
    """Pasted into another shell, its lines lead a program there; a signal ends both."""
    words = ["market", "prolific", "emulator", "--port", "0", "--as-prolific", str(tmp_path / "ca")]
    with subprocess.Popen([*_COMMAND, *words], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(13)]
            assert lines[0].startswith("prolific emulator at http://127.0.0.1:")
            assert all(line.startswith("export ") for line in lines[1:])
            pasted = "".join(lines[1:]) + f'exec "{sys.executable}" -c "$PROGRAM"\n'
            done = subprocess.run(
                ["sh", "-c", pasted],
                env={"PATH": os.environ["PATH"], "PROGRAM": _PROGRAM},
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            assert done.returncode == 0, done.stderr
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0
    kept = {path.name for path in (tmp_path / "ca").iterdir()}
    assert kept == {"authority.pem", "authority.key", "hosts.pem"}
