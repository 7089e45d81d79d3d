"""Cookies as bytes on the wire: what counts as ours, and what does not."""

import ssl
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from piecework.marketplace.http.server import Marketplace, serve
from piecework.marketplace.state import accounts, clock
from piecework.marketplace.state.backend import Backend, Rules
from piecework.marketplace.workers import invitations
from piecework.review.desk import Manner
from piecework.review.server import Address, bound_to
from tests.foundation.server.raw import answer_to
from tests.marketplace.certificates import self_signed
from tests.review import stores
from tests.review.conftest import served_at

Site = tuple[str, ssl.SSLContext, bytes, bytes]
"""Of a page for who is signed in: its address, whom to trust, cookie and value."""

ODD = [b"\xa0", b"\x85", b"\x0b", b"\x0c", b"\x1c", b"\x1f", b"\xc2\xa0", b'"', b"$"]
"""What a lax reader strips, and a browser takes as part of a name."""


@pytest.fixture(scope="module", params=["worker site", "review page"])
def site(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    """A page behind TLS, and a session that is open there."""
    folder = tmp_path_factory.mktemp("site")
    opened = _worker_site if request.param == "worker site" else _review_page
    yield from opened(folder)


def _worker_site(folder: Path) -> Iterator[Site]:
    certificate = self_signed(folder, now=datetime.now(UTC))  # noqa: TID251 - as above
    tls = ssl.create_default_context(cafile=str(certificate.chain))
    with (
        serve(Marketplace(folder / "live.db", certificate=certificate)) as running,
        closing(Backend(folder / "live.db", Rules())) as backend,
    ):
        with backend.transaction() as transaction:
            new = accounts.NewWorker(handle="ann", country="DE")
            made = invitations.invite(transaction, new, lifetime_ms=clock.DAY)
        entered = httpx.post(
            f"{running.endpoint_url}/worker/sign-in", data={"invitation": made.code}, verify=tls
        )
        name, _, value = entered.headers["set-cookie"].partition(";")[0].partition("=")
        yield (f"{running.endpoint_url}/worker/hits", tls, name.encode(), value.encode())


def _review_page(folder: Path) -> Iterator[Site]:
    certificate = self_signed(folder, now=datetime.now(UTC))  # noqa: TID251 - as above
    tls = ssl.create_default_context(cafile=str(certificate.chain))
    address = Address(certificate=certificate, reviewers=("ada",))
    with (
        stores.opened(folder, workers=1, items=2) as run,
        bound_to(address) as listening,
        served_at(run, address, Manner(), listening) as page,
    ):
        entered = httpx.post(
            f"{page.url}/enter",
            data={"token": page.links["ada"].partition("#")[2]},
            headers={"Origin": page.url},
            verify=tls,
        )
        name, _, value = entered.headers["set-cookie"].partition(";")[0].partition("=")
        yield f"{page.url}/", tls, name.encode(), value.encode()


def _status(site: Site, *cookies: bytes) -> int:
    """The status of the page, asked for with these lines `Cookie`."""
    url, tls, _, _ = site
    parts = urlsplit(url)
    lines = [b"GET %b HTTP/1.1" % parts.path.encode()]
    lines += [b"Host: %b" % parts.netloc.encode(), b"Connection: close"]
    lines += [b"Cookie: " + cookie for cookie in cookies]
    answer = answer_to(url, b"\r\n".join(lines) + b"\r\n\r\n", tls=tls)
    return int(answer.split(b" ", 2)[1])


def test_the_cookie_of_a_browser_is_read(site: Site) -> None:
    """Alone, and beside cookies of other pages, with the spaces that are allowed."""
    _, _, name, value = site
    assert name.startswith(b"__Host-")
    own = name + b"=" + value
    for cookie in (own, b"a=b; " + own, b"a=b;\t" + own + b" ; c", own + b";" * 50):
        assert _status(site, cookie) == 200


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_a_name_that_only_looks_like_ours_is_another_cookie(site: Site, odd: bytes) -> None:
    """Before the name or behind it; a sibling host could have set such a name."""
    _, _, name, value = site
    assert _status(site, odd + name + b"=" + value) != 200
    assert _status(site, name + odd + b"=" + value) != 200
    # Nor does it harm the one that is ours; a control character is no HTTP.
    beside = _status(site, odd + name + b"=x; " + name + b"=" + value)
    assert beside == (400 if odd < b" " else 200)


def test_names_are_compared_letter_by_letter(site: Site) -> None:
    """Nor does a value make a name: a cookie without one is nobody's."""
    _, _, name, value = site
    for odd in (
        name.lower() + b"=" + value,
        name.upper() + b"=" + value,
        b"=" + name + b"=" + value,
        name.removeprefix(b"__Host-") + b"=" + value,
        b"__Secure-" + name.removeprefix(b"__Host-") + b"=" + value,
        name + b"=" + value + b"\xa0",
    ):
        assert _status(site, odd) != 200


def test_two_cookies_of_our_name_are_refused(site: Site) -> None:
    """In one line or two, and even where both say the same."""
    _, _, name, value = site
    own = name + b"=" + value
    assert _status(site, own + b"; " + own) == 401
    assert _status(site, own, own) == 401
    assert _status(site, name + b"=other; " + own) == 401
