"""What this marketplace understands beyond the requester API.

Clients that know nothing of it need not. Every reply names the extensions in a header;
who finds none there is talking to another marketplace.
"""

from collections.abc import Callable
from typing import Any

from marketplace.exceptions import does_not_exist, invalid_parameters
from marketplace.state import apart
from marketplace.state.transaction import Transaction

HEADERS = {"x-piecework-extensions": "keep-apart list-together"}
KEEP_APART = "PieceworkKeepApart"
"""Member of CreateHIT and CreateHITWithHITType: HITs that no worker does besides."""
LIST_TOGETHER = "PieceworkListTogether"
"""Member of ListAssignmentsForHIT: HITs whose assignments follow those of the first."""

_MEMBERS = {
    "CreateHIT": (KEEP_APART, 1000),
    "CreateHITWithHITType": (KEEP_APART, 1000),
    "ListAssignmentsForHIT": (LIST_TOGETHER, 100),
}
_PAGE = 100

Members = dict[str, Any]


def split(operation: str, document: object) -> tuple[object, list[str]]:
    """A request without its extension, and the HITs that this names.

    Raises:
        Refusal: the member is there and is no list of ids.
    """
    name, most = _MEMBERS.get(operation, ("", 0))
    if not isinstance(document, dict) or name not in document:
        return document, []
    rest = dict(document)
    named = rest.pop(name)
    is_list = isinstance(named, list) and all(isinstance(one, str) for one in named)
    if not is_list or len(named) > most:
        raise invalid_parameters(f"{name} must be a list of at most {most} HITIds.")
    return rest, named


def carry_out(
    perform: Callable[[Transaction, int, Members], Members],
    transaction: Transaction,
    requester: int,
    members: Members,
    named: list[str],
) -> Members:
    """Do an operation, and what its extension asks for, in one transaction.

    Raises:
        Refusal: as the operation says, or a HIT is unknown, or another requester's.
    """
    reply = perform(transaction, requester, members)
    if named and "HIT" in reply:
        _keep_apart(transaction, requester, reply, named)
    elif named:
        for hit_id in named:
            other = {**members, "HITId": hit_id, "MaxResults": _PAGE}
            found = perform(transaction, requester, other)["Assignments"]
            reply["Assignments"] = [*reply["Assignments"], *found]
        reply["NumResults"] = len(reply["Assignments"])
    return reply


def _keep_apart(
    transaction: Transaction, requester: int, reply: Members, named: list[str]
) -> None:
    rows = {}
    for hit_id in (reply["HIT"]["HITId"], *named):
        row = transaction.one(
            "SELECT id FROM hits WHERE hit_id = ? AND requester = ?", hit_id, requester
        )
        if row is None:
            raise does_not_exist("HIT", hit_id)
        rows[hit_id] = int(row["id"])
    made, *others = rows.values()
    apart.keep(transaction, made, others)
