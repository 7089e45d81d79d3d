"""Reads the cookies of a request strictly (RFC 6265, section 4.2.1).

A browser guards names with the prefix `__Host-`: only the host itself can set them. It
compares bytes, so this reader must do so too. A reader that strips more than a browser
does (`str.strip` strips U+00A0 and U+0085) would confuse a cookie of another name with
ours, which any host of the same domain can set.
"""

import re
from collections.abc import Iterable

from starlette.requests import HTTPConnection

_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_OCTETS = rb"[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*"
_VALUE = re.compile(rb'%b|"%b"' % (_OCTETS, _OCTETS))


class DuplicateCookieError(Exception):
    """A request has a cookie more than once; another page has set one of them."""


def cookie_values(headers: Iterable[tuple[bytes, bytes]], name: str) -> list[str]:
    r"""Return the values of a cookie, one for each time that the request has it.

    Only space and tab are stripped. Cookies with an invalid name or value are skipped.

    Args:
        headers: the request's headers, as in ASGI.
        name: the cookie's name.

    >>> cookie_values([(b"cookie", b"a=1; b=2;\ta=\"3\"")], "a")
    ['1', '3']
    >>> cookie_values([(b"cookie", b"\xa0a=1; \x85a=2; A=3; a=4\xa0; a; a=\"5")], "a")
    []
    """
    wanted = name.encode("ascii")
    values = []
    for header, content in headers:
        if header.lower() != b"cookie":
            continue
        for pair in content.split(b";"):
            key, equals, value = (part.strip(b" \t") for part in pair.partition(b"="))
            is_plain = _TOKEN.fullmatch(key) and _VALUE.fullmatch(value)
            if equals and key == wanted and is_plain:
                values.append(value.strip(b'"').decode("ascii"))
    return values


def only_cookie(connection: HTTPConnection, name: str) -> str:
    """Return the value of a cookie; "" if the request does not have it.

    Raises:
        DuplicateCookieError: the request has it more than once.
    """
    values = cookie_values(connection.scope["headers"], name)
    if len(values) > 1:
        raise DuplicateCookieError(name)
    return values[0] if values else ""
