"""Question documents: what is read, and how faults are told."""

import pytest

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.requester.questions import (
    EXTERNAL_NAMESPACE,
    HTML_NAMESPACE,
    Question,
    read_question,
)
from tests.for_each import for_each


def html(content: str, height: str = "450") -> str:
    """An HTMLQuestion around some content."""
    return (
        f'<HTMLQuestion xmlns="{HTML_NAMESPACE}"><HTMLContent>{content}</HTMLContent>'
        f"<FrameHeight>{height}</FrameHeight></HTMLQuestion>"
    )


def external(url: str) -> str:
    """An ExternalQuestion around an address."""
    return (
        f'<ExternalQuestion xmlns="{EXTERNAL_NAMESPACE}">'
        f"<ExternalURL>{url}</ExternalURL><FrameHeight>0</FrameHeight>"
        "</ExternalQuestion>"
    )


def test_a_page_comes_out_verbatim() -> None:
    """CDATA, split CDATA and escapes give the page's own text."""
    page = "<!doctype html><p>a ]]> b & c"
    cdata = "<![CDATA[" + page.replace("]]>", "]]]]><![CDATA[>") + "]]>"
    assert read_question(html(cdata)) == Question(html=page, frame_height=450)
    escaped = page.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert read_question('<?xml version="1.0" encoding="UTF-8"?>' + html(escaped)).html == page


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/a?b=1&amp;c=2",
        "http://127.0.0.1:8000/page",
        "http://localhost/",
        "https://[::1]:8443/",
        "https://my_lab.example.org/page",
    ],
)
def test_an_external_page_has_an_https_address(url: str) -> None:
    """Or a plain one on this machine."""
    assert read_question(external(url)).url == url.replace("&amp;", "&")


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/",
        "javascript:alert(1)",
        "https://",
        "https://a b/",
        "https://user:pw@example.org/",
        "https://example.org:99999/",
        "https://example.org/&quot;",
        "https://ex;script-src*/",
    ],
)
def test_other_addresses_are_refused(url: str) -> None:
    """Nothing that could run, leak a password or break a header."""
    with pytest.raises(Refusal, match="ExternalURL"):
        read_question(external(url))


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://example.org/", "must be an https address"),
        ("https://user:pw@example.org/", "no user or password"),
        ("https://example.org/&quot;", "characters that an address may not contain"),
    ],
)
def test_an_address_is_refused_for_its_true_reason(url: str, reason: str) -> None:
    """Whoever posts it can mend it."""
    with pytest.raises(Refusal, match=reason):
        read_question(external(url))


def test_a_fault_in_the_xml_is_told_with_its_position() -> None:
    """ParameterValidationError, with line, column and the parser's complaint."""
    with pytest.raises(Refusal) as caught:
        read_question("<HTMLQuestion>\n<oops</HTMLQuestion>")
    assert caught.value.kind == "ParameterValidationError"
    assert "line 2, column 5: not well-formed" in caught.value.message


@for_each(
    "document",
    [
        "",
        "text",
        "<HTMLQuestion/>",
        html("x").replace("2011-11-11", "2011-11-12"),
        html("x").replace("HTMLContent", "HtmlContent"),
        html("<b>not in CDATA</b>"),
        html("x", height="tall"),
        html("x", height="-1"),
        html("x", height="٤"),
        html("x").replace("<FrameHeight>450</FrameHeight>", ""),
        html("x").replace("</HTMLQuestion>", "<More/></HTMLQuestion>"),
        f'<QuestionForm xmlns="{HTML_NAMESPACE}"/>',
        '<?xml version="1.0" encoding="utf-7"?><a/>',
        '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
        '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
    ],
)
def test_other_documents_are_refused(document: str) -> None:
    """Wrong names, namespaces, orders, heights; entities are not even read."""
    with pytest.raises(Refusal) as caught:
        read_question(document)
    assert caught.value.kind == "ParameterValidationError"


def test_a_question_has_at_most_65535_bytes() -> None:
    """Bytes, not characters; one more is refused."""
    room = 65_535 - len(html("").encode())
    assert read_question(html("é" * (room // 2) + "x" * (room % 2))).html
    with pytest.raises(Refusal, match="65535"):
        read_question(html("é" * (room // 2) + "xx"))
