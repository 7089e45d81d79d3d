"""A rehearsal with participants of an offline Connect, and the bridge to it.

The emulator runs in a thread of this process and keeps its state in a file beside the
store. This module makes the bridge's steps when the participants' time requires them,
so the timing of threads decides nothing.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path

from piecework.campaign.opened import CampaignRun
from piecework.connect.bridge.bridge import Bridge
from piecework.connect.bridge.drafting import NOBODY_HOLDS
from piecework.connect.bridge.marketplace_process import EMULATOR_KEY
from piecework.connect.bridge.serving import Office, office
from piecework.connect.bridge.step import settle
from piecework.connect.bridge.terms import Terms
from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError, StoreError
from piecework.engine.progress import read_progress
from piecework.marketplace.state.audit import broken_laws
from piecework.marketplace.state.backend import Rules
from piecework.payments.outside_prices import book_outside_prices
from piecework.platforms.virtual_clock import START, VirtualClock
from piecework.rehearsal.connect.offline_connect import OfflineConnect
from piecework.rehearsal.connect.options import Options
from piecework.rehearsal.connect.server import serving
from piecework.rehearsal.crowd.connect_site import ConnectSite
from piecework.rehearsal.offline.database import WrongDatabaseError
from piecework.rehearsing.bridged import let_settle, steps_at, worker_id_of
from piecework.rehearsing.marketplace_books import outside_price_cents, spent_cents
from piecework.results.books import Books

DATABASE = "connect.db"
_SITE = "https://piecework.example"
"""The host in projects' links, since the marketplace's port changes each time."""

_LAST_DAY = 30
"""Connect itself settles everything after 14 days."""

_GRACE = timedelta(hours=2)
"""Longer than a finished assignment may take to be listed."""

_ACCOUNTS = ("payments", "bonuses", "fees")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectRehearsal:
    """An offline Connect, and the account there that pays for the campaign."""

    controls: OfflineConnect
    office: Office


@contextmanager
def offline_connect(campaign: Campaign) -> Iterator[ConnectRehearsal]:
    """Serve the campaign's own offline Connect, with a file beside the store.

    Raises:
        ConfigError: participants of Connect cannot work on this campaign.
        StoreError: the file belongs to something else.
    """
    _check(campaign)
    options = Options(
        database=campaign.out / DATABASE,
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
            office(controls.address, EMULATOR_KEY, terms) as opened,
        ):
            yield ConnectRehearsal(controls=controls, office=opened)
    except WrongDatabaseError as wrong:
        raise StoreError(
            str(wrong),
            next_step="give this rehearsal another folder ([output] folder)",
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


class AtConnect:
    """The bridge and the participants' site of one campaign, in virtual time."""

    def __init__(
        self, bridge: Bridge, clock: VirtualClock, site: ConnectSite, folder: Path
    ) -> None:
        self._bridge, self._clock, self.site = bridge, clock, site
        self._folder = folder

    def close_books(self, run: CampaignRun) -> Books:
        """Return the books once everything is settled; store them for the report.

        Raises:
            PlatformRefused: something is not settled in the end.
        """
        let_settle(
            self._bridge, self._clock, self.site, grace=_GRACE, last_day=_LAST_DAY
        )
        book_outside_prices(run.store, run.platform.prices(), run.clock)
        progress = read_progress(run)
        accounts = self.site.books()["accounts"]
        with self._bridge.backend.transaction() as transaction:
            books = Books(
                currency=progress.currency,
                pipeline=progress.spent_cents,
                marketplace=spent_cents(transaction),
                outside_price=outside_price_cents(transaction),
                market="Connect",
                outside=sum(accounts[name] for name in _ACCOUNTS),
                broken_laws=tuple(broken_laws(transaction)),
            )
        books.keep(self._folder)
        return books


@contextmanager
def at_connect(
    campaign: Campaign,
    offline: ConnectRehearsal,
    database: Path,
    endpoint_url: str,
    clock: VirtualClock,
) -> Iterator[AtConnect]:
    """Open bridge and participants of a marketplace that serves this Connect.

    Args:
        campaign: the campaign on that marketplace.
        offline: the Connect that its participants come from.
        database: the marketplace's database.
        endpoint_url: the marketplace's URL.
        clock: the marketplace's clock.
    """
    seed = campaign.rehearsal.seed
    rules = Rules(rehearsal=True, seed=seed, start=START)
    with offline.office.bridge(database, rules) as bridge:
        site = ConnectSite(
            endpoint_url,
            clock.now(),
            connect=offline.controls,
            seed=seed,
            bridge=steps_at(
                bridge, clock, partial(settle, bridge), no_holders=NOBODY_HOLDS
            ),
            worker_id=partial(worker_id_of, bridge),
        )
        with closing(site):
            yield AtConnect(bridge, clock, site, campaign.out)


def _most_cents(campaign: Campaign) -> int:
    """Return the budget and a tenth, for rounding and whole visits."""
    return campaign.rewards.budget_cents * 11 // 10
