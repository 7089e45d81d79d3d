"""`workers`: people invited, shown and shut out, on a marketplace's file."""

import csv
import json
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner, Result

from piecework.cli.main import main
from piecework.marketplace.http.server import Marketplace, serve
from piecework.marketplace.state import qualification_types as system
from piecework.marketplace.state.backend import Backend, Rules
from piecework.marketplace.workers.eligibility import holdings


def worker(database: Path, *words: str) -> Result:
    """`piecework market people WORDS` on this file, or `workers list`."""
    group = ["workers"] if words[0] == "list" else ["market", "people"]
    return CliRunner().invoke(main, [*group, *words, "--database", str(database)])


@pytest.mark.parametrize("rehearsal", [True, False])
def test_an_invited_person_comes_in_and_is_shut_out(tmp_path: Path, *, rehearsal: bool) -> None:
    """Beside the running server, live or in a rehearsal."""
    database = tmp_path / "market.db"
    with serve(Marketplace(database, rehearsal=rehearsal, seed=7)) as running:
        words = ["invite", "ann", "--country", "de", "--days", "3", "--json"]
        made = worker(database, *words, "--site-url", running.endpoint_url + "/")
        invitation = json.loads(made.stdout)
        with httpx.Client(follow_redirects=True) as http:
            asked = http.get(invitation["link"])
            assert "Sign in as ann" in asked.text
            address, _, query = invitation["link"].partition("?")
            page = http.post(address, data=dict([query.split("=", 1)]))
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
    assert "2 invitations ended" in worker(database, "revoke", "ann").stdout


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["invite", " "], "NAME must be"),
        (["invite", "x" * 101], "NAME must be"),
        (["invite", "ann", "--days", "0"], "--days must be"),
        (["invite", "ann", "--country", "Germany"], "--country must be"),
        (["invite", "ann", "--country", "US-1"], "--country must be"),
        (["invite", "ann", "--site-url", "hits.example"], "--site-url must"),
        (["invite"], "either NAME or --from FILE"),
        (["invite", "7b", "--write", "links.csv"], "--write goes with --from"),
        (["invite", "x" * 41, "--places", "3"], "NAME of an open link"),
        (["invite", "7b", "--places", "0"], "--places"),
        (["invite", "7b", "--places", "3", "--master"], "--master is for one person"),
        (["invite", "7b", "--places", "3", "--code", "a\x1b"], "--code must be"),
        (["close", "7b"], "no such file"),
        (["links"], "no such file"),
        (["revoke", "bob"], "no such file"),
        (["list"], "no such file"),
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
    assert "is not an SQLite database" in worker(other, "list").output
    assert other.read_text() == "a letter"


def test_the_link_leads_to_where_the_marketplace_is_served(tmp_path: Path) -> None:
    """Without --site-url; also after it stopped, and as browsers reach it."""
    database = tmp_path / "market.db"
    unserved = worker(database, "invite", "ann")
    assert unserved.stdout.startswith("http://127.0.0.1:8080/worker/sign-in?")
    assert "was never served" in unserved.stderr
    assert "works on this machine only" in unserved.stderr
    (tmp_path / "people.csv").write_text("name\nbob\ncem\n")
    several = worker(database, "invite", "--from", str(tmp_path / "people.csv"))
    assert several.stderr == unserved.stderr[: len(several.stderr)]
    with serve(Marketplace(database)) as running:
        link = json.loads(worker(database, "invite", "ann", "--json").stdout)["link"]
        assert link.startswith(f"{running.endpoint_url}/worker/sign-in?invitation=")
        assert httpx.get(link).status_code == 200
    named = "https://hits.example"
    with serve(Marketplace(database, site_url=named, frames_url="https://frames.example")):
        pass
    after = worker(database, "invite", "ann")
    assert after.stdout.startswith(f"{named}/worker/sign-in?")
    assert "never served" not in after.stderr
    assert "this machine only" not in after.stderr


def test_a_country_that_nobody_stated_is_not_known(tmp_path: Path) -> None:
    """So no HIT for people of a country, or of others, is shown to such a worker."""
    database = tmp_path / "market.db"
    assert worker(database, "invite", "ann").exit_code == 0
    (row,) = json.loads(worker(database, "list", "--json").stdout)
    assert row["country"] == ""
    refused = worker(database, "invite", "bob", "--country", "WASHINGTON")
    assert refused.exit_code == 2
    assert "country" in refused.output
    backend = Backend(database, Rules())
    with backend.transaction() as transaction:
        held = holdings(transaction, transaction.all("SELECT * FROM workers")[0])
    backend.close()
    assert system.LOCALE not in held


PEOPLE = """name,email,country,adult
Ann,ann@example.org,de,yes
=cmd(),x@example.org,,
"""


def test_a_file_of_people_comes_back_with_a_link_for_each(tmp_path: Path) -> None:
    """Other columns are handed on; nothing in it runs in a spreadsheet."""
    database, links = tmp_path / "market.db", tmp_path / "links.csv"
    people = tmp_path / "people.csv"
    people.write_text(PEOPLE, encoding="utf-8")
    words = ["invite", "--from", str(people), "--country", "fr"]
    assert worker(database, *words, "--write", str(links)).exit_code == 0
    assert links.stat().st_mode & 0o077 == 0
    rows = list(csv.DictReader(links.read_text(encoding="utf-8").splitlines()))
    assert [row["name"] for row in rows] == ["Ann", "'=cmd()"]
    assert rows[0]["email"] == "ann@example.org"
    listed = json.loads(worker(database, "list", "--json").stdout)
    assert [(row["name"], row["country"]) for row in listed] == [("Ann", "DE"), ("=cmd()", "FR")]
    assert [row["worker_id"] for row in listed] == [row["worker_id"] for row in rows]
    again = worker(database, *words, "--write", str(links))
    assert (again.exit_code, "exists already; name a new file" in again.output) == (2, True)
    again = worker(database, "invite", "--from", str(links))
    assert "remove the columns link, until, worker_id" in again.output
    printed = worker(database, *words, "--json").stdout
    assert [person["name"] for person in json.loads(printed)] == ["Ann", "=cmd()"]
    assert len(json.loads(worker(database, "list", "--json").stdout)) == 2


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("email\na@b\n", ["has no column 'name'; its columns are: email"]),
        ("name\n", ["has no people"]),
        (
            "name,country,adult\nAnn,Germany,yes\nBea,DE,perhaps\nCat,DE,no,1\n",
            [
                "line 2: country",
                "line 3: adult must be yes or no",
                "line 4: the row has more cells",
            ],
        ),
        ("name\nAnn\nAnn\n\x1b[2J\n", ["line 3: 'Ann' is in", "line 4: name must"]),
    ],
)
def test_a_file_with_faults_invites_nobody(tmp_path: Path, text: str, faults: list[str]) -> None:
    """Each is told with its line."""
    database, people = tmp_path / "market.db", tmp_path / "people.csv"
    people.write_text(text, encoding="utf-8")
    reply = worker(database, "invite", "--from", str(people))
    assert reply.exit_code == 2
    for fault in faults:
        assert fault in reply.output
    assert not database.exists()


def test_an_open_link_is_made_listed_and_closed(tmp_path: Path) -> None:
    """The list prints the same link again; who has joined stays when it is closed."""
    database = tmp_path / "market.db"
    with serve(Marketplace(database)) as running:
        words = ["invite", " Class  7b", "--places", "2", "--code", "OK-7", "--json"]
        made = json.loads(worker(database, *words).stdout)
        assert (made["name"], made["completion_code"]) == ("Class 7b", "OK-7")
        assert made["link"].startswith(f"{running.endpoint_url}/worker/join?link=")
        again = worker(database, "invite", "Class 7b", "--places", "2")
        other = worker(database, "invite", "Class 8", "--places", "2")
        close = f"piecework market people close 'Class 8' --database {database}"
        assert close in other.output
        assert worker(database, "close", "Class 8").exit_code == 0
        assert "The open link Class 7b already exists" in again.output
        _, _, code = made["link"].partition("link=")
        form = {"link": code, "name": "Ann"}
        assert httpx.post(f"{running.endpoint_url}/worker/join", data=form).is_success
        link, _ = json.loads(worker(database, "links", "--json").stdout)
        assert link == made | {"joined": 1}
        listing = worker(database, "links").stdout
        assert "Class 7b: 1 of 2 joined, 0 completed (code OK-7), open until" in listing
        assert made["link"] in listing
        assert "1 people joined" in worker(database, "close", "Class 7b").output
        form["name"] = "Bea"
        late = httpx.post(f"{running.endpoint_url}/worker/join", data=form)
        assert late.status_code == 403
        assert "closed" in worker(database, "links").stdout
        assert "No open link is called x" in worker(database, "close", "x").output
        # Whoever lost the own link gets another by name.
        printed = worker(database, "invite", "Class 7b: Ann", "--json").stdout
        (row,) = json.loads(worker(database, "list", "--json").stdout)
        assert json.loads(printed)["worker_id"] == row["worker_id"]
