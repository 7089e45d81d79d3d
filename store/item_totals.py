"""Items by what is accepted about them: kept answers, of so many workers."""

from dataclasses import dataclass

from domain.ids import ItemId
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
        answers: over all its items.
        least: of the item that lacks fewest, and some.
    """

    answers: int
    least: int


def count_accepted(store: Store, *, wanted: int) -> Accepted:
    """How many answers count, if so many are wanted of each item."""
    accepted, kept = store.db.execute(
        "SELECT coalesce(sum(min(workers, ?)), 0), coalesce(sum(kept), 0) FROM items",
        [wanted],
    ).fetchone()
    return Accepted(accepted=accepted, surplus=kept - accepted)


def batches_lacking(store: Store, *, wanted: int) -> dict[int, Lacks]:
    """What each batch lacks; a batch that lacks nothing is absent."""
    rows = store.db.execute(
        "SELECT batch, sum(? - workers), min(? - workers) FROM items "
        "WHERE workers < ? GROUP BY batch",
        [wanted, wanted, wanted],
    )
    return {
        batch: Lacks(answers=answers, least=least) for batch, answers, least in rows
    }


def lacking(store: Store, batch: int, *, wanted: int) -> dict[ItemId, int]:
    """How many accepted answers each item of a batch lacks; complete ones absent."""
    rows = store.db.execute(
        "SELECT item_id, ? - workers FROM items WHERE batch = ? AND workers < ?",
        [wanted, batch, wanted],
    )
    return {ItemId(item_id): number for item_id, number in rows}
