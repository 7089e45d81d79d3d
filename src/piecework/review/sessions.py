"""Who sends a request: reviewers' links, cookies, and the tokens of forms.

A link has its token after a `#`, which browsers send to no server and in no referrer.
The page sends the token by POST, removes it from the URL, and gets a cookie. Links and
cookies are only in memory: they end with the process.
"""

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from piecework.webserver.cookies import DuplicateCookieError, only_cookie

_BYTES = 32
_MOST_SESSIONS = 20
"""Sessions of a reviewer at once; one more ends the oldest."""


class NotAllowed(Exception):  # noqa: N818 - a refusal, not an error
    """A request that is refused; the message says why.

    Attributes:
        status: the HTTP status of the reply.
    """

    def __init__(self, sentence: str, *, status: int = 403) -> None:
        super().__init__(sentence)
        self.status = status


@dataclass(slots=True)
class Session:
    """A reviewer's browser.

    Attributes:
        reviewer: the name stored with decisions.
        form_token: the token that its forms must send.
        notices: messages for the next page; `(kind, sentence)`.
    """

    reviewer: str
    form_token: str
    notices: list[tuple[str, str]] = field(default_factory=list)


class Sessions:
    """Links and cookies of one process.

    Args:
        reviewers: their names; each gets a link of its own.
        origin: the origin at which browsers reach the page.
    """

    def __init__(self, reviewers: Iterable[str], *, origin: str) -> None:
        self._origin = origin
        self._host = urlsplit(origin).netloc
        self._is_secure = origin.startswith("https:")
        self._tokens = {secrets.token_urlsafe(_BYTES): name for name in reviewers}
        self._open: dict[str, Session] = {}
        prefix = "__Host-" if self._is_secure else ""
        # Cookies belong to a host, not to a port: each page needs a name of its own.
        port = urlsplit(origin).port or 0
        self._cookie = f"{prefix}piecework_review_{port}"

    @property
    def links(self) -> Mapping[str, str]:
        """The link of each reviewer, by name."""
        return {
            name: f"{self._origin}/enter#{token}"
            for token, name in self._tokens.items()
        }

    def check(self, request: Request) -> None:
        """Refuse requests from other pages, or to another host name.

        Raises:
            NotAllowed: the request is refused.
        """
        if request.headers.get("host", "") != self._host:
            raise NotAllowed("This page has another host name.", status=421)
        site = request.headers.get("sec-fetch-site", "none")
        origin = request.headers.get("origin")
        if request.method == "POST":
            if origin != self._origin or site not in {"none", "same-origin"}:
                raise NotAllowed("This form came from another page.")
        elif site not in {"none", "same-origin"}:
            # A link on another page may lead here, but that page may not embed it.
            dest = request.headers.get("sec-fetch-dest", "")
            mode = request.headers.get("sec-fetch-mode", "")
            if (dest, mode) != ("document", "navigate"):
                raise NotAllowed("Another page made this request.")

    def enter(self, token: str) -> tuple[str, Session]:
        """Open a session by a link's token; return the cookie's value and the session.

        Raises:
            NotAllowed: the token is not a link's.
        """
        reviewer = next(
            (
                name
                for known, name in self._tokens.items()
                if hmac.compare_digest(known.encode(), token.encode())
            ),
            None,
        )
        if reviewer is None:
            raise NotAllowed("This link is not valid, or no longer valid.", status=401)
        mine = [
            key for key, session in self._open.items() if session.reviewer == reviewer
        ]
        for key in mine[: len(mine) + 1 - _MOST_SESSIONS]:
            del self._open[key]
        value = secrets.token_urlsafe(_BYTES)
        session = Session(reviewer, secrets.token_urlsafe(_BYTES))
        self._open[_hashed(value)] = session
        return value, session

    def of(self, request: Request) -> Session:
        """Return the session of a request.

        Raises:
            NotAllowed: the request has no session, or two.
        """
        try:
            value = only_cookie(request, self._cookie)
        except DuplicateCookieError as fault:
            raise NotAllowed(
                "Your browser sent two session cookies, and this page set only one. "
                "Delete the cookies of this page, then open your link again.",
                status=401,
            ) from fault
        session = self._open.get(_hashed(value))
        if session is None:
            raise NotAllowed(
                "Open the link that `piecework review` prints.", status=401
            )
        return session

    def check_form(self, session: Session, sent: str) -> None:
        """Refuse a form that was not made for this session.

        Raises:
            NotAllowed: the form has another token.
        """
        if not hmac.compare_digest(session.form_token.encode(), sent.encode()):
            raise NotAllowed("This form is from an earlier session; reload the page.")

    def set_cookie(self, response: Response, value: str) -> None:
        """Set the session's cookie."""
        response.set_cookie(
            self._cookie,
            value,
            path="/",
            httponly=True,
            samesite="strict",
            secure=self._is_secure,
        )


def _hashed(value: str) -> str:
    return hashlib.sha256(value.encode()).hexdigest()
