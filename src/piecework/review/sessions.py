"""Who sends a request: reviewers' links, cookies, and what a form must bring along.

A link carries its token behind a `#`, which browsers send to no server and in no
referrer; the page there hands it over by POST, takes it out of the address, and gets a
cookie. All of it is in memory alone: with the process, links and cookies end.
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
"""Of a reviewer at once; one more ends the oldest."""


class NotAllowed(Exception):  # noqa: N818 - a refusal, and no fault
    """A request that is not answered; its sentence says why.

    Attributes:
        status: of the reply.
    """

    def __init__(self, sentence: str, *, status: int = 403) -> None:
        super().__init__(sentence)
        self.status = status


@dataclass(slots=True)
class Session:
    """A browser of a reviewer.

    Attributes:
        reviewer: the name that decisions are made by.
        form_token: what its forms bring along.
        notices: sentences for the next page; `(kind, sentence)`.
    """

    reviewer: str
    form_token: str
    notices: list[tuple[str, str]] = field(default_factory=list)


class Sessions:
    """Links and cookies of one process.

    Args:
        reviewers: their names; each gets a link of its own.
        origin: of the page, as browsers reach it.
    """

    def __init__(self, reviewers: Iterable[str], *, origin: str) -> None:
        self._origin = origin
        self._host = urlsplit(origin).netloc
        self._is_secure = origin.startswith("https:")
        self._tokens = {secrets.token_urlsafe(_BYTES): name for name in reviewers}
        self._open: dict[str, Session] = {}
        prefix = "__Host-" if self._is_secure else ""
        # Cookies know hosts and no ports: two pages on one machine need two names.
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
        """Refuse what another page or another name for this machine sends.

        Raises:
            NotAllowed: and why.
        """
        if request.headers.get("host", "") != self._host:
            raise NotAllowed("This page is not reached by that name.", status=421)
        site = request.headers.get("sec-fetch-site", "none")
        origin = request.headers.get("origin")
        if request.method == "POST":
            if origin != self._origin or site not in {"none", "same-origin"}:
                raise NotAllowed("This form came from another page.")
        elif site not in {"none", "same-origin"}:
            # Somebody's link may lead here; no other page shows, frames or reads it.
            dest = request.headers.get("sec-fetch-dest", "")
            mode = request.headers.get("sec-fetch-mode", "")
            if (dest, mode) != ("document", "navigate"):
                raise NotAllowed("Another page asked for this.")

    def enter(self, token: str) -> tuple[str, Session]:
        """A session for who has a link's token; the cookie's value, and the session.

        Raises:
            NotAllowed: it is no link's.
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
            raise NotAllowed("This link is not valid (any more).", status=401)
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
        """Whose request it is.

        Raises:
            NotAllowed: nobody's, or two sessions'.
        """
        try:
            value = only_cookie(request, self._cookie)
        except DuplicateCookieError as fault:
            raise NotAllowed(
                "Your browser sent two sessions, and one of them is not from here. "
                "Delete the cookies of this page, then open your link again.",
                status=401,
            ) from fault
        session = self._open.get(_hashed(value))
        if session is None:
            raise NotAllowed("Open the link that `piecework review` shows.", status=401)
        return session

    def check_form(self, session: Session, sent: str) -> None:
        """Refuse a form that was not made for this session.

        Raises:
            NotAllowed: it was not.
        """
        if not hmac.compare_digest(session.form_token.encode(), sent.encode()):
            raise NotAllowed("This form is of an earlier session; load the page anew.")

    def set_cookie(self, response: Response, value: str) -> None:
        """Let the browser keep the session."""
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
