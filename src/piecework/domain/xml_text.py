"""Characters that an XML document cannot carry unchanged."""

import re

NOT_FOR_XML = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML 1.0 does not allow, and the carriage return, which it changes."""


def with_newlines(text: str) -> str:
    r"""Replace the line ends of Windows and old Macs by "\n".

    >>> with_newlines("a\r\nb\rc\n")
    'a\nb\nc\n'
    """
    return text.replace("\r\n", "\n").replace("\r", "\n")
