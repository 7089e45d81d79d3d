"""Sign-ins that have begun here and go on at the provider.

A browser that begins gets a cookie of its own. Behind it the server holds what the
provider's answer must fit: state, nonce and the secret of PKCE. So an answer counts
only in the browser that asked for it, and only once.
"""

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from piecework.foundation.server.server import cookie_values
from piecework.foundation.signin.person import SignInRefused

LIFE_SECONDS = 600
"""How long a person may take at the provider."""
_MOST = 5_000
"""Sign-ins at once; one more forgets the oldest."""
_LONGEST_PATH = 2_000
_BYTES = 32


@dataclass(slots=True)
class Pending:
    """A sign-in that has begun.

    Attributes:
        begun: when, in seconds of a steady clock.
        next_path: the path to open afterwards.
        about: what the sign-in is for, such as an invitation's code.
        session: what authlib keeps between its two steps.
    """

    begun: float
    next_path: str
    about: str
    session: dict[str, Any] = field(default_factory=dict)


class PendingSignIns:
    """The sign-ins that have begun in one process.

    Args:
        name: the cookie's name, without a prefix.
        is_secure: whether browsers reach the server over TLS.
        now: a steady clock, in seconds.
    """

    def __init__(self, name: str, *, is_secure: bool, now: Callable[[], float]) -> None:
        self._cookie = f"__Host-{name}" if is_secure else name
        self._is_secure, self._now = is_secure, now
        self._begun: dict[str, Pending] = {}

    def begin(self, next_path: str, *, about: str = "") -> tuple[str, Pending]:
        """Begin a sign-in; return the cookie's value, and what is kept behind it."""
        now = self._now()
        for key in [
            key for key, pending in self._begun.items() if now - pending.begun > LIFE_SECONDS
        ]:
            del self._begun[key]
        while len(self._begun) >= _MOST:
            del self._begun[next(iter(self._begun))]
        value = secrets.token_urlsafe(_BYTES)
        pending = Pending(begun=now, next_path=own_path(next_path), about=about)
        self._begun[_hashed(value)] = pending
        return value, pending

    def take(self, request: Request) -> Pending:
        """Return the sign-in that a request continues; it counts only once.

        Raises:
            SignInRefused: this browser has begun none, or too long ago.
        """
        # Another page of this domain could set a second one.
        values = cookie_values(request.scope["headers"], self._cookie)
        pending = self._begun.pop(_hashed(values[0]), None) if len(values) == 1 else None
        if pending is None or self._now() - pending.begun > LIFE_SECONDS:
            raise SignInRefused(
                "This sign-in was not begun in this browser, has been used, or took "
                "more than ten minutes. Begin again.",
                kind="not_begun",
            )
        return pending

    def set_cookie(self, reply: Response, value: str) -> None:
        """Set the cookie, which the provider's redirect must be able to send."""
        reply.set_cookie(
            self._cookie,
            value,
            max_age=LIFE_SECONDS,
            path="/",
            httponly=True,
            samesite="lax",
            secure=self._is_secure,
        )

    def drop_cookie(self, reply: Response) -> None:
        """Delete the cookie."""
        reply.delete_cookie(
            self._cookie, path="/", httponly=True, samesite="lax", secure=self._is_secure
        )


def own_path(text: str) -> str:
    r"""Return a path of this server; "/" instead of an address elsewhere.

    >>> own_path("/card?view=answer&key=1")
    '/card?view=answer&key=1'
    >>> [own_path(it) for it in ("//evil.example", "/\\evil", "https://evil.example")]
    ['/', '/', '/']
    """
    is_plain = text.isascii() and text.isprintable() and "\\" not in text
    if not text.startswith("/") or not is_plain or len(text) > _LONGEST_PATH:
        return "/"
    try:
        parts = urlsplit(text)
    except ValueError:
        return "/"
    return "/" if parts.scheme or parts.netloc or text.startswith("//") else text


def _hashed(value: str) -> str:
    return hashlib.sha256(value.encode()).hexdigest()
