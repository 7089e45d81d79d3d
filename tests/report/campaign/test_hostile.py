"""Strangers' text stays text: it makes no element, no line of its own, no flood."""

import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser

import pytest

from piecework.report.page import render_report
from tests.report.campaign import hostile


class _Elements(HTMLParser):
    """Names of all elements and of their attributes, with counts of neither text."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}


def _elements(page: str) -> _Elements:
    elements = _Elements()
    elements.feed(page)
    return elements


@cache
def _harmless() -> _Elements:
    return _elements(render_report(hostile.campaign(hostile.HARMLESS)))


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param(hostile.NASTY, id="all"),
        *(
            pytest.param((text,), id=str(number), marks=pytest.mark.full)
            for number, text in enumerate(hostile.NASTY)
        ),
    ],
)
def test_hostile_text_makes_no_element(texts: tuple[str, ...]) -> None:
    """With any text in every place, the page has the tags of the harmless one."""
    harmless = _harmless()
    nasty = _elements(render_report(hostile.campaign(texts)))

    assert nasty.names <= harmless.names
    # A phone stacks the cells of rows with long quotes, and names their columns.
    assert nasty.attributes <= harmless.attributes | {"data-name"}
    assert not {name for name in nasty.attributes if name.startswith("on")}


@pytest.fixture(scope="module")
def page() -> str:
    """A page with all of the nasty texts."""
    return render_report(hostile.campaign(hostile.NASTY))


def test_markup_is_shown_as_it_was_typed(page: str) -> None:
    """The reader sees the script that somebody typed; the browser does not."""
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_template_code_is_not_run(page: str) -> None:
    """Braces in a caption are braces: 7 x 191 is not worked out."""
    assert "{{ 7 * 191 }}" in page
    assert "1337" not in page


def test_marks_that_turn_the_line_are_made_visible(page: str) -> None:
    """No bidirectional control reaches the page; it is named instead."""
    assert not re.findall("[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]", page)
    assert "⟨U+202E⟩gnp.exe⟨U+202C⟩" in page


def test_control_characters_are_made_visible(page: str) -> None:
    """A terminal's escape sequence is named, never passed on."""
    assert "⟨U+0000⟩⟨U+001B⟩[31m⟨U+FFFE⟩" in page
    assert not re.findall("[\x00-\x09\x0b-\x1f]", page)


def test_the_page_can_be_written_as_utf_8() -> None:
    """Half a surrogate pair, which no file can hold, is named instead."""
    facts = replace(hostile.campaign(("word",)), purpose="\ud800", campaign="\udfff")

    assert "⟨U+D800⟩" in render_report(facts).encode().decode()


def test_endless_captions_are_cut(page: str) -> None:
    """Of 10,000 characters the beginning is shown, and how many there were."""
    assert "x" * 1300 not in page
    assert "… (10,000 characters)" in page
