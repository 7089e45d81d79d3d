"""The open HITs that a bridge recruits for, and the study that recruits now."""

import sqlite3

from piecework.marketplace.state.outside_market import MARKET_OF_HIT_TYPE
from piecework.marketplace.state.transaction import Transaction

_HIT_TYPES = (
    "SELECT hit_types.*, (SELECT max(created_ms) FROM hits WHERE hit_type = "
    "hit_types.id AND status = 'Assignable') AS newest_ms FROM hit_types "
    f"WHERE {MARKET_OF_HIT_TYPE} = ?1 AND (assignable_hits > 0 OR EXISTS "
    "(SELECT 1 FROM studies WHERE studies.hit_type = hit_types.id "
    "AND studies.market = ?1 AND stage <> 'Retired' "
    "AND qualification_type IS NULL)) ORDER BY id"
)
_FREE_SLOTS = (
    "SELECT max_assignments - accepted - submitted - approved - rejected AS free, "
    "count(*) AS hits FROM hits WHERE hit_type = ? AND status = 'Assignable' "
    "GROUP BY free"
)
_STUDY = (
    "SELECT * FROM studies WHERE hit_type = ? AND market = ? "
    "AND stage <> 'Retired' AND qualification_type IS NULL ORDER BY id DESC LIMIT 1"
)


def hit_types(transaction: Transaction, market: str) -> list[sqlite3.Row]:
    """Return a market's HIT types with work or a study.

    `newest_ms` is their last post.
    """
    return transaction.all(_HIT_TYPES, market)


def free_slots(transaction: Transaction, hit_type: int) -> dict[int, int]:
    """Return the number of open HITs of a type by number of free slots."""
    rows = transaction.all(_FREE_SLOTS, hit_type)
    return {row["free"]: row["hits"] for row in rows}


def present_study(transaction: Transaction, hit_type: int, market: str) -> sqlite3.Row | None:
    """Return the latest study of a HIT type at a market that is not retired."""
    return transaction.first_row(_STUDY, hit_type, market)
