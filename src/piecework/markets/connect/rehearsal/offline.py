"""A rehearsal with participants of an offline Connect, and the bridge to it.

The emulator runs in a thread of this process and keeps its state in a file beside the
store. This module makes the bridge's steps when the participants' time requires them,
so the timing of threads decides nothing.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal
from functools import partial

from offline_markets.connect.options import Options
from offline_markets.connect.server import serving
from offline_markets.core.database import WrongDatabaseError
from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError
from piecework.markets.connect.bridge.bridge import Bridge, Terms
from piecework.markets.connect.bridge.drafting import NOBODY_HOLDS
from piecework.markets.connect.bridge.serving import OFFLINE_KEY, office, settle
from piecework.markets.connect.market import MARKET
from piecework.markets.connect.rehearsal.site import ConnectSite
from piecework.platforms.clocks import START
from piecework.simulation.rehearsals.outside import OfflineBridged, own_file

_SITE = "https://piecework.example"
"""The host in projects' links, since the marketplace's port changes each time."""

_GRACE = timedelta(hours=2)
"""Longer than a finished assignment may take to be listed."""


@contextmanager
def offline_market(campaign: Campaign) -> Iterator[OfflineBridged[Bridge]]:
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
    with (
        own_file(WrongDatabaseError),
        serving(options) as controls,
        office(controls.address, OFFLINE_KEY, terms) as account,
    ):
        yield OfflineBridged(
            address=controls.address,
            account=account,
            settle=settle,
            no_holders=NOBODY_HOLDS,
            site=partial(ConnectSite, connect=controls),
            grace=_GRACE,
            accounts=("payments", "bonuses", "fees"),
        )


def _check(campaign: Campaign) -> None:
    if campaign.qualification is not None:
        raise ConfigError(
            [f"{campaign.path}: participants of Connect take no qualification tests"],
            next_step="leave out qualification, or rehearse without --crowd connect",
        )
    if campaign.rewards.currency != "USD":
        raise ConfigError(
            [f"{campaign.path}: Connect pays in USD, not {campaign.rewards.currency}"]
        )


def _most_cents(campaign: Campaign) -> int:
    """Return the budget and a tenth, for rounding and whole visits."""
    return campaign.rewards.budget_cents * 11 // 10
