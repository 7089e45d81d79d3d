"""Text that is not UTF-8, told so that a person finds the place."""

from codecs import BOM_UTF16_BE, BOM_UTF16_LE

from piecework.domain.printable import printable

_SHOWN = 30
"""Characters on either side of what is not UTF-8."""


def not_utf8(fault: UnicodeDecodeError) -> str:
    r"""The line that is not UTF-8, as it reads in the encoding that it likely has.

    UTF-16 has no such line: all of it is other than UTF-8.

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
    # Windows-1252 is Latin-1 where that has letters, and has more.
    before = written[begin : fault.start].decode("utf-8", errors="replace")
    rest = written[fault.start :].split(b"\n", 1)[0][:_SHOWN]
    shown = (before[-_SHOWN:] + rest.decode("cp1252", errors="replace")).strip()
    return (
        f"line {number}: is not UTF-8; as Latin-1 it reads {printable(shown)!r}; save "
        "the file as UTF-8"
    )
