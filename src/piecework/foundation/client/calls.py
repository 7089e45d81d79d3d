"""A call of the API before it is sent, and its answer as a document, values or an error.

Prolific has two envelopes for errors and a third for its data collection; Connect has
one. A proxy or captive portal in between answers with HTML. Only JSON counts as the
service's answer, so a portal's page is never taken for a paid bonus.

Values are parsed strictly for money, tolerantly otherwise. Unknown values are accepted: a
new status is kept as text, and new keys are ignored. A documented key that is missing is an
error.
"""

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import ROUND_CEILING, Decimal
from typing import Annotated, Literal, TypeVar
from urllib.parse import urlencode

import httpx
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from piecework.foundation.client.errors import (
    ApiError,
    Lost,
    NoAccess,
    Refused,
    Throttled,
    Unreadable,
    Unusable,
    sentence,
)
from piecework.foundation.client.token import AccountToken, Service

_LARGEST = 10**15
"""The largest amount or count accepted; a huge one would fill memory as an int."""
_SIGNS = {"GBP": "£", "USD": "$"}


class Value(BaseModel):
    """A frozen value parsed from a document."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


class Money(Value):
    """An amount in minor units (pence, cents) of a currency.

    >>> print(Money(minor=150, currency="GBP"))
    £1.50
    """

    minor: int
    currency: str

    def __str__(self) -> str:
        sign = "-" if self.minor < 0 else ""
        amount = f"{abs(self.minor) // 100:,}.{abs(self.minor) % 100:02d}"
        if self.currency in _SIGNS:
            return f"{sign}{_SIGNS[self.currency]}{amount}"
        # The number of minor units of other currencies is not known here.
        return f"{self.minor} minor units of {self.currency}"


CURRENCIES = frozenset(_SIGNS)
"""The currencies known to have hundredths as minor units."""


def _whole(number: object) -> int:
    exact = _number(number)
    if exact != exact.to_integral_value():
        raise ValueError("not a whole number")
    return int(exact)


def _rounded_up(number: object) -> int:
    return int(_number(number).to_integral_value(ROUND_CEILING))


def _number(number: object) -> Decimal:
    if isinstance(number, bool) or not isinstance(number, int | float | Decimal):
        raise ValueError("not a number")  # noqa: TRY004 - pydantic wants this one
    exact = Decimal(number)
    if not exact.is_finite() or abs(exact) > _LARGEST:
        raise ValueError("not a number")
    return exact


def _moment(text: object) -> datetime:
    if not isinstance(text, str):
        raise ValueError("not a moment")  # noqa: TRY004 - pydantic wants this one
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)


Whole = Annotated[int, BeforeValidator(_whole)]
"""A count, or an amount in minor units; a fraction is refused."""
CostInMinor = Annotated[int, BeforeValidator(_rounded_up)]
"""A cost in minor units; fractions are rounded up."""
Moment = Annotated[datetime, BeforeValidator(_moment)]
"""An ISO 8601 time, in UTC."""


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


def is_id(resource_id: str) -> bool:
    """Return whether a text is safe to put into a path or a line as an id."""
    return _ID.fullmatch(resource_id) is not None


def checked_id(resource_id: str) -> str:
    """Check that an id from a link is safe to put into a path or a line.

    Raises:
        Unusable: it could address another resource.

    >>> checked_id("60ffe5c8371090c7041d43f8")
    '60ffe5c8371090c7041d43f8'
    """
    if not is_id(resource_id):
        raise Unusable("this is not an id: only letters, digits, - and _ are allowed")
    return resource_id


_V = TypeVar("_V", bound=BaseModel)

_OK, _REDIRECT, _CLIENT_FAULT, _SERVER_FAULT = 200, 300, 400, 500
_TIMEOUT, _TOO_MANY = 408, 429
_OF_TOKENS = (401, 403)
_SAYS = ("title", "detail", "message", "issues", "additional_information")
_DEEPEST = 5


def document_of(reply: httpx.Response, request: Request, token: AccountToken) -> object:
    """Return the document of an answer, with exact numbers; `None` if it is empty.

    Args:
        reply: the answer with its whole body.
        request: the call that was made.
        token: the token that was sent, of the service that was called.

    Raises:
        Refused: the service refused the call; `NoAccess` and `Throttled` are
            subclasses.
        Lost: the service failed; `Unreadable` if the answer is not the service's.
    """
    status, service = reply.status_code, token.service
    document, is_json = _parsed(token.blotted(reply.content.decode(errors="replace")))
    detail = _sentences(document) if is_json else ""
    if status >= _CLIENT_FAULT:
        raise _error(reply, request, token, detail=detail, is_json=is_json)
    if status >= _REDIRECT:
        raise Unreadable(
            f"{request.name}: HTTP {status} redirects to another address; it was not "
            "followed, so that the token is not sent there",
            next_step=f"check the address ({service.url_variable}) and any proxy in between",
        )
    if status < _OK or not is_json:
        raise _strange(request, service, status)
    return document


def value_of(kind: type[_V], document: object, request: Request) -> _V:
    """Return the document as a value, ignoring unknown keys.

    Raises:
        Unreadable: it lacks documented keys; the message names only those keys.
    """
    try:
        return kind.model_validate(document)
    except ValidationError as fault:
        keys = ", ".join(
            f"`{'.'.join(str(step) for step in error['loc']) or 'the document'}` ({error['type']})"
            for error in fault.errors(include_input=False, include_url=False)[:5]
        )
    raise Unreadable(
        f"{request.name}: the answer is not as documented: {sentence(keys)}",
        next_step="the API may have changed; see its documentation",
    )


def _error(
    reply: httpx.Response, request: Request, token: AccountToken, *, detail: str, is_json: bool
) -> ApiError:
    status, service = reply.status_code, token.service
    shown = f"{request.name}: HTTP {status}" + (f": {sentence(detail)}" if detail else "")
    if status == _TOO_MANY:
        return Throttled(
            f"{shown}: {service.name} asks for fewer calls",
            status=status,
            detail=detail,
            next_step="wait a few minutes and try again; the call had no effect",
            may_pass=True,
            wait_seconds=_wait_seconds(reply.headers),
        )
    if status >= _SERVER_FAULT or status == _TIMEOUT:
        return Lost(
            f"{shown}: {service.name} failed, and the call may have taken effect",
            next_step=f"check at {service.name} whether it did",
            may_pass=True,
            wait_seconds=_wait_seconds(reply.headers),
        )
    if not is_json:
        return _strange(request, service, status)
    if status in service.closed_statuses:
        return NoAccess(
            f"{shown}: it does not exist, or this token{token.origin} may not see it; "
            f"{service.name} uses {' and '.join(map(str, service.closed_statuses))} for both",
            status=status,
            detail=detail,
            next_step=f"check the token{token.origin} and the workspace that it belongs to",
        )
    about = f", or check the token{token.origin}" * (status in _OF_TOKENS)
    return Refused(
        shown,
        status=status,
        detail=detail,
        next_step=f"fix what {service.name} names{about}; the call had no effect",
    )


def _strange(request: Request, service: Service, status: int) -> Unreadable:
    return Unreadable(
        f"{request.name}: the answer (HTTP {status}) is not JSON, so it is not "
        f"{service.name}'s: it came from a proxy, a captive portal or another program",
        next_step=f"check the address ({service.url_variable}) and any proxy in between",
    )


def _parsed(text: str) -> tuple[object, bool]:
    """Return the document and whether it is valid; an empty body is valid too."""
    if not text:
        return None, True
    try:
        return json.loads(text, parse_float=Decimal, parse_constant=_no_number), True
    except (ValueError, RecursionError):
        return None, False


def _no_number(text: str) -> object:
    raise ValueError(text)


def _sentences(document: object) -> str:
    """Return the sentences of any error envelope, without its traceback."""
    if isinstance(document, Mapping) and isinstance(document.get("error"), Mapping):
        document = document["error"]
    if isinstance(document, Mapping) and any(key in document for key in _SAYS):
        document = [document[key] for key in _SAYS if document.get(key)]
    return _flat(document)


def _flat(document: object, depth: int = 0) -> str:
    if document is None or depth > _DEEPEST:
        return ""
    if isinstance(document, Mapping):
        named = (
            f"{key}: {_flat(value, depth + 1)}"
            for key, value in document.items()
            if key != "traceback"
        )
        return "; ".join(named)
    if isinstance(document, list):
        return "; ".join(_flat(value, depth + 1) for value in document)
    return str(document)


def _wait_seconds(headers: httpx.Headers) -> float | None:
    """Return the seconds in `Retry-After` if it is a number."""
    text = headers.get("Retry-After", "")
    return float(text) if text.isascii() and text.isdigit() else None
