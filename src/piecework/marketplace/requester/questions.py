"""Questions: their XML, layouts with gaps for parameters, and texts stored once.

The XML is read with an entity-safe parser. HTMLQuestion contains the page,
ExternalQuestion links to it, and for QuestionForm the marketplace makes it.

On MTurk, layouts were made on its website. Here the marketplace's operator adds them from
files, and all requesters may use them. An id depends only on the content: the same page
has the same id everywhere. On MTurk's own site, a HIT had only the values for the gaps of
its layout. So a requester may also send the texts between the gaps once, and then for each
HIT the values. Joined, they are the question, which may be longer than one that is sent
whole.
"""

import base64
import hashlib
import json
import re
import sqlite3
import zlib
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from piecework.foundation.hosts import is_loopback
from piecework.marketplace.exceptions import does_not_exist, invalid_parameters, invalid_xml
from piecework.marketplace.forms.form import Form
from piecework.marketplace.forms.schema import read_form
from piecework.marketplace.requester.wire import is_text
from piecework.marketplace.state.transaction import Transaction

LARGEST_QUESTION_BYTES = 65_535

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


def read_question(text: str, *, most: int = LARGEST_QUESTION_BYTES) -> Question:
    """Read a question document that a requester sends, of at most `most` bytes.

    Raises:
        Refusal: `ParameterValidationError` with the position and the complaint.
    """
    if len(text.encode()) > most:
        raise invalid_parameters(f"Question must have at most {most} bytes.")
    return read_stored_question(text)


@lru_cache(maxsize=64)
def read_stored_question(text: str) -> Question:
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


_GAP = re.compile(r"\$\{([A-Za-z0-9_.-]{1,128})\}")
_ID_LETTERS = 30
_SHOWN = 5


def add_layout(transaction: Transaction, *, name: str, html: str, frame_height: int = 0) -> str:
    """Store a page and return its id; repeats change nothing.

    Raises:
        Refusal: the page cannot become a question.
    """
    read_question(_wrapped_page(html, frame_height))
    digest = hashlib.sha256(f"{frame_height} {html}".encode()).digest()
    layout_id = base64.b32encode(digest).decode()[:_ID_LETTERS]
    transaction.insert_new(
        "hit_layouts",
        layout_id=layout_id,
        name=name,
        html=html,
        frame_height=frame_height,
        made_ms=transaction.now_ms,
    )
    return layout_id


def list_layouts(transaction: Transaction) -> list[sqlite3.Row]:
    """All layouts, oldest first."""
    return transaction.all("SELECT * FROM hit_layouts ORDER BY id")


def layout_gaps(html: str) -> list[str]:
    """Return the names of a page's gaps, in order.

    >>> layout_gaps("<p>${a} and ${b}, ${a}</p>")
    ['a', 'b']
    """
    return list(dict.fromkeys(_GAP.findall(html)))


def fill_layout(
    transaction: Transaction, layout_id: str, parameters: Sequence[dict[str, Any]]
) -> str:
    """Return the question of a layout with these parameters, inserted unescaped.

    Raises:
        Refusal: the layout does not exist, or the parameters do not match its gaps.
    """
    row = transaction.first_row("SELECT * FROM hit_layouts WHERE layout_id = ?", layout_id)
    if row is None:
        raise does_not_exist("HITLayout", layout_id)
    values = {parameter.get("Name", ""): parameter.get("Value", "") for parameter in parameters}
    if len(values) < len(parameters):
        raise invalid_parameters("HITLayoutParameters names something twice.")
    wanted = layout_gaps(row["html"])
    _check_no_parameters(sorted(set(wanted) - set(values)), "lacks a value for")
    _check_no_parameters(sorted(set(values) - set(wanted)), "names unknown parameters:")
    html = _GAP.sub(lambda match: str(values[match[1]]), row["html"])
    return _wrapped_page(html, row["frame_height"])


def _check_no_parameters(names: list[str], complaint: str) -> None:
    if names:
        shown = ", ".join(ascii(name[:60]) for name in names[:_SHOWN])
        raise invalid_parameters(f"HITLayoutParameters {complaint} {shown}.")


def _wrapped_page(html: str, frame_height: int) -> str:
    content = html.replace("]]>", "]]]]><![CDATA[>")
    return (
        f'<HTMLQuestion xmlns="{HTML_NAMESPACE}"><HTMLContent>'
        f"<![CDATA[{content}]]></HTMLContent>"
        f"<FrameHeight>{frame_height}</FrameHeight></HTMLQuestion>"
    )


TEXTS_MEMBER = "PieceworkQuestionTexts"
LARGEST_JOINED = 1_000_000
"""Room for a page with its style, scripts and small pictures. A request has room for
its texts: packed, they are at most as long."""

MOST_TEXTS = 10_000
"""A page has far fewer gaps; empty texts pack to almost nothing, and are stored unpacked."""


def check_texts(member: str, value: object) -> list[str]:
    """Return the texts of a request: a JSON list, deflated, as base64.

    Raises:
        Refusal: it is not a text, or is longer than a question may be.
    """
    try:
        packer = zlib.decompressobj(-15)
        unpacked = packer.decompress(b64decode(str(value)), 2 * LARGEST_JOINED)
        texts = json.loads(unpacked)
    except (ValueError, zlib.error, RecursionError) as fault:
        raise invalid_parameters(f"{member} must be a packed list of texts.") from fault
    if not _is_texts(texts) or not texts:
        raise invalid_parameters(f"{member} must be a packed list of texts.")
    if len(texts) > MOST_TEXTS:
        raise invalid_parameters(f"{member} may have at most {MOST_TEXTS} texts.")
    _check_joined_size(sum(len(text.encode()) for text in texts))
    return [str(text) for text in texts]


def check_digest(member: str, value: object) -> str:
    """Return the digest of stored texts.

    Raises:
        Refusal: it is not a text.
    """
    if not isinstance(value, str):
        raise invalid_parameters(f"{member} must be a text.")
    return value


def keep_texts(transaction: Transaction, texts: list[str]) -> str:
    """Store texts and return their digest; repeats change nothing."""
    document = json.dumps(texts, ensure_ascii=False)
    digest = hashlib.sha256(document.encode()).hexdigest()
    transaction.insert_new(
        "question_texts", digest=digest, texts=document, made_ms=transaction.now_ms
    )
    return digest


def join_texts(transaction: Transaction, digest: str, values: str) -> tuple[int, str]:
    """Return the row of stored texts, and the question that the values make of them.

    Args:
        transaction: of the marketplace.
        digest: names the texts.
        values: a JSON list, one text shorter.

    Raises:
        Refusal: the texts are unknown, or the values do not fit.
    """
    row = transaction.first_row("SELECT id, texts FROM question_texts WHERE digest = ?", digest)
    if row is None:
        raise does_not_exist("HITLayout", digest)
    texts = json.loads(row["texts"])
    try:
        between: Any = json.loads(values)
    except (ValueError, RecursionError):
        between = None
    if not _is_texts(between) or len(between) != len(texts) - 1:
        raise invalid_parameters(
            f"Question must be a JSON list of {len(texts) - 1} texts, one for each gap."
        )
    parts = [texts[0]]
    for value, text in zip(between, texts[1:], strict=True):
        parts += [value, text]
    question = "".join(parts)
    _check_joined_size(len(question.encode()))
    return row["id"], question


def _is_texts(document: object) -> bool:
    return (
        isinstance(document, list)
        and all(isinstance(text, str) for text in document)
        and is_text(document)
    )


def _check_joined_size(size: int) -> None:
    if size > LARGEST_JOINED:
        raise invalid_parameters(
            f"A question of stored texts has {size} bytes; it may have at most {LARGEST_JOINED}."
        )
