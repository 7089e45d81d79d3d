"""Characters that an XML document cannot carry unchanged."""

import re

NOT_FOR_XML = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")
"""What XML 1.0 cannot carry, and the carriage return, which it would change."""


def with_newlines(text: str) -> str:
    r"""What Windows and old Macs saved, with "\n" for each line end.

    >>> with_newlines("a\r\nb\rc\n")
    'a\nb\nc\n'
    """
    return text.replace("\r\n", "\n").replace("\r", "\n")
