"""Frames: pages of questions on an origin of their own, and the answers they send.

The frames origin has a separate port, so a question's script belongs to another origin and
can neither read the worker site nor act on it. Its policy lets only the site frame it. With
a star in its address, each requester has an origin, and only their pages can read its
drafts. A page is served as written, except for three addresses at Amazon that most old
pages have: two scripts are replaced by our own, so that they work offline, and forms are
sent to the site, so that answers are not lost.

The frame is sandboxed: a question may run scripts, send its form, open dialogs (old pages
do) and open links in other windows, but it cannot navigate the worker's page.
`allow-same-origin` gives it its own origin, its requester's, which drafts need, never the
site's.

A program's form is accepted at once. A browser's comes from a frame of another origin,
where any page could name any assignment. So it is first shown back on a page of the site
that only the site can frame, and sent on from there: automatically inside the page of that
assignment, else when the worker confirms it. The server stores nothing in between, so it
cannot store a wrong answer. And since the second form is the site's own, it carries the
session's cookie even if the first page was on another host.
"""

import json
import re
import sqlite3
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from piecework.foundation.hosts import origin_of
from piecework.marketplace import languages
from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.forms.patterns import Verdicts, with_verdicts
from piecework.marketplace.requester import questions
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.workers import assignment_actions, history, hit_forms, open_links, pages
from piecework.marketplace.workers.assignment_actions import NOT_AVAILABLE
from piecework.marketplace.workers.pages import Origins, render_page
from piecework.marketplace.workers.pictures import Pictures
from piecework.marketplace.workers.sign_in import Endpoints, page

_STAND_INS = Path(__file__).parent / "stand_ins"
_HOSTED = re.compile(
    r"""(?<=["'])(?:https?:)?//(?:"""
    r"s3\.amazonaws\.com/mturk-public/(?P<turk>externalHIT_v1\.js)|"
    r"assets\.crowd\.aws/(?:css/)?crowd-html-elements(?:-v2)?\.(?P<crowd>js|css)"
    r""")(?=["'?#])""",
    re.IGNORECASE,
)
_HOSTED_NAMES = ("mturk-public/externalhit_v1.js", "assets.crowd.aws/")
_SENT_TO = re.compile(
    r"""(?<=["'])(?:https?:)?//(?:www|workersandbox)\.mturk\.com"""
    r"""(?=/mturk/externalSubmit["'?#])""",
    re.IGNORECASE,
)


def led_home(html: str, frames: str, site: str) -> str:
    """Return the page with the two hosted scripts and the form's address replaced.

    The scripts speak the language of the page.

    >>> led_home('"//assets.crowd.aws/crowd-html-elements.js"', "F", "S")
    '"F/stand-ins/crowd-html-elements.js"'
    >>> led_home('<form action="https://www.mturk.com/mturk/externalSubmit">', "F", "S")
    '<form action="S/mturk/externalSubmit">'
    >>> led_home('<html lang=he>"//assets.crowd.aws/crowd-html-elements.js"', "F", "S")
    '<html lang=he>"F/stand-ins/he/crowd-html-elements.js"'
    """
    # Most pages have none, and running the patterns would take a millisecond.
    lowered = html.lower()
    if ".mturk.com/mturk/externalsubmit" in lowered:
        html = _SENT_TO.sub(lambda _: site, html)
    if not any(name in lowered for name in _HOSTED_NAMES):
        return html
    language = languages.of_page(html) or languages.ENGLISH
    folder = "" if language == languages.ENGLISH else f"{language}/"
    return _HOSTED.sub(lambda match: f"{frames}/stand-ins/{folder}{_stand_in(match)}", html)


def _stand_in(match: re.Match[str]) -> str:
    """Return the replacement file; it also serves for Amazon's second version."""
    return match["turk"] or f"crowd-html-elements.{match['crowd']}"


_WITH_SENTENCES = ("externalHIT_v1.js", "crowd-html-elements.js")


@lru_cache
def _with_sentences(language: str, name: str) -> str:
    sentences = json.dumps(languages.stand_in_sentences(language), ensure_ascii=False)
    script = (_STAND_INS / name).read_text("utf-8")
    return f'"use strict"; window.pieceworkSentences = {sentences};\n{script}'


class StandIns(StaticFiles):
    """Our own scripts in place of hosted ones, cacheable for an hour.

    In a folder named after a language, the scripts begin with their sentences in it. Modules
    that a script loads get the sentences from it.
    """

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return the script."""
        language, _, name = path.rpartition("/")
        if language not in languages.languages():
            name = path
        reply = await super().get_response(name, scope)
        if name != path and name in _WITH_SENTENCES:
            reply = Response(_with_sentences(language, name), media_type="text/javascript")
        reply.headers["Cache-Control"] = "max-age=3600"
        reply.headers["X-Content-Type-Options"] = "nosniff"
        return reply


class Frames:
    """The frames of one marketplace."""

    def __init__(self, backend: Backend, origins: Origins, pictures: Pictures) -> None:
        self._backend = backend
        self._origins = origins
        self._pictures = pictures

    def routes(self) -> list[BaseRoute]:
        """Return all routes of the frames origin."""
        return [
            Route("/frames/{hit_id}", self.frame),
            Mount("/stand-ins", StandIns(directory=_STAND_INS)),
            *self._pictures.routes(),
        ]

    async def frame(self, request: Request) -> Response:
        """Serve an HTMLQuestion's or QuestionForm's page; the HIT's id is its key."""
        with self._backend.transaction() as transaction:
            row = transaction.first_row(
                "SELECT question, title, hits.requester, duration_seconds FROM hits "
                "JOIN hit_types ON hit_types.id = hits.hit_type "
                "JOIN whole_questions ON whole_questions.hit = hits.id "
                "WHERE hit_id = ? AND status <> 'Disposed'",
                request.path_params["hit_id"],
            )
        host = request.headers.get("host", "")
        if row and self._origins.is_somebody_elses(host, row["requester"]):
            row = None
        asked = questions.read_stored_question(row["question"]) if row else None
        if row and asked and asked.form:
            named = request.query_params.get("assignmentId", NOT_AVAILABLE)
            return hit_forms.form_frame(
                self._pictures.signed_form(asked.form, row["duration_seconds"]),
                row["title"],
                assignment_id=None if named == NOT_AVAILABLE else named,
                site=self._origins.site,
            )
        if not row or not asked or not asked.html:
            raise Refusal("HitDoesNotExist", "This HIT has no page here.", status=404)
        home = self._origins.frames_of(row["requester"])
        page = led_home(asked.html, home, self._origins.site)
        page = self._pictures.signed(page, row["duration_seconds"])
        return HTMLResponse(page, headers=self._headers())

    def _headers(self) -> dict[str, str]:
        site = self._origins.site
        return {
            "Content-Security-Policy": (
                "default-src 'self' https: data: blob: 'unsafe-inline' 'unsafe-eval'; "
                "img-src * data: blob:; media-src * data: blob:; object-src 'none'; "
                # No service worker, which would intercept later questions.
                "worker-src blob:; "
                f"base-uri 'self'; form-action 'self' {site}; frame-ancestors {site}"
            ),
            "Referrer-Policy": "strict-origin",
            # Two requesters' questions cannot share an origin even if both want to.
            "Origin-Agent-Cluster": "?1",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
        }


SANDBOX = "allow-scripts allow-forms allow-same-origin allow-popups allow-modals"


def framed_page(
    origins: Origins,
    template: str,
    hit: sqlite3.Row,
    *,
    worker: sqlite3.Row | None = None,
    status: int = 200,
    **values: object,
) -> Response:
    """Return the page around a HIT: an assignment, or without one a preview."""
    if worker is None:
        frame_url = assignment_actions.frame_url(hit, origins)
    else:
        frame_url = assignment_actions.frame_url(
            hit,
            origins,
            assignment_id=hit["assignment_id"],
            worker_id=worker["worker_id"],
        )
    asked = questions.read_stored_question(hit["question"])
    language = languages.of_page(asked.html) if asked.html else None
    if language is not None:
        languages.speak(language)
    reply = render_page(
        template,
        status=status,
        frame_origin=origin_of(frame_url),
        framed_by="'self'",
        frame_url=frame_url,
        height=asked.frame_height,
        is_one_page=not asked.url,
        sandbox=SANDBOX,
        **values,
    )
    if language is not None:
        reply.set_cookie(languages.COOKIE, language, httponly=True, samesite="lax", path="/")
    return reply


Fields = list[tuple[str, str]]

_NOT_HANDED_BACK = ("TwoSessions", "WrongOrigin")


@dataclass(frozen=True)
class Submitting(Endpoints):
    """A marketplace's submission address, and the page after it."""

    pictures: Pictures

    @page("/mturk/externalSubmit", "GET", "POST")
    async def submit(self, request: Request) -> Response:
        """Accept the form of a question, or show it back first."""
        fields = await _fields(request)
        if _is_from_a_frame(request):
            return await with_verdicts(partial(self._carry, request, fields))
        try:
            row = await with_verdicts(partial(self._take, request, fields))
        except Refusal as refusal:
            return await self._unsent(request, fields, refusal)
        if pages.wants_json(request):
            return JSONResponse({"assignment_id": row["assignment_id"], "status": "Submitted"})
        return self._thanks(request, row["assignment_id"], is_last=False)

    @page("/worker/assignments/{assignment_id}/thanks")
    async def thanks(self, request: Request) -> Response:
        """Show the page after submitting."""
        return self._thanks(request, request.path_params["assignment_id"], is_last=False)

    @page("/worker/thanks")
    async def no_more(self, request: Request) -> Response:
        """Show the same when no next HIT could be accepted."""
        return self._thanks(request, request.query_params.get("of", ""), is_last=True)

    def _take(self, request: Request, fields: Fields, verdicts: Verdicts) -> sqlite3.Row:
        with self.at_work(request) as (transaction, worker):
            row = assignment_actions.submit(transaction, worker, fields, verdicts)
            self._check_origin(request, row)
        return row

    def _carry(self, request: Request, fields: Fields, verdicts: Verdicts) -> Response:
        try:
            named = assignment_actions.named_assignment(fields)
            with self.backend.transaction() as transaction:
                row = assignment_actions.any_assignment(transaction, named)
            self._check_origin(request, row)
            if row["status"] != "Accepted":
                raise assignment_actions.not_open(row)
        except Refusal as refusal:
            return _handed_back(request, fields, refusal)
        again = hit_forms.unfinished_page(row, self.pictures, fields, verdicts)
        if again is not None:
            return again
        return render_page(
            "carry.html.j2",
            assignment=row,
            fields=fields,
            total=len(hit_forms.typed_fields(fields)),
        )

    async def _unsent(self, request: Request, fields: Fields, refusal: Refusal) -> Response:
        if isinstance(refusal, hit_forms.UnfinishedForm):
            return await self._again(request, fields, refusal)
        if refusal.kind == "NotSignedIn":
            self._check_form(request, fields, refusal)
        return _handed_back(request, fields, refusal)

    def _check_form(self, request: Request, fields: Fields, refusal: Refusal) -> None:
        """Check that a form without a session is a HIT's own, not a stranger's text.

        Raises:
            Refusal: it is not.
        """
        try:
            with self.backend.transaction() as transaction:
                row = assignment_actions.any_assignment(
                    transaction, assignment_actions.named_assignment(fields)
                )
            self._check_origin(request, row)
        except Refusal:
            raise refusal from None

    async def _again(
        self, request: Request, fields: Fields, refusal: hit_forms.UnfinishedForm
    ) -> Response:
        """Show the form as it was sent, with what is still wrong."""
        if pages.wants_json(request):
            return hit_forms.refusal_document(refusal)
        with self.backend.transaction() as transaction:
            row = assignment_actions.any_assignment(
                transaction, assignment_actions.named_assignment(fields)
            )
        again = await with_verdicts(partial(hit_forms.unfinished_page, row, self.pictures, fields))
        return again or pages.refusal_reply(request, refusal)

    def _thanks(self, request: Request, assignment_id: str, *, is_last: bool) -> Response:
        with self.at_work(request) as (transaction, worker):
            row = assignment_actions.own_assignment(transaction, worker, assignment_id)
            if row["visit"] is not None:
                return _kept(row)
            if row["submitted_ms"] is None:
                raise Refusal("AssignmentNotOpen", "This HIT was not submitted.", status=409)
            left = 0 if is_last else history.hits_left(transaction, worker, row["hit_group_id"])
            completion = open_links.completion(transaction, worker)
        return render_page(
            "thanks.html.j2",
            assignment=row,
            left=left,
            completion=completion,
            prices=self.backend.rules.prices,
        )

    def _check_origin(self, request: Request, row: sqlite3.Row) -> None:
        """Check that a form comes from its own page's origin.

        Raises:
            Refusal: the form comes from another origin (403).
        """
        asked = origin_of(assignment_actions.frame_url(row, self.origins))
        frames = self.origins.frames_of(row["requester"])
        home = {self.origins.site, frames, asked}
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
    return render_page("visit_kept.html.j2", assignment=row)


def _handed_back(request: Request, fields: Fields, refusal: Refusal) -> Response:
    """Return a refusal with the typed text, so that the worker can copy it."""
    if pages.wants_json(request) or refusal.kind in _NOT_HANDED_BACK:
        raise refusal
    return hit_forms.unsent_page(fields, refusal)


async def _fields(request: Request) -> Fields:
    if request.method == "POST":
        return await pages.read_fields(request)
    try:
        return parse_qsl(
            request.url.query,
            keep_blank_values=True,
            max_num_fields=pages.MOST_FIELDS,
            errors="replace",
        )
    except ValueError as fault:
        raise Refusal(
            "BadForm", f"The form may have at most {pages.MOST_FIELDS} fields."
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
