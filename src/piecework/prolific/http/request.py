"""One call before it is made: a method, a path below the API, and what is sent."""

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlencode

from piecework.prolific.http.errors import Unusable
from piecework.prolific.http.token import VARIABLE

Method = Literal["GET", "POST", "PATCH", "DELETE"]

ROOT = "/api/v1/"

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A call of the API.

    Attributes:
        path: below `/api/v1/`, with the slash at its end that Prolific wants.
        query: what follows the question mark.
        body: becomes JSON; `None` sends no body. It may name participants, so the
            text form of a call leaves it out.
        may_repeat: whether making it again does no harm, by Prolific's own word.
    """

    method: Method
    path: str
    query: Mapping[str, str | int] = field(default_factory=dict)
    body: Mapping[str, object] | None = field(default=None, repr=False)
    may_repeat: bool = False

    @property
    def name(self) -> str:
        """What messages call it: `POST studies/`, without what was asked or sent."""
        return f"{self.method} {self.path}"

    def url(self, address: str) -> str:
        """The whole URL, on an API at this address."""
        query = f"?{urlencode(self.query)}" if self.query else ""
        return f"{address}{ROOT}{self.path}{query}"

    def content(self) -> bytes | None:
        """The body's bytes."""
        return None if self.body is None else json.dumps(self.body).encode("ascii")

    def as_curl(self, address: str) -> str:
        """The same call as a command of a shell, the token left as a variable."""
        words = ["curl"]
        if self.method != "GET":
            words += ["--request", self.method]
        words += ["--header", f'"Authorization: Token ${VARIABLE}"']
        content = self.content()
        if content is not None:
            words += ["--header", "'Content-Type: application/json'"]
            words += ["--data", shlex.quote(content.decode("ascii"))]
        return " ".join([*words, shlex.quote(self.url(address))])


def get_request(path: str, query: Mapping[str, str | int] | None = None) -> Request:
    """A call that only reads, so it may be made again."""
    return Request(method="GET", path=path, query=query or {}, may_repeat=True)


def checked_id(resource_id: str) -> str:
    """An id that can stand in a path or a line; links with ids are anybody's to write.

    Raises:
        Unusable: it could lead to another resource.

    >>> checked_id("60ffe5c8371090c7041d43f8")
    '60ffe5c8371090c7041d43f8'
    """
    if not _ID.fullmatch(resource_id):
        raise Unusable("this is no id of Prolific's: letters, digits, - and _ only")
    return resource_id
