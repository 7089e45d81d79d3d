"""Links that let people in, and the sessions that they open."""

import base64
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from starlette.responses import Response

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.http.server import Marketplace, serve
from piecework.marketplace.state import accounts
from piecework.marketplace.state.accounts import NewWorker
from piecework.marketplace.state.backend import Backend, Rules, rules_of
from piecework.marketplace.state.clock import DAY
from piecework.marketplace.workers import invitations
from piecework.marketplace.workers.sessions import MOST, Sessions
from tests.marketplace.market import START, Market

ANN = NewWorker(handle="ann", country="DE")
EVE = NewWorker(handle="eve", country="DE")
HTML = {"accept": "text/html"}


@dataclass
class Place:
    """A running marketplace and, beside it, its file in another hand."""

    database: Path
    site: str
    market: Market

    def backend(self) -> "closing[Backend]":
        """The same file, opened by another hand."""
        return closing(Backend(self.database, rules_of(self.database)))

    def invite(self, who: NewWorker = ANN, *, days: int = 14) -> str:
        """An invitation's code, for Ann unless it is said for whom."""
        with self.backend() as backend, backend.transaction() as transaction:
            return invitations.invite(transaction, who, lifetime_ms=days * DAY).code

    def sign_in(self, code: str) -> httpx.Response:
        """Send the form of the link's page, with a browser that knows nothing yet."""
        return httpx.post(f"{self.site}/worker/sign-in", data={"invitation": code}, headers=HTML)

    def open_link(self, code: str, **headers: str) -> httpx.Response:
        """Open the link."""
        return httpx.get(
            f"{self.site}/worker/sign-in", params={"invitation": code}, headers={**HTML, **headers}
        )


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A rehearsal, so that time can be moved."""
    database = tmp_path / "market.db"
    with (
        serve(Marketplace(database, rehearsal=True, seed=7, start=START)) as running,
        closing(Market(running.endpoint_url, running.frames_url)) as market,
    ):
        yield Place(database=database, site=running.endpoint_url, market=market)


def status(place: Place, session: httpx.Response) -> int:
    """What the list says to the browser that got this reply's cookie."""
    return httpx.get(f"{place.site}/worker/hits", headers=of(session)).status_code


def of(session: httpx.Response) -> dict[str, str]:
    """The header by which a browser sends the cookie of this reply."""
    return {"cookie": f"worker_session={session.cookies['worker_session']}"}


def test_a_link_signs_in_until_it_ends(place: Place) -> None:
    """More than once, on more than one device; a second late is too late."""
    code = place.invite(days=2)
    first, second = place.sign_in(code), place.sign_in(code)
    assert (first.status_code, first.headers["location"]) == (303, "/worker/hits")
    assert first.cookies["worker_session"] != second.cookies["worker_session"]
    assert status(place, first) == status(place, second) == 200
    place.market.wait(seconds=2 * 86_400 - 1)
    assert place.sign_in(code).status_code == 303
    place.market.wait(seconds=1)
    late = place.sign_in(code)
    assert late.status_code == 403
    assert "has expired" in late.text
    assert status(place, first) == 200  # who is in stays in


def test_no_byte_of_a_link_can_be_changed(place: Place) -> None:
    """Each byte is signed; a longer life cannot be written into it."""
    code = place.invite()
    signed = bytearray(base64.urlsafe_b64decode(code + "=="))
    assert len(signed) == 54  # 16 of the id, 6 of the time, 32 of the signature
    for position in range(len(signed)):
        forged = bytearray(signed)
        forged[position] ^= 1
        text = base64.urlsafe_b64encode(bytes(forged)).decode().rstrip("=")
        with (
            place.backend() as backend,
            backend.transaction() as transaction,
            pytest.raises(Refusal, match="is not valid"),
        ):
            invitations.admit_invited(transaction, text)
        if position % 18 == 0:
            assert place.sign_in(text).status_code == 403


@pytest.mark.parametrize("code", ["", "x", "A" * 71, "A" * 72, "é", "=" * 500, "%00", "a b"])
def test_nonsense_is_no_invitation(place: Place, code: str) -> None:
    """403 with a sentence, and no cookie."""
    reply = place.sign_in(code)
    assert reply.status_code == 403
    assert "This invitation" in reply.text
    assert "set-cookie" not in reply.headers


def test_a_link_of_another_marketplace_is_forged_here(place: Place, tmp_path: Path) -> None:
    """Each marketplace has a key of its own, drawn when it is first needed."""
    with (
        closing(Backend(tmp_path / "other.db", Rules())) as backend,
        backend.transaction() as transaction,
    ):
        code = invitations.invite(transaction, ANN, lifetime_ms=DAY).code
    place.invite()
    assert "is not valid" in place.sign_in(code).text


def test_revoking_ends_links_and_sessions_at_once(place: Place) -> None:
    """The very next request is refused; a new link lets the same worker in again."""
    code = place.invite()
    session = place.sign_in(code)
    assert status(place, session) == 200
    with place.backend() as backend, backend.transaction() as transaction:
        before = invitations.find_invitation(transaction, "ann")["worker_id"]
        assert invitations.revoke_invitation(transaction, "ann") == 1
    assert status(place, session) == 401
    assert "was withdrawn" in place.sign_in(code).text
    assert status(place, place.sign_in(place.invite())) == 200
    with place.backend() as backend, backend.transaction() as transaction:
        assert invitations.find_invitation(transaction, "ann")["worker_id"] == before


def test_signing_out_ends_the_session_on_this_side(place: Place) -> None:
    """A kept copy of the cookie opens nothing; other devices stay signed in."""
    code = place.invite()
    here, there = place.sign_in(code), place.sign_in(code)
    out = httpx.post(f"{place.site}/worker/sign-out", headers={**HTML, **of(here)})
    assert out.status_code == 200
    assert 'worker_session=""' in out.headers["set-cookie"]
    assert status(place, here) == 401
    assert status(place, there) == 200


def test_a_session_ends_after_a_week(place: Place) -> None:
    """However long the link may live; a week without use, and a month with use."""
    session = place.sign_in(place.invite(days=90))
    place.market.wait(days=7)
    assert status(place, session) == 401
    session = place.sign_in(place.invite(days=90))
    for _ in range(4):
        place.market.wait(days=7, seconds=-1)
        assert status(place, session) == 200
    place.market.wait(days=2, seconds=3)
    assert status(place, session) == 200
    place.market.wait(seconds=1)
    assert status(place, session) == 401


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(place: Place) -> None:
    """HttpOnly and SameSite=Lax; the file keeps only its hash."""
    reply = place.sign_in(place.invite())
    cookie = reply.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Secure" not in cookie  # this one is served without TLS
    key = reply.cookies["worker_session"].encode()
    files = place.database.parent.glob("market.db*")
    assert all(key not in file.read_bytes() for file in files)


def test_a_link_alone_opens_no_session(place: Place) -> None:
    """It leads to a page that names whom it is for; the page cannot be framed."""
    reply = place.open_link(place.invite())
    assert reply.status_code == 200
    assert "set-cookie" not in reply.headers
    assert "You are not signed in." in reply.text
    assert "Sign in as ann" in reply.text
    assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]
    assert reply.headers["cross-origin-opener-policy"] == "same-origin"
    with place.backend() as backend, backend.transaction() as transaction:
        assert transaction.all("SELECT * FROM worker_sessions") == []


def test_another_worker_takes_over_only_by_name(place: Place) -> None:
    """Whose session ends must have been said; else the page asks, and nothing is."""
    ann, code = place.sign_in(place.invite()), place.invite(EVE)
    asked = place.open_link(code, **of(ann))
    assert "You are signed in as <strong>ann</strong>" in asked.text
    assert "The link that you opened is for <strong>eve</strong>" in asked.text
    agreed = re.search(r'name="instead_of" value="(\w+)" required', asked.text)
    assert agreed
    for confirmation in ({}, {"instead_of": "A0NOBODY"}):
        reply = httpx.post(
            f"{place.site}/worker/sign-in",
            data={"invitation": code, **confirmation},
            headers={**HTML, **of(ann)},
        )
        assert (reply.status_code, "set-cookie" in reply.headers) == (409, False)
        assert "You are signed in as <strong>ann</strong>" in reply.text
    assert status(place, ann) == 200
    eve = httpx.post(
        f"{place.site}/worker/sign-in",
        data={"invitation": code, "instead_of": agreed[1]},
        headers={**HTML, **of(ann)},
    )
    assert eve.status_code == 303
    assert status(place, ann) == 401  # it ended with the change
    assert status(place, eve) == 200


def test_who_is_signed_in_already_goes_on(place: Place) -> None:
    """The same worker's link is no question, and opens no second session."""
    code = place.invite()
    session = place.sign_in(code)
    again = place.open_link(code, **of(session))
    assert (again.status_code, again.headers["location"]) == (303, "/worker/hits")
    assert "set-cookie" not in again.headers


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-origin", "sec-fetch-dest": "iframe"},
        {"sec-fetch-site": "same-origin", "sec-fetch-dest": "image"},
        {"sec-fetch-site": "same-origin", "sec-fetch-mode": "no-cors"},
        {"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"},
    ],
)
def test_a_session_is_opened_from_the_sites_own_page_only(
    place: Place, headers: dict[str, str]
) -> None:
    """Not from a frame, a script or another site: 403, and no cookie."""
    reply = httpx.post(
        f"{place.site}/worker/sign-in",
        data={"invitation": place.invite()},
        headers={**HTML, **headers},
    )
    assert reply.status_code == 403
    assert "set-cookie" not in reply.headers


@pytest.mark.parametrize("order", [1, -1])
def test_two_sessions_at_once_are_nobodys(place: Place, order: int) -> None:
    """A page of the same domain can add a cookie; neither of the two is believed."""
    ann, eve = place.sign_in(place.invite()), place.sign_in(place.invite(EVE))
    both = [of(session)["cookie"] for session in (ann, eve)][::order]
    for headers in (
        [("cookie", "; ".join(both))],
        [("cookie", cookie) for cookie in both],
        [("cookie", f"a=b; {both[0]};worker_session=x")],
    ):
        for path in ("/worker/hits", f"/worker/sign-in?invitation={place.invite()}"):
            reply = httpx.get(place.site + path, headers=[*HTML.items(), *headers])
            assert reply.status_code == 401
            assert "two sessions" in reply.text


def test_a_worker_has_so_many_sessions_and_no_more(place: Place) -> None:
    """One more ends the oldest; nobody can fill the file by signing in."""
    code = place.invite()
    first = place.sign_in(code)
    place.market.wait(seconds=1)
    for _ in range(MOST - 2):
        place.sign_in(code)
    last = place.sign_in(code)
    assert status(place, first) == 200
    place.sign_in(code)
    assert status(place, first) == 401
    assert status(place, last) == 200
    with place.backend() as backend, backend.transaction() as transaction:
        (row,) = transaction.all("SELECT count(*) FROM worker_sessions")
    assert row[0] == MOST


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_over_tls_the_cookie_is_secure(scheme: str) -> None:
    """The address that browsers see decides, also behind a proxy that speaks TLS."""
    site = f"{scheme}://hits.example"
    sessions = Sessions(site=site, rehearsal=False)
    name = "__Host-worker_session" if scheme == "https" else "worker_session"
    for reply in (sessions.set_cookie(Response(), "key"), sessions.drop_cookie(Response())):
        cookie = reply.headers["set-cookie"]
        assert ("Secure" in cookie) == (scheme == "https")
        # What browsers want of the prefix, too: for all paths, and for no domain.
        assert cookie.startswith(f"{name}=")
        assert "Path=/" in cookie
        assert "Domain" not in cookie


def test_a_live_token_signs_in_and_is_no_session_itself(tmp_path: Path) -> None:
    """Else signing out would mean nothing to whoever kept the token."""
    database = tmp_path / "live.db"
    with closing(Backend(database, Rules())) as backend, backend.transaction() as transaction:
        _, token = accounts.add_worker(transaction, ANN)
    with (
        serve(Marketplace(database)) as running,
        httpx.Client(base_url=running.endpoint_url) as http,
    ):
        http.cookies.set("worker_session", token)
        assert http.get("/worker/hits").status_code == 401
        http.cookies.clear()
        assert http.post("/worker/sign-in", data={"token": token}).status_code == 303
        assert http.get("/worker/hits").status_code == 200
        with closing(Backend(database, Rules())) as backend, backend.transaction() as transaction:
            accounts.add_worker(transaction, ANN)  # a new token ends what the old one opened
        assert http.get("/worker/hits").status_code == 401
