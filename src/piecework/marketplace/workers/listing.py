"""The list of HIT groups: searched, filtered, sorted, in pages."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from urllib.parse import urlencode

from piecework.marketplace.languages import say, sentence
from piecework.marketplace.workers.discovery import Group

PER_PAGE = 25
SEARCHED = ("title", "description", "keywords", "requester_name")

_LONGEST_SEARCH = 200
_LARGEST_AMOUNT = 1_000_000

ORDERS: Mapping[str, tuple[str, Callable[[Group], int]]] = {
    "newest": (sentence("Newest first"), lambda group: -(group.row["newest_hit"] or 0)),
    "reward": (sentence("Reward, highest first"), lambda group: -group.row["reward_cents"]),
    "time": (sentence("Time allowed, shortest first"), lambda g: g.row["duration_seconds"]),
    "count": (sentence("Number of HITs, most first"), lambda group: -group.available),
}
"""Each sort order with its name for people; the first is the default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """A worker's settings for the list.

    Attributes:
        search: words that must all occur in a group's texts.
        minimum: an amount as typed; "" for no minimum.
        minimum_cents: the same in cents.
        order: a key of `ORDERS`.
        only_mine: leaves out groups that the worker may not accept.
        page: from 1.
        complaint: a sentence about what was not understood.
    """

    search: str = ""
    minimum: str = ""
    minimum_cents: int = 0
    order: str = "newest"
    only_mine: bool = False
    page: int = 1
    complaint: str = ""

    def address(self, page: int) -> str:
        """Return the address of another page of the list."""
        query = {
            "q": self.search,
            "min": self.minimum,
            "sort": self.order,
            "can": "1" if self.only_mine else "",
            "page": str(page),
        }
        return "/worker/hits?" + urlencode({k: v for k, v in query.items() if v})


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of the list.

    Attributes:
        groups: the groups on it.
        fitting_total: the number of matching groups on all pages.
        number: the number of this page, from 1.
        last: the number of the last page.
    """

    groups: Sequence[Group]
    fitting_total: int
    number: int
    last: int


def read(query: Mapping[str, str], *, sign: str = "$") -> Wishes:
    """Read an address's settings; invalid ones are left out and reported.

    Amounts are in the marketplace's currency, with or without its sign.

    >>> read({"min": "0.5", "sort": "reward"}).minimum_cents
    50
    """
    minimum = query.get("min", "").strip().removeprefix(sign)[:20]
    cents, complaint = 0, ""
    if minimum:
        try:
            cents = _cents(minimum)
        except ValueError:
            complaint = say(
                "“%(amount)s” is not an amount of money, so it was ignored.", amount=minimum
            )
    order = query.get("sort", "newest")
    page = query.get("page", "1")
    return Wishes(
        search=query.get("q", "").strip()[:_LONGEST_SEARCH],
        minimum=minimum,
        minimum_cents=cents,
        order=order if order in ORDERS else "newest",
        only_mine=query.get("can") == "1",
        page=int(page) if page.isascii() and page.isdigit() and len(page) < 6 else 1,  # noqa: PLR2004 - no list is longer
        complaint=complaint,
    )


def sift(groups: Sequence[Group], wishes: Wishes) -> Page:
    """Return the matching groups in order; equal ones keep their order."""
    words = wishes.search.casefold().split()
    fitting = [
        group
        for group in groups
        if group.row["reward_cents"] >= wishes.minimum_cents
        and (group.may_accept or not wishes.only_mine)
        and _says(group, words)
    ]
    fitting.sort(key=ORDERS[wishes.order][1])
    last = max(1, -(-len(fitting) // PER_PAGE))
    number = min(max(wishes.page, 1), last)
    return Page(
        groups=fitting[(number - 1) * PER_PAGE : number * PER_PAGE],
        fitting_total=len(fitting),
        number=number,
        last=last,
    )


def _says(group: Group, words: Sequence[str]) -> bool:
    searched = "\n".join(group.row[name] for name in SEARCHED).casefold()
    return all(word in searched for word in words)


def _cents(amount: str) -> int:
    try:
        value = Decimal(amount)
    except InvalidOperation as fault:
        raise ValueError(amount) from fault
    if not value.is_finite() or not 0 <= value <= _LARGEST_AMOUNT:
        raise ValueError(amount)
    return int(value * 100)
