"""`prolific estimate`: who is eligible for a campaign, its cost and its time."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.api_faults import api_faults
from piecework.cli.options import CAMPAIGN, JSON
from piecework.cli.prolific_account import TOKEN_FILE, URL, WORKSPACE, needed_token, only_workspace
from piecework.domain.counts import plural
from piecework.domain.printable import printable

if TYPE_CHECKING:
    from piecework.domain.campaign import Campaign
    from piecework.prolific.bridge.estimating import Estimate
    from piecework.prolific.token import Token

_API = "https://api.prolific.com"


@click.command("estimate")
@CAMPAIGN
@WORKSPACE
@URL
@TOKEN_FILE
@JSON
def prolific_estimate(
    campaign: Path, *, workspace: str, url: str, token_file: Path | None, as_json: bool
) -> None:
    """Ask who is eligible, cost and time.

    The command asks Prolific how many participants meet the campaign's requirements,
    what the study costs with fees and tax, and how long recruiting takes. It creates
    nothing.

    Examples:
      piecework prolific estimate birds.toml
      piecework prolific estimate birds.toml --json
    """
    from piecework.campaign.assembling import read_anywhere

    read = read_anywhere(campaign)
    with api_faults():
        token = needed_token(token_file)
        known = _ask(read, url=url, token=token, workspace=workspace)
    if as_json:
        click.echo(json.dumps(known.as_dict(), indent=2))
        return
    for line in lines_of(read, known):
        click.echo(line)
    click.echo(f"next: piecework check {campaign}")


def estimate_if_possible(campaign: "Campaign") -> "Estimate | None":
    """Return what Prolific says about a campaign that asks for its participants.

    `None`: it asks for none, or there is no token.

    Raises:
        ConfigError: Prolific cannot be asked, or refuses a filter.
    """
    from piecework.domain.hit import PROLIFIC
    from piecework.prolific.token import Token

    asks = campaign.recruiting is not None or any(
        each.qualification_type_id.startswith(PROLIFIC) for each in campaign.requirements
    )
    if not asks:
        return None
    with api_faults():
        token = Token.read(os.environ, None)
        if token is None:
            return None
        url = os.environ.get("PROLIFIC_URL") or _API
        return _ask(campaign, url=url, token=token, workspace="")


def lines_of(campaign: "Campaign", known: "Estimate") -> Iterator[str]:
    """Yield what Prolific says, for people."""
    from piecework.prolific.bridge.estimating import FEWEST_COUNTED

    shown = campaign.rewards.shown
    if known.is_hardly_anybody:
        yield (
            f"WARNING: fewer than {FEWEST_COUNTED} participants of Prolific are "
            "eligible, perhaps none: see [requirements]"
        )
    else:
        yield f"eligible at Prolific: {plural(known.eligible, 'participant')}"
    visits = plural(known.places, "visit")
    yield (
        f"study: {visits} of {plural(known.hits_per_visit, 'HIT')}, "
        f"{plural(known.minutes, 'minute')} and {shown(known.reward_cents)} each"
    )
    yield f"cost at Prolific: {shown(known.cost_cents)} with fees and tax"
    time = printable(known.hours_shown) or (
        "unknown" if known.hours is None else f"{known.hours:g} hours"
    )
    yield f"until the last visit begins: {time}, as Prolific predicts"


def _ask(campaign: "Campaign", *, url: str, token: "Token", workspace: str) -> "Estimate":
    from piecework.campaign.dealing import all_first_rounds
    from piecework.domain.clock import SystemClock
    from piecework.platforms.wire import recruiting_to_wire, requirement_to_wire
    from piecework.prolific.bridge.estimating import Work, estimate
    from piecework.prolific.client import Prolific
    from piecework.prolific.token import SERVICE
    from piecework.webclient.address import api_address
    from piecework.webclient.transport import Patience, Transport

    rounds = all_first_rounds(campaign, on=SystemClock().now().date())
    recruiting = campaign.recruiting
    work = Work(
        assignments=sum(hit.max_assignments for hits in rounds for hit in hits),
        reward_cents=campaign.rewards.reward_cents,
        seconds=round(campaign.rewards.expected_seconds or 0),
        requirements=[dict(requirement_to_wire(each)) for each in campaign.requirements],
        currency=campaign.rewards.currency,
        recruiting=None if recruiting is None else json.dumps(recruiting_to_wire(recruiting)),
    )
    # A person is waiting, so it repeats a call only twice.
    patience = Patience(tries=3, first_seconds=0.5)
    with Transport(api_address(url, SERVICE), token, patience=patience) as transport:
        prolific = Prolific(transport)
        known = workspace or only_workspace(prolific, command=f"estimate {campaign.path}")
        return estimate(prolific, known, work)
