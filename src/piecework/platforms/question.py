"""MTurk's envelope around a page: the HTMLQuestion that a HIT is posted with."""

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from piecework.domain.capabilities import MTURK
from piecework.domain.errors import ConfigError
from piecework.domain.xml_text import NOT_FOR_XML

LARGEST_PAGE_BYTES = 900_000
"""Of a requester's own page: the marketplace stores its texts once, in one request."""

_ENVELOPE_BYTES = 512
_AGAIN = "]]><![CDATA["
NAMESPACE = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedQuestion:
    """A question that is too long to be sent whole with each HIT.

    Attributes:
        texts: stored once by the marketplace; HITs of a page share them.
        values: between the texts, one fewer.
    """

    texts: tuple[str, ...]
    values: tuple[str, ...]


def page_question(texts: Sequence[str], values: Sequence[str]) -> str | SharedQuestion:
    """Return a page as an HTMLQuestion; in its parts if it is too long to be whole.

    Args:
        texts: the page's own texts, the same for each item.
        values: between the texts, one fewer.

    Raises:
        ConfigError: it has characters that XML does not allow, or is too long.
    """
    parts = [texts[0]]
    for value, text in zip(values, texts[1:], strict=True):
        parts += [value, text]
    whole = "".join(parts)
    if question_bytes(whole) <= MTURK.question_bytes - _ENVELOPE_BYTES:
        return html_question(whole)
    _check_characters(whole)
    size, most = question_bytes(whole), LARGEST_PAGE_BYTES + MTURK.question_bytes
    of_item = sum(map(question_bytes, values))
    if size > most or of_item > MTURK.question_bytes:
        raise ConfigError(
            [
                (
                    f"The page has {size:,} bytes, {of_item:,} of them from its item; "
                    f"at most {most:,} and {MTURK.question_bytes:,} are allowed."
                )
            ],
            next_step="shorten the item's columns, or let them name files",
        )
    before, after = _envelope(0)
    inside = [*map(_in_cdata, texts)]
    inside[0], inside[-1] = f"{before}{inside[0]}", f"{inside[-1]}{after}"
    # Each value has its own CDATA, so that "]]" before it and ">" in it end nothing.
    between = (f"{_AGAIN}{_in_cdata(value)}{_AGAIN}" for value in values)
    return SharedQuestion(texts=tuple(inside), values=tuple(between))


def html_question(html: str, frame_height: int = 0) -> str:
    """Return the page as MTurk's HTMLQuestion.

    Args:
        html: a complete HTML document.
        frame_height: height of the iframe in pixels; 0 fits the window.

    Raises:
        ConfigError: it has characters that XML does not allow, or is too long.
    """
    _check_characters(html)
    question = _in_cdata(html).join(_envelope(frame_height))
    size, most = question_bytes(question), MTURK.question_bytes
    if size > most:
        raise ConfigError(
            [f"The question has {size:,} bytes; at most {most:,} are allowed."],
            next_step="Show fewer items per HIT, or shorten their columns.",
        )
    return question


def question_bytes(question: str | SharedQuestion) -> int:
    """Return the length of a question for MTurk, in bytes of UTF-8."""
    if isinstance(question, SharedQuestion):
        return sum(map(question_bytes, (*question.texts, *question.values)))
    return len(question.encode())


def _envelope(frame_height: int) -> tuple[str, str]:
    return (
        f'<HTMLQuestion xmlns="{escape(NAMESPACE)}">\n<HTMLContent><![CDATA[',
        (f"]]></HTMLContent>\n<FrameHeight>{frame_height:d}</FrameHeight>\n</HTMLQuestion>"),
    )


def _in_cdata(text: str) -> str:
    return text.replace("]]>", "]]]]><![CDATA[>")


def _check_characters(html: str) -> None:
    forbidden = NOT_FOR_XML.search(html)
    if forbidden:
        line = html.count("\n", 0, forbidden.start()) + 1
        fault = f"The page contains the character {forbidden[0]!r} in line {line}"
        raise ConfigError([f"{fault}, which is not allowed in XML."])
