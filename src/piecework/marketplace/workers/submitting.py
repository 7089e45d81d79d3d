"""Accepts the form of a question, by POST or GET, from allowed origins.

A program's form is accepted at once. A browser's comes from a frame of another origin,
where any page could name any assignment. So it is first shown back on a page of the
site that only the site can frame, and sent on from there: automatically inside the page
of that assignment, else when the worker confirms it. The server stores nothing in
between, so it cannot store a wrong answer. And since the second form is the site's own,
it carries the session's cookie even if the first page was on another host.
"""

import sqlite3
from functools import partial
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.forms.patterns import Verdicts, with_verdicts
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.workers import (
    answers,
    assignment_actions,
    history,
    hit_forms,
    open_links,
    replies,
)
from piecework.marketplace.workers.framing import origin
from piecework.marketplace.workers.origins import Origins
from piecework.marketplace.workers.pages import page
from piecework.marketplace.workers.pictures import Pictures
from piecework.marketplace.workers.sessions import Sessions

Fields = list[tuple[str, str]]

_NOT_HANDED_BACK = ("NotSignedIn", "TwoSessions", "WrongOrigin")


class Submitting:
    """A marketplace's submission address, and the page after it."""

    def __init__(
        self, backend: Backend, origins: Origins, sessions: Sessions, pictures: Pictures
    ) -> None:
        self._backend = backend
        self._origins = origins
        self._sessions = sessions
        self._pictures = pictures

    def routes(self) -> list[Route]:
        """Return the routes for forms and for the thank-you pages."""
        return [
            Route("/mturk/externalSubmit", self.submit, methods=["GET", "POST"]),
            Route("/worker/assignments/{assignment_id}/thanks", self.thanks),
            Route("/worker/thanks", self.no_more),
        ]

    async def submit(self, request: Request) -> Response:
        """Accept the form of a question, or show it back first."""
        fields = await _fields(request)
        if _is_from_a_frame(request):
            return await with_verdicts(partial(self._carry, request, fields))
        try:
            row = await with_verdicts(partial(self._take, request, fields))
        except Refusal as refusal:
            return await self._unsent(request, fields, refusal)
        if replies.wants_json(request):
            return JSONResponse({"assignment_id": row["assignment_id"], "status": "Submitted"})
        return self._thanks(request, row["assignment_id"], is_last=False)

    async def thanks(self, request: Request) -> Response:
        """Show the page after submitting."""
        return self._thanks(request, request.path_params["assignment_id"], is_last=False)

    async def no_more(self, request: Request) -> Response:
        """Show the same when no next HIT could be accepted."""
        return self._thanks(request, request.query_params.get("of", ""), is_last=True)

    def _take(self, request: Request, fields: Fields, verdicts: Verdicts) -> sqlite3.Row:
        with self._backend.transaction() as transaction:
            worker = self._sessions.worker_of(transaction, request)
            row = assignment_actions.submit(transaction, worker, fields, verdicts)
            self._check_origin(request, row)
        return row

    def _carry(self, request: Request, fields: Fields, verdicts: Verdicts) -> Response:
        try:
            named = assignment_actions.named_assignment(fields)
            with self._backend.transaction() as transaction:
                row = assignment_actions.any_assignment(transaction, named)
            self._check_origin(request, row)
            if row["status"] != "Accepted":
                raise assignment_actions.not_open(row)
        except Refusal as refusal:
            return _handed_back(request, fields, refusal)
        again = hit_forms.unfinished(row, self._pictures, fields, verdicts)
        if again is not None:
            return again
        return page("carry.html.j2", assignment=row, fields=fields, total=len(_answers(fields)))

    async def _unsent(self, request: Request, fields: Fields, refusal: Refusal) -> Response:
        if isinstance(refusal, hit_forms.UnfinishedForm):
            return await self._again(request, fields, refusal)
        return _handed_back(request, fields, refusal)

    async def _again(
        self, request: Request, fields: Fields, refusal: hit_forms.UnfinishedForm
    ) -> Response:
        """Show the form as it was sent, with what is still wrong."""
        if replies.wants_json(request):
            return hit_forms.refusal_document(refusal)
        with self._backend.transaction() as transaction:
            row = assignment_actions.any_assignment(
                transaction, assignment_actions.named_assignment(fields)
            )
        again = await with_verdicts(partial(hit_forms.unfinished, row, self._pictures, fields))
        return again or replies.refused(request, refusal)

    def _thanks(self, request: Request, assignment_id: str, *, is_last: bool) -> Response:
        with self._backend.transaction() as transaction:
            worker = self._sessions.worker_of(transaction, request)
            row = assignment_actions.own_assignment(transaction, worker, assignment_id)
            if row["visit"] is not None:
                return _kept(row)
            if row["submitted_ms"] is None:
                raise Refusal("AssignmentNotOpen", "This HIT was not submitted.", status=409)
            has_next = not is_last and history.has_next(transaction, worker, row["hit_group_id"])
            completion = open_links.completion(transaction, worker)
        return page("thanks.html.j2", assignment=row, has_next=has_next, completion=completion)

    def _check_origin(self, request: Request, row: sqlite3.Row) -> None:
        """Check that a form comes from its own page's origin.

        Raises:
            Refusal: the form comes from another origin (403).
        """
        asked = origin(assignment_actions.frame_url(row, self._origins))
        frames = self._origins.frames_of(row["requester"])
        home = {self._origins.site, frames, asked}
        came_from = request.headers.get("origin")
        is_stranger = came_from is not None and came_from not in home
        if request.headers.get("sec-fetch-site") == "cross-site" and asked == frames:
            # A GET has no Origin. A page cannot forge its referrer, so that identifies
            # the frames, even on another domain.
            led_from = request.headers.get("referer", "")
            is_stranger |= came_from is None and not led_from.startswith(f"{frames}/")
        if is_stranger:
            raise Refusal("WrongOrigin", "This form came from another site.", status=403)


def _kept(row: sqlite3.Row) -> Response:
    """Continue after a HIT of a visit: to the next one, or back to the market."""
    if row["answered_ms"] is None and row["submitted_ms"] is None:
        raise Refusal("AssignmentNotOpen", "This HIT was not answered.", status=409)
    return page("visit_kept.html.j2", assignment=row)


def _handed_back(request: Request, fields: Fields, refusal: Refusal) -> Response:
    """Return a refusal with the typed text, so that the worker can copy it."""
    if replies.wants_json(request) or refusal.kind in _NOT_HANDED_BACK:
        raise refusal
    return page(
        "unsent.html.j2", status=refusal.status, message=refusal.message, answers=_answers(fields)
    )


async def _fields(request: Request) -> Fields:
    if request.method == "POST":
        return await replies.fields(request)
    try:
        return parse_qsl(
            request.url.query,
            keep_blank_values=True,
            max_num_fields=replies.MOST_FIELDS,
            errors="replace",
        )
    except ValueError as fault:
        raise Refusal(
            "BadForm", f"The form may have at most {replies.MOST_FIELDS} fields."
        ) from fault


def _is_from_a_frame(request: Request) -> bool:
    """Return whether a browser sends a form that is not from the site's own page.

    Browsers state a request's origin, which pages cannot change; programs do not. A
    browser's GET always counts as a link, from any page.
    """
    came_from = request.headers.get("sec-fetch-site")
    if came_from is None:
        return False
    return came_from != "same-origin" or request.method == "GET"


def _answers(fields: Fields) -> Fields:
    return [(name, value) for name, value in fields if name not in answers.RESERVED]
