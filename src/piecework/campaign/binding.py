"""What a store is bound to; it cannot be opened for anything else.

It is bound to one campaign, one environment (a rehearsal, or one endpoint), one
currency, its items and how they are dealt.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from piecework.campaign.deriving import complete_inputs
from piecework.config.campaign_file import REHEARSALS
from piecework.config.changed_keys import changed_keys, unknown_keys
from piecework.config.user_files import name_in
from piecework.domain.campaign import Campaign
from piecework.domain.errors import RefusedForSafety, StoreError
from piecework.domain.hit import Item
from piecework.domain.inputs import CODE
from piecework.domain.text import plural, shell_word
from piecework.store import bound, campaign_facts
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
    is_bound = bound.read_bound(store).environment is not None
    if is_bound:
        bind_store(store, campaign, environment)
    return is_bound


def rehearsal_environment(campaign: Campaign) -> str:
    """Return what a rehearsal's store is bound to, which depends on the seed."""
    return f"{REHEARSAL}, seed {campaign.rehearsal.seed}"


def bind_store(store: Store, campaign: Campaign, environment: str) -> None:
    """Bind a new store; compare a bound one.

    Raises:
        StoreError: it is bound to something else, or an earlier format of campaign files
            made it.
    """
    _refuse_earlier_format(store, campaign)
    bound.bind(
        store,
        "campaign",
        campaign.name,
        otherwise=f"it belongs to the campaign {bound.read_bound(store).campaign!r}, not to "
        f"{campaign.name!r}",
        next_step=f'write name = "{bound.read_bound(store).campaign}" again in '
        f"{campaign.path}; for other work, {bound.OTHER_CAMPAIGN}",
    )
    known = bound.read_bound(store).environment
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
    is_new = bound.read_bound(store).work_digest is None
    _bind_dealt(
        store,
        campaign,
        "work_digest",
        _work_hash(campaign),
        otherwise="the items, task, batches, assignments or items_per_hit have changed "
        "since its HITs were dealt",
    )
    if campaign.task.own is not None:
        _bind_dealt(
            store,
            campaign,
            "task_digest",
            campaign.task.own.digest,
            otherwise=f"its task {campaign.task.own.path} has changed since its HITs "
            "were dealt, so its answers would not be comparable",
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


def _refuse_earlier_format(store: Store, campaign: Campaign) -> None:
    """Refuse a store whose campaign file had keys that are unknown now.

    What they said about its HITs would be lost without a word.
    """
    used = campaign_facts.latest_inputs(store)
    if used is None or used.text == campaign.inputs.text:
        return
    if unknown := unknown_keys(used.text):
        more = f" and {len(unknown) - 1} more" * (len(unknown) > 1)
        version = used.digests.get(CODE, "the version that made it")
        raise StoreError(
            f"{campaign.store}: an earlier version of piecework made it: the campaign file that "
            f"it keeps has the key {unknown[0]}{more}, which this version does not know",
            next_step=f"finish the campaign with {version}; to collect again, "
            f"{bound.OTHER_CAMPAIGN}",
        )


class Beside(NamedTuple):
    """A store beside a campaign that has none: perhaps its own, under another name.

    Attributes:
        what: a sentence that names it.
        undo: how to use it again.
    """

    what: str
    undo: str


def store_beside(campaign: Campaign) -> Beside | None:
    """Look for a store of the same items beside the campaign's empty folder.

    Rehearsals are all of the same items, and none is another's store.
    """
    if campaign.store.path.parent.parent.name == REHEARSALS and not campaign.store.url:
        return None
    digest, path = _work_hash(campaign), campaign.path
    dealt = "items" if campaign.growth is None else "task"
    for other in bound.stores_beside(campaign.store):
        store, name = other.address, other.campaign
        is_others = name != campaign.name and _has_a_file(other, path)
        if other.work_digest == digest and not is_others:
            back = f"move {store.folder} to {campaign.out}"
            if name != campaign.name:
                back = f'write name = "{name}" again in {path}'
            elif store.url:  # its schema has the name of the folder
                back = "give the campaign's folder its earlier name"
            return Beside(
                f"{store} has the same {dealt} and settings, under the name {name!r}",
                f"if that is this campaign's store, {back}",
            )
    return None


def refuse_renamed(campaign: Campaign) -> None:
    """Refuse to begin a campaign again whose file has only another name now.

    Raises:
        RefusedForSafety: its store is beside the empty folder; all HITs would be posted
            a second time.
    """
    for other in bound.stores_beside(campaign.store):
        changed = {*changed_keys(other.inputs, complete_inputs(campaign))}
        if (
            other.work_digest == _work_hash(campaign)
            and changed <= {"name"}
            and not _has_a_file(other, campaign.path)
        ):
            raise RefusedForSafety(
                f"{campaign.path}: this campaign was begun as {other.campaign!r}, and its "
                f"store is {other.address}; as {campaign.name!r}, all HITs would be posted again",
                next_step=f'write name = "{other.campaign}" again; for another study, or to '
                "post them all again: --although second-store",
            )


def _has_a_file(other: bound.Beside, path: Path) -> bool:
    """Whether another file than a campaign's has the name of a store: then it is another's.

    It is beside the campaign's, or where the last pass of that store read it. If that is a
    folder of another machine, or is gone, the campaign may have been moved from there.
    """
    read_last = [] if other.file is None else [other.file]
    for file in (*path.parent.glob("*.toml"), *read_last):
        with suppress(OSError, ValueError):
            if not file.samefile(path) and name_in(file) == other.campaign:
                return True
    return False


class _Change(NamedTuple):
    """What differs from what was dealt, and how to put it back."""

    what: str
    undo: str


def _bind_dealt(
    store: Store, campaign: Campaign, fact: bound.Fact, value: str, *, otherwise: str
) -> None:
    """Bind a digest of what was dealt; name what has changed, and how to undo it."""
    undo = "undo the change"
    if getattr(bound.read_bound(store), fact) not in {None, value}:
        known = bound.read_dealt(store)
        changes = [] if known is None else list(_changes(known, campaign))
        otherwise = "; ".join([*(change.what for change in changes), otherwise])
        undo = "; ".join(change.undo for change in changes) or undo
    bound.bind(
        store,
        fact,
        value,
        otherwise=otherwise,
        next_step=_again(campaign)
        if (bound.read_bound(store).environment or "").startswith(REHEARSAL)
        else f"{undo}, then repeat the command; to collect something else, {bound.OTHER_CAMPAIGN}",
    )


def _dealt(campaign: Campaign) -> Dealt:
    """Return what is compared to name a change."""
    posting = campaign.posting
    return Dealt(
        task=campaign.task.name,
        batches=posting.batches,
        assignments=str(posting.assignments),
        items_per_hit=posting.items_per_hit,
        task_files={} if campaign.task.own is None else campaign.task.own.digests,
        items={
            item.item_id: {
                name: hashlib.sha256(value.encode()).hexdigest()[:_SHORT]
                for name, value in item.columns.items()
            }
            for item in (*_fixed_items(campaign), *campaign.practice)
        },
    )


def _changes(known: Dealt, campaign: Campaign) -> Iterator[_Change]:
    """Describe the differences."""
    now = _dealt(campaign)
    for name in ("task", "batches", "assignments", "items_per_hit"):
        before, after = getattr(known, name), getattr(now, name)
        if before != after:
            key = "answers" if name == "assignments" else name
            line = f'task = "{before}"' if name == "task" else f"{key} = {before}"
            yield _Change(
                f"{key} was {before} and is now {after}", f"write {line} again in {campaign.path}"
            )
    files = [
        name
        for name in sorted({*known.task_files, *now.task_files})
        if known.task_files.get(name) != now.task_files.get(name)
    ]
    if files and known.task == now.task:
        folder = "" if campaign.task.own is None else f" in {campaign.task.own.path}"
        yield _Change(
            f"changed: {', '.join(files)}{folder}", f"put {', '.join(files)}{folder} back as before"
        )
    yield from _changed_items(known.items, now.items)


def _changed_items(
    before: Mapping[str, Mapping[str, str]], after: Mapping[str, Mapping[str, str]]
) -> Iterator[_Change]:
    added = [id_ for id_ in after if id_ not in before]
    missing = [id_ for id_ in before if id_ not in after]
    changed = [id_ for id_ in after if before.get(id_, after[id_]) != after[id_]]
    if added:
        yield _Change(
            f"added: {plural(len(added), 'item')}, {_listed(added)}",
            f"take {_rows(added)} out of `items` again",
        )
    if missing:
        yield _Change(
            f"missing: {plural(len(missing), 'item')}, {_listed(missing)}",
            f"put {_rows(missing)} back into `items`",
        )
    if changed:
        columns = dict.fromkeys(
            name
            for id_ in changed
            for name in (*before[id_], *after[id_])
            if before[id_].get(name) != after[id_].get(name)
        )
        yield _Change(
            f"changed: {plural(len(changed), 'item')}, {_listed(changed)} (column "
            f"{', '.join(columns)})",
            f"put {_rows(changed)} back as before",
        )


def _listed(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _NAMED:,} more" if len(ids) > _NAMED else ""
    return ", ".join(map(repr, ids[:_NAMED])) + more


def _rows(ids: Sequence[str]) -> str:
    return f"{'item' if len(ids) == 1 else 'items'} {_listed(ids)}"


def bind_currency(store: Store, campaign: Campaign) -> None:
    """Bind a store to the campaign's currency.

    Raises:
        StoreError: its money is in another currency.
    """
    known, stated = bound.read_bound(store).currency, campaign.rewards.currency
    bound.bind(
        store,
        "currency",
        stated,
        otherwise=f"its money is in {known}, but the campaign's currency is {stated}",
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
            next_step=f"piecework data assess {shell_word(campaign.path)}",
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
        otherwise="numbers, item or item_id of its file of columns have changed since its first "
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
    campaign_facts.keep_note(store, "typing_digest", typed_by(campaign))


def is_typed_by(store: Store, campaign: Campaign) -> bool:
    """Whether imported answers are typed by the campaign's current task."""
    return campaign_facts.read_notes(store).typing_digest == typed_by(campaign)


def check_typed(store: Store, campaign: Campaign) -> None:
    """Refuse answers that were typed by fields other than the campaign file's.

    Raises:
        StoreError: the fields have changed since the import.
    """
    if not is_typed_by(store, campaign):
        raise StoreError(
            f"{campaign.path}: the task, [fields] or imported.answers have changed "
            "since its answers were read",
            next_step=f"piecework data import --as {shell_word(campaign.path)}",
        )


def digest_of(campaign: Campaign) -> str:
    """Return a digest of all that a store would be bound to.

    A campaign file has the digest of the complete file that `check --full` prints.
    """
    own = "" if campaign.task.own is None else campaign.task.own.digest
    parts = [campaign.name, campaign.rewards.currency, _work_hash(campaign), own]
    return hashlib.sha256("\n".join([*parts, _columns_hash(campaign)]).encode()).hexdigest()


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


def _again(campaign: Campaign) -> str:
    return f"piecework rehearse {shell_word(campaign.path)} (with what the file says now)"


def _if_moved(campaign: Campaign, known: str, environment: str) -> str:
    """Say what to do if a store belongs to another environment."""
    if known.startswith(REHEARSAL) and environment.startswith(REHEARSAL):
        return _again(campaign)
    if not (known.startswith("http") and environment.startswith("http")):
        return bound.OTHER_CAMPAIGN
    return (
        "if the same marketplace has another address now: piecework store move "
        f"{shell_word(campaign.path)} {shell_word(environment)}; otherwise {bound.OTHER_CAMPAIGN}"
    )
