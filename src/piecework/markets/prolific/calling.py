"""How calls of Prolific's API begin and end: the token, pages of a listing, and values.

The token of an account grants full access to it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count
from typing import ClassVar, TypeVar
from urllib.parse import parse_qsl, urlsplit

from pydantic import BaseModel, Field

from piecework.foundation.client.calls import CostInMinor, Money, Request, value_of
from piecework.foundation.client.errors import NoAccess, Unreadable
from piecework.foundation.client.token import AccountToken, Service

_V = TypeVar("_V", bound=BaseModel)


def listed(call: Callable[[Request], object], request: Request, kind: type[_V]) -> Iterator[_V]:
    """Yield each row of a listing once, as a value, making as many calls as needed.

    Rows that move to a later page meanwhile are not repeated. Only the query of a link
    to the next page is used, because its host could be someone else's.

    Raises:
        Refused: a page was refused.
        Lost: a page did not arrive or is not a page; the rows before it were yielded.
    """
    asked, seen, received = request, set[str](), 0
    for number in count(1):
        try:
            page = call(asked)
        except NoAccess as fault:
            if number > 1 and fault.is_final:
                return
            raise
        rows = _rows(page, asked)
        received += len(rows)
        fresh = {key: row for row in rows if (key := _key(row)) not in seen}
        yield from (value_of(kind, row, asked) for row in fresh.values())
        seen |= fresh.keys()
        following = _following(page, asked, number=number, received=received)
        if following is None or not rows:
            return
        if not fresh:
            if following.is_guess:
                return  # There are no pages: it gave all rows a second time.
            raise Unreadable(
                f"{asked.name}: the listing stopped advancing after {received} rows",
                next_step="try again later; nothing was changed",
            )
        asked = replace(request, query=following.query)


def _rows(page: object, asked: Request) -> list[Mapping[str, object]]:
    rows = page.get("results") if isinstance(page, Mapping) else None
    if isinstance(rows, list) and all(isinstance(row, Mapping) for row in rows):
        return rows
    raise Unreadable(
        f"{asked.name}: Prolific's answer is not a page of a listing: `results` is missing",
        next_step="Prolific may have changed its API; see its changes at docs.prolific.com",
    )


def _key(row: Mapping[str, object]) -> str:
    return str(row.get("id") or row)


@dataclass(frozen=True, slots=True)
class _Following:
    """The query of the next page; a guess if only a call can tell whether it exists."""

    query: Mapping[str, str | int]
    is_guess: bool


def _following(page: object, asked: Request, *, number: int, received: int) -> _Following | None:
    """Return the page after this one; `None` if this page says that it is the last."""
    links, meta = _inner(page, "_links"), _inner(page, "meta")
    if "next" in links:
        href = links["next"]
        href = href.get("href") if isinstance(href, Mapping) else href
        if not isinstance(href, str) or not href:
            return None
        return _Following(dict(parse_qsl(urlsplit(href).query)), is_guess=False)
    total = meta.get("count")
    if isinstance(total, int):
        if received >= total:
            return None
        counted = {"limit": max(received // number, 1), "offset": received}
        return _Following({**asked.query, **counted}, is_guess=False)
    return _Following({**asked.query, "page": number + 1}, is_guess=True)


def _inner(page: object, key: str) -> Mapping[str, object]:
    inner = page.get(key) if isinstance(page, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}


PROLIFIC = "https://api.prolific.com"

SERVICE = Service(
    name="Prolific",
    address=PROLIFIC,
    url_variable="PROLIFIC_URL",
    token_variable="PROLIFIC_TOKEN",  # noqa: S106 - a variable's name
    header="Authorization",
    scheme="Token ",
    documents="docs.prolific.com",
)


class Token(AccountToken):
    """The token of an account at Prolific; its `repr` leaves the secret out."""

    __slots__ = ()
    service: ClassVar[Service] = SERVICE


class Cost(Money):
    """A cost, as Prolific writes an amount with its currency."""

    minor: CostInMinor = Field(alias="amount")


def wire_moment(moment: datetime) -> str:
    """Return an aware datetime as Prolific reads it."""
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
