"""How workers sign in, and the addresses that they send forms to.

A class of pages names its addresses at its methods: `page` for a page or a document, `form`
for a form of the site and `action` for a button that sends no fields. A form and an action
must come from the site's own origin; a form's fields are read for the method.

A link alone does not sign in: any page can make a browser request an address, and with
a swapped session a worker would unknowingly earn money for another person. So the link
opens a page that names the current and the new worker. The form of that page, the
site's own POST in a separate window, opens the session. A provider speaks OpenID Connect.

An open link changes nothing either until the form of its page is sent. It creates a new
worker and never opens an existing worker's session.
"""

import logging
import sqlite3
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from piecework.foundation.server import security_log
from piecework.foundation.signin.pending import PendingSignIns
from piecework.foundation.signin.person import ProviderUnusable, SignInRefused
from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.languages import say
from piecework.marketplace.state import accounts
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.state.transaction import Transaction
from piecework.marketplace.workers import discovery, invitations, open_links, pages
from piecework.marketplace.workers.pages import Origins, render_page
from piecework.marketplace.workers.sessions import Sessions

if TYPE_CHECKING:
    from piecework.foundation.signin.provider import Provider

_MARK = "endpoint"
Form = dict[str, str]
"""The fields of a form; the last of repeated ones."""


@dataclass(frozen=True)
class Endpoints:
    """Pages of one marketplace.

    Attributes:
        backend: its state.
        origins: its addresses.
        sessions: who sends a request.
    """

    backend: Backend
    origins: Origins
    sessions: Sessions

    def routes(self) -> list[BaseRoute]:
        """Return the routes of all methods with an address."""
        marked = ((name, getattr(each, _MARK, None)) for name, each in vars(type(self)).items())
        return [
            Route(mark[0], getattr(self, name), methods=mark[1]) for name, mark in marked if mark
        ]

    @contextmanager
    def at_work(self, request: Request) -> Iterator[tuple[Transaction, sqlite3.Row]]:
        """Open a transaction for the worker who sends a request.

        Raises:
            Refusal: no worker is signed in (401).
        """
        with self.backend.transaction() as transaction:
            yield transaction, self.sessions.worker_of(transaction, request)


Handler = Callable[..., Awaitable[Response]]
"""A method that takes a request and, of a form, its fields."""


def page(address: str, *methods: str) -> Callable[[Handler], Handler]:
    """Serve an address by GET, or by other methods."""

    def mark(handler: Handler) -> Handler:
        setattr(handler, _MARK, (address, list(methods or ("GET",))))
        return handler

    return mark


def action(address: str, *, in_window: bool = False) -> Callable[[Handler], Handler]:
    """Serve a POST of the site itself; with `in_window`, of a page in its own window."""

    def checked(handler: Handler) -> Handler:
        @wraps(handler)
        async def serve(self: Endpoints, request: Request) -> Response:
            pages.check_origin(request, (self.origins.site,))
            if in_window:
                pages.check_window(request)
            return await handler(self, request)

        return page(address, "POST")(serve)

    return checked


def form(address: str, *, in_window: bool = False) -> Callable[[Handler], Handler]:
    """Serve the same for a form, whose fields the method takes."""

    def with_fields(handler: Handler) -> Handler:
        @action(address, in_window=in_window)
        @wraps(handler)
        async def serve(self: Endpoints, request: Request) -> Response:
            return await handler(self, request, dict(await pages.read_fields(request)))

        return serve

    return with_fields


CALLBACK = "/worker/sign-in/callback"
"""The path to which the provider sends browsers back."""
_LOG = logging.getLogger(__name__)
_MOST_WORK = 3
"""Kinds of HITs that a page names before a person signs in."""


@dataclass(frozen=True)
class ProviderSignIn(Endpoints):
    """The pages of signing in at a provider."""

    provider: "Provider"

    @cached_property
    def _pending(self) -> PendingSignIns:
        is_secure = self.origins.site.startswith("https:")
        return PendingSignIns("worker_signing_in", is_secure=is_secure, now=time.monotonic)

    def asked(self, group_id: str) -> Response:
        """Return the page that leads to the provider."""
        return render_page(
            "sign_in_at_provider.html.j2",
            framed_by="'none'",
            provider=self.provider.settings.host,
            group_id=group_id,
        )

    @page("/worker/sign-in/start")
    async def start(self, request: Request) -> Response:
        """Send the browser to the provider."""
        pages.check_window(request)
        group_id = request.query_params.get("group", "")
        value, pending = self._pending.begin("/", about=group_id[:100])
        try:
            address = await self.provider.begin(pending.session)
        except SignInRefused as refusal:
            raise self._refused(request, refusal) from refusal
        reply = RedirectResponse(address, status_code=303)
        self._pending.set_cookie(reply, value)
        return reply

    @page(CALLBACK)
    async def callback(self, request: Request) -> Response:
        """Open a session for the worker whose invitation fits the account.

        It replaces no other worker's session: a page elsewhere can lead a browser here.
        """
        pages.check_window(request)
        try:
            pending = self._pending.take(request)
            person = await self.provider.finish(request, pending.session)
        except SignInRefused as refusal:
            raise self._refused(request, refusal) from refusal
        with self.backend.transaction() as transaction:
            invitation = invitations.admit_identity(transaction, person)
            present = self.sessions.present(transaction, request)
            if present is not None and present["id"] != invitation["worker"]:
                raise Refusal(
                    "OtherWorker",
                    "Another worker is signed in here. Sign out first, then sign in again.",
                    status=409,
                )
            self.sessions.close(transaction, request)
            key = self.sessions.open_by_invitation(transaction, invitation)
            worker = transaction.first_row(
                "SELECT worker_id FROM workers WHERE id = ?", invitation["worker"]
            )
        worker_id = "" if worker is None else worker["worker_id"]
        security_log.note(request.scope, "signed_in", worker=worker_id, by="provider")
        reply = pages.redirect_to_group(pending.about)
        self._pending.drop_cookie(reply)
        return self.sessions.set_cookie(reply, key)

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


@dataclass(frozen=True)
class SignIn(Endpoints):
    """Signing in to and out of one marketplace.

    Attributes:
        at_provider: the pages of signing in at a provider, if there is one.
    """

    at_provider: ProviderSignIn | None = None

    @page("/worker/sign-in")
    async def ask(self, request: Request) -> Response:
        """Show the page of a link with `invitation=` or `token=`; it opens no session.

        With `group=` it continues to the preview of that group, else to the list.
        """
        pages.check_window(request)
        group_id = request.query_params.get("group", "")
        if self.at_provider and not {"invitation", "token"} & set(request.query_params):
            return self.at_provider.asked(group_id)
        with self.backend.transaction() as transaction:
            ticket = _read_ticket(transaction, request.query_params)
            if self.at_provider and ticket.is_for_account:
                return self.at_provider.asked(group_id)
            _check_link(ticket)
            present = self.sessions.present(transaction, request)
            if present is not None and present["id"] == ticket.worker["id"]:
                return pages.redirect_to_group(group_id)
            return self._asked(transaction, ticket, present, group_id)

    @form("/worker/sign-in", in_window=True)
    async def sign_in(self, request: Request, form: Form) -> Response:
        """Open a session and redirect to the list or to the group in the form.

        It replaces another worker's session only if the form names that worker, so that
        the person has agreed to it.
        """
        group_id = form.get("group", "")
        with self.backend.transaction() as transaction:
            ticket = _read_ticket(transaction, form)
            _check_link(ticket)
            present = self.sessions.present(transaction, request)
            is_other = present is not None and present["id"] != ticket.worker["id"]
            if present and is_other and form.get("instead_of") != present["worker_id"]:
                return self._asked(transaction, ticket, present, group_id, status=409)
            self.sessions.close(transaction, request)
            key = self._open(transaction, ticket)
        worker_id = ticket.worker["worker_id"]
        security_log.note(request.scope, "signed_in", worker=worker_id, by=ticket.kind)
        return self.sessions.set_cookie(pages.redirect_to_group(group_id), key)

    @action("/worker/sign-out")
    async def sign_out(self, request: Request) -> Response:
        """End the session, on the server and in the browser."""
        with self.backend.transaction() as transaction:
            worker_id = self._present_id(transaction, request)
            self.sessions.close(transaction, request)
        security_log.note(request.scope, "signed_out", worker=worker_id)
        reply = render_page("signed_out.html.j2", message="You have signed out.")
        return self.sessions.drop_cookie(reply)

    def _present_id(self, transaction: Transaction, request: Request) -> str:
        """Return the id of the signed-in worker; "" if there is none or two."""
        try:
            present = self.sessions.present(transaction, request)
        except Refusal:
            return ""
        return "" if present is None else str(present["worker_id"])

    def _open(self, transaction: Transaction, ticket: _Ticket) -> str:
        if ticket.invitation is not None:
            return self.sessions.open_by_invitation(transaction, ticket.invitation)
        return self.sessions.open_by_token(transaction, ticket.text)

    def _asked(
        self,
        transaction: Transaction,
        ticket: _Ticket,
        present: sqlite3.Row | None,
        group_id: str,
        *,
        status: int = 200,
    ) -> Response:
        return render_page(
            "sign_in.html.j2",
            status=status,
            # Not even in our own frame: a question could navigate its frame here.
            framed_by="'none'",
            ticket=ticket,
            present=present,
            group_id=group_id,
            is_rehearsal=self.backend.rules.rehearsal,
            work=discovery.newest_work(transaction, most=_MOST_WORK),
            prices=self.backend.rules.prices,
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


def _read_ticket(transaction: Transaction, fields: Mapping[str, str]) -> _Ticket:
    """Read the credential in a link or a form.

    Raises:
        Refusal: the invitation is invalid (403), or the token is unknown (401).
    """
    code = fields.get("invitation")
    if code is None:
        token = fields.get("token", "")
        worker = accounts.signed_in(transaction, token)
        return _Ticket(kind="token", text=token, worker=worker)
    invitation = invitations.admit_invited(transaction, code)
    invited = transaction.first_row("SELECT * FROM workers WHERE id = ?", invitation["worker"])
    if invited is None:
        raise Refusal("NotSignedIn", "This worker does not exist.", status=401)
    return _Ticket(kind="invitation", text=code, worker=invited, invitation=invitation)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wish:
    """The inputs so far of a person who joins.

    Attributes:
        link: the open link.
        code: its code in the address.
        present: the worker of this browser's session, if any.
        name: the name that the person wants.
        instead_of: the worker id whose session may end.
    """

    link: sqlite3.Row
    code: str
    present: sqlite3.Row | None
    name: str = ""
    instead_of: str = ""


class Joining(Endpoints):
    """The pages of a marketplace's open links."""

    @page("/worker/join")
    async def ask(self, request: Request) -> Response:
        """Show the page of an open link, without changing anything."""
        pages.check_window(request)
        with self.backend.transaction() as transaction:
            wish = self._wish(transaction, request, dict(request.query_params))
            if _is_signed_in(transaction, wish):
                return pages.redirect("/worker/hits")
            if wish.link["taken"] >= wish.link["places"]:
                raise open_links.full(wish.link)
            return self._asked_for(transaction, wish)

    @form("/worker/join", in_window=True)
    async def join(self, request: Request, form: Form) -> Response:
        """Create a new worker and sign them in."""
        with self.backend.transaction() as transaction:
            wish = self._wish(transaction, request, form)
            if _is_signed_in(transaction, wish):
                return pages.redirect("/worker/hits")
            if fault := _fault_of_wish(transaction, wish):
                return self._asked_for(transaction, wish, complaint=fault, status=409)
            made = open_links.join(transaction, wish.link, wish.name)
            self.sessions.close(transaction, request)
            key = self.sessions.open_by_invitation(
                transaction, invitations.admit_invited(transaction, made.code)
            )
        security_log.note(request.scope, "signed_in", worker=made.worker_id, by="open_link")
        return self.sessions.set_cookie(self._joined(request, wish, made), key)

    def _joined(self, request: Request, wish: _Wish, made: invitations.Invitation) -> Response:
        address = f"{self.origins.site}/worker/sign-in?invitation={made.code}"
        if pages.wants_json(request):
            document = {"worker_id": made.worker_id, "link": address}
            return JSONResponse(document, status_code=201)
        return render_page(
            "joined.html.j2",
            framed_by="'none'",
            name=wish.name,
            link=wish.link,
            worker_id=made.worker_id,
            address=address,
            expires_ms=made.expires_ms,
        )

    def _asked_for(
        self, transaction: Transaction, wish: _Wish, *, complaint: str = "", status: int = 200
    ) -> Response:
        """Ask for the person's name, after who asks for what and what it pays."""
        return render_page(
            "join.html.j2",
            status=status,
            # Not even in our own frame: a question could navigate its frame here.
            framed_by="'none'",
            wish=wish,
            complaint=complaint,
            longest=open_links.LONGEST_OWN_NAME,
            work=discovery.newest_work(transaction, most=_MOST_WORK),
            prices=self.backend.rules.prices,
        )

    def _wish(self, transaction: Transaction, request: Request, fields: dict[str, str]) -> _Wish:
        code = fields.get("link", "")
        return _Wish(
            link=open_links.admit(transaction, code),
            code=code,
            present=self.sessions.present(transaction, request),
            name=" ".join(fields.get("name", "").split()),
            instead_of=fields.get("instead_of", ""),
        )


def _is_signed_in(transaction: Transaction, wish: _Wish) -> bool:
    return wish.present is not None and open_links.has_joined(transaction, wish.link, wish.present)


def _fault_of_wish(transaction: Transaction, wish: _Wish) -> str:
    """Return what the person must still enter or agree to, or ""."""
    most = open_links.LONGEST_OWN_NAME
    if not wish.name or not wish.name.isprintable() or len(wish.name) > most:
        return say("Please write a name of 1 to %(most)s letters.", most=most)
    if wish.present is not None and wish.instead_of != wish.present["worker_id"]:
        return say("Tick the box, or stay signed in as %(handle)s.", handle=wish.present["handle"])
    if open_links.is_taken(transaction, wish.link, wish.name):
        return say(
            "%(name)s is taken. Was that you? Then open your own link from that "
            "time. If not, add a letter or your second name.",
            name=wish.name,
        )
    return ""
