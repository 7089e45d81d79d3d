"""The whitespace rule mends what cannot be seen, and nothing that can."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.postprocess.edits import replay
from piecework.postprocess.rules import whitespace


def _mended(text: str) -> str:
    return replay(text, whitespace.mend(text))


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("a  dog", "a dog"),
        (" a dog \n", "a dog"),
        ("a\u00a0dog", "a dog"),
        ("a\r\ndog\tsits", "a dog sits"),
        ("a do\x00g", "a dog"),
        ("a\x00 dog", "a dog"),
        ("sk\u00adate\u200bboard", "skateboard"),
        ("\ufeffA dog", "A dog"),
        ("\u3000", ""),
    ],
)
def test_what_nobody_sees_is_mended(text: str, mended: str) -> None:
    """One plain space between words, none at the ends, nothing invisible inside."""
    assert _mended(text) == mended


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a dog",
        "a dog , a cat .",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467 at a table",
        "\u2764\ufe0f on a mug",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "caf\u00e9 cafe\u0301",
        "=1+1 '@home'",
    ],
)
def test_what_is_seen_is_left(text: str) -> None:
    """Joiners inside emoji and Persian words, accents and punctuation are needed."""
    assert _mended(text) == text


@given(st.text())
def test_no_visible_character_is_lost(text: str) -> None:
    """Only space and what has no width may go, and the rest keeps its order."""
    visible = [sign for sign in text if sign.isprintable() and not sign.isspace()]
    assert [sign for sign in _mended(text) if sign.isprintable() and not sign.isspace()] == visible


@given(st.text())
def test_mending_twice_is_mending_once(text: str) -> None:
    """What is mended stays as it is."""
    assert _mended(_mended(text)) == _mended(text)


def test_the_reason_names_what_cannot_be_seen() -> None:
    """A reviewer reads the character's name."""
    assert [edit.reason for edit in whitespace.mend("a\u00a0dog\x00 ran")] == [
        "invisible: NO-BREAK SPACE",
        "invisible: control character U+0000",
    ]
