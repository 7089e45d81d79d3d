"""HITs with a QuestionForm: shows the form in the frame, takes it, shows it again.

An incomplete form comes back with a polite message at each question and all that was
typed. The worker keeps the HIT meanwhile.
"""

import base64
import hashlib
import sqlite3
from collections.abc import Mapping, Sequence

from markupsafe import Markup
from starlette.responses import JSONResponse, Response

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.forms.model import Form
from piecework.marketplace.forms.patterns import Verdicts
from piecework.marketplace.forms.taking import Taken, Typed, gathered, take
from piecework.marketplace.requester import questions
from piecework.marketplace.workers import answers, form_views
from piecework.marketplace.workers.pages import STATIC, page
from piecework.marketplace.workers.pictures import Pictures

Fields = Sequence[tuple[str, str]]

_STYLE = "\n".join(
    (STATIC / name).read_text(encoding="utf-8") for name in ("frame.css", "form.css")
)
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()


class UnfinishedForm(Refusal):
    """The form is not complete yet; says what is wrong with which question."""

    def __init__(self, complaints: Mapping[str, str]) -> None:
        words = " ".join(f"{key}: {words}" for key, words in complaints.items())
        super().__init__("FormNotInOrder", words, status=422)
        self.complaints = dict(complaints)


def answer_document(question_text: str, fields: Fields, verdicts: Verdicts) -> str:
    """Return the answer to a question of any kind.

    Raises:
        UnfinishedForm: a form is incomplete.
        Refusal: the answer is empty, too long, or not to this question.
        Unmatched: texts must be matched against patterns first.
    """
    form = questions.read_stored_question(question_text).form
    if form is None:
        return answers.to_xml(fields)
    return answers.form_to_xml(finished(form, typed(fields), verdicts).answers)


def finished(form: Form, values: Typed, verdicts: Verdicts) -> Taken:
    """Return what was sent, if it is complete.

    Raises:
        UnfinishedForm: it is incomplete.
        Refusal: it answers a question that was not asked (400).
        Unmatched: texts must be matched against patterns first.
    """
    taken = take(form, values, verdicts)
    if taken.strangers:
        raise Refusal("BadForm", f"The form has no question {taken.strangers[0][:60]!a}.")
    if taken.complaints:
        raise UnfinishedForm(taken.complaints)
    return taken


def typed(fields: Fields) -> Typed:
    """Return values by field, without those of the page itself."""
    return gathered((name, value) for name, value in fields if name not in answers.RESERVED)


def frame(form: Form, title: str, *, assignment_id: str | None, site: str) -> Response:
    """Return the page of a form in its frame; a preview without an assignment."""
    shown = form_views.shown(form)
    return _page(shown, title, assignment_id=assignment_id, action=f"{site}/mturk/externalSubmit")


def unfinished(
    row: sqlite3.Row, pictures: Pictures, fields: Fields, verdicts: Verdicts
) -> Response | None:
    """Return the form again if it is incomplete; None if it may be sent on.

    Raises:
        Unmatched: texts must be matched against patterns first.
    """
    form = questions.read_stored_question(row["question"]).form
    if form is None:
        return None
    values = typed(fields)
    complaints = take(form, values, verdicts).complaints
    if not complaints:
        return None
    form = pictures.signed_form(form, row["duration_seconds"])
    reply = _page(
        form_views.shown(form, values, complaints),
        row["title"],
        assignment_id=row["assignment_id"],
        action="/mturk/externalSubmit",
    )
    reply.status_code = 422
    return reply


def refusal_document(refusal: UnfinishedForm) -> Response:
    """Return the same for programs: complaints by question."""
    return JSONResponse(
        {"error": refusal.kind, "message": refusal.message, "complaints": refusal.complaints},
        status_code=refusal.status,
    )


def _page(
    shown: form_views.Shown, title: str, *, assignment_id: str | None, action: str
) -> Response:
    reply = page(
        "form_frame.html.j2",
        title=title,
        shown=shown,
        style=Markup(_STYLE),  # noqa: S704 - our own file
        action=action,
        assignment_id=assignment_id or "ASSIGNMENT_ID_NOT_AVAILABLE",
        is_preview=assignment_id is None,
    )
    target = "'self'" if action.startswith("/") else action.rpartition("/mturk")[0]
    reply.headers["Content-Security-Policy"] = (
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; "
        "img-src http: https:; media-src http: https:; base-uri 'none'; "
        f"form-action {target}; frame-ancestors {target}"
    )
    # With a stricter policy, browsers would not send the form's origin.
    reply.headers["Referrer-Policy"] = "strict-origin"
    reply.headers["Cross-Origin-Resource-Policy"] = "same-site"
    return reply
