"""The pages on which a reviewer signs in at a provider, and out."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.clock import wall_time
from piecework.foundation.server import security_log
from piecework.foundation.server.limits import Allowance, say_once_a_second
from piecework.foundation.signin.pending import PendingSignIns, own_path
from piecework.foundation.signin.person import Person, ProviderUnusable, Roles, SignInRefused
from piecework.review.desk import StoreThread
from piecework.review.pages import HEADERS, Parts, render_page
from piecework.review.sessions import Session, Sessions
from piecework.store import reviews
from piecework.store.database import writing
from piecework.store.reviews import Identity

if TYPE_CHECKING:
    from piecework.foundation.signin.provider import Provider

CALLBACK = "/sign-in/callback"
"""The path to which a provider sends browsers back."""
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """How people sign in at a provider.

    Attributes:
        provider_at: makes the provider from the address of `CALLBACK` and a function
            that returns the time in seconds since 1970.
        roles: who may do what.
        contact: whom to ask for a role.
    """

    provider_at: Callable[[str, Callable[[], float]], "Provider"]
    roles: Roles
    contact: str = ""


class SignInPages:
    """Signing in at a provider, if there is one, and out.

    Args:
        opened: the campaign, whose store keeps the audit trail.
        sessions: the sessions of the page.
        door: how people sign in at a provider; `None`: only by links.
        store_thread: the thread that works with the store.
    """

    def __init__(
        self,
        opened: OpenedCampaign,
        sessions: Sessions,
        door: Door | None,
        store_thread: StoreThread,
    ) -> None:
        self._opened, self._sessions, self._door = opened, sessions, door
        self._store_thread = store_thread
        origin = sessions.origin
        self._pending = PendingSignIns(
            f"piecework_signing_in_{urlsplit(origin).port or 0}",
            is_secure=origin.startswith("https:"),
            now=time.monotonic,
        )
        # Strangers may have accounts at the provider, so their rows have a limit.
        self._refusals = Allowance(at_once=100, per_second=0.1)
        say_once_a_second(__name__)
        self.provider = None
        if door is not None:
            self.provider = door.provider_at(
                # Not the campaign's clock, which does not run backwards.
                f"{origin}{CALLBACK}",
                lambda: wall_time(opened.clock).timestamp(),
            )

    def routes(self, parts: Parts) -> list[Route]:
        """Return the routes of these pages.

        Args:
            parts: how pages are protected; `post` makes a route for all sessions.
        """

        def sign_out(request: Request, session: Session) -> Response:
            parts.form(request, session)
            return self.sign_out(request, session)

        own = [parts.post("/sign-out", sign_out)]
        if self._door is None:
            return own
        return [
            *own,
            Route("/sign-in", self.sign_in),
            Route("/sign-in/start", self.start),
            Route(CALLBACK, self.callback),
        ]

    def record(self, event: reviews.EventName, identity: Identity, about: str) -> None:
        """Write an event to the audit trail."""
        with writing(self._opened.store):
            reviews.add_event(
                self._opened.store, event, identity, at=self._opened.clock.now(), about=about
            )

    def asked(self, request: Request, sentence: str) -> Response:
        """Return the page that offers to sign in, to open what was asked for."""
        path = request.url.path
        if request.method == "GET" and request.url.query:
            path = f"{path}?{request.url.query}"
        return self._page(path if request.method == "GET" else "/", sentence, 401)

    async def sign_in(self, request: Request) -> Response:
        """Offer to sign in."""
        self._sessions.check(request)
        return self._page(request.query_params.get("next", "/"), "", 200)

    async def start(self, request: Request) -> Response:
        """Send the browser to the provider."""
        self._sessions.check(request)
        assert self.provider is not None  # noqa: S101 - there is no route without one
        value, pending = self._pending.begin(request.query_params.get("next", "/"))
        try:
            address = await self.provider.begin(
                pending.session, asks_again="again" in request.query_params
            )
        except SignInRefused as refusal:
            return self._refused(request, refusal)
        reply = RedirectResponse(address, status_code=303, headers=HEADERS)
        self._pending.set_cookie(reply, value)
        return reply

    async def callback(self, request: Request) -> Response:
        """Open a session for the person whom the provider has sent back."""
        self._sessions.check(request)
        assert self.provider is not None  # noqa: S101 - there is no route without one
        try:
            pending = self._pending.take(request)
            person = await self.provider.finish(request, pending.session)
            value, session = await self._store_thread.run(partial(self._opened_for, person))
        except SignInRefused as refusal:
            return self._refused(request, refusal)
        self._sessions.close(request)
        security_log.write(request.scope, "signed_in", subject=person.subject, role=session.role)
        # A strict cookie is not sent along a redirect that began at the provider, so a
        # page of this server opens the next one.
        reply = render_page("signed_in.html.j2", next_path=pending.next_path, session=session)
        self._sessions.set_cookie(reply, value)
        self._pending.drop_cookie(reply)
        return reply

    def sign_out(self, request: Request, session: Session) -> Response:
        """End the session, on the server and in the browser."""
        self._sessions.close(request)
        self.record("signed out", session.identity, "")
        security_log.write(request.scope, "signed_out", role=session.role)
        reply = render_page("signed_out.html.j2", host=self._host)
        self._sessions.drop_cookie(reply)
        return reply

    def _opened_for(self, person: Person) -> tuple[str, Session]:
        """Open a session for a person with a role.

        Raises:
            SignInRefused: they have no role.
        """
        door = self._door
        assert door is not None  # noqa: S101 - there is no route without one
        role = door.roles.of(person)
        if role is None:
            raise self._without_role(person, door)
        store = self._opened.store
        with writing(store):
            name = reviews.name_of(
                store, person.issuer, person.subject, wanted=person.name, taken=self._sessions.names
            )
            identity = Identity(name=name, role=role, issuer=person.issuer, subject=person.subject)
            reviews.add_event(store, "signed in", identity, at=self._opened.clock.now())
        return self._sessions.open(identity, role)

    def _without_role(self, person: Person, door: Door) -> SignInRefused:
        """Return why a person gets in nowhere, after the audit trail has it."""
        why = "e-mail not verified" if person.unverified_email else "no role"
        identity = Identity(name=person.name, issuer=person.issuer, subject=person.subject)
        if self._refusals.take(time.monotonic()) is not None:
            self.record("refused", identity, why)
        ask = f"Ask {door.contact or 'the person who runs this review'} for one."
        if person.unverified_email:
            sentence = (
                f"You have no role in this review, because {self._host} has not "
                "verified your e-mail address. Verify it there and sign in again. "
                f"{ask}"
            )
        else:
            sentence = (
                f"You are signed in at {self._host} as {person.name}, but have no role "
                f"in this review. {ask}"
            )
        return SignInRefused(sentence, kind=why.replace(" ", "_"))

    def _refused(self, request: Request, refusal: SignInRefused) -> Response:
        if isinstance(refusal, ProviderUnusable) or refusal.kind == "clock":
            # Its sentence names no person; the operator has to act.
            _LOG.warning("%s", refusal)
        security_log.write(request.scope, "sign_in_refused", why=refusal.kind)
        reply = self._page("/", str(refusal), refusal.status, asks_again=True)
        self._pending.drop_cookie(reply)
        return reply

    def _page(
        self, next_path: str, sentence: str, status: int, *, asks_again: bool = False
    ) -> Response:
        query = {"next": own_path(next_path), **({"again": "1"} if asks_again else {})}
        return render_page(
            "sign_in.html.j2",
            status=status,
            sentence=sentence,
            host=self._host,
            start=f"/sign-in/start?{urlencode(query)}",
            has_links=bool(self._sessions.links),
        )

    @property
    def _host(self) -> str:
        return "" if self.provider is None else self.provider.settings.host
