"""Who sends a request: reviewers' links, cookies, and the tokens of forms.

A link has its token after a `#`, which browsers send to no server and in no referrer.
The page sends the token by POST, removes it from the URL, and gets a cookie. Links and
cookies are only in memory: they end with the process. The session of a person who
signed in at a provider also ends after some hours, because the provider may have
withdrawn the account meanwhile.
"""

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from piecework.foundation.server.server import DuplicateCookieError, cookie_values, only_cookie
from piecework.foundation.signin.person import Role, may
from piecework.store.reviews import Identity

LONGEST_SECONDS = 8 * 3_600
"""How long a person who signed in at a provider stays signed in."""
IDLE_SECONDS = 3_600
"""How long they stay signed in without a request."""
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


@dataclass(slots=True, kw_only=True)
class Session:
    """A reviewer's browser.

    Attributes:
        identity: who it is.
        role: what they may do.
        form_token: the token that its forms must send.
        begun: when it began, in seconds of a steady clock.
        seen: when it sent its last request.
        notices: messages for the next page; `(kind, sentence)`.
    """

    identity: Identity
    role: Role
    form_token: str
    begun: float
    seen: float
    notices: list[tuple[str, str]] = field(default_factory=list)

    @property
    def reviewer(self) -> str:
        """The name stored with decisions."""
        return self.identity.name

    @property
    def decider(self) -> str:
        """The name for which cards are reserved; "" for a person who only reads."""
        return self.reviewer if may(self.role, "reviewer") else ""


class Sessions:
    """Links and cookies of one process.

    Args:
        reviewers: the role of each person who gets a link, by name.
        origin: the origin at which browsers reach the page.
        way_in: what people without a session are told to do.
        now: a steady clock, in seconds.
    """

    def __init__(
        self,
        reviewers: Mapping[str, Role],
        *,
        origin: str,
        way_in: str,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._origin, self._way_in, self._now = origin, way_in, now
        self._host = urlsplit(origin).netloc
        self._is_secure = origin.startswith("https:")
        self._roles = dict(reviewers)
        self._tokens = {secrets.token_urlsafe(_BYTES): name for name in reviewers}
        self._open: dict[str, Session] = {}
        prefix = "__Host-" if self._is_secure else ""
        # Cookies belong to a host, not to a port: each page needs a name of its own.
        port = urlsplit(origin).port or 0
        self._cookie = f"{prefix}piecework_review_{port}"

    @property
    def names(self) -> Collection[str]:
        """The names of people who have a link."""
        return self._roles

    @property
    def origin(self) -> str:
        """The origin at which browsers reach the page."""
        return self._origin

    @property
    def links(self) -> Mapping[str, str]:
        """The link of each reviewer, by name."""
        return {name: f"{self._origin}/enter#{token}" for token, name in self._tokens.items()}

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
        role = self._roles[reviewer]
        return self.open(Identity(name=reviewer, role=role), role)

    def open(self, identity: Identity, role: Role) -> tuple[str, Session]:
        """Open a session of a person; return the cookie's value and the session."""
        mine = [key for key, session in self._open.items() if session.reviewer == identity.name]
        for key in mine[: len(mine) + 1 - _MOST_SESSIONS]:
            del self._open[key]
        value, now = secrets.token_urlsafe(_BYTES), self._now()
        session = Session(
            identity=identity,
            role=role,
            form_token=secrets.token_urlsafe(_BYTES),
            begun=now,
            seen=now,
        )
        self._open[_hashed(value)] = session
        return value, session

    def close(self, request: Request) -> None:
        """End the session of a request, if there is one."""
        for value in cookie_values(request.scope["headers"], self._cookie):
            self._open.pop(_hashed(value), None)

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
            raise NotAllowed(self._way_in, status=401)
        now = self._now()
        is_over = now - session.begun > LONGEST_SECONDS or now - session.seen > IDLE_SECONDS
        if session.identity.issuer and is_over:
            del self._open[_hashed(value)]
            raise NotAllowed("Your session has ended; sign in again.", status=401)
        session.seen = now
        return session

    def check_role(self, session: Session, least: Role) -> None:
        """Refuse what the role of a session does not include.

        Raises:
            NotAllowed: it takes another role.
        """
        if not may(session.role, least):
            raise NotAllowed(f"Your role is {session.role}; this takes a {least}.")

    def check_form(self, session: Session, sent: str) -> None:
        """Refuse a form that was not made for this session.

        Raises:
            NotAllowed: the form has another token.
        """
        if not hmac.compare_digest(session.form_token.encode(), sent.encode()):
            raise NotAllowed("This form is from an earlier session; reload the page.")

    def drop_cookie(self, response: Response) -> None:
        """Delete the session's cookie."""
        response.delete_cookie(
            self._cookie, path="/", httponly=True, samesite="strict", secure=self._is_secure
        )

    def set_cookie(self, response: Response, value: str) -> None:
        """Set the session's cookie."""
        response.set_cookie(
            self._cookie, value, path="/", httponly=True, samesite="strict", secure=self._is_secure
        )


def _hashed(value: str) -> str:
    return hashlib.sha256(value.encode()).hexdigest()
