"""Open a campaign: its file, its store, and the environment that it works in.

A store is bound to its campaign and environment (`piecework.campaign.binding`). Each
time it is opened, the marketplace is asked for its prices (`piecework.campaign.price_list`).
A pass works on a marketplace, or on a rehearsal that another process runs.
"""

import hashlib
import logging
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace

from piecework.campaign.binding import (
    IMPORTED,
    REHEARSAL,
    bind_items,
    bind_store,
    check_bound,
    check_typed,
    refuse_imported,
    rehearsal_environment,
)
from piecework.campaign.consent import refuse_without_consent, refuse_workers_elsewhere
from piecework.campaign.opened import CampaignRun, OpenedCampaign
from piecework.campaign.price_list import ask_prices, with_prices, without_markets
from piecework.domain.campaign import Campaign
from piecework.domain.clock import Clock, MonotonicClock, SystemClock
from piecework.domain.errors import (
    PlatformRefused,
    RefusedForSafety,
    StoreError,
    TransientPlatformError,
)
from piecework.domain.money import PriceList
from piecework.domain.text import shell_word
from piecework.engine.begun import (
    agreed_before,
    check_new_amount,
    environment_of,
    is_begun,
    known_store,
    opened_store,
    refused_of_rehearsal,
)
from piecework.engine.pass_request import PassRequest
from piecework.engine.payments.outside_prices import book_outside_prices
from piecework.engine.recover.other_stores import claim, refuse_restored, refuse_second_store
from piecework.platforms.clocks import VirtualClock
from piecework.platforms.endpoint import REHEARSAL as REHEARSAL_KEYS
from piecework.platforms.endpoint import Credentials, is_on_this_machine, normal_endpoint
from piecework.platforms.mturk import MTurk
from piecework.store import bound, generations, hits, imports
from piecework.store.campaign_facts import (
    agree_to_spend,
    agreed_cents,
    keep_prices,
    kept_prices,
    last_written_at,
)
from piecework.store.database import Store
from piecework.store.dealt_items import DealtItems
from piecework.store.lock import only_pass

_LOG = logging.getLogger(__name__)

MOST_CALLS = 24
"""Concurrent calls to a marketplace; more only keep the caller's own processor busier,
see docs/internals/measurements/benchmarks.md."""

NO_MARKETS = (
    "[markets] is ignored: the simulated workers of this rehearsal come from no market, "
    "so all HITs have the same fees"
)

MOST_CALLS_IN_REHEARSALS = 4
"""The same where marketplace and pipeline share a machine."""


@contextmanager
def open_on_marketplace(  # noqa: PLR0913 - what a request states, and what else a caller may
    campaign: Campaign,
    endpoint: str,
    *,
    live: bool,
    allow_second_store: bool = False,
    allow_restored: bool = False,
    spend_at_most_cents: int | None = None,
    by_schedule: bool = False,
    credentials: Credentials | None = None,
    patience_seconds: float | None = None,
) -> Iterator[CampaignRun]:
    """Open a campaign to work on a marketplace that runs elsewhere.

    Args:
        campaign: the campaign.
        endpoint: URL of the marketplace.
        live: real people work, perhaps on another machine.
        allow_second_store: begin although the marketplace has HITs of a campaign of
            this name from another store.
        allow_restored: open it although store or marketplace is an older copy; used to
            compare the two.
        spend_at_most_cents: what the campaign may spend in all, from now on; `None`: as
            agreed before.
        by_schedule: a schedule states this amount, which counts when it changes.
        credentials: keys for the marketplace; without them, boto3's own chain.
        patience_seconds: how long the marketplace may be unreachable
            (`piecework.platforms.calling`).

    Raises:
        RefusedForSafety: as `piecework.campaign.consent`, `piecework.campaign.price_list`
            and `piecework.engine.recover.other_stores` say; another store began it; or the
            campaign costs more than a new amount.
        StoreError: another process works on the campaign, or the store belongs to
            another environment.
    """
    endpoint = normal_endpoint(endpoint)
    platform = MTurk.with_keys(endpoint, credentials, patience_seconds=patience_seconds)
    clock = SystemClock()
    with ExitStack() as stack:
        known = None
        if is_begun(campaign):
            stack.enter_context(only_pass(campaign.store))
            known = stack.enter_context(known_store(campaign, marks=platform.marks))
        is_agreed = spend_at_most_cents is not None or (
            known is not None and agreed_cents(known) is not None
        )
        refuse_without_consent(campaign, endpoint, live=live, is_agreed=is_agreed)
        # Check the binding first: only the store's own marketplace is asked anything.
        is_bound = known is not None and check_bound(known, campaign, endpoint)
        if not live:
            refuse_workers_elsewhere(campaign, platform)
        if known is None:
            stack.enter_context(only_pass(campaign.store))
            # Another pass may have made it before this one had the folder.
            known = stack.enter_context(known_store(campaign, marks=platform.marks))
            is_bound = known is not None and check_bound(known, campaign, endpoint)
        if not allow_second_store:
            refuse_second_store(campaign, known, platform)
        prices, spend = _prices(campaign, known, platform, clock), spend_at_most_cents
        check_new_amount(with_prices(campaign, prices), known, spend, by_schedule=by_schedule)
        store = known or stack.enter_context(
            opened_store(campaign, marks=platform.marks, survives_power_cuts=True)
        )
        if not is_bound:
            _bind(store, campaign, endpoint)
        bound.name_once(store, secrets.token_hex(8), secrets.token_bytes(32))
        if not allow_restored:
            _recognise(campaign, store, platform, clock)
        claim(campaign, store, platform, allow_second_store=allow_second_store)
        keep_prices(store, prices)
        book_outside_prices(store, prices, clock)
        if spend is not None:
            agree_to_spend(store, spend, at=clock.now(), by_schedule=by_schedule)
        yield _run(campaign, store, clock, platform, most_calls=MOST_CALLS, is_live=live)


@contextmanager
def open_for_rehearsal(
    campaign: Campaign,
    endpoint: str,
    clock: Clock,
    *,
    allow_second_store: bool = True,
    recognises_copies: bool = False,
    allow_restored: bool = False,
) -> Iterator[CampaignRun]:
    """Open a campaign to rehearse: policy decides, ids are hashed with the seed.

    Args:
        campaign: the campaign.
        endpoint: URL of the rehearsal's marketplace.
        clock: its virtual time.
        allow_second_store: as for `open_on_marketplace`.
        recognises_copies: refuse a restored store or marketplace, as with any
            marketplace that outlives a pass. One that starts and ends with the
            rehearsal does not need this check.
        allow_restored: as for `open_on_marketplace`.

    Raises:
        RefusedForSafety: the campaign is run from another store; or see
            `piecework.campaign.price_list` and `piecework.engine.recover.other_stores`.
    """
    refuse_imported(campaign)
    platform = MTurk.with_keys(endpoint, REHEARSAL_KEYS)
    environment = rehearsal_environment(campaign)
    marks = platform.marks if recognises_copies else None
    if campaign.crowds is not None:
        campaign = without_markets(campaign, platform.prices())
        if campaign.crowds is None and not is_begun(campaign):
            _LOG.info("%s", NO_MARKETS)
    with ExitStack() as stack:
        known = stack.enter_context(known_store(campaign, marks=marks, survives_power_cuts=False))
        if not allow_second_store:
            refuse_second_store(campaign, known, platform)
        is_bound = known is not None and check_bound(known, campaign, environment)
        prices = _prices(campaign, known, platform, clock)
        store = known or stack.enter_context(
            opened_store(campaign, marks=marks, survives_power_cuts=False)
        )
        if not is_bound:
            _bind(store, campaign, environment)
        bound.name_once(store, *_rehearsal_name_and_key(campaign))
        if recognises_copies and not allow_restored:
            _recognise(campaign, store, platform, clock)
        keep_prices(store, prices)
        book_outside_prices(store, prices, clock)
        yield _run(
            replace(campaign, decided_by="policy"),
            store,
            clock,
            platform,
            most_calls=MOST_CALLS_IN_REHEARSALS,
        )


@contextmanager
def open_to_look(campaign: Campaign) -> Iterator[OpenedCampaign]:
    """Open a campaign and its store to look, decide and export; no platform.

    Raises:
        StoreError: the campaign has no store yet, or the store is for other items; or
            it was imported with fields other than those the campaign file has now.
    """
    with known_store(campaign) as store:
        environment = environment_of(campaign, store)
        assert store is not None  # noqa: S101 - the environment was read from it
        if (environment == IMPORTED) != (campaign.imported is not None):
            raise _mixed_up(campaign, environment)
        is_rehearsal = environment.startswith(REHEARSAL)
        if is_rehearsal:
            environment = rehearsal_environment(campaign)
            campaign = replace(campaign, decided_by="policy")
            campaign = without_markets(campaign, kept_prices(store))
        _bind(store, campaign, environment)
        if environment == IMPORTED:
            check_typed(store, campaign)
        yield OpenedCampaign(
            campaign=_as_kept(campaign, store),
            store=store,
            clock=MonotonicClock(SystemClock(), last_written_at(store)),
            is_rehearsal=is_rehearsal,
            pseudonym_key=_pseudonym_key(store),
            endpoint="" if is_rehearsal or environment == IMPORTED else environment,
        )


@contextmanager
def open_for_import(campaign: Campaign) -> Iterator[OpenedCampaign]:
    """Open a campaign of imported results and its store, created if missing.

    Raises:
        CampaignBusy: another process works on the campaign.
        StoreError: the store belongs to a campaign that collects answers.
    """
    with only_pass(campaign.store, by="an import"), opened_store(campaign) as store:
        _bind(store, campaign, IMPORTED)
        bound.name_once(store, secrets.token_hex(8), secrets.token_bytes(32))
        bind_items(store, campaign)
        yield OpenedCampaign(
            campaign=campaign,
            store=store,
            clock=MonotonicClock(SystemClock(), last_written_at(store)),
            is_rehearsal=False,
            pseudonym_key=_pseudonym_key(store),
        )


def on_its_platform(
    opened: OpenedCampaign, *, patience_seconds: float | None = None
) -> CampaignRun:
    """Return the campaign on the marketplace that its store is bound to.

    Args:
        opened: the campaign.
        patience_seconds: as for `open_on_marketplace`.

    Raises:
        RefusedForSafety: the store is of a rehearsal, or was imported.
    """
    refuse_imported(opened.campaign)
    if opened.is_rehearsal:
        raise refused_of_rehearsal(opened.campaign)
    return CampaignRun(
        campaign=opened.campaign,
        store=opened.store,
        clock=opened.clock,
        is_rehearsal=False,
        pseudonym_key=opened.pseudonym_key,
        endpoint=opened.endpoint,
        platform=MTurk.with_keys(opened.endpoint, None, patience_seconds=patience_seconds),
        most_calls=MOST_CALLS,
    )


def _bind(store: Store, campaign: Campaign, environment: str) -> None:
    with store.db.atomic():
        bind_store(store, campaign, environment)


def _prices(
    campaign: Campaign, store: Store | None, platform: MTurk, clock: Clock
) -> PriceList | None:
    return ask_prices(
        campaign,
        platform,
        today=clock.now().date(),
        has_posted=store is not None and bool(hits.ids(store)),
    )


def _recognise(campaign: Campaign, store: Store, platform: MTurk, clock: Clock) -> None:
    """Refuse a restored copy, and let store and marketplace exchange marks."""
    refuse_restored(campaign, store, platform)
    generations.begin_generation(store, at=clock.now())


def _run(
    campaign: Campaign,
    store: Store,
    clock: Clock,
    platform: MTurk,
    *,
    most_calls: int,
    is_live: bool = False,
) -> CampaignRun:
    return CampaignRun(
        campaign=_as_kept(campaign, store),
        store=store,
        platform=platform,
        clock=MonotonicClock(clock, last_written_at(store)),
        is_rehearsal=(bound.read_bound(store).environment or "").startswith(REHEARSAL),
        pseudonym_key=_pseudonym_key(store),
        endpoint=platform.endpoint,
        most_calls=most_calls,
        is_live=is_live,
    )


def _as_kept(campaign: Campaign, store: Store) -> Campaign:
    """Return the campaign with what its store knows: the amount agreed to, the fees."""
    if campaign.imported is not None:
        # Every imported answer is wanted; only a worker's second answer is surplus.
        wanted = imports.most_answers(store)
        posting = replace(campaign.posting, assignments=wanted)
        campaign = replace(campaign, posting=posting)
    if campaign.growth is not None:
        campaign = replace(campaign, items=DealtItems(store, campaign.task.shown_pictures))
    rewards = campaign.rewards.as_agreed(agreed_cents(store))
    return with_prices(replace(campaign, rewards=rewards), kept_prices(store))


def _pseudonym_key(store: Store) -> bytes:
    return bytes.fromhex(bound.read_bound(store).pseudonym_key or "")


def _rehearsal_name_and_key(campaign: Campaign) -> tuple[str, bytes]:
    name = f"piecework rehearsal {campaign.name} {campaign.rehearsal.seed}"
    return name, hashlib.sha256(name.encode()).digest()


def _mixed_up(campaign: Campaign, environment: str) -> StoreError:
    if environment == IMPORTED:
        mismatch = "its answers were imported, but the campaign file has no [imported]"
    else:
        mismatch = f"it belongs to {environment}, but the campaign file has [imported]"
    return StoreError(
        f"{campaign.store}: {mismatch}", next_step="restore the campaign file as it was"
    )


@contextmanager
def open_environment(
    request: PassRequest, *, credentials: Credentials | None = None
) -> Iterator[CampaignRun]:
    """Open a campaign for one pass.

    Args:
        request: what the pass is asked to do.
        credentials: keys for the marketplace; without them, boto3's own chain.

    Raises:
        RefusedForSafety: the request could cost money or harm.
        CampaignBusy: another process works on the campaign.
        ConfigError: the campaign file has errors.
    """
    if request.rehearsal:
        opened = _rehearsal_elsewhere(request)
    else:
        _refuse_simulated(request.assembled, normal_endpoint(request.endpoint))
        opened = open_on_marketplace(
            request.assembled,
            request.endpoint,
            live=request.live,
            allow_second_store=request.allow_second_store,
            spend_at_most_cents=request.spend_at_most_cents,
            by_schedule=request.by_schedule,
            credentials=credentials,
        )
    with opened as run:
        yield run


def refuse_unsafe(request: PassRequest) -> None:
    """Refuse what a pass refuses before it asks a marketplace anything.

    Raises:
        RefusedForSafety: the request could cost money or harm.
    """
    campaign, endpoint = request.assembled, normal_endpoint(request.endpoint)
    if request.rehearsal:
        _refuse_elsewhere(campaign, endpoint)
        return
    is_agreed = request.spend_at_most_cents is not None or agreed_before(campaign) is not None
    refuse_without_consent(campaign, endpoint, live=request.live, is_agreed=is_agreed)


def refuse_other_workers(campaign: Campaign, endpoint: str, *, rehearsal: bool) -> None:
    """Ask a marketplace, if it answers yet, whether workers are simulated only in a rehearsal.

    Raises:
        RefusedForSafety: it is otherwise.
    """
    endpoint = normal_endpoint(endpoint)
    if rehearsal:
        _refuse_elsewhere(campaign, endpoint)
        with suppress(TransientPlatformError):
            _check_rehearses(VirtualClock(endpoint), endpoint)
    else:
        _refuse_simulated(campaign, endpoint)


def _refuse_elsewhere(campaign: Campaign, endpoint: str) -> None:
    if not is_on_this_machine(endpoint):
        raise RefusedForSafety(
            f"{endpoint}: a rehearsal needs a marketplace on this machine",
            next_step=f"piecework market serve --simulate {shell_word(campaign.path)} --port 8080",
        )


@contextmanager
def _rehearsal_elsewhere(request: PassRequest) -> Iterator[CampaignRun]:
    """Open a campaign for one pass of a rehearsal; time is the marketplace's.

    Raises:
        RefusedForSafety: the marketplace is not a rehearsal's, is on another machine,
            or has HITs of this campaign from another store.
        CampaignBusy: another process works on the campaign.
    """
    campaign = request.assembled
    endpoint = normal_endpoint(request.endpoint)
    _refuse_elsewhere(campaign, endpoint)
    clock = VirtualClock(endpoint)
    _check_rehearses(clock, endpoint)
    with (
        only_pass(campaign.store),
        open_for_rehearsal(
            campaign,
            endpoint,
            clock,
            allow_second_store=request.allow_second_store,
            recognises_copies=True,
        ) as run,
    ):
        yield run


def _refuse_simulated(campaign: Campaign, endpoint: str) -> None:
    """Refuse a live pass where simulated workers work: its store would hold their answers.

    Raises:
        RefusedForSafety: the marketplace says that it simulates the workers.
    """
    if not is_on_this_machine(endpoint):
        return
    clock = VirtualClock(endpoint)
    try:
        clock.refresh()
    except (PlatformRefused, TransientPlatformError):
        return  # a real marketplace has no such clock; the pass says what is wrong
    if clock.simulates:
        raise RefusedForSafety(
            f"{endpoint}: simulated workers work at this marketplace, so a live campaign "
            "would take their answers for people's",
            next_step=f"piecework run {shell_word(campaign.path)} --once --rehearsal "
            f"--endpoint {endpoint}; for people: piecework market serve",
        )


def _check_rehearses(clock: VirtualClock, endpoint: str) -> None:
    try:
        clock.refresh()
    except PlatformRefused as refusal:
        raise RefusedForSafety(
            f"{endpoint} has no rehearsal clock, so it is real; a rehearsal must not post there",
            next_step="piecework market serve --simulate CAMPAIGN starts one to rehearse on",
        ) from refusal
