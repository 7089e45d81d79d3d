"""The consent page, read before the first HIT if the marketplace has a text."""

from collections.abc import Sequence
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from piecework.marketplace.state import consents
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.workers import replies
from piecework.marketplace.workers.origins import Origins
from piecework.marketplace.workers.pages import page
from piecework.marketplace.workers.sessions import Sessions

ADDRESS = "/worker/consent"


class Agreeing:
    """Consent to one marketplace's text.

    Args:
        backend: its state.
        origins: its addresses.
        sessions: who sends a request.
        paragraphs: the text; empty if no consent is needed.
    """

    def __init__(
        self, backend: Backend, origins: Origins, sessions: Sessions, paragraphs: Sequence[str]
    ) -> None:
        self._backend = backend
        self._origins = origins
        self._sessions = sessions
        self._paragraphs = paragraphs

    def routes(self) -> list[Route]:
        """Return the routes of the page and its form; empty without a text."""
        if not self._paragraphs:
            return []
        return [
            Route(ADDRESS, self.ask, methods=["GET"]),
            Route(ADDRESS, self.agree, methods=["POST"]),
        ]

    async def ask(self, request: Request) -> Response:
        """Show the text, and whether the worker has agreed."""
        with self._backend.transaction() as transaction:
            worker = self._sessions.worker_of(transaction, request)
            is_given = consents.is_given(transaction, worker, self._paragraphs)
        return self._page(request.query_params.get("group", ""), is_given=is_given)

    async def agree(self, request: Request) -> Response:
        """Store the consent with its time, and continue to the page before."""
        replies.check_origin(request, (self._origins.site,))
        form = dict(await replies.fields(request))
        group = form.get("group", "")
        # The text may have changed since the page was opened.
        is_this = form.get("text") == consents.digest(self._paragraphs)
        if form.get("agreed") != "1" or not is_this:
            return self._page(group, is_given=False, status=400)
        with self._backend.transaction() as transaction:
            worker = self._sessions.worker_of(transaction, request)
            consents.give(transaction, worker, self._paragraphs)
        if replies.wants_json(request):
            return JSONResponse({"agreed": True})
        return replies.moved_to_group(group)

    def _page(self, group: str, *, is_given: bool, status: int = 200) -> Response:
        return page(
            "consent.html.j2",
            status=status,
            paragraphs=self._paragraphs,
            text=consents.digest(self._paragraphs),
            group=group,
            is_given=is_given,
        )


def address(group_id: str) -> str:
    """Return the consent page's address for a worker who wants a HIT of a group."""
    return f"{ADDRESS}?{urlencode({'group': group_id})}"
