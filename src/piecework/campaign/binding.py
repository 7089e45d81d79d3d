"""What a store is bound to; it cannot be opened for anything else.

It is bound to one campaign, one environment (a rehearsal, or one endpoint), one
currency, its items and how they are dealt.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence

from piecework.domain.campaign import Campaign
from piecework.domain.counts import plural
from piecework.domain.errors import RefusedForSafety, StoreError
from piecework.domain.hit import Item
from piecework.store import bound, pass_notes
from piecework.store.bound import Dealt
from piecework.store.database import Store

REHEARSAL = "rehearsal"
IMPORTED = "imported"
"""The environment of results that another tool collected."""

_SHORT, _NAMED = 8, 5


def check_bound(store: Store, campaign: Campaign, environment: str) -> bool:
    """Compare a bound store with the campaign, before any change.

    Returns:
        Whether the store is bound.

    Raises:
        StoreError: it belongs to another environment, or has other items.
    """
    is_bound = bound.read(store).environment is not None
    if is_bound:
        bind_store(store, campaign, environment)
    return is_bound


def rehearsal_environment(campaign: Campaign) -> str:
    """Return what a rehearsal's store is bound to, which depends on the seed."""
    return f"{REHEARSAL}, seed {campaign.rehearsal.seed}"


def bind_store(store: Store, campaign: Campaign, environment: str) -> None:
    """Bind a new store; compare a bound one.

    Raises:
        StoreError: it is bound to something else.
    """
    bound.bind(
        store,
        "campaign",
        campaign.name,
        otherwise=f"it belongs to another campaign than {campaign.name!r}",
    )
    known = bound.read(store).environment
    bound.bind(
        store,
        "environment",
        environment,
        otherwise=f"it belongs to {known}, not to {environment}",
        next_step=_if_moved(campaign, known or "", environment),
    )
    bind_currency(store, campaign)
    if environment == IMPORTED:
        # Its items and answers come from files, and more files may follow.
        return
    is_new = bound.read(store).work_digest is None
    _bind_dealt(
        store,
        campaign,
        "work_digest",
        _work_hash(campaign),
        otherwise="the items, task, batches, assignments or items_per_hit have changed "
        "since its HITs were dealt",
    )
    if campaign.task.own is not None:
        bound.bind(
            store,
            "task_digest",
            campaign.task.own.digest,
            otherwise=f"the files of its task {campaign.task.own.path} have changed "
            "since its HITs were dealt, so its answers would not be comparable",
        )
    _bind_dealt(
        store,
        campaign,
        "columns_digest",
        _columns_hash(campaign),
        otherwise="a column of an item (its url, a text) has changed since its HITs "
        "were dealt, so its answers would not be comparable",
    )
    if is_new:
        bound.keep_dealt(store, _dealt(campaign))


def _bind_dealt(
    store: Store, campaign: Campaign, fact: bound.Fact, value: str, *, otherwise: str
) -> None:
    """Bind a digest of what was dealt, and name what has changed since."""
    if getattr(bound.read(store), fact) not in {None, value}:
        known = bound.read_dealt(store)
        changes = () if known is None else _changes(known, _dealt(campaign))
        otherwise = "; ".join([otherwise, *changes])
    bound.bind(store, fact, value, otherwise=otherwise)


def _dealt(campaign: Campaign) -> Dealt:
    """Return what is compared to name a change."""
    posting = campaign.posting
    return Dealt(
        task=campaign.task.name,
        batches=posting.batches,
        assignments=str(posting.assignments),
        items_per_hit=posting.items_per_hit,
        items={
            item.item_id: hashlib.sha256(_row(item).encode()).hexdigest()[:_SHORT]
            for item in (*_fixed_items(campaign), *campaign.practice)
        },
    )


def _changes(known: Dealt, now: Dealt) -> Iterator[str]:
    """Describe the differences."""
    for name in ("task", "batches", "assignments", "items_per_hit"):
        before, after = getattr(known, name), getattr(now, name)
        if before != after:
            yield f"{name} was {before} and is now {after}"
    yield from _changed_items(known.items, now.items)


def _changed_items(
    before: Mapping[str, str], after: Mapping[str, str]
) -> Iterator[str]:
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
        StoreError: its money is in another currency.
    """
    known, stated = bound.read(store).currency, campaign.rewards.currency
    bound.bind(
        store,
        "currency",
        stated,
        otherwise=f"its money is in {known}, but rewards.currency is {stated}",
    )


def refuse_imported(campaign: Campaign) -> None:
    """Refuse to post, pay or rehearse if the answers come from another tool.

    Raises:
        RefusedForSafety: the campaign is of imported results.
    """
    if campaign.imported is not None:
        raise RefusedForSafety(
            f"{campaign.path}: its answers were imported from another tool, so "
            "piecework cannot post, pay or rehearse it",
            next_step=f"piecework assess {campaign.path}",
        )


def bind_items(store: Store, campaign: Campaign) -> None:
    """Bind a store of imported results to what identifies an item in their files.

    Raises:
        StoreError: the settings have changed, so the same item would get two ids.
    """
    reading = campaign.imported
    assert reading is not None  # noqa: S101 - checked by the caller
    parts = [reading.numbers, reading.item, reading.item_id]
    bound.bind(
        store,
        "imported_items_digest",
        hashlib.sha256(json.dumps(parts).encode()).hexdigest(),
        otherwise="imported.numbers, item or item_id have changed since its first "
        "import, so the same item would get two ids",
    )


def typed_by(campaign: Campaign) -> str:
    """Return a digest of what the types of imported answers depend on."""
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
    """Record by which task imported answers are typed now."""
    pass_notes.keep(store, "typing_digest", typed_by(campaign))


def is_typed_by(store: Store, campaign: Campaign) -> bool:
    """Whether imported answers are typed by the campaign's current task."""
    return pass_notes.read(store).typing_digest == typed_by(campaign)


def check_typed(store: Store, campaign: Campaign) -> None:
    """Refuse answers that were typed by fields other than the campaign file's.

    Raises:
        StoreError: the fields have changed since the import.
    """
    if not is_typed_by(store, campaign):
        raise StoreError(
            f"{campaign.path}: the task, [fields] or imported.answers have changed "
            "since its answers were read",
            next_step=f"piecework import --as {campaign.path}",
        )


def _work_hash(campaign: Campaign) -> str:
    """Return a hash of what must not change once HITs exist: items and dealing."""
    posting = campaign.posting
    parts = [
        campaign.task.name if campaign.task.own is None else f"./{campaign.task.name}",
        str((posting.batches, posting.assignments, posting.items_per_hit)),
        *(["its items grow"] if campaign.growth is not None else []),
        *sorted(item.item_id for item in _fixed_items(campaign)),
        *(f"practice {item.item_id}" for item in campaign.practice),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _columns_hash(campaign: Campaign) -> str:
    """Return a hash of the items' rows, which workers were shown and answered."""
    rows = sorted(map(_row, (*_fixed_items(campaign), *campaign.practice)))
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()


def _fixed_items(campaign: Campaign) -> Sequence[Item]:
    """Return the items that may not change; the store has those of a source."""
    return () if campaign.growth is not None else campaign.items


def _row(item: Item) -> str:
    return json.dumps(dict(item.columns), sort_keys=True)


def _if_moved(campaign: Campaign, known: str, environment: str) -> str:
    """Say what to do if a store belongs to another environment."""
    if not (known.startswith("http") and environment.startswith("http")):
        return bound.OWN_FOLDER
    return (
        "if the same marketplace has another address now: piecework rebind "
        f"{campaign.path} {environment}; otherwise {bound.OWN_FOLDER}"
    )
