"""Answers as QuestionFormAnswers XML, the only document that a requester receives.

Every field of a page is FreeText; values of a repeated field are joined with `|`. A
QuestionForm's choices are identifiers of selections. A parser returns the text exactly
as typed, except characters that XML cannot carry, which become U+FFFD.
"""

import re
from collections.abc import Iterable
from xml.sax.saxutils import escape

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.forms.taking import Answer
from piecework.marketplace.languages import say

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


def to_xml(fields: Iterable[tuple[str, str]]) -> str:
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


def form_to_xml(answers: Iterable[Answer]) -> str:
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
