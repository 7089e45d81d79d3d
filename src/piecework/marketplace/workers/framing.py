"""Pages that frame a question, and what a requester's HTML may do in the frame.

The question runs on the frames origin, sandboxed: it may run scripts, send its form,
open dialogs (old pages do) and open links in other windows, but it cannot navigate the
worker's page. `allow-same-origin` gives it its own origin, its requester's (`origins`),
which drafts need, never the site's.
"""

import sqlite3
from urllib.parse import urlsplit

from starlette.responses import Response

from piecework.marketplace import languages
from piecework.marketplace.requester import questions
from piecework.marketplace.workers import assignment_actions
from piecework.marketplace.workers.origins import Origins
from piecework.marketplace.workers.pages import page

SANDBOX = "allow-scripts allow-forms allow-same-origin allow-popups allow-modals"


class Framing:
    """Makes pages that frame questions."""

    def __init__(self, origins: Origins) -> None:
        self._origins = origins

    def page(
        self,
        template: str,
        hit: sqlite3.Row,
        *,
        worker: sqlite3.Row | None = None,
        status: int = 200,
        **values: object,
    ) -> Response:
        """Return the page around a HIT: an assignment, or without one a preview."""
        if worker is None:
            frame_url = assignment_actions.frame_url(hit, self._origins)
        else:
            frame_url = assignment_actions.frame_url(
                hit,
                self._origins,
                assignment_id=hit["assignment_id"],
                worker_id=worker["worker_id"],
            )
        asked = questions.read_stored_question(hit["question"])
        language = languages.of_page(asked.html) if asked.html else None
        if language is not None:
            languages.speak(language)
        reply = page(
            template,
            status=status,
            frame_origin=origin(frame_url),
            framed_by="'self'",
            frame_url=frame_url,
            height=asked.frame_height,
            sandbox=SANDBOX,
            **values,
        )
        if language is not None:
            reply.set_cookie(languages.COOKIE, language, httponly=True, samesite="lax", path="/")
        return reply


def origin(address: str) -> str:
    """Return the origin of an address, as browsers send it in headers."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"
