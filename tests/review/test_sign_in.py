"""Signing in at a provider over HTTP: who gets in, and every way that must not."""

import logging
import ssl
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest

from piecework.domain.clock import MonotonicClock, SystemClock
from piecework.foundation.server.security_log import reset_allowances
from piecework.foundation.signin import provider as provider_module
from piecework.review import desk as desk_module
from piecework.review.desk import Desk, Manner
from piecework.store import reviews
from tests.foundation.server.security_lines import caught
from tests.foundation.signin.stand_in import SECRET, Claims, StandIn, at_work, new_key
from tests.marketplace.certificates import self_signed
from tests.review import stores
from tests.review.conftest import Served
from tests.review.signing_in import (
    begin,
    browser_of,
    door_at,
    page_of,
    page_with,
    sent_back,
    sign_in,
    signed_in,
)


@pytest.fixture
def provider() -> Iterator[StandIn]:
    """A provider at which ada has an account."""
    with at_work() as stand_in:
        yield stand_in


@pytest.fixture
def served(tmp_path: Path, provider: StandIn) -> Iterator[Served]:
    """A page whose people sign in there."""
    with page_with(tmp_path, door_at(provider.issuer)) as page:
        yield page


def _trail(page: Served) -> list[reviews.TrailEntry]:
    return list(reviews.trail(page.run.store))


def test_a_person_signs_in_and_comes_to_the_page_that_was_asked_for(
    served: Served, provider: StandIn
) -> None:
    """First the offer, then the provider, then the card; and the trail has it."""
    card = "/card?view=answer&key=A0000-k1.1"
    with browser_of(served) as browser:
        asked = browser.get(card)
        assert asked.status_code == 401
        assert "Sign in to open this page." in asked.text
        assert "/sign-in/start?next=%2Fcard%3Fview%3Danswer%26key" in asked.text
        with caught() as lines:
            entered = sign_in(browser, card)
        assert 'content="0;url=/card?view=answer&amp;key=A0000-k1.1"' in entered.text
        assert browser.get(card).status_code == 200
    (entry,) = _trail(served)
    assert entry.event == "signed in"
    assert entry.identity == reviews.Identity(
        name="Ada", role="requester", issuer=provider.issuer, subject="ada"
    )
    assert lines == ["event=signed_in subject=ada role=requester peer=127.0.0.1"]


def test_a_machine_whose_clock_was_ahead_keeps_nobody_out(
    tmp_path: Path, provider: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The campaign's clock waits for the time to catch up; people do not."""
    seconds = [0.0]
    steady = SimpleNamespace(monotonic=lambda: seconds[0])
    with stores.opened(tmp_path, workers=2, items=2) as run:
        later = SystemClock().now() + timedelta(hours=1)
        pinned = replace(run, clock=MonotonicClock(SystemClock(), later))
        with (
            page_of(pinned, door_at(provider.issuer)) as page,
            signed_in(page, provider, "ada") as ada,
        ):
            assert ada.get("/").status_code == 200
        monkeypatch.setattr(desk_module, "time", steady)
        desk = Desk(pinned, Manner())
        first = desk.next_key("answer", by="ada")
        assert first is not None
        group = desk.group("answer", first)
        assert group is not None
        desk.card(group, by="ada")
        assert desk.next_key("answer", by="grace") != first
        seconds[0] = 181.0
        assert desk.next_key("answer", by="grace") == first


def test_cookies_are_for_this_page_alone(served: Served) -> None:
    """Scripts cannot read them; only the short one comes along from the provider."""
    with browser_of(served) as browser:
        begun = browser.get("/sign-in/start").headers["set-cookie"]
        assert "HttpOnly" in begun
        assert "SameSite=lax" in begun
        address = sent_back(begin(browser))
        session, dropped = browser.get(address).headers.get_list("set-cookie")
    assert "HttpOnly" in session
    assert "SameSite=strict" in session
    assert "Max-Age=0" in dropped


def test_behind_tls_cookies_are_the_hosts_alone(tmp_path: Path, provider: StandIn) -> None:
    """Both have the prefix that browsers guard, and never travel in the clear."""
    certificate = self_signed(tmp_path, now=SystemClock().now())
    folder = tmp_path / "campaign"
    folder.mkdir()
    trusted = ssl.create_default_context(cafile=str(certificate.chain))
    with (
        page_with(folder, door_at(provider.issuer), certificate=certificate) as page,
        httpx.Client(base_url=page.url, verify=trusted) as browser,
    ):
        begun = browser.get("/sign-in/start")
        address = sent_back(begun.headers["location"])
        assert address.startswith(f"{page.url}/sign-in/callback?")
        cookies = [
            begun.headers["set-cookie"],
            *browser.get(address).headers.get_list("set-cookie"),
        ]
        assert browser.get("/").status_code == 200
    assert all(cookie.startswith("__Host-") for cookie in cookies)
    assert all("Secure" in cookie for cookie in cookies)


Spoil = Callable[[StandIn], object]


def _claim(name: str, value: object) -> Spoil:
    def spoil(here: StandIn) -> None:
        here.spoil = lambda claims: claims.__setitem__(name, value)

    return spoil


def _late(claims: Claims) -> None:
    claims["exp"] = claims["iat"] - 121


_NOT_FOR_THIS = ("not for this sign-in", "wrong_claim")
_NO_SIGNATURE = ("has no valid signature", "wrong_token")

SPOILED: dict[str, tuple[Spoil, tuple[str, str]]] = {
    "another nonce": (_claim("nonce", "another"), _NOT_FOR_THIS),
    "no nonce": (_claim("nonce", None), _NOT_FOR_THIS),
    "another client": (_claim("aud", "another"), _NOT_FOR_THIS),
    "other clients": (_claim("aud", ["another", "third"]), _NOT_FOR_THIS),
    "for another": (_claim("azp", "another"), _NOT_FOR_THIS),
    "another issuer": (_claim("iss", "https://evil.example"), _NOT_FOR_THIS),
    "of another access token": (_claim("at_hash", "AAAA"), _NOT_FOR_THIS),
    "a number as id": (_claim("sub", 7), _NOT_FOR_THIS),
    "a word as end": (_claim("exp", "soon"), _NOT_FOR_THIS),
    "no end of time": (_claim("exp", float("nan")), _NOT_FOR_THIS),
    "expired": (lambda it: setattr(it, "spoil", _late), ("has expired", "expired")),
    "alg none": (lambda it: setattr(it, "algorithm", "none"), _NO_SIGNATURE),
    "a public key as secret": (lambda it: setattr(it, "algorithm", "HS256"), _NO_SIGNATURE),
    "an unpublished key": (lambda it: setattr(it, "key", new_key()), _NO_SIGNATURE),
    "another state": (lambda it: setattr(it, "state", "x"), ("another sign-in", "wrong_state")),
    "no id": (lambda it: it.person(""), ("an id that this page", "wrong_subject")),
    "a long id": (lambda it: it.person("x" * 256), ("an id that this page", "wrong_subject")),
    "two megabytes": (_claim("rubbish", "x" * 2_000_000), ("too large", "too_large")),
    "many groups": (_claim("groups", ["x"] * 5_001), ("more than 5,000", "too_many_values")),
}


def test_an_answer_that_does_not_fit_lets_no_person_in(served: Served, provider: StandIn) -> None:
    """A sentence on the page, a word in the log, and no session."""
    for name, (spoil, (sentence, why)) in SPOILED.items():
        provider.make_good()
        spoil(provider)
        with browser_of(served) as browser, caught() as lines:
            reply = sign_in(browser)
            assert reply.status_code in {403, 502}, name
            assert sentence in reply.text, name
            assert browser.get("/").status_code == 401, name
        assert lines == [f"event=sign_in_refused why={why} peer=127.0.0.1"], name
        reset_allowances()
    assert _trail(served) == []
    provider.make_good()
    with browser_of(served) as browser:
        assert sign_in(browser).status_code == 200


def test_a_code_counts_once_and_only_in_the_browser_that_began(
    served: Served, provider: StandIn
) -> None:
    """Neither again, nor elsewhere, nor with the cookie of another sign-in."""
    with browser_of(served) as browser, browser_of(served) as other:
        address = sent_back(begin(browser))
        assert other.get(address).status_code == 403
        begin(other)
        stolen = other.get(address)
        assert stolen.status_code == 403
        assert "another sign-in" in stolen.text
        assert browser.get(address).status_code == 200
        assert "not begun in this browser" in browser.get(address).text
        # The provider refuses a code that it has seen.
        address = sent_back(begin(browser))
        provider.codes.clear()
        assert "used or too old" in browser.get(address).text
        for query in ("", "?state=x", "?error=access_denied&error_description=<b>"):
            begin(browser)
            reply = browser.get(f"/sign-in/callback{query}")
            assert reply.status_code == 403
            assert "<b>" not in reply.text


def test_a_session_from_before_is_not_taken_over(served: Served, provider: StandIn) -> None:
    """A cookie that was planted is worth nothing, and an earlier session ends."""
    name = f"piecework_review_{httpx.URL(served.url).port}"
    with browser_of(served) as browser:
        browser.cookies.set(name, "planted")
        reply = sign_in(browser)
        value = reply.headers.get_list("set-cookie")[0].split("=")[1].split(";")[0]
        assert value != "planted"
        planted = httpx.get(served.url, cookies={name: "planted"})
        assert planted.status_code == 401
        provider.person("grace")
        sign_in(browser)
        earlier = httpx.get(served.url, cookies={name: value})
        assert earlier.status_code == 401


ELSEWHERE = (
    "https://evil.example/",
    "//evil.example/",
    "/\\evil.example/",
    "\\\\evil.example",
    "javascript:alert(1)",
    "/\t/evil.example",
    "/x\r\nSet-Cookie: a=b",
    "//[",
    "/" + "x" * 3_000,
)


def test_no_address_leads_away(served: Served) -> None:
    """What is no path of this page becomes its first page."""
    with browser_of(served) as browser:
        for asked in ELSEWHERE:
            assert 'content="0;url=/"' in sign_in(browser, asked).text, asked
            shown = browser.get("/sign-in", params={"next": asked}).text
            assert '/sign-in/start?next=%2F"' in shown, asked


_UNKNOWN = ("as Eve, but have no role", "no role")
_UNVERIFIED = ("has not verified your e-mail address", "e-mail not verified")

WITHOUT_ROLE: tuple[tuple[Claims, tuple[str, str]], ...] = (
    ({"email": "eve@example.org"}, _UNKNOWN),
    ({"email": "ada@example.org", "email_verified": False}, _UNVERIFIED),
    ({"email": "ada@example.org", "email_verified": "true"}, _UNVERIFIED),
    ({"groups": ["Annotators"]}, _UNKNOWN),
    ({"groups": {"annotators": 1}}, _UNKNOWN),
    ({"groups": "guestsannotators"}, _UNKNOWN),
)


def test_without_a_role_a_page_says_whom_to_ask(served: Served, provider: StandIn) -> None:
    """The trail has who it was, without the address."""
    for number, (claims, (words, about)) in enumerate(WITHOUT_ROLE):
        provider.person("eve", **claims)
        with browser_of(served) as browser:
            reply = sign_in(browser)
            assert reply.status_code == 403, claims
            assert words in reply.text, claims
            assert "Ask Ada, room 12 for one." in reply.text
            assert browser.get("/").status_code == 401
        entry = _trail(served)[number]
        assert (entry.event, entry.about) == ("refused", about)
        assert (entry.identity.subject, entry.identity.role) == ("eve", "")
        assert "@" not in str(entry)


def test_roles_come_from_a_claim_or_an_address_and_the_highest_counts(
    served: Served, provider: StandIn
) -> None:
    """Also where `userinfo` has the claim, and where the address has capitals."""
    for claims, role in (
        ({"groups": "guests"}, "reader"),
        ({"groups": ["guests", "annotators"]}, "reviewer"),
        ({"email": "Ada@Example.org", "groups": ["guests"]}, "requester"),
    ):
        with signed_in(served, provider, "eve", **claims):
            pass
        assert _trail(served)[-1].identity.role == role
    provider.more = {"groups": ["annotators"]}
    with signed_in(served, provider, "eve"):
        pass
    assert _trail(served)[-1].identity.role == "reviewer"
    provider.more = {"groups": ["annotators"], "sub": "ada"}
    provider.person("eve")
    with browser_of(served) as browser:
        assert "described another person" in sign_in(browser).text


def test_two_people_of_one_name_are_two_reviewers(served: Served, provider: StandIn) -> None:
    """Names are chosen by people; who they are is the provider's id."""
    with (
        signed_in(served, provider, "ada", name="Kim") as ada,
        signed_in(served, provider, "grace", name="Kim") as grace,
    ):
        assert "<bdi>Kim</bdi>" in ada.get("/").text
        assert "<bdi>Kim (2)</bdi>" in grace.get("/").text
    with signed_in(served, provider, "ada", name="Ada Byron") as again:
        assert "<bdi>Kim</bdi>" in again.get("/").text


def test_a_new_key_is_fetched_and_a_withdrawn_one_ends_within_the_hour(
    served: Served, provider: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token with an unknown key makes the page look; an hour makes it forget."""
    with browser_of(served) as browser:
        assert sign_in(browser).status_code == 200
        assert sign_in(browser).status_code == 200
        assert provider.seen.count("/keys") == 1
        provider.key = provider.published = new_key()
        assert sign_in(browser).status_code == 200
        assert provider.seen.count("/keys") == 2
        provider.published = new_key()
        assert sign_in(browser).status_code == 200
        monkeypatch.setattr(provider_module, "_FRESH_SECONDS", -1)
        assert "no valid signature" in sign_in(browser).text


def test_a_provider_that_goes_down_or_is_slow_is_told(
    served: Served,
    provider: StandIn,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """In one sentence, within the time; sessions go on; later it works again."""
    host = provider.issuer.removeprefix("http://")
    with signed_in(served, provider, "ada") as ada, browser_of(served) as browser:
        address = sent_back(begin(browser))
        provider.is_down = True
        with caplog.at_level(logging.WARNING, "piecework.review.sign_in"):
            reply = browser.get(address)
        assert reply.status_code == 502
        assert f"{host}</bdi>" in reply.text
        assert "cannot be reached. Try again later." in reply.text
        assert f"{host} cannot be reached. Try again later." in caplog.messages
        assert ada.get("/").status_code == 200
        provider.is_down = False
        address = sent_back(begin(browser))
        provider.delay = 3
        with monkeypatch.context() as patched:
            patched.setattr(provider_module, "PATIENCE_SECONDS", 1)
            reply = browser.get(address)
        assert reply.status_code == 502
        assert "did not answer within 1 seconds" in reply.text
        provider.delay = 0
        assert sign_in(browser).status_code == 200


def test_a_provider_may_be_down_at_the_start(tmp_path: Path) -> None:
    """The page says so, and works as soon as the provider does."""
    with at_work() as gone:
        port = int(gone.issuer.rpartition(":")[2])
    with page_with(tmp_path, door_at(gone.issuer)) as page, browser_of(page) as browser:
        reply = browser.get("/sign-in/start")
        assert reply.status_code == 502
        assert "cannot be reached" in reply.text
        assert not browser.cookies
        with at_work(port):
            assert sign_in(browser).status_code == 200


UNSAFE: tuple[tuple[Claims, str], ...] = (
    ({"issuer": "https://evil.example"}, "another name for itself"),
    ({"token_endpoint": "http://login.example.org/token"}, "not an https address"),
    ({"authorization_endpoint": None}, "missing or not an https address"),
    ({"id_token_signing_alg_values_supported": ["none", "HS256"]}, "in no way"),
)


def test_settings_of_a_provider_that_are_unsafe_are_refused(
    served: Served, provider: StandIn
) -> None:
    """Before any person is sent there."""
    for changed, sentence in UNSAFE:
        provider.changed = changed
        with browser_of(served) as browser:
            reply = browser.get("/sign-in/start")
        assert reply.status_code == 502
        assert sentence in reply.text


def test_what_a_provider_says_of_itself_sets_no_options(served: Served, provider: StandIn) -> None:
    """Authlib hands such keys to its HTTP client, even the one that checks TLS."""
    provider.changed = {"verify": False, "proxy": "http://127.0.0.1:1", "scope": "x"}
    with browser_of(served) as browser:
        assert "scope=openid+email+profile" in begin(browser).replace("%20", "+")
        assert sign_in(browser).status_code == 200


def test_a_client_that_is_set_up_wrong_is_told_to_its_operator(
    tmp_path: Path, provider: StandIn, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither page nor log has the secret; some providers want it in the form."""
    door = door_at(provider.issuer, secret="a wrong secret")  # noqa: S106 - wrong
    with page_with(tmp_path, door) as page, browser_of(page) as browser:
        with caplog.at_level(logging.DEBUG):
            reply = sign_in(browser)
        assert "does not accept the client id or secret" in reply.text
    assert "a wrong secret" not in reply.text + caplog.text


def test_a_secret_may_travel_in_the_form(served: Served, provider: StandIn) -> None:
    """Where the provider does not take it in a header."""
    provider.changed = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    with browser_of(served) as browser:
        assert sign_in(browser).status_code == 200


@pytest.mark.parametrize(("ahead", "order"), [(3600, "ahead of"), (-3600, "behind")])
def test_a_clock_that_is_an_hour_off_is_named(
    tmp_path: Path, provider: StandIn, ahead: float, order: str
) -> None:
    """Instead of a token that has expired, or is not yet valid."""
    with (
        page_with(tmp_path, door_at(provider.issuer, ahead=ahead)) as page,
        browser_of(page) as browser,
    ):
        reply = sign_in(browser)
    assert reply.status_code == 403
    assert f"The clock of this server is 60 minutes {order} that of" in reply.text


def test_a_clock_that_is_a_minute_off_does_no_harm(tmp_path: Path, provider: StandIn) -> None:
    """Two minutes are allowed."""
    with (
        page_with(tmp_path, door_at(provider.issuer, ahead=100)) as page,
        browser_of(page) as browser,
    ):
        assert sign_in(browser).status_code == 200


def test_links_work_beside_a_provider(tmp_path: Path, provider: StandIn) -> None:
    """A name of a link is not a name of a person who signs in."""
    door = door_at(provider.issuer)
    with (
        page_with(tmp_path, door, "Ada", manner=Manner()) as page,
        page.client("Ada") as by_link,
        signed_in(page, provider, "ada") as by_provider,
    ):
        assert "<bdi>Ada</bdi>" in by_link.get("/").text
        assert "<bdi>Ada (2)</bdi>" in by_provider.get("/").text


def test_neither_page_nor_log_has_a_secret(
    served: Served, provider: StandIn, caplog: pytest.LogCaptureFixture
) -> None:
    """No code, state, token, nonce or cookie, at any level of this package's log."""
    with caplog.at_level(logging.INFO), browser_of(served) as browser:
        begun = begin(browser)
        address = sent_back(begun)
        page = browser.get(address).text
        secrets = [httpx.URL(begun).params["nonce"], SECRET, *provider.tokens]
        secrets += [*httpx.URL(address).params.values(), *browser.cookies.values()]
    assert len(secrets) == 7  # nonce, secret, two tokens, code, state, cookie
    own = "\n".join(
        record.getMessage()
        for record in caplog.records
        if record.name.startswith(("piecework", "authlib", "uvicorn.error"))
    )
    for secret in secrets:
        assert secret not in page
        assert secret not in own
