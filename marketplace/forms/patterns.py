"""AnswerFormatRegex: a requester's pattern on a worker's text, and a patient server.

The standard library's engine cannot be stopped, and some patterns take longer than the
world will last. This one is asked to stop after a tenth of a second.
"""

import logging
from dataclasses import dataclass

import regex  # type: ignore[import-untyped] # its stubs are not locked

_LOG = logging.getLogger(__name__)

_SECONDS = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A pattern that an answer must have somewhere in it, as JavaScript's `test`."""

    source: str
    ignores_case: bool
    complaint: str

    def fits(self, text: str) -> bool:
        """Whether the text has it; a pattern that takes too long to tell fits."""
        flags = regex.IGNORECASE if self.ignores_case else 0
        try:
            return regex.search(self.source, text, flags, timeout=_SECONDS) is not None
        except TimeoutError:
            # A requester's pattern must not hold up everybody else's HITs, and a
            # worker must not suffer for it.
            _LOG.warning("gave up on an AnswerFormatRegex that takes too long")
            return True


def complaint_about(source: str) -> str:
    """Why a pattern is none; empty if it is one."""
    try:
        regex.compile(source)
    except (regex.error, RecursionError, OverflowError, ValueError) as wrong:
        return str(wrong) or "it is too deep"
    return ""
