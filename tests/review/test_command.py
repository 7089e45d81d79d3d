"""`piecework review` as a command, and the page behind TLS for a team."""

import csv
import signal
import sqlite3
import ssl
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from piecework.cli.main import main
from piecework.domain.clock import SystemClock
from piecework.review.desk import Manner
from piecework.review.server import Address, bound_to
from piecework.store import assignments, reviews
from piecework.store.database import writing
from tests.conftest import in_full
from tests.marketplace.certificates import self_signed
from tests.marketplace.market import free_port
from tests.review import stores
from tests.review.conftest import served_at

ROOT = Path(__file__).resolve().parents[2]


_ISSUER = ["--oidc-issuer", "https://login.example.org", "--oidc-client", "review"]
_AT_PORT = [*_ISSUER, "--port", "8443"]
_PLAIN_HTTP = ["--oidc-issuer", "http://login.example.org", *_AT_PORT[2:]]
_ADA = ["--email-role", "a@x.org=reviewer"]
_TWO_CLAIMS = ["--claim-role", "groups=b=reader", "--claim-role", "teams=c=reader"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--host", "0.0.0.0"], 3, "could decide who is paid"),  # noqa: S104 - refused
        (["--by", "ada", "--reviewer", "grace"], 2, "give one"),
        (["--by", "policy:birds"], 2, "policy:"),
        (["--reviewer", "ada", "--reviewer", " ada"], 2, "the same name"),
        (["--twice", "2"], 2, "range"),
        (["--site-url", "http://review.example.org"], 3, "could decide who is paid"),
        (["--site-url", "https://review.example.org/a"], 2, "give it as https://NAME"),
        (
            ["--site-url", "https://review.example.org:99999"],
            2,
            "not an address: Port out of range",
        ),
        (
            ["--site-url", "https://b\N{LATIN SMALL LETTER U WITH DIAERESIS}..org"],
            2,
            "not an address",
        ),
        (["--site-url", "https://[review"], 2, "not an address"),
        (["--oidc-client", "x"], 2, "only with --oidc-issuer"),
        ([*_ISSUER], 2, "--oidc-issuer needs --port or --site-url"),
        ([*_AT_PORT], 2, "no person has a role"),
        ([*_AT_PORT, "--email-role", "ada@x.org=boss"], 2, "write it as WHO=ROLE"),
        ([*_AT_PORT, "--email-role", "ada=reader"], 2, "is not an e-mail address"),
        ([*_AT_PORT, "--claim-role", "a=reader"], 2, "write it as CLAIM=VALUE=ROLE"),
        ([*_AT_PORT, "--claim-role", "a=b=boss"], 2, "with the role reader"),
        ([*_AT_PORT, *_TWO_CLAIMS], 2, "one claim gives roles, not"),
        ([*_AT_PORT, *_ADA, "--email-role", "a@x.org=reader"], 2, "two roles"),
        ([*_AT_PORT, *_ADA, "--oidc-scope", "email"], 2, "must include openid"),
        ([*_PLAIN_HTTP, *_ADA], 2, "needs https"),
        (["--oidc-issuer", "login", *_AT_PORT[2:], *_ADA], 2, "not an address"),
        ([*_AT_PORT[:2], *_AT_PORT[4:], *_ADA], 2, "client id of this server"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else None,
)
def test_what_would_be_unsafe_or_makes_no_sense_is_refused(
    tmp_path: Path, words: list[str], code: int, message: str
) -> None:
    """With a sentence, before anything listens."""
    with stores.opened(tmp_path, workers=1, items=2) as run:
        path = str(run.campaign.path)
        result = CliRunner().invoke(main, ["review", path, *words])
    assert result.exit_code == code
    assert message in result.output


@pytest.mark.parametrize("others", [["--reviewer", "grace"], *in_full([])])
def test_names_are_for_the_person_at_this_machine(tmp_path: Path, others: list[str]) -> None:
    """A link that is sent to a reviewer opens a page with pseudonyms only."""
    database = tmp_path / "people.db"
    invite = ["market", "people", "invite", "Ada Lovelace", "--database", str(database)]
    assert CliRunner().invoke(main, invite).exit_code == 0
    with stores.opened(tmp_path, workers=1, items=2) as run:
        path = str(run.campaign.path)
        (worker,) = assignments.all_workers(run.store)
        card = f"/card?view=worker&key={run.pseudonym(worker)}"
    with closing(sqlite3.connect(database)) as opened, opened:
        opened.execute("UPDATE workers SET worker_id = ?", [worker])
    run_main = "from piecework.cli.main import main; main()"
    command = [sys.executable, "-c", run_main, "review", path, "--database", str(database)]
    with subprocess.Popen([*command, *others], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        link = server.stdout.readline().rpartition("open ")[2].strip()
        url, _, token = link.partition("/enter#")
        with httpx.Client(base_url=url, headers={"Origin": url}, timeout=30) as reviewer:
            reviewer.post("/enter", data={"token": token}).raise_for_status()
            text = reviewer.get(card).raise_for_status().text
        server.send_signal(signal.SIGINT)
    assert ("Ada Lovelace" in text) == (not others)


@pytest.mark.full
def test_the_command_shows_a_link_and_ends_by_ctrl_c(tmp_path: Path) -> None:
    """The link leads to the page; interrupted, the process goes within seconds."""
    with stores.opened(tmp_path, workers=1, items=2) as run:
        path = str(run.campaign.path)
    run_main = "from piecework.cli.main import main; main()"
    command = [sys.executable, "-c", run_main, "review", path, "--by", "ada"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        link = server.stdout.readline().removeprefix("open ").strip()
        url, _, token = link.partition("/enter#")
        with httpx.Client(base_url=url, headers={"Origin": url}) as ada:
            assert ada.get("/enter").status_code == 200
            ada.post("/enter", data={"token": token}).raise_for_status()
            assert "2 answers wait for a person" in ada.get("/").text
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=60) in {0, 130}


def test_a_page_is_reached_by_a_name_however_it_is_written(tmp_path: Path) -> None:
    """Browsers send a host in small letters."""
    port = free_port()
    address = Address(reviewers=("ada",), port=port, url=f"HTTP://LocalHost:{port}/")
    with (
        stores.opened(tmp_path, workers=1, items=2) as run,
        bound_to(address) as listening,
        served_at(run, address, Manner(), listening) as page,
    ):
        assert page.url == f"http://localhost:{port}"
        with page.client() as ada:
            assert ada.get("/").status_code == 200


def test_a_team_reviews_behind_tls_with_a_link_each(tmp_path: Path) -> None:
    """The cookie is the host's alone, and never sent in the clear."""
    certificate = self_signed(tmp_path, now=SystemClock().now())
    address = Address(certificate=certificate, reviewers=("ada", "grace"))
    with (
        stores.opened(tmp_path, workers=1, items=2) as run,
        bound_to(address) as listening,
        served_at(run, address, Manner(), listening) as page,
    ):
        trusted = ssl.create_default_context(cafile=str(certificate.chain))
        assert page.url.startswith("https://127.0.0.1:")
        token = page.links["grace"].partition("#")[2]
        with httpx.Client(base_url=page.url, headers={"Origin": page.url}, verify=trusted) as grace:
            cookie = grace.post("/enter", data={"token": token}).headers["set-cookie"]
            assert cookie.startswith("__Host-")
            assert "Secure" in cookie
            assert ">grace<" in grace.get("/").text


def test_a_secret_that_others_can_read_is_refused(tmp_path: Path) -> None:
    """And so is an empty one; neither message repeats what the file has."""
    secret = tmp_path / "secret"
    words = [*_AT_PORT, *_ADA, "--oidc-secret-file", str(secret)]
    with stores.opened(tmp_path, workers=1, items=2) as run:
        path = str(run.campaign.path)
        for text, mode, code in (("s3cret", 0o644, 3), (" \n", 0o600, 2)):
            secret.write_text(text)
            secret.chmod(mode)
            result = CliRunner().invoke(main, ["review", path, *words])
            assert result.exit_code == code
            assert "s3cret" not in result.output


def test_a_file_or_the_environment_sets_up_the_provider(tmp_path: Path) -> None:
    """As all options of this command; a key that is not known is refused."""
    file = tmp_path / "piecework.toml"
    table = """[review]
port = 8443
oidc-issuer = "https://login.example.org"
oidc-client = "review"
email-role = ["ada@example.org=requester", "rita@example.org=reader"]
claim-role = ["groups=annotators=reviewer"]
contact = "Ada, room 12"
"""
    with stores.opened(tmp_path, workers=1, items=2) as run:
        words = ["review", str(run.campaign.path), "--config", str(file)]
        file.write_text(table)
        environment = {"PIECEWORK_REVIEW_OIDC_CLIENT": "of the environment"}
        shown = CliRunner().invoke(main, [*words, "--print-config"], env=environment)
        assert shown.exit_code == 0
        assert 'oidc-client = "of the environment"  # environment' in shown.output
        assert 'claim-role = ["groups=annotators=reviewer"]  # file' in shown.output
        file.write_text(table.replace("claim-role", "claim-rule"))
        refused = CliRunner().invoke(main, words)
    assert refused.exit_code == 2
    assert "did you mean claim-role?" in refused.output


def test_the_audit_trail_is_written_as_csv(tmp_path: Path) -> None:
    """Decisions of a file are in it, too."""
    file = tmp_path / "audit.csv"
    with stores.opened(tmp_path, workers=1, items=2) as run:
        path = str(run.campaign.path)
        with writing(run.store):
            identity = reviews.Identity(
                name="Ada", role="requester", issuer="https://login.x", subject="42"
            )
            reviews.add_event(run.store, "signed in", identity, at=run.clock.now())
    waiting = tmp_path / "waiting.csv"
    CliRunner().invoke(main, ["review", path, "--csv", str(waiting)])
    rows = list(csv.DictReader(waiting.read_text("utf-8-sig").splitlines()))
    rows[0]["verdict"], rows[0]["because"] = rows[0]["proposed"], "Not read."
    with waiting.open("w") as filled:
        writer = csv.DictWriter(filled, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    read = ["review", path, "--read", str(waiting), "--by", "grace"]
    assert CliRunner().invoke(main, read).exit_code == 0
    result = CliRunner().invoke(main, ["review", path, "--audit", str(file)])
    assert result.exit_code == 0, result.output
    rows = list(csv.DictReader(file.read_text("utf-8-sig").splitlines()))
    assert [row["event"] for row in rows[:2]] == ["signed in", "decided by a command"]
    assert (rows[0]["name"], rows[0]["role"], rows[0]["subject"]) == ("Ada", "requester", "42")
    assert rows[1]["name"] == "grace"
    assert rows[0]["at"].endswith("+00:00")
    assert CliRunner().invoke(main, ["review", path, "--audit", str(file)]).exit_code == 0
    other = str(tmp_path / "other.csv")
    both = CliRunner().invoke(main, ["review", path, "--audit", str(file), "--csv", other])
    assert (both.exit_code, "give only one of them" in both.output) == (2, True)


def test_a_filled_in_file_is_not_written_over(tmp_path: Path) -> None:
    """Nothing else keeps what a person wrote in it."""
    waiting = tmp_path / "waiting.csv"
    with stores.opened(tmp_path, workers=1, items=2) as run:
        words = ["review", str(run.campaign.path), "--csv", str(waiting)]
    assert CliRunner().invoke(main, words).exit_code == 0
    waiting.write_text(filled := waiting.read_text("utf-8-sig").replace(",,", ",keep,", 1))
    again = CliRunner().invoke(main, words)
    assert (again.exit_code, "exists already; name a new file" in again.output) == (2, True)
    assert waiting.read_text() == filled


def test_without_the_extra_a_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only where a provider is named."""
    monkeypatch.setitem(sys.modules, "authlib", None)
    with stores.opened(tmp_path, workers=1, items=2) as run:
        path = str(run.campaign.path)
        result = CliRunner().invoke(main, ["review", path, *_AT_PORT, *_ADA])
    assert result.exit_code == 2
    assert "--oidc-issuer needs authlib, which is not installed" in result.output
    assert "pip install 'piecework[oidc]'" in result.output
