"""What a store is bound to: each fact is set once, and then only compared."""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from piecework.domain.errors import StoreError
from piecework.domain.inputs import Inputs
from piecework.domain.store_address import StoreAddress
from piecework.store.database import Store, insert

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
        name: the store's own name, under which the platform knows its intents.
        pseudonym_key: the key of all pseudonyms, in hexadecimal digits.
        campaign: the campaign's name.
        environment: the endpoint of a marketplace, a rehearsal with its seed, or
            "imported".
        currency: the currency of all amounts.
        work_digest: digest of the items' ids and of how they are dealt.
        columns_digest: digest of the items' columns, which workers were shown.
        task_digest: digest of the files of the requester's own task.
        imported_items_digest: digest of what identifies an item in imported files.
        account: the requester's account, as a marketplace with marks names it.
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


def read_bound(store: Store) -> Bound:
    """Return the facts that are set."""
    (row,) = store.db.query("SELECT * FROM bound")
    del row["only_row"]
    return Bound(**row)


def name_once(store: Store, name: str, pseudonym_key: bytes) -> None:
    """Give a store its name and key; existing ones stay."""
    with store.db.atomic():
        known = read_bound(store)
        bind(store, "name", known.name or name)
        bind(store, "pseudonym_key", known.pseudonym_key or pseudonym_key.hex())


OTHER_CAMPAIGN = "start another campaign: copy the file and write another name in it"
"""What to do for work that a store does not take."""


def bind(
    store: Store, fact: Fact, value: str, *, otherwise: str = "", next_step: str = OTHER_CAMPAIGN
) -> None:
    """Set a fact, which never changes.

    Args:
        store: the campaign's memory.
        fact: the column.
        value: what it is.
        otherwise: the message if the fact was set differently before.
        next_step: what to do then.

    Raises:
        StoreError: it was set differently. The message never shows the values: one of
            them is a key.
    """
    # Only read a fact that is set: looking at a campaign needs no disk space and no
    # lock.
    if getattr(read_bound(store), fact) is None:
        with store.db.atomic():
            store.db.execute(f"UPDATE bound SET {fact} = ? WHERE {fact} IS NULL", [value])
    if getattr(read_bound(store), fact) != value:
        raise StoreError(
            f"{store.address}: {otherwise or f'{fact} was set differently'}", next_step=next_step
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Dealt:
    """What was dealt: the campaign's settings, and digests of files and items.

    Attributes:
        task_files: digests of a task's own files by name.
        items: digests of the columns by name, by the item's id.
    """

    task: str
    batches: int
    assignments: str
    items_per_hit: int
    task_files: Mapping[str, str]
    items: Mapping[str, Mapping[str, str]]


def read_dealt(store: Store) -> Dealt | None:
    """Return what was dealt; `None` before the first deal."""
    row = next(iter(store.db.query("SELECT * FROM dealt")), None)
    if row is None:
        return None
    del row["only_row"]
    row["task_files"] = json.loads(row["task_files"])
    items = store.db.execute("SELECT item_id, digest FROM dealt_items ORDER BY rowid")
    digests = {item_id: json.loads(digest) for item_id, digest in items.fetchall()}
    return Dealt(**row, items=digests)


def keep_dealt(store: Store, dealt: Dealt) -> None:
    """Record what was dealt, once."""
    with store.db.atomic():
        row = {
            "only_row": 1,
            "task": dealt.task,
            "batches": dealt.batches,
            "assignments": dealt.assignments,
            "items_per_hit": dealt.items_per_hit,
            "task_files": json.dumps(dealt.task_files),
        }
        insert(store, "dealt", [row])
        insert(
            store,
            "dealt_items",
            (
                {"item_id": item_id, "digest": json.dumps(digests)}
                for item_id, digests in dealt.items.items()
            ),
        )


class Beside(NamedTuple):
    """A store in a folder beside a campaign's folder, or in another schema of its database.

    Attributes:
        address: where it is.
        campaign: the name of its campaign.
        work_digest: digest of its items' ids and of how they were dealt.
        inputs: the campaign file that its last pass used, without digests.
        file: where that file was, on the machine of that pass; `None` if it is not known.
    """

    address: StoreAddress
    campaign: str
    work_digest: str
    inputs: Inputs
    file: Path | None


_Row: TypeAlias = tuple[Any, ...] | None

_BESIDE = """SELECT campaign, work_digest, file_text, complete_text, coalesce(campaign_file, '')
FROM {0}bound, {0}used_inputs, {0}pass_notes"""
_LAST = "ORDER BY number DESC LIMIT 1"


def stores_beside(address: StoreAddress) -> Iterator[Beside]:
    """Read the bound stores in the folders beside a store's, or in its database.

    Nothing is changed. In a database, rehearsals are left out: their stores are beside those
    of the work, not in a folder below.
    """
    for other, row in _in_schemas(address) if address.url else _in_folders(address.path):
        if row and all(row[:-1]):
            name, digest, text, complete, file = row
            inputs = Inputs(text=text, complete=complete)
            yield Beside(other, name, digest, inputs, Path(file) if file else None)


def _in_folders(path: Path) -> Iterator[tuple[StoreAddress, _Row]]:
    for other in sorted(path.parent.parent.glob(f"*/{path.name}")):
        has_log = other.with_name(f"{other.name}-wal").exists()
        options = "mode=ro" if has_log else "mode=ro&immutable=1"
        uri = f"{other.resolve().as_uri()}?{options}"
        try:
            with closing(sqlite3.connect(uri, uri=True)) as connection:
                row = connection.execute(f"{_BESIDE.format('')} {_LAST}").fetchone()
        except sqlite3.Error:
            continue  # another program's file, or a damaged one
        if other != path:
            yield StoreAddress(path=other), row


def _in_schemas(address: StoreAddress) -> Iterator[tuple[StoreAddress, _Row]]:
    from piecework.store.postgres import sessions  # noqa: PLC0415 - an extra installs the driver

    query = f"{_BESIDE} WHERE environment NOT LIKE 'rehearsal%' {_LAST}"
    for schema, row in sessions.rows_beside(address, query):
        yield replace(address, schema=schema), row
