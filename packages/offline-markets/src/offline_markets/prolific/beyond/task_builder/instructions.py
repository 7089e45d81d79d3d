"""What a batch asks: its layout, or instructions sent for it alone.

Prolific ends the addresses for instructions alone, and says so in two headers.
"""

import json
import sqlite3
from typing import Any

from offline_markets.core.clock import iso
from offline_markets.core.errors import ApiError, not_found, wrong
from offline_markets.prolific.beyond.task_builder import items, layouts
from offline_markets.prolific.call import Call, WithHeaders
from offline_markets.prolific.operation import Operation

_HEADERS = {"Deprecation": "true", "Sunset": "Tue, 01 Sep 2026 23:59:59 GMT"}


def list_instructions(call: Call) -> WithHeaders:
    """List a batch's instructions."""
    asked = json.loads(batch_row(call)["instructions"])
    return WithHeaders({"results": asked, "meta": {"count": len(asked)}}, _HEADERS)


def create(call: Call) -> WithHeaders:
    """Give a batch its instructions."""
    row = batch_row(call)
    if json.loads(row["instructions"]):
        raise ApiError(400, "The batch has instructions; replace them with PUT.")
    return _stored(call, row)


def replace(call: Call) -> WithHeaders:
    """Replace a batch's instructions; what is sent with its id stays the same."""
    return _stored(call, batch_row(call))


def batch_row(call: Call) -> sqlite3.Row:
    """Return the row of the batch in a call's address.

    Raises:
        ApiError: it does not exist.
    """
    batch_id = call.path["batch_id"]
    row = call.state.row("SELECT * FROM batch WHERE id = ?", (batch_id,))
    if row is None:
        raise not_found("batch", batch_id)
    return row


def questions(row: sqlite3.Row) -> list[dict[str, Any]]:
    """Return what a batch asks about each row of its dataset, in order."""
    if row["layout"] is None:
        asked: list[dict[str, Any]] = json.loads(row["instructions"])
        return asked
    return [
        part
        for part in layouts.parts_of(json.loads(row["layout"]))
        if "type" in part and items.is_question(part)
    ]


def _stored(call: Call, row: sqlite3.Row) -> WithHeaders:
    call.only("instructions")
    if row["layout"] is not None:
        raise ApiError(400, "The batch has batch_items; change those instead.")
    sent = call.body.get("instructions")
    if not isinstance(sent, list) or not sent:
        raise wrong("instructions", "A list with at least one instruction.")
    known = {each["id"]: each for each in json.loads(row["instructions"])}
    asked = [_read(call, row["id"], part, known, at) for at, part in enumerate(sent)]
    call.state.conn.execute(
        "UPDATE batch SET instructions = ? WHERE id = ?", (json.dumps(asked), row["id"])
    )
    return WithHeaders(asked, _HEADERS)


def _read(
    call: Call, batch_id: str, sent: object, known: dict[str, Any], at: int
) -> dict[str, Any]:
    try:
        item = items.read_item(call.state, sent)
    except items.InvalidItemError as fault:
        raise wrong("instructions", f"Instruction {at}: {fault}.") from fault
    if not items.is_question(item):
        raise wrong("instructions", f"Instruction {at}: {item['type']} asks nothing.")
    item.pop("order", None)
    kept = known.get(item.get("id", ""))
    return {
        **item,
        "id": kept["id"] if kept else call.state.new_uuid(),
        "created_at": kept["created_at"] if kept else iso(call.state.now_ms),
        "created_by": call.state.user_id,
        "parent_id": batch_id,
        "parent_type": "batch",
    }


_INSTRUCTIONS = "/data-collection/batches/{batch_id}/instructions"

OPERATIONS = (
    Operation("get-task-builder-instructions", "GET", _INSTRUCTIONS, list_instructions),
    Operation("create-task-builder-instructions", "POST", _INSTRUCTIONS, create, 201),
    Operation("update-task-builder-instructions", "PUT", _INSTRUCTIONS, replace),
)
