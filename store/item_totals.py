"""Items by what is accepted about them: kept answers, of so many workers."""

from dataclasses import dataclass

from domain.ids import ItemId, WorkerId
from store.database import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """Answers that were kept about the items of the batches that were begun.

    Attributes:
        accepted: answers that count: one of a worker about an item, and no more of an
            item than wanted.
        surplus: kept answers that do not count.
    """

    accepted: int
    surplus: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lacks:
    """Accepted answers that a batch lacks.

    Attributes:
        answers: over all its items, as far as there are workers to give them.
        least: of the item that lacks fewest, and some.
        out_of_reach: those for which there are no workers.
    """

    answers: int
    least: int
    out_of_reach: int = 0


_EXCLUDED = (
    "SELECT subject_id FROM (SELECT subject_id, verdict, max(decision_id) "
    "FROM decisions WHERE subject_kind = 'worker' GROUP BY subject_id) "
    "WHERE verdict IN ('exclude', 'block')"
)
_LACKING = f"""
SELECT item_id, batch, :wanted - workers AS lacking, max(0, min(:wanted - workers,
    :crowd - (SELECT count(*) FROM (
        SELECT worker_id FROM answers JOIN assignments USING (assignment_id)
        WHERE answers.item_id = items.item_id UNION {_EXCLUDED}
    )))) AS within_reach
FROM items WHERE workers < :wanted
"""
"""A row an item that lacks answers; whoever answered it once is asked no more."""


def count_accepted(store: Store, *, wanted: int) -> Accepted:
    """How many answers count, if so many are wanted of each item."""
    accepted, kept = store.db.execute(
        "SELECT coalesce(sum(min(workers, ?)), 0), coalesce(sum(kept), 0) FROM items",
        [wanted],
    ).fetchone()
    return Accepted(accepted=accepted, surplus=kept - accepted)


def batches_lacking(
    store: Store, *, wanted: int, crowd: int | None = None
) -> dict[int, Lacks]:
    """What each batch lacks; a batch that lacks nothing is absent.

    Args:
        store: the campaign's memory.
        wanted: accepted answers of each item.
        crowd: how many workers there are in all; `None`: as many as it takes.
    """
    if crowd is None:
        rows = store.db.execute(
            "SELECT batch, sum(? - workers), min(? - workers), 0 FROM items "
            "WHERE workers < ? GROUP BY batch",
            [wanted, wanted, wanted],
        )
    else:
        rows = store.db.execute(
            "SELECT batch, sum(within_reach), coalesce(min(nullif(within_reach, 0)), "
            f"0), sum(lacking - within_reach) FROM ({_LACKING}) GROUP BY batch",
            {"wanted": wanted, "crowd": crowd},
        )
    return {
        batch: Lacks(answers=answers, least=least, out_of_reach=out_of_reach)
        for batch, answers, least, out_of_reach in rows
    }


def lacking(
    store: Store, batch: int, *, wanted: int, crowd: int | None = None
) -> dict[ItemId, int]:
    """How many answers each item of a batch lacks that can be had; others absent."""
    if crowd is None:
        rows = store.db.execute(
            "SELECT item_id, ? - workers FROM items WHERE batch = ? AND workers < ?",
            [wanted, batch, wanted],
        )
    else:
        rows = store.db.execute(
            f"SELECT item_id, within_reach FROM ({_LACKING}) "
            "WHERE batch = :batch AND within_reach > 0",
            {"wanted": wanted, "crowd": crowd, "batch": batch},
        )
    return {ItemId(item_id): number for item_id, number in rows}


def excluded(store: Store) -> frozenset[WorkerId]:
    """Workers who are kept out, by the decision in force."""
    return frozenset(WorkerId(one) for (one,) in store.db.execute(_EXCLUDED))
