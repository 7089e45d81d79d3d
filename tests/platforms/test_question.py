"""The envelope around a page: carried whole, or refused with the reason."""

import pytest
from defusedxml.ElementTree import fromstring
from hypothesis import given
from hypothesis import strategies as st

from piecework.domain.errors import ConfigError
from piecework.domain.hit import MTURK
from piecework.platforms.wire import NAMESPACE, html_question, question_bytes


def content_of(question: str) -> str:
    """The HTML inside a question, as an XML reader sees it."""
    text = fromstring(question).findtext(f"{{{NAMESPACE}}}HTMLContent")
    assert text is not None
    return str(text)


_carried = st.text(
    st.characters(codec="utf-8", exclude_characters="\r\ufffe\uffff")
    .filter(lambda c: c >= " " or c in "\t\n")
)  # fmt: skip


@given(st.lists(_carried | st.sampled_from(["]]>", "]]", "]", ">", "<![CDATA["])))
def test_any_page_survives_the_xml(parts: list[str]) -> None:
    """What an XML reader takes out is what was put in, with `]]>` anywhere."""
    page = "".join(parts)
    assert content_of(html_question(page)) == page


@pytest.mark.parametrize("char", ["\x00", "\x0b", "\r", "\x1f", "\ud800", "\uffff"])
def test_what_xml_cannot_carry_is_refused_with_its_line(char: str) -> None:
    """Control characters, half characters and the carriage return."""
    with pytest.raises(ConfigError, match="in line 2"):
        html_question(f"<p>\n{char}</p>")


def test_a_question_may_have_65535_bytes_and_not_one_more() -> None:
    """The limit is MTurk's, counted in bytes of UTF-8."""
    frame = question_bytes(html_question(""))
    most = MTURK.question_bytes - frame
    assert question_bytes(html_question("x" * most)) == 65_535
    with pytest.raises(ConfigError, match=r"65,536 bytes; at most 65,535"):
        html_question("x" * (most + 1))
    with pytest.raises(ConfigError, match="bytes"):
        html_question("\N{EURO SIGN}" * (most // 3 + 1))  # three bytes each


def test_the_frame_height_is_stated() -> None:
    """0 fits the window, anything else is pixels."""
    for height in (0, 900):
        question = fromstring(html_question("<p>", frame_height=height))
        assert question.findtext(f"{{{NAMESPACE}}}FrameHeight") == str(height)
