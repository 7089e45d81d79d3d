"""`market account`: keys given, shown and ended; what is refused, and how."""

import json
import os
import signal
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import boto3
import pytest
from botocore.exceptions import ClientError
from click.testing import CliRunner, Result

from piecework.cli.main import main
from piecework.marketplace.state.backend import Backend, Rules

ROOT = Path(__file__).resolve().parents[2]


def requester(database: Path, *words: str) -> Result:
    """`piecework market account WORDS` on this file."""
    return CliRunner().invoke(
        main, ["market", "account", *words, "--database", str(database)], catch_exceptions=False
    )


def balance(endpoint: str, key: dict[str, str]) -> str:
    """What a client with these credentials is told of its account."""
    client = boto3.session.Session(
        aws_access_key_id=key["access_key_id"],
        aws_secret_access_key=key["secret"],
        region_name="us-east-1",
    ).client("mturk", endpoint_url=endpoint)
    return client.get_account_balance()["AvailableBalance"]


def test_a_key_is_given_used_and_ended_while_the_server_runs(tmp_path: Path) -> None:
    """`serve` in its own process; `market account` beside it, on the same file."""
    database = tmp_path / "live.db"
    command = [
        sys.executable,
        "-c",
        "from piecework.cli.main import main; main()",
        "market",
        "serve",
    ]
    command += ["--database", str(database), "--port", "0", "--frames-port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            endpoint = server.stdout.readline().split()[2]
            added = requester(database, "add", "Lab", "--balance", "12.50", "--json")
            key = json.loads(added.stdout)
            assert (key["endpoint_url"], key["region"]) == (endpoint, "us-east-1")
            assert balance(endpoint, key) == "12.50"
            again = json.loads(requester(database, "add", "Lab", "--json").stdout)
            ended = requester(database, "revoke", key["access_key_id"])
            assert ended.exit_code == 0
            with pytest.raises(ClientError, match="UnrecognizedClient"):
                balance(endpoint, key)
            assert balance(endpoint, again) == "12.50"
        finally:
            server.send_signal(signal.SIGTERM)
    assert server.returncode == 0


def test_a_file_that_is_being_made_is_a_marketplaces_already(tmp_path: Path) -> None:
    """Between its first byte and its tables it is empty; a key can be given then."""
    database = tmp_path / "new.db"
    database.touch()
    assert requester(database, "add", "Lab").exit_code == 0
    assert "Lab" in requester(database, "list").stdout


def test_what_add_prints_can_be_pasted(tmp_path: Path) -> None:
    """Two exports on stdout, advice on stderr; the list never shows the secret.

    Endpoint and region are advice: a file of exports must not move a bucket's region.
    """
    database = tmp_path / "live.db"
    added = requester(database, "add", "Vision lab")
    first, second = added.stdout.splitlines()
    assert first.startswith("export AWS_ACCESS_KEY_ID=PWKEY")
    assert second.startswith("export AWS_SECRET_ACCESS_KEY=")
    assert "revoke" in added.stderr
    assert (
        "export AWS_ENDPOINT_URL_MTURK=http://127.0.0.1:8080 AWS_REGION=us-east-1 "
        "AWS_DEFAULT_REGION=us-east-1" in added.stderr
    )
    assert "piecework market account add 'Vision lab' --balance AMOUNT" in added.stderr
    rich = requester(tmp_path / "rich.db", "add", "Rich", "--balance", "1")
    assert "empty" not in rich.stderr
    access_key, secret = first.partition("=")[2], second.partition("=")[2]
    listed = requester(database, "list").stdout
    assert access_key in listed
    assert "Vision lab" in listed
    assert secret not in listed
    requester(database, "revoke", access_key)
    (row,) = json.loads(requester(database, "list", "--json").stdout)
    assert row["revoked_at"] is not None
    assert row["name"] == "Vision lab"
    assert "secret" not in row


def test_giving_a_key_closes_a_file_that_others_could_read(tmp_path: Path) -> None:
    """One made before there were keys gets the mode that a secret needs."""
    database = tmp_path / "live.db"
    Backend(database, Rules()).close()
    database.chmod(0o644)
    requester(database, "add", "Lab")
    assert stat.S_IMODE(database.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("add", ""), "NAME must be"),
        (("add", "  "), "NAME must be"),
        (("add", "a\nb"), "NAME must be"),
        (("add", "x" * 101), "NAME must be"),
        (("add", "Lab", "--balance", "-1"), "--balance must be"),
        (("add", "Lab", "--balance", "1e99"), "--balance must be"),
        (("add", "Lab", "--balance", "0.005"), "at most two decimals"),
        (("add", "Lab", "--balance", "much"), "at most two decimals"),
        (("add", "Lab", "--balance", "Infinity"), "at most two decimals"),
        (("list",), "no such file"),
        (("revoke", "PWKEYX"), "no such file"),
    ],
)
def test_what_makes_no_sense_is_said_and_nothing_is_made(
    tmp_path: Path, words: tuple[str, ...], complaint: str
) -> None:
    """Exit code 2, a sentence, the next command, and no file."""
    result = requester(tmp_path / "live.db", *words)
    assert result.exit_code == 2
    assert complaint in result.stderr
    assert "next: " in result.stderr
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - whatever there is


def test_a_rehearsal_has_no_keys(tmp_path: Path) -> None:
    """Refused for safety (3): whoever adds one there has mistaken the file."""
    database = tmp_path / "rehearsal.db"
    with closing(Backend(database, Rules(rehearsal=True))):
        pass
    result = requester(database, "add", "Lab")
    assert result.exit_code == 3
    assert "any key works" in result.stderr


def test_a_file_of_another_kind_is_left_alone(tmp_path: Path) -> None:
    """It is not turned into a marketplace."""
    other = tmp_path / "notes.txt"
    other.write_text("not a database, but longer than a header " * 10)
    result = requester(other, "list")
    assert result.exit_code == 2
    assert "is not an SQLite database" in result.stderr
