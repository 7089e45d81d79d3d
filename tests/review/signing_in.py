"""A review page at which people sign in, and a browser that follows redirects."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from piecework.campaign.opened import OpenedCampaign
from piecework.foundation.server.server import Certificate
from piecework.foundation.signin.person import ProviderSettings, Roles
from piecework.foundation.signin.provider import Provider
from piecework.review.desk import Manner
from piecework.review.server import Address, bound_to
from piecework.review.sign_in import Door
from tests.foundation.signin.stand_in import CLIENT, SECRET, StandIn
from tests.review import stores
from tests.review.conftest import Served, served_at

ROLES = Roles(
    by_email={
        "ada@example.org": "requester",
        "grace@example.org": "reviewer",
        "rita@example.org": "reader",
    },
    claim="groups",
    by_value={"annotators": "reviewer", "guests": "reader"},
)


def door_at(
    issuer: str,
    *,
    roles: Roles = ROLES,
    ahead: float = 0,
    client: str = CLIENT,
    secret: str = SECRET,
) -> Door:
    """The door of a page to a provider; its clock may be `ahead`, in seconds."""

    def provider_at(address: str, now: Callable[[], float]) -> Provider:
        settings = ProviderSettings(
            issuer=issuer, client_id=client, client_secret=secret, redirect_url=address
        )
        return Provider(settings, now=lambda: now() + ahead, roles_claim=roles.claim)

    return Door(provider_at=provider_at, roles=roles, contact="Ada, room 12")


@contextmanager
def page_with(
    folder: Path,
    door: Door,
    *links: str,
    manner: Manner | None = None,
    certificate: Certificate | None = None,
) -> Iterator[Served]:
    """Serve the page of a small store, with a provider, and with links if any."""
    with (
        stores.opened(folder, workers=2, items=2) as run,
        page_of(run, door, *links, manner=manner, certificate=certificate) as served,
    ):
        yield served


@contextmanager
def page_of(
    run: OpenedCampaign,
    door: Door,
    *links: str,
    manner: Manner | None = None,
    certificate: Certificate | None = None,
) -> Iterator[Served]:
    """Serve the page of a campaign."""
    address = Address(reviewers=links, door=door, certificate=certificate)
    with (
        bound_to(address) as listening,
        served_at(run, address, manner or Manner(), listening) as served,
    ):
        yield served


def browser_of(served: Served) -> httpx.Client:
    """A browser without a session."""
    headers = {"Origin": served.url}
    return httpx.Client(base_url=served.url, headers=headers, timeout=30)


def begin(browser: httpx.Client, next_path: str = "/") -> str:
    """Begin to sign in; return the address at the provider."""
    reply = browser.get("/sign-in/start", params={"next": next_path})
    assert reply.status_code == 303, reply.text
    return str(reply.headers["location"])


def sent_back(address: str) -> str:
    """Go to the provider, which does not ask; return the address that it sends to."""
    return str(httpx.get(address).headers["location"])


def sign_in(browser: httpx.Client, next_path: str = "/") -> httpx.Response:
    """Sign in as the person whom the provider knows; return the last page."""
    return browser.get(sent_back(begin(browser, next_path)))


@contextmanager
def signed_in(
    served: Served, provider: StandIn, subject: str, **claims: object
) -> Iterator[httpx.Client]:
    """A browser in which a person has signed in."""
    provider.person(subject, **claims)
    with browser_of(served) as browser:
        reply = sign_in(browser)
        assert reply.status_code == 200, reply.text
        yield browser
