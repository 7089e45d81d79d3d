"""What the groups of pages share."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from piecework.review.desk import Desk
from piecework.review.sessions import Session

Endpoint = Callable[[Request, Session], Response | Awaitable[Response]]
"""Makes a reply in the thread that works with the store; the rest of one, after it."""


@dataclass(frozen=True, slots=True)
class Parts:
    """A campaign under review, and how its pages are made and protected.

    Attributes:
        desk: the campaign.
        page: makes a page from a template, a session and values.
        form: returns the fields of a form, after checking that it is this session's.
        get: makes a route to a page, for reviewers with a session.
        post: makes a route that takes a form, for sessions that may decide.
    """

    desk: Desk
    page: Callable[..., Response]
    form: Callable[[Request, Session], dict[str, str]]
    get: Callable[[str, Endpoint], Route]
    post: Callable[[str, Endpoint], Route]
