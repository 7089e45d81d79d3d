"""`check --reach` and `market prolific try`: what a campaign would be at Prolific.

The first asks who is eligible, the cost and the time. The second is one visit of a
campaign, by a test participant, for no money.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.errors import api_faults
from piecework.cli.market_accounts import TOKEN_FILE, end_with, sentence_of_visits
from piecework.cli.options import CAMPAIGN, JSON, PORT, WholeNumber, grouped
from piecework.cli.output import say_checks
from piecework.domain.errors import load_extra
from piecework.domain.text import plural, printable
from piecework.foundation.client.checks import is_emulator, refuse_closed_frames, refuse_closed_site
from piecework.foundation.client.token import api_address
from piecework.markets.prolific.calling import SERVICE
from piecework.markets.prolific.commands.account import (
    URL,
    WORKSPACE,
    only_workspace,
    token_of,
)

if TYPE_CHECKING:
    from piecework.domain.campaign import Campaign
    from piecework.foundation.client.checks import Check
    from piecework.markets.prolific.bridge.status import Estimate, Work
    from piecework.markets.prolific.calling import Token

NAME = "prolific"
_API = "https://api.prolific.com"


def estimate_if_possible(
    campaign: "Campaign", *, asks: bool
) -> tuple[dict[str, object] | None, list[str]] | None:
    """Return what a campaign with participants of Prolific is there.

    Plain values for programs, and lines for people. `None`: the campaign asks for no
    participants of Prolific.

    Args:
        campaign: the campaign.
        asks: whether to ask Prolific, if there is a token; only then there are values.

    Raises:
        ConfigError: Prolific cannot be asked, or refuses a filter.
    """
    from piecework.domain.hit import PROLIFIC
    from piecework.markets.prolific.calling import Token

    is_for_prolific = NAME in campaign.markets or any(
        each.qualification_type_id.startswith(PROLIFIC) for each in campaign.requirements
    )
    if not is_for_prolific:
        return None
    work = _work_of(campaign)
    if not work.batches:
        return None
    if not asks:
        return None, [*_visits_of(campaign, work), _ADVICE]
    with api_faults():
        token = Token.read(os.environ, None)
        if token is None:
            return None, [*_visits_of(campaign, work), _NOT_ASKED]
        url = os.environ.get("PROLIFIC_URL") or _API
        known = _ask(campaign, work, url=url, token=token, workspace="")
    return known.as_dict(), [*_lines_of(campaign, known)]


_ADVICE = "check --reach asks your account at Prolific who is eligible, for the cost and the time"
_NOT_ASKED = (
    "Prolific was not asked who is eligible, for the cost and the time: PROLIFIC_TOKEN is not set"
)


def _visits_of(campaign: "Campaign", work: "Work") -> Iterator[str]:
    """Yield how the campaign's largest batch is divided into visits; nothing if unknown."""
    rewards = campaign.rewards
    hourly = rewards.wage_floor_cents_per_hour
    seconds = work.seconds or (rewards.reward_cents * _HOUR / hourly if hourly else 0)
    if seconds:
        yield sentence_of_visits("Prolific", work.planned(seconds), rewards)


_HOUR = 3600


def _lines_of(campaign: "Campaign", known: "Estimate") -> Iterator[str]:
    """Yield what Prolific says, for people."""
    from piecework.markets.prolific.bridge.status import FEWEST_COUNTED

    shown = campaign.rewards.shown
    if known.is_hardly_anybody:
        yield (
            f"WARNING: fewer than {FEWEST_COUNTED} participants of Prolific are "
            "eligible, perhaps none: see [prolific] and [requirements]"
        )
    else:
        yield f"eligible at Prolific: {plural(known.eligible, 'participant')}"
    number = len(known.batches)
    for batch, each in enumerate(known.batches[:_MOST_BATCHES], start=1):
        name = f"study of batch {batch}" if number > 1 else "study"
        yield (
            f"{name}: {plural(each.places, 'visit')} of {plural(each.hits_per_visit, 'HIT')}"
            f"{f' ({each.shorter} of them shorter)' * bool(each.shorter)}, "
            f"{plural(each.minutes, 'minute')} and {shown(each.reward_cents)} each; "
            f"{shown(each.cost_cents)} with fees and tax; {_time(each.hours, each.hours_shown)}"
        )
    if number > _MOST_BATCHES:
        yield f"… and {plural(number - _MOST_BATCHES, 'more batch')}"
    yield f"cost at Prolific: {shown(known.cost_cents)} with fees and tax"
    if number == 1:
        time = _time(known.hours, known.hours_shown)
        yield f"until the last visit begins: {time}, as Prolific predicts"
    else:
        yield (
            f"until the last visit begins: {_time(known.hours, '')}, as Prolific predicts for each "
            f"batch: all {number} are posted one after another, and time for decisions comes on top"
        )


_MOST_BATCHES = 5


def _time(hours: float | None, words: str) -> str:
    """Return a predicted time for people."""
    return printable(words) or ("unknown" if hours is None else f"{hours:g} hours")


def _work_of(campaign: "Campaign") -> "Work":
    """Return the HITs that a campaign posts first for participants of Prolific."""
    from piecework.campaign.dealing import first_slots
    from piecework.domain.clock import SystemClock
    from piecework.markets.prolific.bridge.status import Work
    from piecework.platforms.wire import recruiting_to_wire, requirement_to_wire

    batches, items_in_hit = first_slots(campaign, NAME, on=SystemClock().now().date())
    recruiting = campaign.recruiting
    return Work(
        batches=batches,
        most_hits=campaign.most_per_worker,
        items_in_hit=items_in_hit,
        reward_cents=campaign.rewards.reward_cents,
        seconds=round(campaign.rewards.expected_seconds or 0),
        requirements=[dict(requirement_to_wire(each)) for each in campaign.requirements],
        currency=campaign.rewards.currency,
        recruiting=None if recruiting is None else json.dumps(recruiting_to_wire(recruiting)),
    )


def _ask(
    campaign: "Campaign", work: "Work", *, url: str, token: "Token", workspace: str
) -> "Estimate":
    from piecework.foundation.client.token import api_address
    from piecework.foundation.client.transport import Patience, Transport
    from piecework.markets.prolific.bridge.status import estimate
    from piecework.markets.prolific.calling import SERVICE
    from piecework.markets.prolific.client import Prolific

    # A person is waiting, so it repeats a call only twice.
    patience = Patience(tries=3, first_seconds=0.5)
    with Transport(api_address(url, SERVICE), token, patience=patience) as transport:
        prolific = Prolific(transport)
        known = workspace or only_workspace(prolific, command=f"estimate {campaign.path}")
        return estimate(prolific, known, work)


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteOptions:
    """Where the trial's site is, and how long it waits."""

    public_url: str
    frames_url: str
    port: int
    frames_port: int
    email: str
    minutes: int


_SITE = grouped(
    "site",
    SiteOptions,
    click.option(
        "--public-url", required=True, help="URL at which the participant's browser reaches --port."
    ),
    click.option(
        "--frames-url",
        required=True,
        help="URL at which the participant's browser reaches --frames-port.",
    ),
    click.option("--port", type=PORT, default=8080, show_default=True, help="Port of the site."),
    click.option(
        "--frames-port",
        type=PORT,
        default=8081,
        show_default=True,
        help="Port of the question pages.",
    ),
    click.option(
        "--email",
        default="",
        help="Create a test participant with this address, unknown to Prolific so far.",
    ),
    click.option(
        "--minutes",
        type=WholeNumber(0, 1440),
        default=30,
        show_default=True,
        help="How long to wait for the visit.",
    ),
)


@click.command("try")
@CAMPAIGN
@_SITE
@WORKSPACE
@URL
@TOKEN_FILE
@JSON
@click.pass_context
def try_visit(
    ctx: click.Context,
    *,
    campaign: Path,
    site: SiteOptions,
    workspace: str,
    url: str,
    token_file: Path | None,
    as_json: bool,
) -> None:
    r"""Do one visit as a test participant.

    The command publishes a test study to your test participants only. Sign in as one of
    them and do the visit; the command says what held, pays nothing, and removes what it
    created. The workspace needs Prolific's feature for test participants.

    The same command continues a trial that was killed. It was tried on the offline
    Prolific only.

    Examples:
      piecework market prolific try birds.toml \
        --public-url https://hits.example.org \
        --frames-url https://frames.example.org --email me+test@example.org
      piecework market prolific try --help
    """
    load_extra("pycountry", extra="prolific", use="prolific try")
    from piecework.campaign.assembling import read_anywhere
    from piecework.markets.prolific.rehearsal.live_trial import Trial, Wanted

    read = read_anywhere(campaign)
    checks: list[Check] = []
    with api_faults():
        address = api_address(url, SERVICE)
        if not is_emulator(address):
            refuse_closed_site(site.public_url)
            refuse_closed_frames(site.frames_url)
        wanted = Wanted(
            address=address,
            token=token_of(token_file),
            workspace_id=workspace,
            site_url=site.public_url.rstrip("/"),
            frames_url=site.frames_url.rstrip("/"),
            port=site.port,
            frames_port=site.frames_port,
            email=site.email,
            patience_seconds=site.minutes * 60,
        )
        for check in Trial(read, wanted, say=_say).checks():
            checks.append(check)
            if not as_json:
                say_checks([check])
    end_with(ctx, checks, as_json=as_json, are_shown=True)


def _say(words: str) -> None:
    click.echo(printable(words), err=True)
