"""A call of the API before it is sent: method, path, query and body."""

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlencode

from piecework.foundation.client.errors import Unusable
from piecework.foundation.client.service import Service

Method = Literal["GET", "POST", "PATCH", "DELETE"]

ROOT = "/api/v1/"

_WORD = re.compile(r"(?![a-f]{16})[a-z_-]{0,30}")
"""A part of a path that names no resource; an id has digits or capitals."""
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A call of the API.

    Attributes:
        path: below `/api/v1/`, with a trailing slash where the service requires it.
        query: the query parameters.
        body: sent as JSON; `None` sends no body. It may name participants, so the
            `repr` of a call leaves it out.
        may_repeat: whether the call is safe to repeat, according to the service.
        headers: more headers of the call.
    """

    method: Method
    path: str
    query: Mapping[str, str | int] = field(default_factory=dict)
    body: Mapping[str, object] | None = field(default=None, repr=False)
    may_repeat: bool = False
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """Its name in messages, without query and body: `POST studies/`."""
        return f"{self.method} {self.path}"

    @property
    def template(self) -> str:
        """Its path with `{id}` for all that may be an id: `studies/{id}/`."""
        return "/".join(part if _WORD.fullmatch(part) else "{id}" for part in self.path.split("/"))

    def url(self, address: str) -> str:
        """Return the full URL at an API's address."""
        query = f"?{urlencode(self.query)}" if self.query else ""
        return f"{address}{ROOT}{self.path}{query}"

    def content(self) -> bytes | None:
        """Return the body as bytes."""
        return None if self.body is None else json.dumps(self.body).encode("ascii")

    def as_curl(self, address: str, service: Service) -> str:
        """Return the call as a shell command, with the token as a variable."""
        words = ["curl"]
        if self.method != "GET":
            words += ["--request", self.method]
        token = f"{service.scheme}${service.token_variable}"
        words += ["--header", f'"{service.header}: {token}"']
        content = self.content()
        if content is not None:
            words += ["--header", "'Content-Type: application/json'"]
            words += ["--data", shlex.quote(content.decode("ascii"))]
        return " ".join([*words, shlex.quote(self.url(address))])


def get_request(path: str, query: Mapping[str, str | int] | None = None) -> Request:
    """Make a call that only reads, so it is safe to repeat."""
    return Request(method="GET", path=path, query=query or {}, may_repeat=True)


def checked_id(resource_id: str) -> str:
    """Check that an id from a link is safe to put into a path or a line.

    Raises:
        Unusable: it could address another resource.

    >>> checked_id("60ffe5c8371090c7041d43f8")
    '60ffe5c8371090c7041d43f8'
    """
    if not _ID.fullmatch(resource_id):
        raise Unusable("this is not an id: only letters, digits, - and _ are allowed")
    return resource_id
