"""HITs with a QuestionForm: shows the form in the frame, takes it, shows it again.

An incomplete form comes back with a polite message at each question and all that was
typed. The worker keeps the HIT meanwhile.

Answers become QuestionFormAnswers XML, the only document that a requester receives. Every
field of a page is FreeText; values of a repeated field are joined with `|`. A
QuestionForm's choices are identifiers of selections. A parser returns the text exactly as
typed, except characters that XML cannot carry, which become U+FFFD.
"""

import base64
import hashlib
import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from xml.sax.saxutils import escape

from markupsafe import Markup
from starlette.responses import JSONResponse, Response

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.forms.form import Answer, Form, Taken, Typed, gathered, take
from piecework.marketplace.forms.patterns import Verdicts
from piecework.marketplace.languages import say
from piecework.marketplace.requester import questions
from piecework.marketplace.workers import form_views
from piecework.marketplace.workers.pages import STATIC, render_page
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
        return answer_xml(fields)
    return form_answer_xml(finished_answer(form, typed_values(fields), verdicts).answers)


def finished_answer(form: Form, values: Typed, verdicts: Verdicts) -> Taken:
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


def typed_values(fields: Fields) -> Typed:
    """Return values by field, without those of the page itself."""
    return gathered((name, value) for name, value in fields if name not in RESERVED)


def form_frame(form: Form, title: str, *, assignment_id: str | None, site: str) -> Response:
    """Return the page of a form in its frame; a preview without an assignment."""
    shown = form_views.shown(form)
    return _form_page(
        shown, title, assignment_id=assignment_id, action=f"{site}/mturk/externalSubmit"
    )


def unfinished_page(
    row: sqlite3.Row, pictures: Pictures, fields: Fields, verdicts: Verdicts
) -> Response | None:
    """Return the form again if it is incomplete; None if it may be sent on.

    Raises:
        Unmatched: texts must be matched against patterns first.
    """
    form = questions.read_stored_question(row["question"]).form
    if form is None:
        return None
    values = typed_values(fields)
    complaints = take(form, values, verdicts).complaints
    if not complaints:
        return None
    form = pictures.signed_form(form, row["duration_seconds"])
    reply = _form_page(
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


def _form_page(
    shown: form_views.Shown, title: str, *, assignment_id: str | None, action: str
) -> Response:
    reply = render_page(
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


def typed_fields(fields: Fields) -> Fields:
    """Return the fields that a worker filled in."""
    return [(name, value) for name, value in fields if name not in RESERVED]


def unsent_page(fields: Fields, refusal: Refusal) -> Response:
    """Return a refusal with the typed text, so that the worker can copy it."""
    return render_page(
        "unsent.html.j2",
        status=refusal.status,
        message=refusal.message,
        answers=typed_fields(fields),
    )


LARGEST_BYTES = 65_535
NAMESPACE = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
    "2005-10-01/QuestionFormAnswers.xsd"
)
OWN = "assignmentId"
"""The field that the form itself needs; not part of the answer."""

RESERVED = (OWN, "hitId", "workerId", "turkSubmitTo")
"""Fields that pages carry along; no worker types them."""

_UNCARRIED = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_NEEDS_ESCAPING = re.compile("[^\t\n\u0020-%'-;=?-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def answer_xml(fields: Iterable[tuple[str, str]]) -> str:
    """Return the answer document of a submitted form.

    Raises:
        Refusal: the answer is empty (400) or too long (413).
    """
    values: dict[str, list[str]] = {}
    for name, value in fields:
        if name != OWN:
            # Two names may differ only in what XML cannot carry.
            values.setdefault(_carried(name), []).append(value)
    if not values:
        raise Refusal("EmptyAnswer", "The form has no answer; send at least one field.")
    return _document(
        _answer(name, f"<FreeText>{_text('|'.join(texts))}</FreeText>")
        for name, texts in values.items()
    )


def form_answer_xml(answers: Iterable[Answer]) -> str:
    """Return the answer document of a QuestionForm, which may be empty.

    Raises:
        Refusal: the answer is too long (413).
    """
    return _document(
        _answer(answer.question, _content(answer))
        for answer in answers
        if answer.text or answer.chosen or answer.other
    )


def _content(answer: Answer) -> str:
    if answer.text is not None:
        return f"<FreeText>{_text(answer.text)}</FreeText>"
    chosen = "".join(
        f"<SelectionIdentifier>{_text(key)}</SelectionIdentifier>" for key in answer.chosen
    )
    if not answer.other:
        return chosen
    return f"{chosen}<OtherSelectionText>{_text(answer.other)}</OtherSelectionText>"


def _answer(question: str, content: str) -> str:
    return f"<Answer><QuestionIdentifier>{_text(question)}</QuestionIdentifier>{content}</Answer>"


def _document(answers: Iterable[str]) -> str:
    document = (
        '<?xml version="1.0" encoding="UTF-8" standalone="no"?>'
        f'<QuestionFormAnswers xmlns="{NAMESPACE}">{"".join(answers)}'
        "</QuestionFormAnswers>"
    )
    size = len(document.encode())
    if size > LARGEST_BYTES:
        raise Refusal(
            "AnswerTooLarge",
            say(
                "The answer has %(size)s bytes; the limit is %(limit)s. Shorten it and "
                "submit it again; the HIT is still yours.",
                size=size,
                limit=LARGEST_BYTES,
            ),
            status=413,
        )
    return document


def _carried(text: str) -> str:
    return _UNCARRIED.sub("\ufffd", text)


def _text(text: str) -> str:
    if not _NEEDS_ESCAPING.search(text):
        return text  # most of a form's fifty or so fields
    # A bare carriage return would come back from a parser as a line feed.
    return escape(_carried(text), {"\r": "&#13;"})
