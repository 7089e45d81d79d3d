"""Puts the spokes together: the only module of flows that knows them all.

A step is given a `Workplace`. Prefect hands tasks plain strings, so the workplace of a
campaign is opened once in a process and found again by the campaign's path.
"""

import hashlib
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from domain.campaign import Campaign
from domain.clock import Clock, OnwardClock, SystemClock
from domain.errors import RefusedForSafety, StoreError
from domain.progress import Progress
from flows.assembling import load_campaign as load_campaign  # noqa: PLC0414 - callers find it here, too
from flows.leave import agreed_before, refuse_without_leave
from flows.newborn import refuse_second_store
from flows.workplace import Workplace
from platforms.credentials import Credentials
from platforms.endpoint import normal_endpoint
from platforms.mturk import MTurk
from store.agreements import agree, agreed_cents
from store.database import Store, about, fix, open_store
from store.files import FILE_NAME
from store.latest import latest
from store.lock import only_pass

_open: dict[str, Workplace] = {}
_listeners: list[Callable[[Progress], None]] = []

REHEARSAL = "rehearsal"
AT_ONCE = 24
"""Calls under way at a time on a marketplace; beyond it only the caller's own
processor is busier, see docs/benchmarks.md."""


@contextmanager
def rehearsal_place(
    campaign: Campaign, endpoint: str, clock: Clock, *, anew: bool = True
) -> Iterator[Workplace]:
    """The workplace of a rehearsal: policy decides, ids are hashed by the seed.

    Raises:
        RefusedForSafety: not `anew`, and the campaign is at work from another store.
    """
    campaign = replace(campaign, decided_by="policy")
    seed = f"piecework rehearsal {campaign.name} {campaign.rehearsal.seed}"
    key = hashlib.sha256(seed.encode()).digest()
    platform = MTurk(endpoint, access_key="REHEARSAL", secret_key="rehearsal")  # noqa: S106 - opens nothing
    if not anew:
        _refuse_twin(campaign, platform)
    with _opened(
        campaign,
        platform,
        clock,
        world=rehearsal_world_name(campaign),
        name=seed,
        key=key,
    ) as place:
        yield place


@contextmanager
def market_place(
    campaign: Campaign,
    endpoint: str,
    *,
    live: bool,
    anew: bool = False,
    spend_at_most_cents: int | None = None,
    credentials: Credentials | None = None,
) -> Iterator[Workplace]:
    """The workplace of a campaign on a marketplace that runs elsewhere.

    Args:
        campaign: the campaign.
        endpoint: URL of the marketplace.
        live: real people work, perhaps on another machine.
        anew: begin although HITs of a campaign of this name are there already.
        spend_at_most_cents: what the campaign may take in all, from now on; `None`: as
            it was agreed before.
        credentials: keys for the marketplace; without them, boto3's own chain.

    Raises:
        RefusedForSafety: see `flows.leave`; or the campaign is at work from another
            store.
        StoreError: another process works on the campaign, or the store is of
            another world.
    """
    endpoint = normal_endpoint(endpoint)
    is_agreed = spend_at_most_cents is not None or agreed_before(campaign) is not None
    refuse_without_leave(campaign, endpoint, live=live, is_agreed=is_agreed)
    platform = MTurk(
        endpoint,
        access_key=credentials.access_key if credentials else None,
        secret_key=credentials.secret_key if credentials else None,
    )
    with only_pass(campaign.out):
        if not anew:
            _refuse_twin(campaign, platform)
        with _opened(
            campaign,
            platform,
            SystemClock(),
            world=endpoint,
            name=secrets.token_hex(8),
            key=secrets.token_bytes(32),
            at_once=AT_ONCE,
            agreed_now=spend_at_most_cents,
        ) as place:
            yield place


@contextmanager
def stored_place(campaign: Campaign) -> Iterator[Workplace]:
    """The workplace for looking and exporting only: whatever world the store is of.

    Raises:
        StoreError: the campaign has no store yet.
    """
    path = campaign.out / FILE_NAME
    store = open_store(path)
    world = about(store, "world")
    store.close()
    if world is None:
        raise StoreError(f"{path}: the store is empty; no pass has begun")
    if world.startswith(REHEARSAL):
        # Nothing is called: a port that nobody can listen on says so if that changes.
        with rehearsal_place(campaign, "http://127.0.0.1:1", SystemClock()) as place:
            yield place
        return
    with _opened(
        campaign, MTurk(world), SystemClock(), world=world, name="", key=b""
    ) as place:
        yield place


def bound_endpoint(campaign: Campaign) -> str:
    """The marketplace that a campaign's store is of.

    Raises:
        RefusedForSafety: it is of a rehearsal.
        StoreError: the campaign has no store yet.
    """
    path = campaign.out / FILE_NAME
    store = open_store(path)
    try:
        world = about(store, "world")
    finally:
        store.close()
    if world is None:
        raise StoreError(f"{path}: the store is empty; no pass has begun")
    if world.startswith(REHEARSAL):
        raise RefusedForSafety(
            f"{path}: it is of a rehearsal; its workers are simulated, and its "
            "marketplace does not run any more"
        )
    return world


def place_of(campaign_path: str) -> Workplace:
    """The workplace that this process has opened for a campaign file."""
    return _open[str(Path(campaign_path).resolve())]


@contextmanager
def listening(listener: Callable[[Progress], None]) -> Iterator[None]:
    """Let somebody hear the progress of every pass that ends inside."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def tell(progress: Progress) -> None:
    """Tell all listeners how far a campaign is."""
    for listener in _listeners:
        listener(progress)


@contextmanager
def _opened(
    campaign: Campaign,
    platform: MTurk,
    clock: Clock,
    *,
    world: str,
    name: str,
    key: bytes,
    at_once: int = 1,
    agreed_now: int | None = None,
) -> Iterator[Workplace]:
    store = open_store(campaign.out / FILE_NAME, create=True)
    try:
        with store.db.atomic():
            # Fixed at birth; a store of another world, or of other items, refuses.
            _fix_birth(store, campaign, world)
            # Chosen once, found again ever after.
            name = about(store, "name") or name
            key = bytes.fromhex(about(store, "pseudonym_key") or key.hex())
            fix(store, "name", name)
            fix(store, "pseudonym_key", key.hex())
        if agreed_now is not None:
            agree(store, agreed_now, at=clock.now())
        rewards = replace(campaign.rewards, agreed_cents=agreed_cents(store))
        place = Workplace(
            campaign=replace(campaign, rewards=rewards),
            store=store,
            platform=platform,
            clock=OnwardClock(clock, latest(store)),
            is_rehearsal=world.startswith(REHEARSAL),
            pseudonym_key=key,
            at_once=at_once,
        )
        _open[str(campaign.path)] = place
        yield place
    finally:
        _open.pop(str(campaign.path), None)
        store.close()


def _refuse_twin(campaign: Campaign, platform: MTurk) -> None:
    path = campaign.out / FILE_NAME
    if path.is_file():
        store = open_store(path)
        try:
            if about(store, "name") is not None:
                return
        finally:
            store.close()
    refuse_second_store(platform, campaign)


def check_store(campaign: Campaign, world: str) -> None:
    """Compare a store that exists with the campaign, before anything is touched.

    Raises:
        StoreError: it is of another world, or of other items.
    """
    path = campaign.out / FILE_NAME
    if path.is_file():
        store = open_store(path)
        try:
            if about(store, "world") is not None:
                _fix_birth(store, campaign, world)
        finally:
            store.close()


def rehearsal_world_name(campaign: Campaign) -> str:
    """What a rehearsal's store is bound to: rehearsals of another seed are others."""
    return f"{REHEARSAL}, seed {campaign.rehearsal.seed}"


def _fix_birth(store: Store, campaign: Campaign, world: str) -> None:
    fix(
        store,
        "campaign",
        campaign.name,
        otherwise=f"it belongs to another campaign than {campaign.name!r}",
    )
    known = about(store, "world")
    fix(store, "world", world, otherwise=f"it is of {known}, not of {world}")
    fix(
        store,
        "work",
        _work_hash(campaign),
        otherwise="the items, task, batches, assignments or items_per_hit have changed "
        "since its HITs were dealt",
    )


def _work_hash(campaign: Campaign) -> str:
    """What must not change once HITs exist: the items and how they are dealt out."""
    posting = campaign.posting
    parts = [
        campaign.task.name,
        str((posting.batches, posting.assignments, posting.items_per_hit)),
        *sorted(item.item_id for item in campaign.items),
        *(f"practice {item.item_id}" for item in campaign.practice),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
