"""Calls of the bridge by the names that Prolific's document has for them."""

import re
from functools import cache

from offline_markets.prolific.routes import OPERATIONS
from piecework.foundation.client.calls import ROOT, Request

_TRANSITIONS = ("publish-study", "transition-submission")


def call_name(request: Request) -> str:
    """The operation, and the action of a transition.

    >>> call_name(Request(method="GET", path="users/me/"))
    'get-user'
    """
    path = f"{ROOT}{request.path}".removeprefix("/api/v1")
    name = next(
        name
        for name, method, pattern in _patterns()
        if method == request.method and pattern.fullmatch(path)
    )
    if name in _TRANSITIONS and request.body is not None:
        return f"{name} {request.body['action']}"
    return name


@cache
def _patterns() -> tuple[tuple[str, str, re.Pattern[str]], ...]:
    return tuple(
        (each.name, each.method, re.compile(re.sub(r"\{\w+\}", "[^/]+", each.path)))
        for each in OPERATIONS
    )
