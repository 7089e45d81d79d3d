"""Endpoints of the worker site: the address of each method, and what its request must be.

A class of pages names its addresses at its methods: `page` for a page or a document, `form`
for a form of the site and `action` for a button that sends no fields. A form and an action
must come from the site's own origin; a form's fields are read for the method.
"""

import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from piecework.marketplace.state.backend import Backend
from piecework.marketplace.state.transaction import Transaction
from piecework.marketplace.workers import pages
from piecework.marketplace.workers.pages import Origins
from piecework.marketplace.workers.sessions import Sessions

_MARK = "endpoint"
Form = dict[str, str]
"""The fields of a form; the last of repeated ones."""


@dataclass(frozen=True)
class Endpoints:
    """Pages of one marketplace.

    Attributes:
        backend: its state.
        origins: its addresses.
        sessions: who sends a request.
    """

    backend: Backend
    origins: Origins
    sessions: Sessions

    def routes(self) -> list[BaseRoute]:
        """Return the routes of all methods with an address."""
        marked = ((name, getattr(each, _MARK, None)) for name, each in vars(type(self)).items())
        return [
            Route(mark[0], getattr(self, name), methods=mark[1]) for name, mark in marked if mark
        ]

    @contextmanager
    def at_work(self, request: Request) -> Iterator[tuple[Transaction, sqlite3.Row]]:
        """Open a transaction for the worker who sends a request.

        Raises:
            Refusal: no worker is signed in (401).
        """
        with self.backend.transaction() as transaction:
            yield transaction, self.sessions.worker_of(transaction, request)


Handler = Callable[..., Awaitable[Response]]
"""A method that takes a request and, of a form, its fields."""


def page(address: str, *methods: str) -> Callable[[Handler], Handler]:
    """Serve an address by GET, or by other methods."""

    def mark(handler: Handler) -> Handler:
        setattr(handler, _MARK, (address, list(methods or ("GET",))))
        return handler

    return mark


def action(address: str, *, in_window: bool = False) -> Callable[[Handler], Handler]:
    """Serve a POST of the site itself; with `in_window`, of a page in its own window."""

    def checked(handler: Handler) -> Handler:
        @wraps(handler)
        async def serve(self: Endpoints, request: Request) -> Response:
            pages.check_origin(request, (self.origins.site,))
            if in_window:
                pages.check_window(request)
            return await handler(self, request)

        return page(address, "POST")(serve)

    return checked


def form(address: str, *, in_window: bool = False) -> Callable[[Handler], Handler]:
    """Serve the same for a form, whose fields the method takes."""

    def with_fields(handler: Handler) -> Handler:
        @action(address, in_window=in_window)
        @wraps(handler)
        async def serve(self: Endpoints, request: Request) -> Response:
            return await handler(self, request, dict(await pages.read_fields(request)))

        return serve

    return with_fields
