"""Totals by item: how many answers are kept, and from how many workers."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from piecework.domain.campaign import Posting
from piecework.domain.ids import ItemId, WorkerId
from piecework.store.database import Store, writing
from piecework.store.settlements import PAID_ALREADY


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """Kept answers to the items of the batches that were begun.

    Attributes:
        items: items that were begun.
        wanted: answers that these items want now.
        accepted: answers that count: one per worker and item, and no more per item than
            wanted.
        surplus: kept answers that do not count.
        unsure: items that are asked again because they are not sure.
    """

    items: int
    wanted: int
    accepted: int
    surplus: int
    unsure: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lacks:
    """Accepted answers that a batch lacks.

    Attributes:
        answers: over all its items, as far as there are workers to give them.
        least: answers lacking for the item that lacks fewest (but at least one).
        out_of_reach: lacking answers that no worker is left to give.
        unsure: items that are asked again because they are not sure.
    """

    answers: int
    least: int
    out_of_reach: int = 0
    unsure: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """How sure an item's label is, and how many answers the item wants.

    Attributes:
        probability: probability of the likeliest label, by all kept answers.
        wanted: accepted answers that the item wants now.
    """

    probability: float
    wanted: int


_WANTED = "min(coalesce(wanted, :least), :most)"
"""SQL for the answers that an item wants; a campaign file may lower `most`."""

_COUNTS = f"iif(closed IN ('withdrawn', 'replaced'), min(workers, {_WANTED}), {_WANTED})"
"""SQL for the answers that count as wanted: none more of an item whose row is gone."""

_LACKS = f"workers < {_WANTED} AND closed IS NULL"
"""SQL for items that may be asked again."""

_UNSURE = f"workers < {_WANTED} AND {_WANTED} > :least AND workers = {_WANTED} - 1"
"""SQL for unsure items. An item that also lost answers does not count here: it lacks
those first."""

_ALIKE = (
    "(SELECT batch, nullif(wanted, 0) AS wanted, workers, nullif(closed, '') AS closed,"
    " items, kept FROM item_counts) AS alike"
)
"""SQL for groups of items that are alike, with `items` and `kept` answers in each."""

_EXCLUDED = (
    "SELECT subject_id FROM decisions WHERE verdict IN ('exclude', 'block') "
    "AND decision_id IN (SELECT max(decision_id) FROM decisions "
    "WHERE subject_kind = 'worker' GROUP BY subject_id)"
)
_LACKING = f"""
SELECT item_id, batch, {_WANTED} - workers AS lacking,
    iif({_UNSURE}, 1, 0) AS unsure,
    max(0, min({_WANTED} - workers, :crowd - (SELECT count(*) FROM (
        SELECT worker_id FROM answers JOIN assignments USING (assignment_id)
        WHERE answers.item_id = items.item_id UNION {_EXCLUDED}
    ) AS unusable))) AS within_reach
FROM (SELECT DISTINCT batch AS lacking_batch, workers AS few FROM {_ALIKE}
    WHERE {_LACKS}) AS groups
CROSS JOIN items WHERE batch = lacking_batch AND workers = few AND {_LACKS}
"""
"""One row per item that lacks answers; no worker answers the same item twice."""


def count_accepted(store: Store, posting: Posting) -> Accepted:
    """Count accepted and surplus answers, given how many each item wants."""
    items, wanted, accepted, kept, unsure = store.db.execute(
        f"SELECT coalesce(sum(items), 0), coalesce(sum(items * {_COUNTS}), 0), "
        f"coalesce(sum(items * min(workers, {_WANTED})), 0), coalesce(sum(kept), 0), "
        f"coalesce(sum(iif({_UNSURE}, items, 0)), 0) FROM {_ALIKE}",
        _range(posting),
    ).fetchone()
    return Accepted(
        items=items, wanted=wanted, accepted=accepted, surplus=kept - accepted, unsure=unsure
    )


def batches_lacking(
    store: Store, posting: Posting, *, crowd: int | None = None
) -> dict[int, Lacks]:
    """Return what each batch lacks; complete batches are absent.

    Args:
        store: the campaign's memory.
        posting: how many answers an item wants.
        crowd: how many workers there are in all; `None`: no limit.
    """
    if crowd is None:
        rows = store.db.execute(
            f"SELECT batch, sum(items * ({_WANTED} - workers)), "
            f"min({_WANTED} - workers), 0, sum(iif({_UNSURE}, items, 0)) "
            f"FROM {_ALIKE} WHERE {_LACKS} GROUP BY batch ORDER BY batch",
            _range(posting),
        )
    else:
        rows = store.db.execute(
            "SELECT batch, sum(within_reach), coalesce(min(nullif(within_reach, 0)), "
            "0), sum(lacking - within_reach), sum(unsure) "
            f"FROM ({_LACKING}) AS lacks GROUP BY batch ORDER BY batch",
            {**_range(posting), "crowd": crowd},
        )
    return {
        batch: Lacks(answers=answers, least=least, out_of_reach=out_of_reach, unsure=unsure)
        for batch, answers, least, out_of_reach, unsure in rows
    }


def lacking(
    store: Store, batch: int, posting: Posting, *, crowd: int | None = None
) -> dict[ItemId, int]:
    """Return how many obtainable answers each item of a batch lacks, if any."""
    if crowd is None:
        rows = store.db.execute(
            f"SELECT item_id, {_WANTED} - workers FROM items WHERE batch = :batch AND {_LACKS}",
            {**_range(posting), "batch": batch},
        )
    else:
        rows = store.db.execute(
            f"SELECT item_id, within_reach FROM ({_LACKING}) AS lacks "
            "WHERE batch = :batch AND within_reach > 0",
            {**_range(posting), "crowd": crowd, "batch": batch},
        )
    return {ItemId(item_id): number for item_id, number in rows}


def count_beyond_budget(store: Store, posting: Posting) -> int:
    """Return the answers that items lack that are asked no more for their budget."""
    (answers,) = store.db.execute(
        f"SELECT coalesce(sum(items * ({_WANTED} - workers)), 0) FROM {_ALIKE} "
        f"WHERE closed = 'budget' AND workers < {_WANTED}",
        _range(posting),
    ).fetchone()
    return int(answers)


def wanted(store: Store, posting: Posting) -> dict[ItemId, int]:
    """Return how many answers each item wants, if more than the least."""
    rows = store.db.execute(
        f"SELECT item_id, {_WANTED} FROM items WHERE {_WANTED} > :least ORDER BY item_id",
        _range(posting),
    )
    return {ItemId(item_id): number for item_id, number in rows}


def to_weigh(store: Store, posting: Posting) -> dict[ItemId, int]:
    """Return complete items with labels that were not weighed yet.

    Unsure items are included if the campaign file now asks for more certainty.

    Returns:
        By item, from how many workers answers are kept.
    """
    if posting.as_needed is None:
        return {}
    rows = store.db.execute(
        # Per number of workers, the index has the unweighed and then the unsure items.
        f"WITH numbers (enough) AS (SELECT DISTINCT workers FROM {_ALIKE} "
        f"WHERE workers >= {_WANTED} AND closed IS NULL) "
        "SELECT item_id, workers FROM numbers CROSS JOIN items WHERE workers = enough "
        f"AND closed IS NULL AND workers >= {_WANTED} AND probability IS NULL "
        "UNION ALL "
        "SELECT item_id, workers FROM numbers CROSS JOIN items WHERE workers = enough "
        f"AND closed IS NULL AND workers >= {_WANTED} AND probability < :until "
        "AND workers < :most",
        {**_range(posting), "until": posting.as_needed.until},
    )
    return {ItemId(item_id): workers for item_id, workers in rows}


def answered(store: Store, posting: Posting, item_ids: Iterable[ItemId]) -> frozenset[ItemId]:
    """Return which of these items are complete and sure enough, or closed."""
    rows = store.db.execute(
        "SELECT item_id FROM json_each(:items) AS listed JOIN items ON item_id = value "
        f"WHERE closed IS NOT NULL OR workers >= {_WANTED} "
        "AND (CAST(:until AS DOUBLE PRECISION) IS NULL "
        "OR probability >= :until OR workers >= :most)",
        {
            **_range(posting),
            "items": json.dumps(list(item_ids)),
            "until": posting.as_needed.until if posting.as_needed else None,
        },
    )
    return frozenset(ItemId(item_id) for (item_id,) in rows)


def close_beyond_budget(store: Store, item_ids: Iterable[ItemId]) -> None:
    """Ask these items no more: their budget is spent."""
    with store.db.atomic():
        store.db.execute(
            "UPDATE items SET closed = 'budget' "
            "WHERE closed IS NULL AND item_id IN (SELECT value FROM json_each(?))",
            [json.dumps(list(item_ids))],
        )


def any_beyond_budget(store: Store) -> bool:
    """Return whether items are asked no more for their budget."""
    row = store.db.execute(f"SELECT 1 FROM {_ALIKE} WHERE closed = 'budget' LIMIT 1").fetchone()
    return row is not None


def reopen_within_budget(store: Store) -> None:
    """Ask again what was closed for its budget, because that has changed."""
    with store.db.atomic():
        store.db.execute("UPDATE items SET closed = NULL WHERE closed = 'budget'")


def spent_by_item(store: Store, batch: int) -> dict[ItemId, float]:
    """Return what each item of a batch has cost so far, in cents.

    That is its share of reward and fee of each assignment that was not rejected, or too
    late, of the HITs that show it.
    """
    rows = store.db.execute(
        "SELECT value, sum(each) FROM (SELECT item_ids, "
        "1.0 * (reward_cents + fee_cents) * (SELECT count(*) FROM assignments "
        "WHERE assignments.hit_id = hits.hit_id "
        "AND (verdict IS DISTINCT FROM 'reject' OR outcome = ?)) "
        "/ json_array_length(item_ids) AS each "
        "FROM hits WHERE batch = ? AND hit_id IS NOT NULL) AS costs, "
        "json_each(costs.item_ids) AS shown "
        "GROUP BY value ORDER BY value",
        [PAID_ALREADY, batch],
    )
    return {ItemId(item_id): cents for item_id, cents in rows}


def keep_weighed(store: Store, weighed_items: Mapping[ItemId, Weighed]) -> None:
    """Store how sure labels are and how many answers are wanted, at once."""
    with writing(store):
        store.db.executemany(
            "UPDATE items SET wanted = :wanted, probability = :probability WHERE item_id = :item",
            [
                {"item": item_id, "wanted": weighed.wanted, "probability": weighed.probability}
                for item_id, weighed in weighed_items.items()
            ],
        )


def forget_weighed(store: Store) -> int:
    """Let all labels be weighed again; return how many were weighed.

    Answers that are wanted stay so: their HITs may be posted.
    """
    with writing(store):
        return store.db.execute(
            "UPDATE items SET probability = NULL WHERE probability IS NOT NULL AND closed IS NULL"
        ).rowcount


def sureness(store: Store) -> list[tuple[int, float]]:
    """Return the number of workers and the label's probability of each weighed item.

    Labels that were known beforehand are certain, so they are left out.
    """
    rows = store.db.execute(
        "SELECT workers, probability FROM items WHERE probability < 1 ORDER BY item_id"
    )
    return rows.fetchall()


def excluded(store: Store) -> frozenset[WorkerId]:
    """Return workers who are kept out, by the decision in force."""
    return frozenset(WorkerId(worker_id) for (worker_id,) in store.db.execute(_EXCLUDED))


def _range(posting: Posting) -> dict[str, int]:
    return {"least": posting.assignments, "most": posting.most}
