"""Collections: pages of instructions that are the same for all participants."""

import json
import sqlite3
from typing import Any

from pydantic import Field

from offline_markets.core.clock import iso
from offline_markets.core.errors import not_found, wrong
from offline_markets.prolific.beyond.task_builder import exports, items
from offline_markets.prolific.body import Closed, Text, read
from offline_markets.prolific.call import Call
from offline_markets.prolific.operation import Operation
from offline_markets.prolific.pages import listing
from offline_markets.prolific.state import State
from offline_markets.prolific.workspaces import workspace_row

_VERSION = "1"


class TaskDetails(Closed):
    """What participants read before the first page."""

    task_name: Text
    task_introduction: str
    task_steps: str


class _Page(Closed):
    id: str | None = None
    order: int | None = None
    page_items: list[dict[str, Any]] = Field(min_length=1)


class _Content(Closed):
    name: Text
    task_details: TaskDetails
    collection_items: list[_Page] = Field(min_length=1)


class _NewCollection(_Content):
    workspace_id: Text


def list_collections(call: Call) -> dict[str, Any]:
    """List the collections of a workspace."""
    workspace_id = workspace_row(call.state, call.query.get("workspace_id", ""))["id"]
    return listing(
        call,
        "collection WHERE workspace_id = ?",
        [workspace_id],
        render=lambda row: _document(call.state, row),
    )


def create(call: Call) -> dict[str, Any]:
    """Create a collection."""
    content = read(_NewCollection, call)
    workspace_row(call.state, content.workspace_id)
    collection_id = call.state.new_uuid()
    pages = _pages(call.state, content, collection_id, {})
    call.state.conn.execute(
        "INSERT INTO collection (id, workspace_id, name, task_details, pages, "
        "created_ms, modified_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)",
        (
            collection_id,
            content.workspace_id,
            content.name,
            content.task_details.model_dump_json(),
            json.dumps(pages),
            call.state.now_ms,
        ),
    )
    return _document(call.state, collection_row(call.state, collection_id))


def get(call: Call) -> dict[str, Any]:
    """Return one collection."""
    row = collection_row(call.state, call.path["collection_id"])
    return _document(call.state, row)


def update(call: Call) -> dict[str, Any]:
    """Replace a collection's content; what is sent with its id stays the same item."""
    row = collection_row(call.state, call.path["collection_id"])
    content = read(_Content, call)
    known = {
        part["id"]: part
        for page in json.loads(row["pages"])
        for part in (page, *page["page_items"])
    }
    pages = _pages(call.state, content, row["id"], known)
    call.state.conn.execute(
        "UPDATE collection SET name = ?, task_details = ?, pages = ?, modified_ms = ? WHERE id = ?",
        (
            content.name,
            content.task_details.model_dump_json(),
            json.dumps(pages),
            call.state.now_ms,
            row["id"],
        ),
    )
    return _document(call.state, collection_row(call.state, row["id"]))


def list_responses(call: Call) -> dict[str, Any]:
    """List the answers to a collection."""
    row = collection_row(call.state, call.path["collection_id"])
    return listing(
        call,
        "task_response JOIN submission ON submission.id = submission_id WHERE parent_id = ?",
        [row["id"]],
        render=lambda each: {**exports.shared(each), "collection_id": row["id"]},
        columns=exports.COLUMNS,
        ordering="task_response.number",
    )


def request_export(call: Call) -> object:
    """Begin an export of all answers, or return the one that is ready."""
    row = collection_row(call.state, call.path["collection_id"])
    return exports.request(call, row["id"])


def export_status(call: Call) -> dict[str, Any]:
    """Return whether an export is ready, and from where."""
    row = collection_row(call.state, call.path["collection_id"])
    return exports.status(call, row["id"])


def collection_row(state: State, collection_id: str) -> sqlite3.Row:
    """Return the row of a collection.

    Raises:
        ApiError: it does not exist.
    """
    row = state.row("SELECT * FROM collection WHERE id = ?", (collection_id,))
    if row is None:
        raise not_found("collection", collection_id)
    return row


def questions(row: sqlite3.Row) -> list[dict[str, Any]]:
    """Return what a collection asks, in order."""
    return [
        item
        for page in json.loads(row["pages"])
        for item in page["page_items"]
        if items.is_question(item)
    ]


def _pages(
    state: State, content: _Content, collection_id: str, known: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return the pages as they are stored: with ids, times and what belongs to what."""
    pages = []
    for page in content.collection_items:
        own = {**_made(state, page.id, known), "schema_version": _VERSION}
        inner = [
            _item(state, sent, known, page_id=own["id"], parent_id=collection_id, at=at)
            for at, sent in enumerate(page.page_items)
        ]
        pages.append({**own, "page_items": inner})
    return pages


def _item(
    state: State,
    sent: dict[str, Any],
    known: dict[str, Any],
    *,
    page_id: str,
    parent_id: str,
    at: int,
) -> dict[str, Any]:
    try:
        item = items.read_item(state, sent)
    except items.InvalidItemError as fault:
        raise wrong("collection_items", f"Item {at} of a page: {fault}.") from fault
    made = {**_made(state, item.get("id"), known), "parent_type": "collection"}
    if items.is_question(item):
        return {"order": at, **item, **made, "parent_id": parent_id}
    item.pop("order", None)
    return {**item, **made, "parent_id": page_id, "schema_version": _VERSION}


def _made(state: State, asked_id: str | None, known: dict[str, Any]) -> dict[str, Any]:
    """Return the id of a page or an item, and who made it when."""
    kept = known.get(asked_id or "")
    if kept is not None:
        return {name: kept[name] for name in ("id", "created_at", "created_by")}
    return {"id": state.new_uuid(), "created_at": iso(state.now_ms), "created_by": state.user_id}


def _document(state: State, row: sqlite3.Row) -> dict[str, Any]:
    return {
        "id": row["id"],
        "schema_version": _VERSION,
        "created_at": iso(row["created_ms"]),
        "created_by": state.user_id,
        "workspace_id": row["workspace_id"],
        "name": row["name"],
        "task_details": json.loads(row["task_details"]),
        "collection_items": json.loads(row["pages"]),
        "last_modified_at": iso(row["modified_ms"]),
        "last_modified_by": state.user_id,
    }


_COLLECTIONS = "/data-collection/collections"
_COLLECTION = f"{_COLLECTIONS}/{{collection_id}}"

OPERATIONS = (
    Operation("list-collections", "GET", _COLLECTIONS, list_collections),
    Operation("create-collection", "POST", _COLLECTIONS, create, 201),
    Operation("get-collection", "GET", _COLLECTION, get),
    Operation("update-collection", "PUT", _COLLECTION, update),
    Operation("get-collection-responses", "GET", f"{_COLLECTION}/responses", list_responses),
    Operation("request-collection-export", "POST", f"{_COLLECTION}/export", request_export),
    Operation(
        "get-collection-export-status", "GET", f"{_COLLECTION}/export/{{export_id}}", export_status
    ),
)
