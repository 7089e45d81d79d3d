"""A rehearsal with participants of an offline Connect, and the bridge to it.

The emulator runs in a thread of this process and keeps its state in a file beside the
store. This module makes the bridge's steps when the participants' time requires them,
so the timing of threads decides nothing.
"""

from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path

from offline_markets.connect.offline_connect import OfflineConnect
from offline_markets.connect.options import Options
from offline_markets.connect.server import serving
from offline_markets.core.database import WrongDatabaseError
from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError, StoreError
from piecework.marketplace.state.backend import Rules
from piecework.marketplace.state.money import PriceList
from piecework.markets.connect.bridge.bridge import Terms
from piecework.markets.connect.bridge.drafting import NOBODY_HOLDS
from piecework.markets.connect.bridge.serving import OFFLINE_KEY, Office, office, settle
from piecework.markets.connect.market import MARKET
from piecework.markets.connect.rehearsal.site import ConnectSite
from piecework.platforms.clocks import START, VirtualClock
from piecework.simulation.rehearsals.outside import AtBridge, Taken, steps_at, worker_id_of

_SITE = "https://piecework.example"
"""The host in projects' links, since the marketplace's port changes each time."""

_GRACE = timedelta(hours=2)
"""Longer than a finished assignment may take to be listed."""

_ACCOUNTS = ("payments", "bonuses", "fees")


@dataclass(frozen=True, slots=True)
class AtConnect(AtBridge):
    """The bridge and the participants' site of one campaign, in virtual time."""

    site: ConnectSite
    grace: timedelta = _GRACE

    def taken(self) -> Taken:
        """See `RehearsedMarket`."""
        accounts = self.site.books()["accounts"]
        return Taken(cents=sum(accounts[name] for name in _ACCOUNTS))


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectRehearsal:
    """An offline Connect, and the account there that pays for the campaign."""

    controls: OfflineConnect
    office: Office

    @property
    def prices(self) -> PriceList:
        """See `OfflineMarket`."""
        return self.office.prices

    @property
    def address(self) -> str:
        """See `OfflineMarket`."""
        return self.controls.address

    @contextmanager
    def at_work(
        self,
        campaign: Campaign,
        database: Path,
        endpoint_url: str,
        clock: VirtualClock,
        *,
        among: Collection[str],
    ) -> Iterator[AtConnect]:
        """See `OfflineMarket`."""
        seed = campaign.rehearsal.seed
        rules = Rules(rehearsal=True, seed=seed, start=START)
        with self.office.bridge(database, rules, among=among) as bridge:
            site = ConnectSite(
                endpoint_url,
                clock.now(),
                connect=self.controls,
                seed=seed,
                bridge=steps_at(bridge, clock, partial(settle, bridge), no_holders=NOBODY_HOLDS),
                worker_id=partial(worker_id_of, bridge),
            )
            with closing(site):
                yield AtConnect(bridge, site)


@contextmanager
def offline_market(campaign: Campaign) -> Iterator[ConnectRehearsal]:
    """Serve the campaign's own offline Connect, with a file beside the store.

    Raises:
        ConfigError: participants of Connect cannot work on this campaign.
        StoreError: the file belongs to something else.
    """
    _check(campaign)
    options = Options(
        database=campaign.out / MARKET.files[0],
        seed=campaign.rehearsal.seed,
        fee_percent=Decimal(campaign.rewards.fees_on(START.date()).percent),
        balance=_most_cents(campaign),
        start=START,
    )
    terms = Terms(
        site_url=_SITE,
        is_live=True,
        spend_at_most_cents=_most_cents(campaign),
        hit_seconds=campaign.rewards.expected_seconds or 0,
        # A pass has posted all of its HITs when the bridge looks.
        settle_seconds=0,
    )
    try:
        with (
            serving(options) as controls,
            office(controls.address, OFFLINE_KEY, terms) as opened,
        ):
            yield ConnectRehearsal(controls=controls, office=opened)
    except WrongDatabaseError as wrong:
        raise StoreError(
            str(wrong), next_step="give this rehearsal another folder ([output] folder)"
        ) from wrong


def _check(campaign: Campaign) -> None:
    if campaign.qualification is not None:
        raise ConfigError(
            [f"{campaign.path}: participants of Connect take no qualification tests"],
            next_step="leave out [qualification], or rehearse without --crowd connect",
        )
    if campaign.rewards.currency != "USD":
        raise ConfigError(
            [f"{campaign.path}: Connect pays in USD, not {campaign.rewards.currency}"]
        )


def _most_cents(campaign: Campaign) -> int:
    """Return the budget and a tenth, for rounding and whole visits."""
    return campaign.rewards.budget_cents * 11 // 10
