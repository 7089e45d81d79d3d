"""How much of a campaign's work each market has got and done."""

from dataclasses import dataclass
from datetime import datetime

from piecework.domain.ids import AssignmentId
from piecework.store.columns import moment
from piecework.store.database import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketWork:
    """The work of one market; assignments are counted by the slots of their HITs.

    Attributes:
        hits: HITs that were planned for it, without added slots.
        planned: assignments that were ever planned for it.
        open: those of them that are not posted, or whose HIT is not collected.
        collected: assignments that were submitted and fetched.
        first_posted_at: when its first HIT was posted; `None`: none was.
    """

    hits: int
    planned: int
    open: int
    collected: int
    first_posted_at: datetime | None


def by_market(store: Store) -> dict[str, MarketWork]:
    """Return the work of each market that has any HIT; "" for HITs without a market."""
    collected = dict(
        store.db.execute(
            "SELECT market, count(*) FROM assignments JOIN hits USING (hit_id) GROUP BY market"
        )
    )
    rows = store.db.query(
        "SELECT hits.market AS market, "
        "sum(CASE WHEN hits.extends IS NULL THEN 1 ELSE 0 END) AS hits, "
        "sum(hits.max_assignments) AS planned, "
        "sum(CASE WHEN hits.posted_at IS NULL OR whole.collected_at IS NULL "
        "THEN hits.max_assignments ELSE 0 END) AS open, "
        "min(hits.posted_at) AS first_posted_at "
        "FROM hits JOIN hits AS whole "
        "ON whole.hit_key = coalesce(hits.extends, hits.hit_key) "
        "GROUP BY hits.market ORDER BY min(hits.rowid)"
    )
    return {
        row["market"]: MarketWork(
            hits=row["hits"],
            planned=row["planned"],
            open=row["open"],
            collected=collected.get(row["market"], 0),
            first_posted_at=moment(row["first_posted_at"]),
        )
        for row in rows
    }


def of_assignment(store: Store, assignment_id: AssignmentId) -> str:
    """Return the market of an assignment's HIT; "" if it has none or is unknown."""
    row = store.db.execute(
        "SELECT market FROM hits JOIN assignments USING (hit_id) WHERE assignment_id = ?",
        [assignment_id],
    ).fetchone()
    return str(row[0]) if row else ""


def of_worker(store: Store, worker_id: str) -> str:
    """Return the market of a worker's latest assignment; "" if it is not known."""
    row = store.db.execute(
        "SELECT market FROM hits JOIN assignments USING (hit_id) "
        "WHERE worker_id = ? AND market <> '' ORDER BY submitted_at DESC LIMIT 1",
        [worker_id],
    ).fetchone()
    return str(row[0]) if row else ""
