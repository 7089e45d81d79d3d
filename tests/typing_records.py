"""Records of typing for tests: each says only what its law is about."""

from collections.abc import Mapping
from typing import Any

from piecework.domain.assignment import TypingRecord

TYPED = {"insertText": (50, 50)}


def record(kinds: Mapping[str, tuple[int, int]] = TYPED, **changes: object) -> TypingRecord:
    """A record of fifty characters typed by a person, with these changes."""
    own: dict[str, Any] = {
        "kinds": kinds,
        "untrusted": (0, 0),
        "outside": 0,
        "inside": 0,
        "unseen": 0,
        "bursts": (0, 0),
        "quick": 0,
        "pauses": (3, 1),
        "intervals": 46,
        "median": 160,
        "spread": 110,
        "corrections": 0,
        "removed": 0,
        "start": 0,
        "length": 50,
    }
    return TypingRecord(**(own | changes))
