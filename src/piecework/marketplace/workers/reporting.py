"""Lets workers report a problem with a HIT without leaving its page."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from piecework.marketplace.state import reported_problems
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.workers import assignment_actions, replies
from piecework.marketplace.workers.origins import Origins
from piecework.marketplace.workers.pages import page
from piecework.marketplace.workers.sessions import Sessions


class Reporting:
    """The problem reports of a marketplace."""

    def __init__(self, backend: Backend, origins: Origins, sessions: Sessions) -> None:
        self._backend = backend
        self._origins = origins
        self._sessions = sessions

    def routes(self) -> list[Route]:
        """Return the route of an assignment's reports."""
        address = "/worker/assignments/{assignment_id}/problem"
        return [Route(address, self.report, methods=["POST"])]

    async def report(self, request: Request) -> Response:
        """Store a worker's report about a HIT that they have or had."""
        replies.check_origin(request, (self._origins.site,))
        form = dict(await replies.fields(request))
        with self._backend.transaction() as transaction:
            worker = self._sessions.worker_of(transaction, request)
            row = assignment_actions.own_assignment(
                transaction, worker, request.path_params["assignment_id"]
            )
            reported_problems.keep(transaction, worker, row, form.get("text", ""))
        if replies.wants_json(request):
            return JSONResponse({"reported": True}, status_code=201)
        return page("reported.html.j2", assignment=row)
