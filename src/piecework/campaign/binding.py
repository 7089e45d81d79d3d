"""What a store is bound to for good: opened for anything else, it refuses.

One campaign, one environment (a rehearsal, or one endpoint), one currency, its items
and how they are dealt.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from piecework.domain.campaign import Campaign
from piecework.domain.counts import plural
from piecework.domain.errors import RefusedForSafety, StoreError
from piecework.domain.hit import Item
from piecework.store.database import (
    Store,
    get_setting,
    keep_setting,
    set_once,
)

REHEARSAL = "rehearsal"
IMPORTED = "imported"
"""The environment of results that another tool collected."""

ENVIRONMENT = "world"
"""The setting that names the environment of a store."""


_TYPED_BY = "typed by"
"""The setting with the digest of the task that imported answers were typed by."""

_DEALT = "dealt"
"""The setting that names what was dealt, so that a change of it can be named."""

_SHORT, _NAMED = 8, 5

_CURRENCY = "currency"
"""The setting that says what a store's money is; in earlier versions all was dollars
(`piecework.store.migrations`)."""


def check_bound(store: Store, campaign: Campaign, environment: str) -> bool:
    """Compare a store that is bound with the campaign, before anything is touched.

    Returns:
        Whether the store is bound.

    Raises:
        StoreError: it is of another environment, or of other items.
    """
    is_bound = get_setting(store, ENVIRONMENT) is not None
    if is_bound:
        bind_store(store, campaign, environment)
    return is_bound


def rehearsal_environment(campaign: Campaign) -> str:
    """What a rehearsal's store is bound to: rehearsals of another seed are others."""
    return f"{REHEARSAL}, seed {campaign.rehearsal.seed}"


def bind_store(store: Store, campaign: Campaign, environment: str) -> None:
    """Bind a store that is new; compare one that is bound.

    Raises:
        StoreError: it is bound to something else.
    """
    set_once(
        store,
        "campaign",
        campaign.name,
        otherwise=f"it belongs to another campaign than {campaign.name!r}",
    )
    known = get_setting(store, ENVIRONMENT)
    set_once(
        store,
        ENVIRONMENT,
        environment,
        otherwise=f"it is of {known}, not of {environment}",
    )
    bind_currency(store, campaign)
    if environment == IMPORTED:
        # Its items and answers come from files, and more of them may come.
        return
    _bind_dealt(
        store,
        campaign,
        "work",
        _work_hash(campaign),
        otherwise="the items, task, batches, assignments or items_per_hit have changed "
        "since its HITs were dealt",
    )
    if campaign.task.own is not None:
        set_once(
            store,
            "task",
            campaign.task.own.digest,
            otherwise=f"the files of its task {campaign.task.own.path} have changed "
            "since its HITs were dealt, so that its answers would be about two things",
        )
    # Stores of earlier versions do not know it; what they have now is what they keep.
    _bind_dealt(
        store,
        campaign,
        "columns",
        _columns_hash(campaign),
        otherwise="a column of an item (its url, a text) has changed since its HITs "
        "were dealt, so that its answers would be about two things",
    )
    if get_setting(store, _DEALT) is None:
        set_once(store, _DEALT, json.dumps(_dealt(campaign)))


def _bind_dealt(
    store: Store, campaign: Campaign, key: str, value: str, *, otherwise: str
) -> None:
    """Bind a digest of what was dealt; what has changed since is named."""
    if get_setting(store, key) not in {None, value}:
        known = json.loads(get_setting(store, _DEALT) or "{}")
        otherwise = "; ".join([otherwise, *_changes(known, _dealt(campaign))])
    set_once(store, key, value, otherwise=otherwise)


def _dealt(campaign: Campaign) -> dict[str, Any]:
    """What is compared to name a change: settings, and a short digest of each item."""
    posting = campaign.posting
    return {
        "task": campaign.task.name,
        "batches": posting.batches,
        "assignments": str(posting.assignments),
        "items_per_hit": posting.items_per_hit,
        "items": {
            item.item_id: hashlib.sha256(_row(item).encode()).hexdigest()[:_SHORT]
            for item in (*campaign.items, *campaign.practice)
        },
    }


def _changes(known: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """What differs, in words; nothing of a store of an earlier version."""
    if not known:
        return
    for key in ("task", "batches", "assignments", "items_per_hit"):
        if known[key] != now[key]:
            yield f"{key} was {known[key]}, and is {now[key]}"
    before, after = known["items"], now["items"]
    for change, ids in (
        ("added", [id_ for id_ in after if id_ not in before]),
        ("missing", [id_ for id_ in before if id_ not in after]),
        (
            "changed",
            [id_ for id_ in after if before.get(id_, after[id_]) != after[id_]],
        ),
    ):
        if ids:
            more = f" and {len(ids) - _NAMED:,} more" if len(ids) > _NAMED else ""
            listed = ", ".join(map(repr, ids[:_NAMED]))
            yield f"{change}: {plural(len(ids), 'item')}, {listed}{more}"


def bind_currency(store: Store, campaign: Campaign) -> None:
    """Bind a store to the campaign's currency.

    Raises:
        StoreError: its money is in another.
    """
    known, stated = get_setting(store, _CURRENCY), campaign.rewards.currency
    set_once(
        store,
        _CURRENCY,
        stated,
        otherwise=f"its money is in {known}, and rewards.currency is {stated}",
    )


def refuse_imported(campaign: Campaign) -> None:
    """Refuse what posts, pays or rehearses, where answers come from another tool.

    Raises:
        RefusedForSafety: the campaign is of imported results.
    """
    if campaign.imported is not None:
        raise RefusedForSafety(
            f"{campaign.path}: its answers were imported from another tool; nothing is "
            "posted, paid or rehearsed from here",
            next_step=f"piecework assess {campaign.path}",
        )


def bind_items(store: Store, campaign: Campaign) -> None:
    """Bind a store of imported results to what makes an item in their files.

    Raises:
        StoreError: it was read otherwise, so that the same item would be two.
    """
    reading = campaign.imported
    assert reading is not None  # noqa: S101 - the caller has looked
    parts = [reading.numbers, reading.item, reading.item_id]
    set_once(
        store,
        "imported items",
        hashlib.sha256(json.dumps(parts).encode()).hexdigest(),
        otherwise="imported.numbers, item or item_id have changed since its first "
        "import, so that the same item would be two",
    )


def typed_by(campaign: Campaign) -> str:
    """A digest of what the types of imported answers depend on."""
    task, reading = campaign.task, campaign.imported
    parts = [
        task.name,
        task.version,
        task.language,
        task.own.digest if task.own else "",
        sorted(reading.answers.items()) if reading else [],
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def keep_typed_by(store: Store, campaign: Campaign) -> None:
    """Note by which task imported answers are typed now."""
    keep_setting(store, _TYPED_BY, typed_by(campaign))


def is_typed_by(store: Store, campaign: Campaign) -> bool:
    """Whether imported answers are typed by the campaign's task as it is now."""
    return get_setting(store, _TYPED_BY) == typed_by(campaign)


def check_typed(store: Store, campaign: Campaign) -> None:
    """Refuse answers that were typed by other fields than the campaign file has now.

    Raises:
        StoreError: they were.
    """
    if not is_typed_by(store, campaign):
        raise StoreError(
            f"{campaign.path}: the task, [fields] or imported.answers have changed "
            "since its answers were read",
            next_step=f"piecework import --as {campaign.path} reads them anew",
        )


def _work_hash(campaign: Campaign) -> str:
    """What must not change once HITs exist: the items and how they are dealt out."""
    posting = campaign.posting
    parts = [
        campaign.task.name if campaign.task.own is None else f"./{campaign.task.name}",
        str((posting.batches, posting.assignments, posting.items_per_hit)),
        *sorted(item.item_id for item in campaign.items),
        *(f"practice {item.item_id}" for item in campaign.practice),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _columns_hash(campaign: Campaign) -> str:
    """All that the items' rows say: workers were shown it, and answered about it."""
    rows = sorted(map(_row, (*campaign.items, *campaign.practice)))
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()


def _row(item: Item) -> str:
    return json.dumps(dict(item.columns), sort_keys=True)
