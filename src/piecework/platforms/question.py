"""MTurk's envelope around a page: the HTMLQuestion that a HIT is posted with."""

from xml.sax.saxutils import escape

from piecework.domain.capabilities import MTURK
from piecework.domain.errors import ConfigError
from piecework.domain.xml_text import NOT_FOR_XML

NAMESPACE = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
    "2011-11-11/HTMLQuestion.xsd"
)


def html_question(html: str, frame_height: int = 0) -> str:
    """Return the page as MTurk's HTMLQuestion.

    Args:
        html: a complete HTML document.
        frame_height: height of the iframe in pixels; 0 fits the window.

    Raises:
        ConfigError: it has characters that XML does not allow, or is too long.
    """
    forbidden = NOT_FOR_XML.search(html)
    if forbidden:
        line = html.count("\n", 0, forbidden.start()) + 1
        fault = f"The page contains the character {forbidden[0]!r} in line {line}"
        raise ConfigError([f"{fault}, which is not allowed in XML."])
    cdata = html.replace("]]>", "]]]]><![CDATA[>")
    question = (
        f'<HTMLQuestion xmlns="{escape(NAMESPACE)}">\n'
        f"<HTMLContent><![CDATA[{cdata}]]></HTMLContent>\n"
        f"<FrameHeight>{frame_height:d}</FrameHeight>\n"
        "</HTMLQuestion>"
    )
    size, most = question_bytes(question), MTURK.question_bytes
    if size > most:
        raise ConfigError(
            [f"The question has {size:,} bytes; at most {most:,} are allowed."],
            next_step="Show fewer items per HIT, or shorten their columns.",
        )
    return question


def question_bytes(question: str) -> int:
    """Return the length of a question for MTurk, in bytes of UTF-8."""
    return len(question.encode())
