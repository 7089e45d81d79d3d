"""Signs invited workers in at a provider of OpenID Connect."""

import logging
import time
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.workers import identities, replies
from piecework.marketplace.workers.origins import Origins
from piecework.marketplace.workers.pages import page
from piecework.marketplace.workers.sessions import Sessions
from piecework.signin.pending import PendingSignIns
from piecework.signin.refusals import ProviderUnusable, SignInRefused
from piecework.webserver import security_log
from piecework.webserver.limits import say_once_a_second

if TYPE_CHECKING:
    from piecework.signin.provider import Provider

CALLBACK = "/worker/sign-in/callback"
"""The path to which the provider sends browsers back."""
_LOG = logging.getLogger(__name__)


class ProviderSignIn:
    """The pages of signing in at a provider.

    Args:
        backend: the marketplace's state.
        origins: its addresses.
        sessions: the sessions of its workers.
        provider: the provider.
    """

    def __init__(
        self, backend: Backend, origins: Origins, sessions: Sessions, provider: "Provider"
    ) -> None:
        self._backend, self._sessions, self._provider = backend, sessions, provider
        self._pending = PendingSignIns(
            "worker_signing_in", is_secure=origins.site.startswith("https:"), now=time.monotonic
        )
        say_once_a_second(__name__)

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        return [
            Route("/worker/sign-in/start", self.start, methods=["GET"]),
            Route(CALLBACK, self.callback, methods=["GET"]),
        ]

    def asked(self, group_id: str) -> Response:
        """Return the page that leads to the provider."""
        return page(
            "sign_in_at_provider.html.j2",
            framed_by="'none'",
            host=self._provider.settings.host,
            group_id=group_id,
        )

    async def start(self, request: Request) -> Response:
        """Send the browser to the provider."""
        replies.check_window(request)
        group_id = request.query_params.get("group", "")
        value, pending = self._pending.begin("/", about=group_id[:100])
        try:
            address = await self._provider.begin(pending.session)
        except SignInRefused as refusal:
            raise self._refused(request, refusal) from refusal
        reply = RedirectResponse(address, status_code=303)
        self._pending.set_cookie(reply, value)
        return reply

    async def callback(self, request: Request) -> Response:
        """Open a session for the worker whose invitation fits the account.

        It replaces no other worker's session: a page elsewhere can lead a browser here.
        """
        replies.check_window(request)
        try:
            pending = self._pending.take(request)
            person = await self._provider.finish(request, pending.session)
        except SignInRefused as refusal:
            raise self._refused(request, refusal) from refusal
        with self._backend.transaction() as transaction:
            invitation = identities.admit(transaction, person)
            present = self._sessions.present(transaction, request)
            if present is not None and present["id"] != invitation["worker"]:
                raise Refusal(
                    "OtherWorker",
                    "Another worker is signed in here. Sign out first, then sign in again.",
                    status=409,
                )
            self._sessions.close(transaction, request)
            key = self._sessions.open_by_invitation(transaction, invitation)
            worker = transaction.first_row(
                "SELECT worker_id FROM workers WHERE id = ?", invitation["worker"]
            )
        worker_id = "" if worker is None else worker["worker_id"]
        security_log.note(request.scope, "signed_in", worker=worker_id, by="provider")
        reply = replies.moved_to_group(pending.about)
        self._pending.drop_cookie(reply)
        return self._sessions.set_cookie(reply, key)

    def _refused(self, request: Request, refusal: SignInRefused) -> Refusal:
        """Return a refusal in the worker's language; the log has the reason."""
        if isinstance(refusal, ProviderUnusable) or refusal.kind == "clock":
            _LOG.warning("%s", refusal)
        security_log.note(request.scope, "sign_in_refused", why=refusal.kind)
        return Refusal(
            "ProviderRefused",
            "The sign-in did not work. Please try again. If it happens again, ask the "
            "person who invited you.",
            status=refusal.status,
        )
