"""Signs workers in by an invitation's link, and out by a button.

A link alone does not sign in: any page can make a browser request an address, and with
a swapped session a worker would unknowingly earn money for another person. So the link
opens a page that names the current and the new worker. The form of that page, the
site's own POST in a separate window, opens the session.
"""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state import accounts
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.state.transaction import Transaction
from piecework.marketplace.workers import invitations, replies
from piecework.marketplace.workers.origins import Origins
from piecework.marketplace.workers.pages import page
from piecework.marketplace.workers.provider_sign_in import ProviderSignIn
from piecework.marketplace.workers.sessions import Sessions
from piecework.webserver import security_log


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ticket:
    """The credential of a worker: an invitation for people, or a token."""

    kind: str
    text: str
    worker: sqlite3.Row
    invitation: sqlite3.Row | None = None

    @property
    def is_for_account(self) -> bool:
        """Whether its worker must sign in at the provider."""
        return self.invitation is not None and bool(self.invitation["email_hash"])


class SignIn:
    """Signing in to and out of one marketplace.

    Args:
        backend: the marketplace's state.
        origins: its addresses.
        sessions: the sessions of its workers.
        at_provider: the pages of signing in at a provider, if there is one.
    """

    def __init__(
        self,
        backend: Backend,
        origins: Origins,
        sessions: Sessions,
        at_provider: ProviderSignIn | None = None,
    ) -> None:
        self._backend = backend
        self._origins = origins
        self._sessions = sessions
        self._at_provider = at_provider

    def routes(self) -> list[Route]:
        """Return the routes for signing in and out."""
        return [
            Route("/worker/sign-in", self.ask, methods=["GET"]),
            Route("/worker/sign-in", self.sign_in, methods=["POST"]),
            Route("/worker/sign-out", self.sign_out, methods=["POST"]),
        ]

    async def ask(self, request: Request) -> Response:
        """Show the page of a link with `invitation=` or `token=`; it opens no session.

        With `group=` it continues to the preview of that group, else to the list.
        """
        replies.check_window(request)
        group_id = request.query_params.get("group", "")
        if self._at_provider and not {"invitation", "token"} & set(request.query_params):
            return self._at_provider.asked(group_id)
        with self._backend.transaction() as transaction:
            ticket = _read(transaction, request.query_params)
            if self._at_provider and ticket.is_for_account:
                return self._at_provider.asked(group_id)
            _check_link(ticket)
            present = self._sessions.present(transaction, request)
        if present is not None and present["id"] == ticket.worker["id"]:
            return replies.moved_to_group(group_id)
        return self._asked(ticket, present, group_id)

    async def sign_in(self, request: Request) -> Response:
        """Open a session and redirect to the list or to the group in the form.

        It replaces another worker's session only if the form names that worker, so that
        the person has agreed to it.
        """
        replies.check_origin(request, (self._origins.site,))
        replies.check_window(request)
        form = dict(await replies.fields(request))
        group_id = form.get("group", "")
        with self._backend.transaction() as transaction:
            ticket = _read(transaction, form)
            _check_link(ticket)
            present = self._sessions.present(transaction, request)
            is_other = present is not None and present["id"] != ticket.worker["id"]
            if present and is_other and form.get("instead_of") != present["worker_id"]:
                return self._asked(ticket, present, group_id, status=409)
            self._sessions.close(transaction, request)
            key = self._open(transaction, ticket)
        worker_id = ticket.worker["worker_id"]
        security_log.note(request.scope, "signed_in", worker=worker_id, by=ticket.kind)
        return self._sessions.set_cookie(replies.moved_to_group(group_id), key)

    async def sign_out(self, request: Request) -> Response:
        """End the session, on the server and in the browser."""
        replies.check_origin(request, (self._origins.site,))
        with self._backend.transaction() as transaction:
            worker_id = self._present_id(transaction, request)
            self._sessions.close(transaction, request)
        security_log.note(request.scope, "signed_out", worker=worker_id)
        reply = page("signed_out.html.j2", message="You have signed out.")
        return self._sessions.drop_cookie(reply)

    def _present_id(self, transaction: Transaction, request: Request) -> str:
        """Return the id of the signed-in worker; "" if there is none or two."""
        try:
            present = self._sessions.present(transaction, request)
        except Refusal:
            return ""
        return "" if present is None else str(present["worker_id"])

    def _open(self, transaction: Transaction, ticket: _Ticket) -> str:
        if ticket.invitation is not None:
            return self._sessions.open_by_invitation(transaction, ticket.invitation)
        return self._sessions.open_by_token(transaction, ticket.text)

    def _asked(
        self, ticket: _Ticket, present: sqlite3.Row | None, group_id: str, *, status: int = 200
    ) -> Response:
        return page(
            "sign_in.html.j2",
            status=status,
            # Not even in our own frame: a question could navigate its frame here.
            framed_by="'none'",
            ticket=ticket,
            present=present,
            group_id=group_id,
            is_rehearsal=self._backend.rules.rehearsal,
        )


def _check_link(ticket: _Ticket) -> None:
    """Refuse a link that does not sign in by itself.

    Raises:
        Refusal: its worker must sign in at the provider (403).
    """
    if ticket.is_for_account:
        raise Refusal(
            "InvitationRefused",
            "This invitation needs an account. Please ask the person who invited you "
            "where to sign in.",
            status=403,
        )


def _read(transaction: Transaction, fields: Mapping[str, str]) -> _Ticket:
    """Read the credential in a link or a form.

    Raises:
        Refusal: the invitation is invalid (403), or the token is unknown (401).
    """
    code = fields.get("invitation")
    if code is None:
        token = fields.get("token", "")
        worker = accounts.signed_in(transaction, token)
        return _Ticket(kind="token", text=token, worker=worker)
    invitation = invitations.admit(transaction, code)
    invited = transaction.first_row("SELECT * FROM workers WHERE id = ?", invitation["worker"])
    if invited is None:
        raise Refusal("NotSignedIn", "This worker does not exist.", status=401)
    return _Ticket(kind="invitation", text=code, worker=invited, invitation=invitation)
