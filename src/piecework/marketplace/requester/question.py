"""Question XML, read with an entity-safe parser.

HTMLQuestion contains the page, ExternalQuestion links to it, and for QuestionForm the
marketplace makes it.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from piecework.marketplace.exceptions import invalid_parameters, invalid_xml
from piecework.marketplace.forms.model import Form
from piecework.marketplace.forms.schema import read_form
from piecework.webserver.listening import is_loopback

LARGEST_BYTES = 65_535

_SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
HTML_NAMESPACE = _SCHEMAS + "2011-11-11/HTMLQuestion.xsd"
EXTERNAL_NAMESPACE = _SCHEMAS + "2006-07-14/ExternalQuestion.xsd"

_CONTENT = {
    f"{{{HTML_NAMESPACE}}}HTMLQuestion": "HTMLContent",
    f"{{{EXTERNAL_NAMESPACE}}}ExternalQuestion": "ExternalURL",
}

_NETLOC = re.compile(r"[A-Za-z0-9._\-]+(:[0-9]+)?|\[[0-9a-fA-F:]+\](:[0-9]+)?")
_UNSAFE = re.compile(r"[\x00-\x20\x7f\"<>\\^`{|}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question: its page, its page's address, or its form.

    Attributes:
        html: the page of an HTMLQuestion, verbatim; "" for an external one.
        url: the address of an ExternalQuestion's page; "" for an HTML one.
        form: a QuestionForm; None for the others.
        frame_height: pixels; 0 lets the worker site choose.
    """

    html: str = ""
    url: str = ""
    form: Form | None = None
    frame_height: int


def read(text: str, *, most: int = LARGEST_BYTES) -> Question:
    """Read a question document that a requester sends, of at most `most` bytes.

    Raises:
        Refusal: `ParameterValidationError` with the position and the complaint.
    """
    if len(text.encode()) > most:
        raise invalid_parameters(f"Question must have at most {most} bytes.")
    return read_stored(text)


@lru_cache(maxsize=64)
def read_stored(text: str) -> Question:
    """Read a HIT's question document; this happens at every step of every worker.

    Raises:
        Refusal: `ParameterValidationError` with the position and the complaint.
    """
    root = _parse(text)
    if _shown(root.tag) == "QuestionForm":
        return Question(form=read_form(text), frame_height=0)
    content_name = _CONTENT.get(root.tag)
    if content_name is None:
        raise invalid_xml(
            f"the root element is {_shown(root.tag)}; it must be HTMLQuestion "
            "(2011-11-11), ExternalQuestion (2006-07-14) or QuestionForm (2005-10-01 "
            "or 2017-11-06), each in its own namespace."
        )
    content, height = _children(root, content_name)
    if content_name == "HTMLContent":
        return Question(html=content, frame_height=height)
    return Question(url=_address(content.strip()), frame_height=height)


def _parse(text: str) -> Element:
    try:
        root: Element = fromstring(text, forbid_dtd=True)
    except ParseError as fault:
        line, column = fault.position
        raise invalid_xml(f"line {line}, column {column}: {fault}.") from fault
    except (DefusedXmlException, ValueError) as fault:
        raise invalid_xml(
            "line 1, column 0: a question may not have a document type, entities or "
            "unknown encodings."
        ) from fault
    return root


def _children(root: Element, content_name: str) -> tuple[str, int]:
    namespace = root.tag[: root.tag.index("}") + 1]
    expected = [namespace + content_name, namespace + "FrameHeight"]
    tags = [child.tag for child in root]
    if tags != expected:
        raise invalid_xml(
            f"{_shown(root.tag)} must hold {content_name}, then FrameHeight, and "
            f"nothing else (found {', '.join(map(_shown, tags)) or 'nothing'})."
        )
    content, height = root
    if len(content) or len(height):
        raise invalid_xml(f"{content_name} and FrameHeight may hold only text; wrap HTML in CDATA.")
    pixels = (height.text or "").strip()
    if not (pixels.isascii() and pixels.isdigit() and len(pixels) <= 6):  # noqa: PLR2004 - a million pixels are no frame
        raise invalid_xml(f"FrameHeight must be a whole number (found {pixels[:20]}).")
    return content.text or "", int(pixels)


def _address(url: str) -> str:
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname or "", parts.port
    except ValueError as fault:
        raise invalid_xml(f"ExternalURL is not an address: {fault}.") from fault
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))
    if not is_safe:
        raise invalid_xml("ExternalURL must be an https address.")
    if not _NETLOC.fullmatch(parts.netloc):
        raise invalid_xml(
            "the host of ExternalURL may have letters, digits, dots, hyphens and "
            f"underscores, and no user or password (found {parts.netloc[:80]!a})."
        )
    if _UNSAFE.search(url):
        raise invalid_xml("ExternalURL has characters that an address may not contain.")
    return url


def _shown(tag: str) -> str:
    return tag.rpartition("}")[2][:60]
