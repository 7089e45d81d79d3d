"""The frames origin: pages of questions, the scripts they expect, and their pictures.

It has a separate port, so a question's script belongs to another origin and can neither
read the worker site nor act on it. The policy below lets only the site frame it. With a
star in its address, each requester has an origin, and only their pages can read its
drafts. A page is served as written, except for three addresses at Amazon that most old
pages have: two scripts are replaced by our own, so that they work offline, and forms
are sent to the site, so that answers are not lost.
"""

import re
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.requester import questions
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.workers import hit_forms
from piecework.marketplace.workers.assignment_actions import NOT_AVAILABLE
from piecework.marketplace.workers.origins import Origins
from piecework.marketplace.workers.pictures import Pictures

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

    >>> led_home('"//assets.crowd.aws/crowd-html-elements.js"', "F", "S")
    '"F/stand-ins/crowd-html-elements.js"'
    >>> led_home('<form action="https://www.mturk.com/mturk/externalSubmit">', "F", "S")
    '<form action="S/mturk/externalSubmit">'
    """
    # Most pages have none, and running the patterns would take a millisecond.
    lowered = html.lower()
    if ".mturk.com/mturk/externalsubmit" in lowered:
        html = _SENT_TO.sub(lambda _: site, html)
    if not any(name in lowered for name in _HOSTED_NAMES):
        return html
    return _HOSTED.sub(lambda match: f"{frames}/stand-ins/{_stand_in(match)}", html)


def _stand_in(match: re.Match[str]) -> str:
    """Return the replacement file; it also serves for Amazon's second version."""
    return match["turk"] or f"crowd-html-elements.{match['crowd']}"


class StandIns(StaticFiles):
    """Our own scripts in place of hosted ones, cacheable for an hour."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return the script."""
        reply = await super().get_response(path, scope)
        reply.headers["Cache-Control"] = "max-age=3600"
        reply.headers["X-Content-Type-Options"] = "nosniff"
        return reply


class Frames:
    """The frames of one marketplace."""

    def __init__(self, backend: Backend, origins: Origins, pictures: Pictures) -> None:
        self._backend = backend
        self._origins = origins
        self._pictures = pictures

    def routes(self) -> list[Route | Mount]:
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
            return hit_forms.frame(
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
