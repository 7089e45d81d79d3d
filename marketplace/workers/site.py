"""The worker site: find a HIT, accept it, do it, get paid; pages or JSON.

Endpoints read the request, take one turn and answer; what may happen is decided in
`working`. A turn is over, and on the disk, before anything is said.
"""

import sqlite3
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from marketplace import accounts, clock
from marketplace.exceptions import Refusal
from marketplace.house import House
from marketplace.requester import question
from marketplace.turn import Turn
from marketplace.workers import asking, discovery, history, replies, working
from marketplace.workers.pages import STATIC, page

COOKIE = "worker_session"
_DEFAULT_HEIGHT = 640


class Site:
    """The worker site of one house."""

    def __init__(self, house: House, origins: working.Origins) -> None:
        self._house = house
        self._origins = origins

    def routes(self) -> list[Route | Mount]:
        """All addresses of the site."""
        group = "/worker/groups/{group_id}"
        assignment = "/worker/assignments/{assignment_id}"
        return [
            Route("/worker/sign-in", self.sign_in),
            Route("/worker/hits", self.hits),
            Route("/worker/history", self.history),
            Route(f"{group}/preview", self.preview),
            Route(f"{group}/accept", self.accept, methods=["POST"]),
            Route(assignment, self.assignment),
            Route(f"{assignment}/return", self.give_back, methods=["POST"]),
            Route(f"{assignment}/thanks", self.thanks),
            Route(
                "/worker/qualifications/{type_id}/request", self.ask, methods=["POST"]
            ),
            Route("/mturk/externalSubmit", self.submit, methods=["POST"]),
            Mount("/worker/static", StaticFiles(directory=STATIC)),
        ]

    async def sign_in(self, request: Request) -> Response:
        """Set the session cookie and go to the list."""
        token = request.query_params.get("token", "")
        with self._house.turn() as turn:
            accounts.signed_in(turn, token)
        reply = replies.moved("/worker/hits")
        reply.set_cookie(COOKIE, token, httponly=True, samesite="lax", path="/")
        return reply

    async def hits(self, request: Request) -> Response:
        """All groups with something for this worker."""
        with self._house.turn() as turn:
            worker = self._worker(turn, request)
            groups = discovery.groups(turn, worker)
            open_now = history.open_assignments(turn, worker)
        if replies.wants_json(request):
            return JSONResponse({"hit_groups": [group.to_json() for group in groups]})
        return page("hits.html.j2", groups=groups, open=open_now)

    async def preview(self, request: Request) -> Response:
        """A HIT of the group, before it is accepted."""
        group_id = request.path_params["group_id"]
        with self._house.turn() as turn:
            worker = self._worker(turn, request)
            hit = working.preview(
                turn, worker, group_id, hit_id=request.query_params.get("hit_id")
            )
            group = discovery.group(turn, worker, group_id)
        frame_url = working.frame_url(hit, self._origins)
        if replies.wants_json(request):
            return JSONResponse({"hit_id": hit["hit_id"], "frame_url": frame_url})
        return page(
            "preview.html.j2",
            frame_origin=_origin(frame_url),
            group=group,
            frame_url=frame_url,
            height=_height(hit),
        )

    async def accept(self, request: Request) -> Response:
        """Take a HIT."""
        replies.check_origin(request, (self._origins.site,))
        named = dict(await replies.fields(request)).get("hit_id")
        hit_id = named or request.query_params.get("hit_id")
        with self._house.turn() as turn:
            worker = self._worker(turn, request)
            assignment_id = working.accept(
                turn, worker, request.path_params["group_id"], hit_id=hit_id
            )
            row = working.own_assignment(turn, worker, assignment_id)
        if not replies.wants_json(request):
            return replies.moved(f"/worker/assignments/{assignment_id}")
        return JSONResponse(
            {
                "assignment_id": assignment_id,
                "hit_id": row["hit_id"],
                "accepted_at": clock.to_datetime(row["accepted_ms"]).isoformat(),
                "deadline": clock.to_datetime(row["deadline_ms"]).isoformat(),
                "frame_url": self._frame_url(row, worker),
            },
            status_code=201,
        )

    async def assignment(self, request: Request) -> Response:
        """The page around an accepted HIT."""
        assignment_id = request.path_params["assignment_id"]
        with self._house.turn() as turn:
            worker = self._worker(turn, request)
            row = working.own_assignment(turn, worker, assignment_id)
            row = working.open_assignment(turn, worker, row["assignment_id"])
            now_ms = turn.now_ms
        frame_url = self._frame_url(row, worker)
        return page(
            "assignment.html.j2",
            frame_origin=_origin(frame_url),
            assignment=row,
            frame_url=frame_url,
            height=_height(row),
            seconds_left=(row["deadline_ms"] - now_ms) // clock.SECOND,
            ticks=not self._house.rules.rehearsal,
        )

    async def give_back(self, request: Request) -> Response:
        """Return an accepted HIT."""
        replies.check_origin(request, (self._origins.site,))
        assignment_id = request.path_params["assignment_id"]
        with self._house.turn() as turn:
            worker = self._worker(turn, request)
            working.give_back(turn, worker, assignment_id)
        if replies.wants_json(request):
            return JSONResponse({"assignment_id": assignment_id, "status": "Returned"})
        return replies.moved("/worker/hits")

    async def submit(self, request: Request) -> Response:
        """Take the form of a question."""
        fields = await replies.fields(request)
        with self._house.turn() as turn:
            worker = self._worker(turn, request)
            row = working.submit(turn, worker, fields)
            # The frame's form posts from its own origin; an external page from its.
            asked = working.frame_url(row, self._origins)
            replies.check_origin(
                request, (self._origins.site, self._origins.frames, _origin(asked))
            )
        if replies.wants_json(request):
            return JSONResponse(
                {"assignment_id": row["assignment_id"], "status": "Submitted"}
            )
        return self._thanks(request, row["assignment_id"])

    async def thanks(self, request: Request) -> Response:
        """What a worker sees after submitting."""
        return self._thanks(request, request.path_params["assignment_id"])

    async def ask(self, request: Request) -> Response:
        """Ask for a qualification."""
        replies.check_origin(request, (self._origins.site,))
        with self._house.turn() as turn:
            worker = self._worker(turn, request)
            status = asking.request_qualification(
                turn, worker, request.path_params["type_id"]
            )
        if replies.wants_json(request):
            return JSONResponse({"status": status})
        return replies.moved("/worker/hits")

    async def history(self, request: Request) -> Response:
        """What the worker did and earned."""
        with self._house.turn() as turn:
            worker = self._worker(turn, request)
            rows = history.latest(turn, worker)
            earned_cents = history.earned_cents(turn, worker)
        return page(
            "history.html.j2",
            rows=rows,
            earned_cents=earned_cents,
            worker_id=worker["worker_id"],
        )

    def _thanks(self, request: Request, assignment_id: str) -> Response:
        with self._house.turn() as turn:
            worker = self._worker(turn, request)
            row = working.own_assignment(turn, worker, assignment_id)
            if row["submitted_ms"] is None:
                raise Refusal(
                    "AssignmentNotOpen", "This HIT was not submitted.", status=409
                )
            has_next = history.has_next(turn, worker, row["hit_group_id"])
        return page("thanks.html.j2", assignment=row, has_next=has_next)

    def _worker(self, turn: Turn, request: Request) -> sqlite3.Row:
        return accounts.signed_in(turn, request.cookies.get(COOKIE, ""))

    def _frame_url(self, row: sqlite3.Row, worker: sqlite3.Row) -> str:
        return working.frame_url(
            row,
            self._origins,
            assignment_id=row["assignment_id"],
            worker_id=worker["worker_id"],
        )


def _origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


def _height(hit: sqlite3.Row) -> int:
    return question.read(hit["question"]).frame_height or _DEFAULT_HEIGHT
