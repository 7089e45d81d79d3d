"""Joins workers by an open link: a page that shows the new worker, and a button.

As with an invitation, opening the link changes nothing. The form of its page is the
site's own POST in a separate window. It creates a new worker and never opens an
existing worker's session.
"""

import sqlite3
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from piecework.marketplace.languages import say
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.state.transaction import Transaction
from piecework.marketplace.workers import invitations, open_links, replies
from piecework.marketplace.workers.origins import Origins
from piecework.marketplace.workers.pages import page
from piecework.marketplace.workers.sessions import Sessions
from piecework.webserver import security_log


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


class Joining:
    """The pages of a marketplace's open links."""

    def __init__(self, backend: Backend, origins: Origins, sessions: Sessions) -> None:
        self._backend = backend
        self._origins = origins
        self._sessions = sessions

    def routes(self) -> list[Route]:
        """Return the routes of open links."""
        return [
            Route("/worker/join", self.ask, methods=["GET"]),
            Route("/worker/join", self.join, methods=["POST"]),
        ]

    async def ask(self, request: Request) -> Response:
        """Show the page of an open link, without changing anything."""
        replies.check_window(request)
        with self._backend.transaction() as transaction:
            wish = self._wish(transaction, request, dict(request.query_params))
            if _is_in(transaction, wish):
                return replies.moved("/worker/hits")
        if wish.link["taken"] >= wish.link["places"]:
            raise open_links.full(wish.link)
        return _asked(wish)

    async def join(self, request: Request) -> Response:
        """Create a new worker and sign them in."""
        replies.check_origin(request, (self._origins.site,))
        replies.check_window(request)
        form = dict(await replies.fields(request))
        with self._backend.transaction() as transaction:
            wish = self._wish(transaction, request, form)
            if _is_in(transaction, wish):
                return replies.moved("/worker/hits")
            if fault := _fault(transaction, wish):
                return _asked(wish, complaint=fault, status=409)
            made = open_links.join(transaction, wish.link, wish.name)
            self._sessions.close(transaction, request)
            key = self._sessions.open_by_invitation(
                transaction, invitations.admit(transaction, made.code)
            )
        security_log.note(request.scope, "signed_in", worker=made.worker_id, by="open_link")
        return self._sessions.set_cookie(self._joined(request, wish, made), key)

    def _joined(self, request: Request, wish: _Wish, made: invitations.Invitation) -> Response:
        address = f"{self._origins.site}/worker/sign-in?invitation={made.code}"
        if replies.wants_json(request):
            document = {"worker_id": made.worker_id, "link": address}
            return JSONResponse(document, status_code=201)
        return page(
            "joined.html.j2",
            framed_by="'none'",
            name=wish.name,
            link=wish.link,
            worker_id=made.worker_id,
            address=address,
            expires_ms=made.expires_ms,
        )

    def _wish(self, transaction: Transaction, request: Request, fields: dict[str, str]) -> _Wish:
        code = fields.get("link", "")
        return _Wish(
            link=open_links.admit(transaction, code),
            code=code,
            present=self._sessions.present(transaction, request),
            name=" ".join(fields.get("name", "").split()),
            instead_of=fields.get("instead_of", ""),
        )


def _is_in(transaction: Transaction, wish: _Wish) -> bool:
    return wish.present is not None and open_links.has_joined(transaction, wish.link, wish.present)


def _fault(transaction: Transaction, wish: _Wish) -> str:
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


def _asked(wish: _Wish, *, complaint: str = "", status: int = 200) -> Response:
    return page(
        "join.html.j2",
        status=status,
        # Not even in our own frame: a question could navigate its frame here.
        framed_by="'none'",
        wish=wish,
        complaint=complaint,
        longest=open_links.LONGEST_OWN_NAME,
    )
