"""What holds for a campaign as a whole: its prices, stop, inputs, types, notes of passes.

Each is a row or a few. None of them is about one HIT, answer or worker. Every stop stays
in its table, so that a report can say when no HITs were posted. Another process may write
a stop during a pass; the pass reads it before each HIT. Of the inputs that passes used,
each change is kept, so that dataset and report name the file that decided the answers,
not the file as it is when they are written.
"""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from piecework.domain.errors import StoreError
from piecework.domain.ids import HitTypeId
from piecework.domain.inputs import Inputs
from piecework.domain.money import CrowdPrices, FeeSchedule, PriceList
from piecework.store.database import Store, from_text, insert, to_text

Note = Literal[
    "judging_digest",
    "caps_digest",
    "rendered_task_digest",
    "typing_digest",
    "models_digest",
    "verified_approvals",
    "exclusion_lost_at",
    "outside_unsettled",
    "refused_markets",
    "is_adopting",
    "exported_batch",
    "campaign_file",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class PassNotes:
    """The notes; `None` for those that were never made.

    Attributes:
        judging_digest: digest of everything that the last judging depended on.
        caps_digest: digest of the prices and caps that were last found to fit.
        rendered_task_digest: digest of the requester's own task when all its pages were
            rendered.
        typing_digest: digest of the task by which imported answers were typed.
        models_digest: digest of the labels of models in the last pass.
        verified_approvals: how many approvals there were when a sample of them was last
            checked.
        exclusion_lost_at: when a qualification type of excluded workers was last found
            deleted. HITs that were posted before may require it, and keep nobody out.
        outside_unsettled: visits and bonuses that another market had not settled at the
            last check.
        refused_markets: why a market refused HITs in the last pass, by market.
        is_adopting: HITs of this store may be on the platform and not in the store.
        exported_batch: the last batch that was settled when a campaign that grows wrote
            its results; 0 if it never did.
        campaign_file: path of the campaign file of the last pass, on its machine.
    """

    judging_digest: str | None
    caps_digest: str | None
    rendered_task_digest: str | None
    typing_digest: str | None
    models_digest: str | None
    verified_approvals: int | None
    exclusion_lost_at: datetime | None
    outside_unsettled: int
    refused_markets: Mapping[str, str]
    is_adopting: bool
    exported_batch: int
    campaign_file: str | None


def read_notes(store: Store) -> PassNotes:
    """Return the current notes."""
    (row,) = store.db.query("SELECT * FROM pass_notes")
    del row["only_row"]
    refused = json.loads(row["refused_markets"])
    lost_at = row["exclusion_lost_at"]
    return PassNotes(
        **{
            **row,
            "exclusion_lost_at": from_text(lost_at) if lost_at else None,
            "is_adopting": bool(row["is_adopting"]),
            "refused_markets": refused,
        }
    )


def keep_note(store: Store, note: Note, value: str | int) -> None:
    """Store a note."""
    store.db.execute(f"UPDATE pass_notes SET {note} = ?", [value])


def record_stop(store: Store, *, at: datetime) -> bool:
    """Record that no more HITs are to be posted; return whether that is new."""
    with store.db.atomic():
        written = store.db.execute(
            "INSERT INTO stops (stopped_at) SELECT ? "
            "WHERE NOT EXISTS (SELECT 1 FROM stops WHERE undone_at IS NULL)",
            [to_text(at)],
        )
    return bool(written.rowcount)


def undo_stop(store: Store, *, at: datetime) -> bool:
    """Let the campaign continue; return whether it was stopped."""
    with store.db.atomic():
        written = store.db.execute(
            "UPDATE stops SET undone_at = ? WHERE undone_at IS NULL", [to_text(at)]
        )
    return bool(written.rowcount)


def stopped_at(store: Store) -> datetime | None:
    """Return since when the campaign is stopped; `None` if it is not."""
    row = store.db.execute("SELECT stopped_at FROM stops WHERE undone_at IS NULL").fetchone()
    return from_text(row[0]) if row else None


def read_stops(store: Store) -> tuple[bool, int]:
    """Return whether the campaign is stopped, and how often it was and continued."""
    stops, undone = store.db.execute("SELECT count(*), count(undone_at) FROM stops").fetchone()
    return stops > undone, undone


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedInputs:
    """Inputs, and the time of the first pass that used them."""

    since: datetime
    inputs: Inputs


def record_inputs(
    store: Store, inputs: Inputs, *, completed: Callable[[], str], at: datetime
) -> None:
    """Record what a pass uses, unless the pass before used the same.

    Args:
        store: the campaign's memory.
        inputs: what the pass uses.
        completed: returns the campaign file with what it leaves out; asked if that is new.
        at: the time of the pass.
    """
    if (last := latest_inputs(store)) is not None and not last.changed_digests(inputs):
        return
    row = {
        "since": to_text(at),
        "file_text": inputs.text,
        "complete_text": completed(),
        "digests": json.dumps(dict(inputs.digests)),
    }
    with store.db.atomic():
        insert(store, "used_inputs", [row])


def read_inputs(store: Store) -> tuple[UsedInputs, ...]:
    """Return what the passes used, the first first; () before the first pass."""
    rows = store.db.query("SELECT * FROM used_inputs ORDER BY number")
    return tuple(
        UsedInputs(
            since=datetime.fromisoformat(row["since"]),
            inputs=Inputs(
                text=row["file_text"],
                complete=row["complete_text"],
                digests=json.loads(row["digests"]),
            ),
        )
        for row in rows
    )


def latest_inputs(store: Store) -> Inputs | None:
    """Return what the last pass used; `None` before the first."""
    used = read_inputs(store)
    return used[-1].inputs if used else None


Purpose = Literal["hit type", "exclusion", "test", "answered", "earned"]


def platform_type(store: Store, purpose: Purpose, subject: str = "") -> str | None:
    """Return the platform's id of a type; `None` before it was created.

    Args:
        store: the campaign's memory.
        purpose: what the type is for.
        subject: tells several apart: a digest of the values of a HIT type or a test, or
            the key of the HIT with the items that a qualification's holders have
            answered, or the name of an earned qualification or of an exclusion.
    """
    row = store.db.execute(
        "SELECT type_id FROM platform_types WHERE purpose = ? AND subject = ?", [purpose, subject]
    ).fetchone()
    return row[0] if row else None


def platform_types(store: Store, purpose: Purpose) -> dict[str, str]:
    """Return the platform's ids of all types that were created for a purpose, by subject."""
    rows = store.db.execute(
        "SELECT subject, type_id FROM platform_types WHERE purpose = ? ORDER BY subject", [purpose]
    )
    return {str(subject): str(type_id) for subject, type_id in rows}


def keep_platform_type(store: Store, purpose: Purpose, type_id: str, *, subject: str = "") -> None:
    """Store the platform's id of a type.

    Raises:
        StoreError: another pass has meanwhile created the type with another id.
    """
    with store.db.atomic():
        store.db.execute(
            "INSERT INTO platform_types (purpose, subject, type_id) "
            "VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            [purpose, subject, type_id],
        )
    if platform_type(store, purpose, subject) != type_id:
        raise StoreError(
            f"{store.address}: another pass has meanwhile created the {purpose} {subject}",
            next_step="run the same command again",
        )


def forget_platform_types(store: Store) -> None:
    """Delete all, so that each is created or found again; part of a transaction."""
    store.db.execute("DELETE FROM platform_types")


def drop_exclusions(store: Store, type_ids: Collection[str], *, at: datetime) -> None:
    """Delete types of excluded workers that the platform lost; part of a transaction."""
    store.db.execute(
        "DELETE FROM platform_types WHERE purpose = 'exclusion' "
        "AND type_id IN (SELECT value FROM json_each(?))",
        [json.dumps(list(type_ids))],
    )
    keep_note(store, "exclusion_lost_at", to_text(at))


_LATEST = """
SELECT max(at) FROM (
    SELECT max(made_at) AS at FROM intents UNION ALL SELECT max(done_at) FROM intents
    UNION ALL SELECT max(collected_at) FROM hits
    UNION ALL SELECT max(decided_at) FROM decisions
    UNION ALL SELECT max(stopped_at) FROM stops
) AS moments
"""


def last_written_at(store: Store) -> datetime | None:
    """Return the time of the last write, by the clock of then; `None` before any."""
    (moment,) = store.db.execute(_LATEST).fetchone()
    return from_text(moment) if moment else None


def keep_prices(store: Store, prices: PriceList | None) -> None:
    """Store the price list, if it has changed; `None`: the marketplace has none.

    An unchanged list is not written again.
    """
    if prices == kept_prices(store):
        return
    with store.db.atomic():
        store.db.execute("DELETE FROM marketplace_prices")
        if prices is not None:
            insert(store, "marketplace_prices", [_row(prices)])


def kept_prices(store: Store) -> PriceList | None:
    """Return the price list; `None` if never asked for, or if there is no list."""
    row = next(iter(store.db.query("SELECT * FROM marketplace_prices")), None)
    if row is None:
        return None
    return PriceList(
        **_terms(row),
        crowds=tuple(
            CrowdPrices(market=each["market"], **_terms(each)) for each in json.loads(row["crowds"])
        ),
    )


def _terms(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the marketplace and each of its crowds state alike."""
    return {
        "currency": row["currency"],
        "fees": FeeSchedule(
            percent=Decimal(row["percent"]),
            extra_percent_for_many=Decimal(row["extra_percent_for_many"]),
            masters_percent=Decimal(row["masters_percent"]),
            minimum_cents=row["minimum_cents"],
            source=row["source"],
        ),
        "least_per_hour_cents": row["least_per_hour_cents"],
        "longest_approval_seconds": row["longest_approval_seconds"],
    }


def _row(prices: PriceList) -> dict[str, object]:
    crowds = [{"market": each.market, **_cells(each)} for each in prices.crowds]
    return {"only_row": 1, **_cells(prices), "crowds": json.dumps(crowds)}


def _cells(prices: PriceList | CrowdPrices) -> dict[str, object]:
    fees = asdict(prices.fees)
    del fees["valid_from"]
    return {
        "currency": prices.currency,
        "least_per_hour_cents": prices.least_per_hour_cents,
        "longest_approval_seconds": prices.longest_approval_seconds,
        **{
            name: str(value) if isinstance(value, Decimal) else value
            for name, value in fees.items()
        },
    }


OUTSIDE_PRICE = "outside-price"


def booked_outside(store: Store) -> dict[HitTypeId, tuple[int, int]]:
    """Return how often fees were booked for each HIT type, and how much in all."""
    return {
        HitTypeId(row["hit_type_id"]): (row["times"], row["cents"])
        for row in store.db.query(
            "SELECT subject_id AS hit_type_id, count(*) AS times, "
            "sum(CAST(json_extract(arguments, '$.cents') AS BIGINT)) AS cents "
            "FROM intents WHERE operation = ? GROUP BY subject_id ORDER BY subject_id",
            [OUTSIDE_PRICE],
        )
    }


def agree_to_spend(
    store: Store, amount_cents: int, *, at: datetime, by_schedule: bool = False
) -> None:
    """Record an amount, unless it is no news (`is_news`).

    A schedule's first amount raises none that a person typed: the schedule may be older.
    """
    with store.db.atomic():
        if not is_news(store, amount_cents, by_schedule=by_schedule):
            return
        amounts, typed = [(amount_cents, by_schedule)], agreed_cents(store)
        is_first = by_schedule and agreed_cents(store, only_by_schedule=True) is None
        if is_first and typed is not None and typed < amount_cents:
            amounts.append((typed, False))
        store.db.executemany(
            "INSERT INTO agreements (amount_cents, agreed_at, by_schedule) VALUES (?, ?, ?)",
            [[cents, to_text(at), int(repeats)] for cents, repeats in amounts],
        )


def is_news(store: Store, amount_cents: int, *, by_schedule: bool) -> bool:
    """Whether an amount is another than was stated last: by anybody, or by a schedule.

    A schedule repeats its amount at each pass. So it undoes no later agreement.
    """
    return agreed_cents(store, only_by_schedule=by_schedule) != amount_cents


def agreed_cents(store: Store, *, only_by_schedule: bool = False) -> int | None:
    """Return the amount that was agreed to last, and holds; `None` before any."""
    row = store.db.execute(
        "SELECT amount_cents FROM agreements WHERE by_schedule >= ? "
        "ORDER BY agreement_id DESC LIMIT 1",
        [int(only_by_schedule)],
    ).fetchone()
    return None if row is None else int(row[0])
