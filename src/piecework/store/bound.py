"""What a store is bound to for good: each fact is set once, and then only compared."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from piecework.domain.errors import StoreError
from piecework.store.columns import insert
from piecework.store.database import Store

Fact = Literal[
    "name",
    "pseudonym_key",
    "campaign",
    "environment",
    "currency",
    "work_digest",
    "columns_digest",
    "task_digest",
    "imported_items_digest",
    "account",
    "claimed_as",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """The facts of a store, `None` where one is not set.

    Attributes:
        name: the store's own, under which the platform knows its intents.
        pseudonym_key: of all pseudonyms, in hexadecimal digits.
        campaign: its name.
        environment: the endpoint of a marketplace, a rehearsal with its seed, or
            "imported".
        currency: of all amounts.
        work_digest: of the items' ids and of how they are dealt.
        columns_digest: of the items' columns, which workers were shown.
        task_digest: of the files of the requester's own task.
        imported_items_digest: of what makes an item in imported files.
        account: the requester's, as a marketplace with marks names it.
        claimed_as: the name that this store claimed the campaign with.
    """

    name: str | None
    pseudonym_key: str | None
    campaign: str | None
    environment: str | None
    currency: str | None
    work_digest: str | None
    columns_digest: str | None
    task_digest: str | None
    imported_items_digest: str | None
    account: str | None
    claimed_as: str | None


def read(store: Store) -> Bound:
    """The facts that are set."""
    (row,) = store.db.query("SELECT * FROM bound")
    del row["only_row"]
    return Bound(**row)


def bind(store: Store, fact: Fact, value: str, *, otherwise: str = "") -> None:
    """Set a fact, which never changes.

    Args:
        store: the campaign's memory.
        fact: the column.
        value: what it is.
        otherwise: what it means if the fact was set differently before.

    Raises:
        StoreError: it was; the values themselves are never shown, one is a key.
    """
    # A fact that is set is only read: to look at a campaign needs no room and no lock.
    if getattr(read(store), fact) is None:
        with store.db.atomic():
            store.db.execute(
                f"UPDATE bound SET {fact} = ? WHERE {fact} IS NULL", [value]
            )
    if getattr(read(store), fact) != value:
        raise StoreError(
            f"{store.path}: {otherwise or f'{fact} was set differently'}",
            next_step="give this run a folder of its own ([output] folder)",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Dealt:
    """What was dealt: settings of the campaign, and a digest of each item by its id."""

    task: str
    batches: int
    assignments: str
    items_per_hit: int
    items: Mapping[str, str]


def read_dealt(store: Store) -> Dealt | None:
    """What was dealt; `None` before anything was."""
    row = next(iter(store.db.query("SELECT * FROM dealt")), None)
    if row is None:
        return None
    del row["only_row"]
    items = store.db.execute("SELECT item_id, digest FROM dealt_items ORDER BY rowid")
    return Dealt(**row, items=dict(items.fetchall()))


def keep_dealt(store: Store, dealt: Dealt) -> None:
    """Write down what was dealt, once."""
    with store.db.atomic():
        row = {
            "only_row": 1,
            "task": dealt.task,
            "batches": dealt.batches,
            "assignments": dealt.assignments,
            "items_per_hit": dealt.items_per_hit,
        }
        insert(store, "dealt", [row])
        insert(
            store,
            "dealt_items",
            (
                {"item_id": item_id, "digest": digest}
                for item_id, digest in dealt.items.items()
            ),
        )
