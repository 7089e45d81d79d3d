"""Layouts and instructions of tasks.

Prolific ends the addresses for instructions alone, and says so in two headers.

All items that do not fit are reported at once, each with its place.
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any

from offline_markets.core.clock import iso
from offline_markets.core.errors import ApiError, not_found, wrong
from offline_markets.prolific.beyond.task_builder import items
from offline_markets.prolific.beyond.task_builder.records import DataSchema
from offline_markets.prolific.call import Call, DocumentedError, WithHeaders
from offline_markets.prolific.operation import Operation
from offline_markets.prolific.state import State

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
        for part in parts_of(json.loads(row["layout"]))
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


_UNPROCESSABLE = 422
_MOST_COLUMNS = 2
_SHOWN = ("text", "image_url")


def read_layout(
    state: State,
    sent: list[Any],
    *,
    dataset: sqlite3.Row | None,
    known: frozenset[str] = frozenset(),
) -> list[dict[str, Any]]:
    """Return a layout as it is stored, with an id for each part.

    Args:
        state: the emulator's memory.
        sent: the pages as the researcher wrote them.
        dataset: the batch's dataset, whose fields may be shown.
        known: the ids of the layout so far, which parts may keep.

    Raises:
        DocumentedError: items do not fit (422); the answer says where each stands.
        ApiError: a page, a row or a column is not what it has to be (400).
    """
    types = _types(dataset)
    issues, pages = list[dict[str, Any]](), []
    for page_at, page in enumerate(sent):
        shown = set[str]()
        rows = []
        for row_at, row in enumerate(_parts(page, "rows")):
            columns = []
            inner = _parts(row, "columns")
            if len(inner) > _MOST_COLUMNS:
                sentence = f"A row has at most {_MOST_COLUMNS} columns."
                raise wrong("batch_items", sentence)
            for column_at, column in enumerate(inner):
                kept = []
                for item_at, item in enumerate(_parts(column, "items")):
                    read = _Reading(state, types, shown, known)
                    try:
                        kept.append(read.item(item))
                    except items.InvalidItemError as fault:
                        place = (page_at, row_at, column_at, item_at)
                        issues.append(_issue(place, item, str(fault)))
                columns.append({**_own_id(state, column, known), "items": kept})
            rows.append({**_own_id(state, row, known), "columns": columns})
        pages.append({**_own_id(state, page, known), "rows": rows})
    if issues:
        raise DocumentedError(
            _UNPROCESSABLE,
            {
                "type": "INVALID_BATCH_ITEMS",
                "message": "Some batch_items are invalid.",
                "issues": issues,
            },
        )
    return pages


def parts_of(layout: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the pages, rows, columns and items of a layout."""
    for page in layout:
        yield page
        for row in page["rows"]:
            yield row
            for column in row["columns"]:
                yield column
                yield from column["items"]


class _Reading:
    """Reads the items of one page."""

    def __init__(
        self, state: State, types: Mapping[str, str] | None, shown: set[str], known: frozenset[str]
    ) -> None:
        self._state, self._types, self._shown = state, types, shown
        self._known = known

    def item(self, sent: object) -> dict[str, Any]:
        """Return an item as it is stored.

        Raises:
            InvalidItemError: it does not fit.
        """
        item = items.read_item(self._state, sent, with_data=True)
        if item["type"] == "dataset_field":
            self._check_field(item["field"])
        return {**item, **_own_id(self._state, item, self._known)}

    def _check_field(self, field: str) -> None:
        if self._types is None:
            raise items.InvalidItemError("No dataset with a schema is attached.")
        if self._types.get(field) not in _SHOWN:
            raise items.InvalidItemError(f"{field} is not a text or an image of the dataset.")
        if field in self._shown:
            raise items.InvalidItemError(f"{field} is on this page already.")
        self._shown.add(field)


def _types(dataset: sqlite3.Row | None) -> Mapping[str, str] | None:
    if dataset is None or dataset["fields"] is None:
        return None
    return DataSchema.model_validate_json(dataset["fields"]).types()


def _parts(part: object, name: str) -> list[Any]:
    inner = part.get(name) if isinstance(part, dict) else None
    if not isinstance(inner, list) or not inner:
        raise wrong("batch_items", f"{name} is a list with at least one entry.")
    return inner


def _own_id(state: State, part: Mapping[str, Any], known: frozenset[str]) -> dict[str, str]:
    asked = part.get("id")
    keeps = isinstance(asked, str) and asked in known
    return {"id": str(asked) if keeps else state.new_uuid()}


def _issue(place: tuple[int, ...], item: object, message: str) -> dict[str, Any]:
    kind = item.get("type") if isinstance(item, dict) else None
    issue = {
        **dict(zip(("page", "row", "column", "item"), place, strict=True)),
        "type": str(kind),
        "message": message,
    }
    field = item.get("field") if isinstance(item, dict) else None
    return {**issue, "field": str(field)} if kind == "dataset_field" else issue
