"""A rehearsal with participants: the offline Prolific and the bridge to it.

The emulator runs in a thread of this process, so it ends with the process, and keeps
its state in a file beside the store. This module makes the bridge's steps when the
participants' time requires them, so the timing of threads decides nothing.
"""

import math
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

from offline_markets.core.database import WrongDatabaseError
from offline_markets.prolific.filters import KNOWN
from offline_markets.prolific.options import Options
from offline_markets.prolific.server import serve
from piecework.domain.campaign import Campaign
from piecework.domain.errors import StoreError
from piecework.foundation.client.transport import Transport
from piecework.marketplace.state.backend import Rules
from piecework.marketplace.state.money import PriceList
from piecework.markets.prolific.bridge.bridge import Terms
from piecework.markets.prolific.bridge.recruiting import NOBODY_HOLDS
from piecework.markets.prolific.bridge.requirements import type_id_of
from piecework.markets.prolific.bridge.serving import OFFLINE_TOKEN, Office, office, settle
from piecework.markets.prolific.client import Prolific
from piecework.markets.prolific.market import MARKET
from piecework.markets.prolific.rehearsal.site import ProlificSite
from piecework.platforms.clocks import START, VirtualClock
from piecework.simulation.crowd.people import default_crowd
from piecework.simulation.rehearsals.outside import (
    AtBridge,
    Taken,
    steps_at,
    worker_id_of,
)

_SITE = "https://piecework.example"
"""The host in studies' links, since the marketplace's port changes each time."""

_TEST_PER_HOUR_CENTS = 1200
"""Pay for a test: at least what Prolific recommends in either currency."""

_USUAL_AGE = 30
"""Of participants, unless a campaign asks for others."""

_GRACE = timedelta(minutes=10)
"""Longer than the bridge waits for a code (`Terms.grace_seconds`)."""

_ACCOUNTS = ("rewards", "bonuses", "fees", "vat")


@dataclass(frozen=True, slots=True)
class AtProlific(AtBridge):
    """The bridge and the participants' site of one campaign, in virtual time."""

    site: ProlificSite
    grace: timedelta = _GRACE

    def taken(self) -> Taken:
        """See `RehearsedMarket`."""
        theirs = self.site.books()
        return Taken(
            cents=sum(theirs["accounts"].get(name, 0) for name in _ACCOUNTS),
            broken_laws=tuple(theirs["broken_laws"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineProlific:
    """An offline Prolific, and the account there that pays for the campaign."""

    url: str
    office: Office

    @property
    def prices(self) -> PriceList:
        """See `OfflineMarket`."""
        return self.office.prices

    @property
    def address(self) -> str:
        """See `OfflineMarket`."""
        return self.url

    @contextmanager
    def at_work(
        self,
        campaign: Campaign,
        database: Path,
        endpoint_url: str,
        clock: VirtualClock,
        *,
        among: Collection[str],
    ) -> Iterator[AtProlific]:
        """See `OfflineMarket`."""
        seed = campaign.rehearsal.seed
        rules = Rules(rehearsal=True, seed=seed, start=START)
        with self.office.bridge(database, rules, among=among) as bridge:
            site = ProlificSite(
                endpoint_url,
                clock.now(),
                emulator_url=self.url,
                seed=seed,
                bridge=steps_at(bridge, clock, partial(settle, bridge), no_holders=NOBODY_HOLDS),
                worker_id=partial(worker_id_of, bridge),
                test=campaign.qualification.name if campaign.qualification else "",
                about=_about(campaign),
            )
            with closing(site):
                yield AtProlific(bridge, site)


@contextmanager
def offline_market(campaign: Campaign) -> Iterator[OfflineProlific]:
    """Serve the campaign's own offline Prolific, with a file beside the store.

    Raises:
        StoreError: the file belongs to something else.
    """
    options = Options(
        database=campaign.out / MARKET.files[0],
        seed=campaign.rehearsal.seed,
        currency=campaign.rewards.currency,
        balance=_most_cents(campaign),
        start=START,
    )
    try:
        with (
            serve(options) as url,
            office(url, OFFLINE_TOKEN, _terms(campaign, url)) as opened,
        ):
            yield OfflineProlific(url=url, office=opened)
    except WrongDatabaseError as wrong:
        raise StoreError(
            str(wrong), next_step="give this rehearsal another folder ([output] folder)"
        ) from wrong


def _about(campaign: Campaign) -> Mapping[str, object]:
    """Return what participants say, so that they meet the campaign's filters.

    Prolific shows a study only to people who do.
    """
    filters = {type_id_of(name): name for name in KNOWN}
    answers: dict[str, list[str]] = {}
    age = _USUAL_AGE
    for requirement in campaign.requirements:
        name = filters.get(requirement.qualification_type_id, "")
        values = requirement.integer_values
        if name and requirement.comparator == "In":
            answers[name] = [str(values[0])]
        elif name == "age" and requirement.comparator == "GreaterThanOrEqualTo":
            age = max(age, values[0])
        elif name == "age" and requirement.comparator == "LessThanOrEqualTo":
            age = min(age, values[0])
    return {"age": age, "answers": answers}


def _most_cents(campaign: Campaign) -> int:
    """Return the budget and a tenth, for rounding and whole visits, plus the tests."""
    # With fee and tax, a test costs less than 1.5 times its pay. All participants may
    # have taken it while as many places are still open.
    tests = 3 * _participants(campaign) * _test_cents(campaign)
    return campaign.rewards.budget_cents * 11 // 10 + tests


def _participants(campaign: Campaign) -> int:
    judges = campaign.task.dataset != "captions"
    crowd = campaign.rehearsal.crowd or default_crowd(judges=judges)
    return sum(crowd.values())


def _test_cents(campaign: Campaign) -> int:
    """Return the pay for taking the test; 0 without a test."""
    test = campaign.qualification
    if test is None:
        return 0
    seconds = len(test.items) * test.task.seconds_per_item
    return math.ceil(seconds * _TEST_PER_HOUR_CENTS / 3600)


def _terms(campaign: Campaign, url: str) -> Terms:
    with Transport(url, OFFLINE_TOKEN) as transport:
        workspace = next(Prolific(transport).account.workspaces()).id
    return Terms(
        workspace_id=workspace,
        project_id="",
        site_url=_SITE,
        currency=campaign.rewards.currency,
        is_live=True,
        spend_at_most_cents=_most_cents(campaign),
        screening_cents=_test_cents(campaign),
        screening_places=_participants(campaign),
        hit_seconds=campaign.rewards.expected_seconds or 0,
        # A pass has posted all of its HITs when the bridge looks.
        settle_seconds=0,
        bonus_pause_seconds=0,
    )
