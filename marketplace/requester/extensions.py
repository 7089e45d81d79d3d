"""What this marketplace understands beyond the requester API.

Clients that know nothing of it need not. Every reply names the extensions in a header;
who finds none there is talking to another marketplace.
"""

from typing import Any

from marketplace.exceptions import does_not_exist, invalid_parameters
from marketplace.state import apart
from marketplace.state.transaction import Transaction

HEADERS = {"x-piecework-extensions": "keep-apart"}
KEEP_APART = "PieceworkKeepApart"
"""Member of CreateHIT and CreateHITWithHITType: HIT ids of the same requester."""

_MOST = 1000
_OPERATIONS = ("CreateHIT", "CreateHITWithHITType")


def split(operation: str, document: object) -> tuple[object, list[str]]:
    """A request without its extension, and the HITs that its HIT is kept apart from.

    Raises:
        Refusal: the member is there and is no list of ids.
    """
    if operation not in _OPERATIONS or not isinstance(document, dict):
        return document, []
    if KEEP_APART not in document:
        return document, []
    rest = dict(document)
    named = rest.pop(KEEP_APART)
    is_list = isinstance(named, list) and all(isinstance(one, str) for one in named)
    if not is_list or len(named) > _MOST:
        raise invalid_parameters(f"{KEEP_APART} must be a list of {_MOST} HITIds.")
    return rest, named


def keep_apart(
    transaction: Transaction, requester: int, reply: dict[str, Any], named: list[str]
) -> None:
    """Keep the HIT of a reply apart from others, in the transaction that made it.

    Raises:
        Refusal: one of them is unknown, or another requester's.
    """
    if not named:
        return
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
