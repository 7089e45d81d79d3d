"""Space that nobody can see: doubled, trailing, no-break, and control characters.

Readers never notice it, but it makes equal captions unequal and splits words for every
program that reads the dataset. Refuses to touch: every visible character, and the
joiners inside emoji and scripts that need them (U+200C, U+200D). A line break is space
between words here: a caption is one line.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence

from domain.edit import Edit
from postprocess.text import Text

NAME = "whitespace"
VERSION = 1

_INVISIBLE = "\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff"
"""Soft hyphen, zero-width space, direction marks, word joiner, byte order mark."""

_UNSEEN = re.compile(rf"[\s\x00-\x1f\x7f-\x9f{_INVISIBLE}]+")


def propose(texts: Sequence[Text]) -> Mapping[str, Sequence[Edit]]:
    """One plain space between words, none at the ends, nothing invisible inside."""
    edits = {text.text_id: _edits(text.text) for text in texts}
    return {text_id: found for text_id, found in edits.items() if found}


def _edits(text: str) -> list[Edit]:
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


def _reason(found: str) -> str:
    names = dict.fromkeys(
        unicodedata.name(character, f"control character U+{ord(character):04X}")
        for character in found
        if character != " "
    )
    return "invisible: " + ", ".join(names) if names else "more space than one"
