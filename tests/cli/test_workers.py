"""`worker`: people invited, shown and shut out, on a marketplace's file."""

import json
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner, Result

from cli.main import main
from marketplace.http.server import serve


def worker(database: Path, *words: str) -> Result:
    """`piecework worker WORDS` on this file."""
    return CliRunner().invoke(main, ["worker", *words, "--database", str(database)])


@pytest.mark.parametrize("rehearsal", [True, False])
def test_an_invited_person_comes_in_and_is_shut_out(
    tmp_path: Path, *, rehearsal: bool
) -> None:
    """Beside the running server, live or in a rehearsal."""
    database = tmp_path / "market.db"
    with serve(database, rehearsal=rehearsal, seed=7) as running:
        words = ["invite", "ann", "--country", "de", "--days", "3", "--json"]
        made = worker(database, *words, "--site-url", running.endpoint_url + "/")
        invitation = json.loads(made.stdout)
        with httpx.Client(follow_redirects=True) as http:
            asked = http.get(invitation["link"])
            assert "Sign in as ann" in asked.text
            address, _, given = invitation["link"].partition("?")
            page = http.post(address, data=dict([given.split("=", 1)]))
            assert page.url.path == "/worker/hits"
            assert page.status_code == 200
            (row,) = json.loads(worker(database, "list", "--json").stdout)
            assert row["worker_id"] == invitation["worker_id"]
            assert (row["name"], row["country"]) == ("ann", "DE")
            assert row["invited_until"] == invitation["until"]
            assert worker(database, "revoke", "ann").exit_code == 0
            assert http.get(f"{running.endpoint_url}/worker/hits").status_code == 401
            assert http.get(invitation["link"]).status_code == 403
        listed = worker(database, "list").stdout
        assert invitation["worker_id"] in listed
        assert invitation["until"][:10] not in listed


def test_a_second_link_is_for_the_same_worker(tmp_path: Path) -> None:
    """And the first goes on working, until both are revoked."""
    database = tmp_path / "market.db"
    first, second = (
        json.loads(worker(database, "invite", "ann", "--json").stdout) for _ in range(2)
    )
    assert first["worker_id"] == second["worker_id"]
    assert first["link"] != second["link"]
    assert "2 invitation(s) ended" in worker(database, "revoke", "ann").stdout


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["invite", " "], "NAME must be"),
        (["invite", "x" * 101], "NAME must be"),
        (["invite", "ann", "--days", "0"], "--days must be"),
        (["invite", "ann", "--country", "Germany"], "--country must be"),
        (["invite", "ann", "--subdivision", "1"], "--subdivision must be"),
        (["invite", "ann", "--site-url", "hits.example"], "--site-url must"),
        (["revoke", "bob"], "there is no such file"),
        (["list"], "there is no such file"),
    ],
)
def test_what_makes_no_sense_is_said_and_makes_no_file(
    tmp_path: Path, words: list[str], fault: str
) -> None:
    """A fault of use, in words."""
    database = tmp_path / "market.db"
    reply = worker(database, *words)
    assert reply.exit_code == 2
    assert fault in reply.output
    assert not database.exists()


def test_a_name_nobody_has_cannot_be_revoked(tmp_path: Path) -> None:
    """And a file of something else is not touched."""
    database = tmp_path / "market.db"
    worker(database, "invite", "ann")
    assert "No worker is called bob" in worker(database, "revoke", "bob").output
    other = tmp_path / "other.db"
    other.write_text("a letter")
    assert "is no marketplace's file" in worker(other, "list").output
    assert other.read_text() == "a letter"
