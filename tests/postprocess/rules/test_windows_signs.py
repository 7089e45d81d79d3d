"""Signs of Windows-1252 become what was typed."""

import pytest

from piecework.postprocess.apply import clean_text
from piecework.postprocess.edits import replay
from piecework.postprocess.rules import windows_signs


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("someone\x92s lap", "someone\u2019s lap"),
        ("a \x93red\x94 dog \x96 asleep", "a \u201cred\u201d dog \u2013 asleep"),
        ("a dog\x85 a cat", "a dog\x85 a cat"),
        ("a\x81 dog", "a\x81 dog"),
        ("a dog\u2019s bowl", "a dog\u2019s bowl"),
    ],
)
def test_only_signs_that_windows_has_are_mended(text: str, mended: str) -> None:
    """A line break, and a character without a sign there, are left to `whitespace`."""
    assert replay(text, windows_signs.mend(text)) == mended


def test_a_possessive_is_not_taken_for_a_typo() -> None:
    """Without its apostrophe it would be a word in no list."""
    cleaned = clean_text("The cover is on top of someone\x92s lap")
    assert cleaned.text == "The cover is on top of someone\u2019s lap"
    assert [edit.rule for edit in cleaned.edits] == ["windows_signs"]
