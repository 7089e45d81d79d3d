"""A rehearsal with participants: the offline Prolific and the bridge to it.

The emulator runs in a thread of this process, so it ends with the process, and keeps
its state in a file beside the store. This module makes the bridge's steps when the
participants' time requires them, so the timing of threads decides nothing.
"""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from functools import partial

from offline_markets.core.database import WrongDatabaseError
from offline_markets.prolific.filters import KNOWN
from offline_markets.prolific.options import Options
from offline_markets.prolific.server import serve
from piecework.domain.campaign import Campaign
from piecework.foundation.client.transport import Transport
from piecework.markets.prolific.bridge.bridge import Bridge, Terms
from piecework.markets.prolific.bridge.recruiting import NOBODY_HOLDS
from piecework.markets.prolific.bridge.requirements import type_id_of
from piecework.markets.prolific.bridge.serving import OFFLINE_TOKEN, office, settle
from piecework.markets.prolific.client import Prolific
from piecework.markets.prolific.market import MARKET
from piecework.markets.prolific.rehearsal.site import ProlificSite
from piecework.platforms.clocks import START
from piecework.simulation.crowd.people import default_crowd
from piecework.simulation.rehearsals.outside import OfflineBridged, own_file

_SITE = "https://piecework.example"
"""The host in studies' links, since the marketplace's port changes each time."""

_TEST_PER_HOUR_CENTS = 1200
"""Pay for a test: at least what Prolific recommends in either currency."""

_USUAL_AGE = 30
"""Of participants, unless a campaign asks for others."""

_GRACE = timedelta(minutes=10)
"""Longer than the bridge waits for a code (`Terms.grace_seconds`)."""


@contextmanager
def offline_market(campaign: Campaign) -> Iterator[OfflineBridged[Bridge]]:
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
    with (
        own_file(WrongDatabaseError),
        serve(options) as url,
        office(url, OFFLINE_TOKEN, _terms(campaign, url)) as account,
    ):
        test = campaign.qualification
        yield OfflineBridged(
            address=url,
            account=account,
            settle=settle,
            no_holders=NOBODY_HOLDS,
            site=partial(
                ProlificSite,
                emulator_url=url,
                test=test.name if test else "",
                about=_about(campaign),
            ),
            grace=_GRACE,
            accounts=("rewards", "bonuses", "fees", "vat"),
        )


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
