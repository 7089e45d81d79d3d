"""Cookies of a request, read strictly (RFC 6265, section 4.2.1).

A browser guards names with the prefix `__Host-`: only the host itself can set them. It
compares bytes, so the reader here has to compare bytes, too. A reader that strips more
than a browser does (`str.strip` strips U+00A0 and U+0085) would take a cookie of
another name for ours, and that one any host of the same domain can set.
"""

import re
from collections.abc import Iterable

from starlette.requests import HTTPConnection

_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_OCTETS = rb"[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*"
_VALUE = re.compile(rb'%b|"%b"' % (_OCTETS, _OCTETS))


class DuplicateCookieError(Exception):
    """A request carries a cookie more than once; another page has set one of them."""


def cookie_values(headers: Iterable[tuple[bytes, bytes]], name: str) -> list[str]:
    r"""The values of a cookie, one for each time that the request carries it.

    Only space and tab are stripped. What has no token for a name, or no plain value,
    is not read.

    Args:
        headers: of a request, as ASGI has them.
        name: of the cookie.

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
    """The value of a cookie; "" if the request does not carry it.

    Raises:
        DuplicateCookieError: the request carries it more than once.
    """
    values = cookie_values(connection.scope["headers"], name)
    if len(values) > 1:
        raise DuplicateCookieError(name)
    return values[0] if values else ""
