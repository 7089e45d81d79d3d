"""What this marketplace understands beyond the requester API.

Clients that know nothing of it need not. Every reply names the extensions in a header;
who finds none there is talking to another marketplace. An extension is one more member
of an operation's request, and what is added to the operation where it is there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from marketplace.exceptions import does_not_exist, invalid_parameters
from marketplace.requester import hit_types
from marketplace.state import apart
from marketplace.state.transaction import Transaction

HEADERS = {"x-piecework-extensions": "keep-apart list-together prices expected-seconds"}
_PAGE = 100
_YEAR_SECONDS = 31_536_000

Members = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """An operation as it is done without any extension.

    Attributes:
        perform: does it.
        members: of its request, checked.
    """

    perform: Callable[[Transaction, int, Members], Members]
    transaction: Transaction
    requester: int
    members: Members


@dataclass(frozen=True, slots=True, kw_only=True)
class _Extension:
    """One more member of an operation's request.

    Attributes:
        member: its name.
        check: its value as it was sent, or a refusal.
        add: does what it asks for, once the operation itself is done, and adds to the
            members of its reply.
    """

    member: str
    check: Callable[[str, object], Any]
    add: Callable[[Call, Any, Members], None]


def split(operation: str, document: object) -> tuple[object, Any]:
    """A request without its extension, and what that asks for; `None` for nothing.

    Raises:
        Refusal: the member is there and makes no sense.
    """
    extension = _EXTENSIONS.get(operation)
    if (
        extension is None
        or not isinstance(document, dict)
        or extension.member not in document
    ):
        return document, None
    rest = dict(document)
    value = extension.check(extension.member, rest.pop(extension.member))
    return rest, value or None


def carry_out(operation: str, call: Call, asked: Any) -> Members:  # noqa: ANN401 - each its own
    """Do an operation, and what its extension asks for, in one transaction.

    Raises:
        Refusal: as the operation says, or a HIT is unknown, or another requester's.
    """
    reply = call.perform(call.transaction, call.requester, call.members)
    if asked is not None:
        _EXTENSIONS[operation].add(call, asked, reply)
    return reply


def _hit_ids(member: str, value: object, *, most: int) -> list[str]:
    is_list = isinstance(value, list) and all(isinstance(one, str) for one in value)
    if not is_list or not isinstance(value, list) or len(value) > most:
        raise invalid_parameters(f"{member} must be a list of at most {most} HITIds.")
    return value


def _yes_or_no(member: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise invalid_parameters(f"{member} must be true or false.")
    return value


def _seconds(member: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise invalid_parameters(f"{member} must be a whole number of seconds.")
    return hit_types.in_range(member, value, low=1, high=_YEAR_SECONDS)


def _keep_apart(call: Call, hit_ids: list[str], reply: Members) -> None:
    rows = {}
    for hit_id in (reply["HIT"]["HITId"], *hit_ids):
        row = call.transaction.one(
            "SELECT id FROM hits WHERE hit_id = ? AND requester = ?",
            hit_id,
            call.requester,
        )
        if row is None:
            raise does_not_exist("HIT", hit_id)
        rows[hit_id] = int(row["id"])
    made, *others = rows.values()
    apart.keep(call.transaction, made, others)


def _list_together(call: Call, hit_ids: list[str], reply: Members) -> None:
    for hit_id in hit_ids:
        other = {**call.members, "HITId": hit_id, "MaxResults": _PAGE}
        found = call.perform(call.transaction, call.requester, other)["Assignments"]
        reply["Assignments"] = [*reply["Assignments"], *found]
    reply["NumResults"] = len(reply["Assignments"])


def _tell_prices(call: Call, _asked: object, reply: Members) -> None:
    reply["PieceworkPrices"] = call.transaction.prices.members()


def _expect(call: Call, seconds: int, reply: Members) -> None:
    call.transaction.execute(
        "UPDATE hit_types SET expected_seconds = ? "
        "WHERE hit_type_id = ? AND requester = ?",
        seconds,
        reply["HITTypeId"],
        call.requester,
    )


_KEEP_APART = _Extension(
    member="PieceworkKeepApart", check=partial(_hit_ids, most=1000), add=_keep_apart
)
_EXTENSIONS = {
    "CreateHIT": _KEEP_APART,
    "CreateHITWithHITType": _KEEP_APART,
    "CreateHITType": _Extension(
        member="PieceworkExpectedSeconds", check=_seconds, add=_expect
    ),
    "ListAssignmentsForHIT": _Extension(
        member="PieceworkListTogether",
        check=partial(_hit_ids, most=100),
        add=_list_together,
    ),
    "GetAccountBalance": _Extension(
        member="PieceworkPrices", check=_yes_or_no, add=_tell_prices
    ),
}
"""HITs that no worker does besides; how long a HIT of a type takes; HITs whose
assignments follow those of the first; and the price list, beside the balances."""
