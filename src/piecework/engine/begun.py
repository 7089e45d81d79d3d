"""What is known of a campaign before it is opened: its store, bindings and prices.

A command asks here which marketplace a store is bound to, what was agreed to, and what
HITs will cost, without beginning anything.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import date

from piecework.campaign.binding import (
    IMPORTED,
    REHEARSAL,
    bind_currency,
    check_bound,
    refuse_imported,
    store_beside,
)
from piecework.campaign.caps import check_caps
from piecework.campaign.price_list import ask_prices, with_prices
from piecework.domain.campaign import Campaign
from piecework.domain.clock import SystemClock
from piecework.domain.errors import (
    ConfigError,
    PlatformRefused,
    RefusedForSafety,
    StoreError,
    TransientPlatformError,
)
from piecework.domain.marks import Marks
from piecework.domain.money import PriceList
from piecework.domain.text import shell_word
from piecework.platforms.endpoint import normal_endpoint, refuse_closed_host
from piecework.platforms.mturk import MTurk
from piecework.store import bound, hits
from piecework.store.campaign_facts import (
    agree_to_spend,
    agreed_cents,
    is_news,
    kept_prices,
)
from piecework.store.database import Store, damage_check, exists, open_store


def is_begun(campaign: Campaign) -> bool:
    """Return whether the campaign has a store."""
    return exists(campaign.store)


@contextmanager
def known_store(
    campaign: Campaign, *, marks: Marks | None = None, survives_power_cuts: bool = True
) -> Iterator[Store | None]:
    """Open the campaign's store, if there is one; it need not be bound.

    Args:
        campaign: the campaign.
        marks: those of the platform that the store works with, if any.
        survives_power_cuts: as for `open_store`.
    """
    if not is_begun(campaign):
        yield None
        return
    with opened_store(campaign, marks=marks, survives_power_cuts=survives_power_cuts) as store:
        yield store


@contextmanager
def opened_store(
    campaign: Campaign, *, marks: Marks | None = None, survives_power_cuts: bool = True
) -> Iterator[Store]:
    """Open the campaign's store; it is created if it is missing."""
    with (
        closing(
            open_store(
                campaign.store, create=True, survives_power_cuts=survives_power_cuts, marks=marks
            )
        ) as store,
        damage_check(store),
    ):
        yield store


def environment_of(campaign: Campaign, store: Store | None) -> str:
    """Return the environment that a campaign's store is bound to.

    Raises:
        StoreError: there is no store yet, or it is not bound.
    """
    environment = None if store is None else bound.read_bound(store).environment
    if environment is None:
        beside = store_beside(campaign)
        begin = (
            f"piecework data import FILES --as {shell_word(campaign.path)}"
            if campaign.imported is not None
            else f"piecework rehearse {shell_word(campaign.path)} (simulated workers), or "
            f"piecework run {shell_word(campaign.path)} --endpoint URL"
        )
        raise StoreError(
            f"{campaign.store}: there is no store yet, because no pass of "
            f"{campaign.path} has begun" + (f"; {beside.what}" if beside else ""),
            next_step=f"{beside.undo}; otherwise {begin}" if beside else begin,
        )
    return environment


def refused_of_rehearsal(campaign: Campaign) -> RefusedForSafety:
    """Return the refusal of a call that needs the marketplace of a rehearsal's store."""
    return RefusedForSafety(
        f"{campaign.store}: this store is of a rehearsal; its workers are "
        "simulated, and its marketplace no longer runs",
        next_step=f"for work on a marketplace: piecework run {shell_word(campaign.path)} "
        "--endpoint URL",
    )


def bound_endpoint(campaign: Campaign) -> str:
    """Return the marketplace that a campaign's store is bound to.

    Raises:
        RefusedForSafety: it is of a rehearsal, or was imported.
        StoreError: the campaign has no store yet.
    """
    refuse_imported(campaign)
    with known_store(campaign) as store:
        environment = environment_of(campaign, store)
    if environment.startswith(REHEARSAL):
        raise refused_of_rehearsal(campaign)
    return environment


def has_posted(campaign: Campaign) -> bool:
    """Return whether HITs of the campaign were posted."""
    with known_store(campaign) as store:
        return store is not None and bool(hits.ids(store))


def agreed_before(campaign: Campaign) -> int | None:
    """Return the amount in cents that was agreed to in an earlier run, if any."""
    with known_store(campaign) as store:
        return None if store is None else agreed_cents(store)


_PATIENCE_SECONDS = 5.0
"""For a marketplace that a schedule may find later."""


def check_amount_beforehand(
    campaign: Campaign, endpoint: str, spend_at_most: int | None, *, by_schedule: bool
) -> None:
    """Check the caps of a campaign whose passes are to be scheduled.

    Once it has posted, only a new amount that a person states is checked. A marketplace
    that cannot be asked for its prices is asked by each pass.

    Args:
        campaign: as it was read.
        endpoint: URL of the marketplace.
        spend_at_most: a new amount in cents; `None`: as agreed before.
        by_schedule: as for `check_new_amount`.

    Raises:
        BudgetExceeded: it costs more than its caps.
        RefusedForSafety: as `piecework.campaign.price_list.ask_prices`.
        StoreError: its store is bound to another marketplace.
    """
    today, address = SystemClock().now().date(), normal_endpoint(endpoint)
    with known_store(campaign) as store:
        if store is not None:
            check_bound(store, campaign, address)
    begun = as_begun(campaign)
    platform = MTurk.with_keys(address, None, patience_seconds=_PATIENCE_SECONDS)
    try:
        posted = has_posted(campaign)
        prices = ask_prices(begun, platform, today=today, has_posted=posted)
    except (ConfigError, PlatformRefused, TransientPlatformError):
        return
    priced = with_prices(campaign, prices)
    if posted:
        with known_store(campaign) as store:
            check_new_amount(priced, store, spend_at_most, by_schedule=by_schedule)
        return
    cents = begun.rewards.agreed_cents if spend_at_most is None else spend_at_most
    _check_agreed(priced, cents)


def check_new_amount(
    campaign: Campaign, store: Store | None, spend_at_most: int | None, *, by_schedule: bool
) -> None:
    """Refuse a new amount that is too small, before it is recorded.

    That of a schedule is recorded once the campaign has posted: only planning and
    posting are refused then, so that what was posted is still collected and paid.

    Args:
        campaign: as it was read, with the marketplace's prices.
        store: the campaign's; `None` before the first pass.
        spend_at_most: in cents; `None`: none is stated.
        by_schedule: whether a schedule states it.

    Raises:
        BudgetExceeded: the campaign costs more.
    """
    if spend_at_most is None:
        return
    is_new = store is None or is_news(store, spend_at_most, by_schedule=by_schedule)
    if is_new and not (by_schedule and store is not None and hits.ids(store)):
        _check_agreed(campaign, spend_at_most)


def _check_agreed(campaign: Campaign, cents: int | None) -> None:
    rewards = campaign.rewards.as_agreed(cents)
    check_caps(replace(campaign, rewards=rewards), at=SystemClock().now())


def agree_for_schedule(campaign: Campaign, spend_at_most: int) -> None:
    """Record an amount in cents that a person agrees to and a schedule repeats.

    Without a store, the first pass records it.
    """
    now = SystemClock().now()
    with known_store(campaign) as store:
        if store is not None:
            agree_to_spend(store, spend_at_most, at=now)
            agree_to_spend(store, spend_at_most, at=now, by_schedule=True)


def as_begun(campaign: Campaign) -> Campaign:
    """Return a campaign with the amount agreed to, and its marketplace's prices if it has any.

    Raises:
        StoreError: its store is in another currency.
    """
    with known_store(campaign) as store:
        environment = None if store is None else bound.read_bound(store).environment
        if store is None or environment in {None, IMPORTED}:
            return campaign
        if str(environment).startswith(REHEARSAL):
            return campaign
        bind_currency(store, campaign)
        rewards = campaign.rewards.as_agreed(agreed_cents(store))
        return with_prices(replace(campaign, rewards=rewards), kept_prices(store))


def as_priced(
    campaign: Campaign, endpoint: str | None, *, on: date
) -> tuple[Campaign, PriceList | None]:
    """Return the campaign with the prices that are known, and the marketplace's list.

    Args:
        campaign: as it was read.
        endpoint: a marketplace to ask; `None`: the prices that the store has kept, if
            it has, and no list.
        on: the day for which the campaign file's fees are compared.

    Raises:
        RefusedForSafety: as `piecework.campaign.price_list.ask_prices`.
        StoreError: its store is in another currency.
    """
    begun = as_begun(campaign)
    if endpoint is None:
        return begun, None
    address = normal_endpoint(endpoint)
    refuse_closed_host(address)
    prices = ask_prices(
        begun, MTurk.with_keys(address, None), today=on, has_posted=has_posted(campaign)
    )
    return with_prices(begun, prices), prices
