"""`prolific doctor`: lines or one document, the exit code, and what is never shown."""

import json
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from piecework.cli.main import main
from tests.markets.prolific.account import Account, healthy
from tests.markets.prolific.stub import SECRET, Stub, serving


@pytest.fixture
def stub() -> Iterator[Stub]:
    """An account in order."""
    with serving() as running:
        running.respond = Account(healthy())
        yield running


def _doctor(stub: Stub, *words: str, token: str = SECRET) -> Result:
    environment = {"PROLIFIC_TOKEN": token, "PROLIFIC_URL": stub.address}
    done = CliRunner().invoke(
        main, ["market", "prolific", "doctor", *words], env=environment, catch_exceptions=False
    )
    assert SECRET not in done.output
    return done


def test_an_account_in_order_ends_with_zero(stub: Stub) -> None:
    """A line for each thing, with its level first."""
    done = _doctor(stub, "--currency", "gbp")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert {line[:4] for line in lines} == {"ok  "}
    assert any("£500.00 available" in line for line in lines)


def test_what_fails_ends_with_one_and_says_what_helps(stub: Stub) -> None:
    """Pounds where dollars are wanted."""
    done = _doctor(stub, "--currency", "USD")
    assert done.exit_code == 1
    assert "fail  currency" in done.stdout
    assert "      next: use a workspace in USD" in done.stdout


def test_one_document_says_the_same(stub: Stub) -> None:
    """For programs."""
    done = _doctor(stub, "--json", "--as-curl")
    document = json.loads(done.stdout)
    assert document["ok"] is True
    assert {check["level"] for check in document["checks"]} == {"ok"}
    assert len(document["requests"]) == len(stub.asked)
    assert "requests" not in json.loads(_doctor(stub, "--json").stdout)


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_calls_as_curl_are_those_that_were_made(stub: Stub) -> None:
    """Run by a shell with the token in its environment, they are the same calls."""
    done = _doctor(stub, "--as-curl")
    made = [(asked.method, asked.path, asked.query) for asked in stub.asked]
    lines = [line for line in done.stdout.splitlines() if line.startswith("curl ")]
    assert all('"Authorization: Token $PROLIFIC_TOKEN"' in line for line in lines)
    stub.asked.clear()
    for line in lines:
        command = shlex.split(line.replace("$PROLIFIC_TOKEN", SECRET))
        subprocess.run([*command, "--silent"], check=True, capture_output=True)
    assert [(asked.method, asked.path, asked.query) for asked in stub.asked] == made


def test_no_token_sends_nothing(stub: Stub) -> None:
    """A sentence, and where to get one."""
    done = _doctor(stub, "--as-curl", token="")
    assert done.exit_code == 1
    assert "fail  token" in done.stdout
    assert stub.asked == []


def test_a_token_that_is_none_is_used_wrongly(stub: Stub) -> None:
    """Exit code 2, nothing is sent, and the text is not repeated."""
    done = _doctor(stub, token=f"Token {SECRET}")
    assert done.exit_code == 2
    assert "without `Token` before it" in done.stderr
    assert stub.asked == []


def test_a_file_that_others_can_read_is_refused(stub: Stub, tmp_path: Path) -> None:
    """Exit code 3; closed to them, its token is used."""
    file = tmp_path / "token"
    file.write_text(SECRET)
    file.chmod(0o644)
    done = _doctor(stub, "--token-file", str(file), token="")
    assert done.exit_code == 3
    assert "chmod 600" in done.stderr
    file.chmod(0o600)
    assert _doctor(stub, "--token-file", str(file), token="").exit_code == 0


def test_a_token_in_the_clear_is_refused_before_it_leaves(stub: Stub) -> None:
    """Plain HTTP is for this machine."""
    done = _doctor(stub, "--url", "http://api.prolific.com")
    assert done.exit_code == 2
    assert "unencrypted" in done.stderr


def test_an_address_that_participants_cannot_open_fails(stub: Stub) -> None:
    """What is certainly wrong with it."""
    done = _doctor(stub, "--public-url", "https://127.0.0.1:8080")
    assert done.exit_code == 1
    assert "fail  public URL" in done.stdout
