"""Serve lists in pages, by `page` and `page_size` or by `limit` and `offset`.

Studies and submissions are documented with the first way, and answer 404 past the last
page. Prolific's own command line uses the second way for every list, with the count in
`meta`.
"""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from offline_markets.core.errors import ApiError, wrong
from offline_markets.prolific.call import Call

PAGE_SIZE = 20
"""The page size of paged lists; others are complete unless `limit` is set."""

_INTERNAL_HOST = "http://prolific-api.internal"


@dataclass(frozen=True, slots=True)
class _Window:
    """A range of rows, and the queries of the ranges around it."""

    limit: int
    offset: int
    following: dict[str, int] | None
    previous: dict[str, int] | None


def listing(
    call: Call,
    source: str,
    values: Sequence[object],
    *,
    render: Callable[[sqlite3.Row], dict[str, Any]],
    ordering: str = "number",
    page_size: int | None = None,
    columns: str = "*",
) -> dict[str, Any]:
    """Return one page of the rows of a query.

    Args:
        call: the call.
        source: the query after its FROM.
        values: the values of its parameters.
        render: converts a row to the JSON of the API.
        ordering: the query's ORDER BY.
        page_size: how many rows a page has; None is all.
        columns: the query's columns.

    Raises:
        ApiError: the page is past the last one (404), or is not a number (400).
    """
    count = call.state.number(f"SELECT count(*) FROM {source}", values)
    window = _window(call, count, page_size)
    rows = call.state.rows(
        f"SELECT {columns} FROM {source} ORDER BY {ordering} LIMIT ? OFFSET ?",
        [*values, window.limit, window.offset],
    )
    links = {
        "self": {"href": _href(call, {}), "title": "Current"},
        "next": {"href": _href(call, window.following), "title": "Next"},
        "previous": {"href": _href(call, window.previous), "title": "Previous"},
    }
    return {"results": [render(row) for row in rows], "_links": links, "meta": {"count": count}}


def _window(call: Call, count: int, page_size: int | None) -> _Window:
    if page_size is None or not {"limit", "offset"}.isdisjoint(call.query):
        return _by_offset(call, count)
    size = _positive(call, "page_size", page_size)
    page = _positive(call, "page", 1)
    last = max(1, -(-count // size))
    if page > last:
        raise ApiError(404, f"Invalid page: {page} of {last}.")
    return _Window(
        size,
        size * (page - 1),
        {"page": page + 1, "page_size": size} if page < last else None,
        {"page": page - 1, "page_size": size} if page > 1 else None,
    )


def _by_offset(call: Call, count: int) -> _Window:
    limit = _positive(call, "limit", max(count, 1))
    offset = _positive(call, "offset", 0, least=0)
    before = max(0, offset - limit)
    return _Window(
        limit,
        offset,
        {"limit": limit, "offset": offset + limit} if offset + limit < count else None,
        {"limit": limit, "offset": before} if offset else None,
    )


def _positive(call: Call, name: str, usual: int, *, least: int = 1) -> int:
    text = call.query.get(name)
    if text is None:
        return usual
    if not (text.isascii() and text.isdigit() and least <= int(text) < 10**9):
        raise wrong(name, f"A whole number of at least {least}.")
    return int(text)


def _href(call: Call, window: dict[str, int] | None) -> str | None:
    if window is None:
        return None
    host = _INTERNAL_HOST if call.state.switches.internal_links else call.origin
    query = urlencode({**call.query, **window})
    return f"{host}{call.address}" + (f"?{query}" if query else "")
