"""Invited workers sign in at a provider of OpenID Connect, on any device."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from piecework.cli.main import main
from piecework.domain.clock import SystemClock
from piecework.foundation.signin.person import ProviderSettings
from piecework.foundation.signin.provider import Provider
from piecework.marketplace.http.server import Marketplace, serve
from piecework.marketplace.state.accounts import NewWorker
from piecework.marketplace.state.backend import Backend, Rules
from piecework.marketplace.state.clock import DAY
from piecework.marketplace.workers import invitations
from tests.foundation.server.security_lines import caught
from tests.foundation.signin.stand_in import CLIENT, SECRET, Claims, StandIn, at_work

HTML = {"accept": "text/html"}


@dataclass
class Place:
    """A live marketplace whose workers sign in at a provider."""

    database: Path
    site: str
    provider: StandIn
    opened: list[httpx.Client] = field(default_factory=list)

    def backend(self) -> "closing[Backend]":
        """The same file, opened by another hand."""
        return closing(Backend(self.database, Rules()))

    def invite(self, name: str, email: str = "", *, days: int = 14) -> str:
        """An invitation's code."""
        worker = NewWorker(handle=name, country="DE")
        with self.backend() as backend, backend.transaction() as transaction:
            return invitations.invite(transaction, worker, lifetime_ms=days * DAY, email=email).code

    def revoke(self, name: str) -> None:
        """End a worker's invitations."""
        with self.backend() as backend, backend.transaction() as transaction:
            invitations.revoke_invitation(transaction, name)

    def browser(self) -> httpx.Client:
        """A browser without cookies."""
        self.opened.append(httpx.Client(base_url=self.site, headers=HTML))
        return self.opened[-1]

    def sign_in(
        self, subject: str, *, browser: httpx.Client | None = None, **claims: object
    ) -> tuple[httpx.Client, httpx.Response]:
        """Sign in as a person; return the browser and the last reply."""
        self.provider.person(subject, **claims)
        browser = browser or self.browser()
        begun = browser.get("/worker/sign-in/start?group=G1")
        assert begun.status_code == 303, begun.text
        back = httpx.get(begun.headers["location"]).headers["location"]
        return browser, browser.get(back)

    def rows(self, sql: str) -> str:
        """The rows of a query, as one text."""
        with self.backend() as backend, backend.transaction() as transaction:
            return str([tuple(row) for row in transaction.all(sql)])


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A marketplace to which ada@example.org and grace@example.org are invited."""
    with at_work() as provider:

        def provider_at(address: str) -> Provider:
            settings = ProviderSettings(
                issuer=provider.issuer, client_id=CLIENT, client_secret=SECRET, redirect_url=address
            )
            return Provider(settings, now=lambda: SystemClock().now().timestamp())

        database = tmp_path / "market.db"
        with serve(Marketplace(database, provider_at=provider_at)) as running:
            made = Place(database, running.endpoint_url, provider)
            made.invite("Ada, room 12", "Ada@Example.org")
            made.invite("grace", "grace@example.org")
            yield made
            for browser in made.opened:
                browser.close()


def _worker_of(browser: httpx.Client) -> str:
    """Return the text of the page with the worker's own id."""
    reply = browser.get("/worker/history")
    assert reply.status_code == 200
    return reply.text


def test_an_invited_person_signs_in_with_their_account_again_and_again(place: Place) -> None:
    """On any device, also after the link has ended and the address has changed."""
    with caught() as lines:
        first, reply = place.sign_in("ada")
    assert reply.status_code == 303
    assert reply.headers["location"] == "/worker/groups/G1/preview"
    assert "by=provider" in lines[0]
    own = _worker_of(first)
    second, _ = place.sign_in("ada", email="ada@new.example.org")
    assert _worker_of(second) == own
    with place.backend() as backend, backend.transaction() as transaction:
        transaction.execute("UPDATE invitations SET expires_ms = 0")
    third, _ = place.sign_in("ada")
    assert _worker_of(third) == own
    grace, reply = place.sign_in("grace")
    assert reply.status_code == 403, "its invitation has ended"
    assert grace.get("/worker/history").status_code == 401


NOT_INVITED: tuple[Claims, ...] = (
    {"email": "eve@example.org"},
    {"email": "ada@example.org", "email_verified": False},
    {"email": ""},
)


def test_other_accounts_get_no_worker(place: Place) -> None:
    """Neither an unverified address, nor the next owner of one that has signed in."""
    for claims in NOT_INVITED:
        browser, reply = place.sign_in("eve", **claims)
        assert reply.status_code == 403
        assert "No invitation is for this account" in reply.text
        assert browser.get("/worker/history").status_code == 401
    place.sign_in("ada")
    _, reply = place.sign_in("eve", email="ada@example.org")
    assert reply.status_code == 403


@pytest.mark.parametrize(
    ("invited", "account", "status"),
    [
        ("kim.s@example.org", "KIM.S@Example.ORG", 303),
        ("kim.s@example.org", "\u212aim.s@example.org", 403),
        ("kim.s@example.org", "kim.\u017f@example.org", 403),
        ("stra\u00dfe@example.org", "strasse@example.org", 403),
        ("\u00e4nn@example.org", "\u00c4nn@example.org", 403),
        ("\u00e9va@example.org", "e\u0301va@example.org", 403),
    ],
)
def test_an_address_is_another_if_more_than_ascii_capitals_differ(
    place: Place, invited: str, account: str, status: int
) -> None:
    """Somebody else may own an address that Unicode writes with the same letters."""
    place.invite("kim", invited)
    _, reply = place.sign_in("kim-at-the-provider", email=account)
    assert reply.status_code == status


def test_the_link_alone_signs_no_person_in(place: Place) -> None:
    """It leads to the provider; forwarded, it is worth nothing."""
    code = place.invite("mary", "mary@example.org")
    thief = place.browser()
    shown = thief.get("/worker/sign-in", params={"invitation": code, "group": "G1"})
    assert "Your invitation is for a person with an account at" in shown.text
    assert 'href="/worker/sign-in/start?group=G1"' in shown.text
    sent = thief.post("/worker/sign-in", data={"invitation": code})
    assert sent.status_code == 403
    assert not thief.cookies
    assert "/worker/sign-in/start" in thief.get("/worker/sign-in").text
    signed_out = thief.get("/worker/hits")
    assert signed_out.status_code == 401
    assert 'href="/worker/sign-in"' in signed_out.text


def test_a_plain_link_works_beside_it(place: Place) -> None:
    """For people without an account."""
    code = place.invite("ann")
    browser = place.browser()
    assert "Sign in as ann?" in browser.get(f"/worker/sign-in?invitation={code}").text
    assert browser.post("/worker/sign-in", data={"invitation": code}).is_redirect


def test_neither_address_nor_account_is_stored(place: Place) -> None:
    """Only fingerprints; so no requester, and no copy of the file, has them."""
    place.sign_in("ada")
    assert "'worker'" not in place.rows("SELECT identity_hash FROM worker_identities")
    content = place.database.read_bytes()
    for wal in place.database.parent.glob("market.db-*"):
        content += wal.read_bytes()
    for secret in (b"example.org", b"Example.org", SECRET.encode()):
        assert secret not in content
    assert place.provider.issuer.encode() not in content


def test_a_revoked_worker_is_out_until_invited_again(place: Place) -> None:
    """All sessions end; the next invitation may be for another account."""
    browser, _ = place.sign_in("ada")
    own = _worker_of(browser)
    place.revoke("Ada, room 12")
    assert browser.get("/worker/history").status_code == 401
    _, reply = place.sign_in("ada")
    assert reply.status_code == 403
    place.invite("Ada, room 12", "ada@new.example.org")
    again, reply = place.sign_in("ada-2", email="ada@new.example.org")
    assert reply.status_code == 303
    assert _worker_of(again) == own


def test_a_session_of_another_worker_is_not_replaced(place: Place) -> None:
    """A page elsewhere could have led the browser here."""
    browser, _ = place.sign_in("ada")
    own = _worker_of(browser)
    _, reply = place.sign_in("grace", browser=browser)
    assert reply.status_code == 409
    assert "Sign out first" in reply.text
    assert _worker_of(browser) == own


def test_what_does_not_fit_is_refused_in_one_sentence(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    """The page asks to try again; the log says why, and an operator reads it."""
    place.provider.algorithm = "none"
    with caught() as lines:
        browser, reply = place.sign_in("ada")
    assert reply.status_code == 403
    assert "The sign-in did not work." in reply.text
    assert lines == ["event=sign_in_refused why=wrong_token peer=127.0.0.1"]
    again = browser.get("/worker/sign-in/callback?code=x&state=y")
    assert again.status_code == 403
    place.provider.make_good()
    begun = browser.get("/worker/sign-in/start").headers["location"]
    back = httpx.get(begun).headers["location"]
    place.provider.is_down = True
    assert browser.get(back).status_code == 502
    assert "cannot be reached. Try again later." in caplog.text


def test_invitations_are_bound_by_the_command(place: Place, tmp_path: Path) -> None:
    """For one person, or for a file with a column of addresses."""
    database = ["--database", str(place.database)]
    invite = ["market", "people", "invite"]
    made = CliRunner().invoke(main, [*invite, "mary", "--email", "mary@example.org", *database])
    assert made.exit_code == 0, made.output
    assert "/worker/sign-in?invitation=" in made.output
    assert "only their account can sign in" in made.output
    people = tmp_path / "people.csv"
    people.write_text("name,mail\njoan,joan@example.org\nkay,kay@example.org\n")
    file = [*invite, "--from", str(people), *database]
    made = CliRunner().invoke(main, [*file, "--email", "mail"])
    assert made.exit_code == 0, made.output
    for name in ("mary", "joan", "kay"):
        assert place.sign_in(name)[1].status_code == 303
    for words, sentence in (
        ([*invite, "mary", "--email", "mary"], "is not an e-mail address"),
        ([*invite, "mary", "--email", "a@example.org", "--places", "2"], "the same address"),
        ([*file, "--email", "a@example.org"], "has no column 'a@example.org'"),
        ([*file, "--email", "name"], "has no column 'name'"),
    ):
        refused = CliRunner().invoke(main, [*words, *database])
        assert refused.exit_code == 2
        assert sentence in refused.output
    people.write_text("name,mail\nlee,\n")
    refused = CliRunner().invoke(main, [*file, "--email", "mail"])
    assert "lee: '' is not an e-mail address" in refused.output


def test_settings_that_do_not_fit_end_serve(tmp_path: Path) -> None:
    """Before it listens; a rehearsal's workers are simulated."""
    serve_at = ["market", "serve", "--database", str(tmp_path / "market.db"), "--port", "0"]
    with at_work() as provider:
        options = ["--oidc-issuer", provider.issuer, "--oidc-client", CLIENT]
        provider.changed = {"issuer": "https://evil.example"}
        for words, sentence in (
            ([*options, "--rehearsal"], "simulated workers"),
            (options[:2], "client id of this server"),
            (options[2:], "only with --oidc-issuer"),
            (options, "has another name for itself"),
        ):
            # `serve` has an event loop, and a browser of this process may have another.
            with ThreadPoolExecutor(1) as pool:
                refused = pool.submit(CliRunner().invoke, main, [*serve_at, *words]).result()
            assert refused.exit_code == 2, refused.output
            assert sentence in refused.output


def test_the_cookie_of_a_sign_in_is_short_lived_and_not_for_scripts(place: Place) -> None:
    """It comes along from the provider, so it is lax."""
    cookie = place.browser().get("/worker/sign-in/start").headers["set-cookie"]
    assert "Max-Age=600" in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
