"""What each group of pages is made with."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from piecework.review.desk import Desk
from piecework.review.sessions import Session

Endpoint = Callable[[Request, Session], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Parts:
    """A campaign under review, and how its pages are given and guarded.

    Attributes:
        desk: the campaign.
        page: makes a page of a template, a session and values.
        form: the fields of a form that is this session's own.
        get: a route to a page, for who has a session.
        post: likewise to what takes a form.
    """

    desk: Desk
    page: Callable[..., Response]
    form: Callable[[Request, Session], Awaitable[dict[str, str]]]
    get: Callable[[str, Endpoint], Route]
    post: Callable[[str, Endpoint], Route]
