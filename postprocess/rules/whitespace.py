"""Remove invisible space: doubled, trailing and no-break spaces, control characters.

Readers never notice it, but it makes equal captions differ and splits words in programs
that read the dataset. The rule never changes visible characters or the joiners needed
in emoji and some scripts (U+200C, U+200D). A line break counts as space between words,
because a caption is one line.
"""

import re
import unicodedata

from piecework.domain.edit import Edit

NAME = "whitespace"
VERSION = 1

_INVISIBLE = "\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff"
"""Soft hyphen, zero-width space, direction marks, word joiner, byte order mark."""

_UNSEEN = re.compile(rf"[\s\x00-\x1f\x7f-\x9f{_INVISIBLE}]+")

_WRONG = re.compile(rf"\A | \Z|  |[^\S ]|[\x00-\x1f\x7f-\x9f{_INVISIBLE}]")
"""Matches in every text with an edit: all invisible space except single spaces."""


def mend(text: str) -> list[Edit]:
    """Return edits to single spaces between words and nothing invisible.

    >>> [(edit.start, edit.end, edit.after) for edit in mend("a  red dog ")]
    [(1, 3, ' '), (10, 11, '')]
    """
    if not _WRONG.search(text):
        return []
    return [
        Edit(
            start=match.start(),
            end=match.end(),
            before=match.group(),
            after=after,
            rule=NAME,
            reason=_reason(match.group()),
        )
        for match in _UNSEEN.finditer(text)
        if (after := _instead(match, len(text))) != match.group()
    ]


def _instead(match: re.Match[str], length: int) -> str:
    at_an_end = match.start() == 0 or match.end() == length
    return "" if at_an_end or not any(map(str.isspace, match.group())) else " "


def _reason(characters: str) -> str:
    names = dict.fromkeys(
        unicodedata.name(character, f"control character U+{ord(character):04X}")
        for character in characters
        if character != " "
    )
    return "invisible: " + ", ".join(names) if names else "more than one space"
