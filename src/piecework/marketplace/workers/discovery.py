"""Finds the groups of HITs that a worker can see: searched, filtered, sorted, in pages."""

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.languages import say, sentence
from piecework.marketplace.state import hits, money, worker_limits
from piecework.marketplace.state.transaction import Transaction
from piecework.marketplace.state.worker_limits import WorkerLimit
from piecework.marketplace.workers import eligibility

_SELECT = (
    "SELECT hit_types.*, requesters.name AS requester_name, "
    "(SELECT max(hits.id) FROM hits WHERE hits.hit_type = hit_types.id "
    "AND hits.status = 'Assignable') AS newest_hit FROM hit_types "
    "JOIN requesters ON requesters.id = hit_types.requester "
)
_NOT_BLOCKED = (
    "NOT EXISTS (SELECT 1 FROM blocks WHERE blocks.requester = hit_types.requester "
    "AND blocks.worker = ?)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A group of HITs as one worker sees it.

    Attributes:
        available: HITs that the worker could take now.
        limit: how many HITs of this kind the worker may do and has done, if limited.
        lacks: why the worker may not accept, one phrase each, for programs.
        wanted: unmet requirements for accepting, for people.
        reached: a sentence if the worker may do no more HITs of this kind.
        requestable: missing qualification types that the worker may request.
    """

    row: sqlite3.Row
    available: int
    may_preview: bool
    may_accept: bool
    limit: WorkerLimit | None
    lacks: tuple[str, ...]
    wanted: tuple[str, ...]
    reached: str
    requestable: tuple[sqlite3.Row, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the group as JSON data."""
        return {
            "hit_group_id": self.row["hit_group_id"],
            "hit_type_id": self.row["hit_type_id"],
            "title": self.row["title"],
            "description": self.row["description"],
            "keywords": self.row["keywords"],
            "reward": money.currency(self.row["reward_cents"]),
            "assignment_duration_seconds": self.row["duration_seconds"],
            "available": self.available,
            "requester": self.row["requester_name"],
            "may_preview": self.may_preview,
            "may_accept": self.may_accept,
            "lacks": list(self.lacks),
        }


def visible_groups(transaction: Transaction, worker: sqlite3.Row) -> list[Group]:
    """Return all visible groups with HITs for this worker, oldest first."""
    held = eligibility.holdings(transaction, worker)
    rows = transaction.all(
        f"{_SELECT} WHERE hit_types.assignable_hits > 0 AND {_NOT_BLOCKED} ORDER BY hit_types.id",
        worker["id"],
    )
    visible = []
    for row in rows:
        requirements = json.loads(row["requirements"])
        if eligibility.unmet(requirements, held, action="discover"):
            continue
        available = _available(transaction, worker, row)
        if available > 0:
            visible.append(_group(transaction, worker, row, held, available=available))
    return visible


def newest_work(transaction: Transaction, *, most: int) -> list[sqlite3.Row]:
    """Return the newest groups that a person without any qualification may see."""
    rows = transaction.all(
        f"{_SELECT} WHERE hit_types.assignable_hits > 0 ORDER BY newest_hit DESC"
    )
    seen = (
        row
        for row in rows
        if not eligibility.unmet(json.loads(row["requirements"]), {}, action="discover")
    )
    return list(islice(seen, most))


def visible_group(transaction: Transaction, worker: sqlite3.Row, hit_group_id: str) -> Group:
    """Return one group as this worker sees it, even if it has no HITs left.

    Raises: Refusal: the group does not exist or is hidden from the worker (404).
    """
    row = transaction.first_row(
        f"{_SELECT} WHERE hit_types.hit_group_id = ? AND {_NOT_BLOCKED}", hit_group_id, worker["id"]
    )
    held = eligibility.holdings(transaction, worker)
    if row is None:
        raise _nothing()
    requirements = json.loads(row["requirements"])
    if eligibility.unmet(requirements, held, action="discover"):
        raise _nothing()
    available = _available(transaction, worker, row)
    return _group(transaction, worker, row, held, available=available)


def values_of_next_question(transaction: Transaction, worker: sqlite3.Row, group: Group) -> str:
    """Return what the question of the group's next HIT says of its own; "" without one.

    It is empty for a worker who may not see the HIT before they accept it.
    """
    hit = next_hit(transaction, worker, group.row["id"]) if group.may_preview else None
    if hit is None:
        return ""
    # Without the texts that many questions share: the view would put a long one together.
    return str(transaction.value("SELECT question FROM questions WHERE hit = ?", hit["id"]))


def next_hit(transaction: Transaction, worker: sqlite3.Row, hit_type: int) -> sqlite3.Row | None:
    """Return the oldest HIT of a type with a free slot that the worker never had.

    Its row has `hits.COLUMNS`.
    """
    return transaction.first_row(
        f"SELECT {hits.COLUMNS} FROM hits WHERE hit_type = ? "
        "AND status = 'Assignable' "
        # During a backlog, expired HITs may still have this status.
        "AND expires_ms > ? AND created_ms <= ? "
        "AND NOT EXISTS (SELECT 1 FROM assignments "
        "WHERE assignments.hit = hits.id AND assignments.worker = ?) "
        f"AND {worker_limits.IS_FREE} ORDER BY id LIMIT 1",
        hit_type,
        transaction.now_ms,
        transaction.listed_ms,
        worker["id"],
        worker["id"],
    )


def _group(
    transaction: Transaction,
    worker: sqlite3.Row,
    row: sqlite3.Row,
    held: eligibility.Holdings,
    *,
    available: int,
) -> Group:
    requirements = json.loads(row["requirements"])
    lacked = eligibility.unmet(requirements, held, action="accept")
    limit = worker_limits.limit_of_worker(transaction, worker, row)
    reached = [limit] if limit is not None and not limit.left else []
    return Group(
        row=row,
        available=available if limit is None else min(available, limit.left),
        limit=limit,
        may_preview=not eligibility.unmet(requirements, held, action="preview"),
        may_accept=not lacked and not reached,
        lacks=(
            *(_phrase(transaction, requirement) for requirement in lacked),
            *(f"fewer than {each.most} of these HITs done" for each in reached),
        ),
        wanted=tuple(
            eligibility.word_requirement(
                requirement,
                name=_name(transaction, requirement),
                holding=held.get(requirement["QualificationTypeId"]),
            )
            for requirement in lacked
        ),
        reached=" ".join(map(eligibility.word_reached_limit, reached)),
        requestable=_requestable(transaction, lacked),
    )


def _available(transaction: Transaction, worker: sqlite3.Row, hit_type: sqlite3.Row) -> int:
    """Count HITs of a type with a free slot for the worker."""
    touched = _touched(transaction, worker, hit_type["id"])
    closed = worker_limits.count_kept_apart(transaction, worker, hit_type["id"])
    hidden = _unlisted(transaction, hit_type)
    return int(hit_type["assignable_hits"]) - touched - closed - hidden


def _touched(transaction: Transaction, worker: sqlite3.Row, hit_type: int) -> int:
    """Count open HITs of a type that the worker has had.

    The query reads only assignments from the type's oldest open HIT on, so a long
    history does not slow it down.
    """
    number: int = transaction.value(
        "SELECT count(DISTINCT assignments.hit) FROM assignments "
        "JOIN hits ON hits.id = assignments.hit "
        "WHERE assignments.worker = ?1 AND assignments.hit >= "
        "(SELECT min(id) FROM hits WHERE hit_type = ?2 AND status = 'Assignable') "
        "AND hits.hit_type = ?2 AND hits.status = 'Assignable'",
        worker["id"],
        hit_type,
    )
    return number


def _unlisted(transaction: Transaction, hit_type: sqlite3.Row) -> int:
    """Count HITs that a rehearsal's script keeps out of lists for a while."""
    if not transaction.lag_ms:
        return 0
    number: int = transaction.value(
        "SELECT count(*) FROM hits WHERE hit_type = ? AND status = 'Assignable' AND created_ms > ?",
        hit_type["id"],
        transaction.listed_ms,
    )
    return number


def _requestable(transaction: Transaction, lacked: list[dict[str, Any]]) -> tuple[sqlite3.Row, ...]:
    rows = (
        transaction.first_row(
            "SELECT qualification_type_id, name, test FROM qualification_types "
            "WHERE qualification_type_id = ? AND is_requestable = 1 "
            "AND status = 'Active' AND deleted_ms IS NULL",
            requirement["QualificationTypeId"],
        )
        for requirement in lacked
        if requirement["Comparator"] != "DoesNotExist"
    )
    return tuple(row for row in rows if row is not None)


def _name(transaction: Transaction, requirement: dict[str, Any]) -> str:
    type_id: str = requirement["QualificationTypeId"]
    name = "SELECT name FROM qualification_types WHERE qualification_type_id = ?"
    return transaction.value(name, type_id) or type_id


def _phrase(transaction: Transaction, requirement: dict[str, Any]) -> str:
    values = [str(value) for value in requirement.get("IntegerValues", ())]
    values += [
        "-".join(filter(None, (locale["Country"], locale.get("Subdivision"))))
        for locale in requirement.get("LocaleValues", ())
    ]
    name = _name(transaction, requirement)
    return " ".join([name, requirement["Comparator"], ", ".join(values)]).strip()


def _nothing() -> Refusal:
    return Refusal(
        "GroupDoesNotExist", "This group of HITs does not exist or is not open to you.", status=404
    )


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


def read_wishes(query: Mapping[str, str], *, sign: str = "$") -> Wishes:
    """Read an address's settings; invalid ones are left out and reported.

    Amounts are in the marketplace's currency, with or without its sign.

    >>> read_wishes({"min": "0.5", "sort": "reward"}).minimum_cents
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


def sift_groups(groups: Sequence[Group], wishes: Wishes) -> Page:
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
