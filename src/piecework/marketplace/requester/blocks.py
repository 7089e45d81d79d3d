"""Worker blocks: the hard kind, which hides all of a requester's HITs."""

from typing import Any

from piecework.marketplace.exceptions import request_error
from piecework.marketplace.requester.paging import page
from piecework.marketplace.state import accounts
from piecework.marketplace.state.transaction import Transaction

MOST_BLOCKS = 100_000

Members = dict[str, Any]


def create_worker_block(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """CreateWorkerBlock: a repeat replaces the reason."""
    worker = accounts.find_worker(transaction, members["WorkerId"])
    count = transaction.first_row("SELECT count(*) FROM blocks WHERE requester = ?", requester)
    if count is not None and count[0] >= MOST_BLOCKS:
        raise request_error(
            "PermissionDenied", f"A requester may block at most {MOST_BLOCKS} workers."
        )
    transaction.execute(
        "INSERT INTO blocks (requester, worker, reason) VALUES (?, ?, ?) "
        "ON CONFLICT (requester, worker) DO UPDATE SET reason = excluded.reason",
        requester,
        worker["id"],
        members["Reason"],
    )
    return {}


def delete_worker_block(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """DeleteWorkerBlock: succeeds even if the worker is not blocked."""
    worker = accounts.find_worker(transaction, members["WorkerId"])
    transaction.execute(
        "DELETE FROM blocks WHERE requester = ? AND worker = ?", requester, worker["id"]
    )
    return {}


def list_worker_blocks(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """ListWorkerBlocks: oldest first."""
    wanted = page(transaction, requester, members, operation="ListWorkerBlocks")
    rows = transaction.all(
        "SELECT blocks.id, blocks.reason, workers.worker_id FROM blocks "
        "JOIN workers ON workers.id = blocks.worker "
        "WHERE blocks.requester = ? AND blocks.id > ? ORDER BY blocks.id LIMIT ?",
        requester,
        wanted.after[0] if wanted.after else 0,
        wanted.size,
    )
    return {
        **wanted.answer(rows),
        "WorkerBlocks": [{"WorkerId": row["worker_id"], "Reason": row["reason"]} for row in rows],
    }
