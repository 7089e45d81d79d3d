"""Signing in by an invitation's link, and out by a button."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from marketplace.state.backend import Backend
from marketplace.workers import invitations, replies, sessions
from marketplace.workers.origins import Origins
from marketplace.workers.pages import page


class SignIn:
    """Signing in to and out of one marketplace."""

    def __init__(self, backend: Backend, origins: Origins) -> None:
        self._backend = backend
        self._origins = origins

    def routes(self) -> list[Route]:
        """Addresses for signing in and out."""
        return [
            Route("/worker/sign-in", self.sign_in),
            Route("/worker/sign-out", self.sign_out, methods=["POST"]),
        ]

    async def sign_in(self, request: Request) -> Response:
        """Open a session and go to the list; `invitation=` for people, or `token=`."""
        code = request.query_params.get("invitation")
        with self._backend.transaction() as transaction:
            if code is not None:
                key = sessions.open_by_invitation(
                    transaction, invitations.admit(transaction, code)
                )
            else:
                key = sessions.open_by_token(
                    transaction,
                    request.query_params.get("token", ""),
                    rehearsal=self._backend.rules.rehearsal,
                )
        return sessions.set_cookie(
            replies.moved("/worker/hits"), key, site=self._origins.site
        )

    async def sign_out(self, request: Request) -> Response:
        """End the session, here and in the browser."""
        replies.check_origin(request, (self._origins.site,))
        with self._backend.transaction() as transaction:
            sessions.close(transaction, request)
        reply = page("signed_out.html.j2", message="You have signed out.")
        return sessions.drop_cookie(reply, site=self._origins.site)
