"""Report text that is not UTF-8 so that a person finds the place."""

from codecs import BOM_UTF16_BE, BOM_UTF16_LE

from piecework.domain.printable import printable

_SHOWN = 30
"""Characters shown on either side of the invalid byte."""


def not_utf8(fault: UnicodeDecodeError) -> str:
    r"""Describe the line that is not UTF-8, decoded in its likely encoding.

    For UTF-16 no line is named, because the whole file is not UTF-8.

    >>> try:
    ...     b"a,b\n1,caf\xe9\n".decode()
    ... except UnicodeDecodeError as fault:
    ...     not_utf8(fault)
    "line 2: is not UTF-8; as Latin-1 it reads '1,café'; save the file as UTF-8"
    """
    written = fault.object
    if written.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return "is UTF-16; save the file as UTF-8 (spreadsheets: CSV UTF-8)"
    begin = written.rfind(b"\n", 0, fault.start) + 1
    number = written.count(b"\n", 0, fault.start) + 1
    # Windows-1252 has all letters of Latin-1, and more.
    before = written[begin : fault.start].decode("utf-8", errors="replace")
    rest = written[fault.start :].split(b"\n", 1)[0][:_SHOWN]
    shown = (before[-_SHOWN:] + rest.decode("cp1252", errors="replace")).strip()
    return (
        f"line {number}: is not UTF-8; as Latin-1 it reads {printable(shown)!r}; save "
        "the file as UTF-8"
    )
