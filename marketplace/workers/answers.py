"""Answers as QuestionFormAnswers XML, the one document a requester gets back.

Every field is FreeText; values of a repeated field are joined with `|`. The text comes
back from a parser exactly as it was typed, but for characters that XML cannot carry:
those become U+FFFD.
"""

import re
from collections.abc import Iterable
from xml.sax.saxutils import escape

from marketplace.exceptions import Refusal

LARGEST_BYTES = 65_535
NAMESPACE = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
    "2005-10-01/QuestionFormAnswers.xsd"
)
RESERVED = ("assignmentId", "hitId", "workerId", "turkSubmitTo")
"""What the house itself puts into the form; no part of the answer."""

_UNCARRIED = re.compile(
    "[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]",
)


def to_xml(fields: Iterable[tuple[str, str]]) -> str:
    """The answer document of a submitted form.

    Raises:
        Refusal: nothing was answered (400), or too much (413).
    """
    values: dict[str, list[str]] = {}
    for name, value in fields:
        if name not in RESERVED:
            values.setdefault(name, []).append(value)
    if not values:
        raise Refusal(
            "EmptyAnswer", "The form held no answer; send at least one field."
        )
    answers = "".join(
        f"<Answer><QuestionIdentifier>{_text(name)}</QuestionIdentifier>"
        f"<FreeText>{_text('|'.join(given))}</FreeText></Answer>"
        for name, given in values.items()
    )
    document = (
        '<?xml version="1.0" encoding="UTF-8" standalone="no"?>'
        f'<QuestionFormAnswers xmlns="{NAMESPACE}">{answers}</QuestionFormAnswers>'
    )
    size = len(document.encode())
    if size > LARGEST_BYTES:
        raise Refusal(
            "AnswerTooLarge",
            f"The answer has {size} bytes; at most {LARGEST_BYTES} are taken. "
            "Shorten it and submit again; your HIT is still yours.",
            status=413,
        )
    return document


def _text(text: str) -> str:
    # A bare carriage return would come back from a parser as a line feed.
    return escape(_UNCARRIED.sub("\ufffd", text), {"\r": "&#13;"})
