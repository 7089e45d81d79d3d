"""Serves a marketplace whose workers are Prolific's participants."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import click

from piecework.cli.consent_text import read_consent
from piecework.cli.work.prolific_token import needed_token
from piecework.domain.errors import ConfigError
from piecework.domain.printable import printable
from piecework.marketplace.http.options import Marketplace
from piecework.marketplace.http.server import serve_forever
from piecework.marketplace.state.backend import Rules
from piecework.marketplace.workers.visit_site import EVENTS
from piecework.prolific.bridge.bridge import Bridge
from piecework.prolific.bridge.prolific_crowd import CONSENT
from piecework.prolific.bridge.serving import office
from piecework.prolific.bridge.step import Running
from piecework.prolific.bridge.terms import Terms
from piecework.prolific.bridge.webhooks import Receiver, register
from piecework.prolific.checks import Check
from piecework.prolific.client import Prolific
from piecework.prolific.doctor import Wanted, examine
from piecework.prolific.http.address import api_address, is_loopback
from piecework.prolific.http.errors import ProlificError
from piecework.prolific.http.token import Token
from piecework.prolific.http.transport import Transport
from piecework.prolific.public_url import check_public_url


@dataclass(frozen=True, slots=True, kw_only=True)
class Recruiting:
    """What `serve --crowd prolific` was asked for.

    Attributes:
        url: of the API.
        token_file: with the token, instead of the environment.
        workspace_id: "" where the account has just one.
        project_id: "" is the one called piecework.
        is_live: whether anything may be published and paid.
        spend_at_most_cents: all together, in the workspace's currency.
        hits_per_visit: 0 leaves it to the time that HITs take.
        hit_seconds: how long a HIT takes; 0 is not known.
        visits_per_participant: how often one may come to the same study.
        settle_seconds: posts that come closer together than this are one study.
        screening_cents: what taking a qualification test is paid; 0 is no offer.
        screen_out_cents: what who comes and finds no work is paid; 0 is nothing.
        has_webhooks: whether Prolific is asked to say when something happens.
        consent: file with what participants agree to; paragraphs between empty lines.
    """

    url: str
    token_file: Path | None
    workspace_id: str
    project_id: str
    is_live: bool
    spend_at_most_cents: int
    hits_per_visit: int
    hit_seconds: int
    visits_per_participant: int
    settle_seconds: int
    screening_cents: int
    screen_out_cents: int
    has_webhooks: bool
    consent: Path | None


def serve_with_prolific(marketplace: Marketplace, wanted: Recruiting) -> None:
    """Run it until the process is told to stop, with the bridge in a thread.

    Raises:
        ConfigError: the account or the addresses will not do; nothing was sent.
        RefusedForSafety: the token lies open.
    """
    try:
        address = api_address(wanted.url)
        token = needed_token(wanted.token_file)
        terms = _terms(marketplace, wanted, address, token)
        consent = _consent(wanted)
        with (
            office(address, token, terms, consent=consent) as opened,
            opened.bridge(
                marketplace.database, Rules(clock_is_right=marketplace.clock_is_right)
            ) as bridge,
        ):
            _say(opened.terms, str(opened.prices.percent))
            receiver = _receiver(bridge) if wanted.has_webhooks else None
            served = replace(
                marketplace,
                crowd=replace(opened.crowd, webhooks=receiver),
                prices=opened.prices,
                spend_at_most_cents=wanted.spend_at_most_cents,
            )
            news = None if receiver is None else receiver.news
            with Running(bridge, news).running():
                serve_forever(served)
    except ProlificError as fault:
        raise ConfigError([str(fault)], next_step=fault.next_step) from fault


def _terms(
    marketplace: Marketplace, wanted: Recruiting, address: str, token: Token
) -> Terms:
    """The terms, with the workspace found and everything looked at.

    Raises:
        ConfigError: something fails that `piecework prolific doctor` shows.
    """
    # Nobody from outside comes to an emulator, so any address will do there.
    is_played = is_loopback(urlsplit(address).hostname or "")
    if not marketplace.site_url:
        raise ConfigError(
            ["--crowd prolific needs --public-url: where participants are sent"]
        )
    if not is_played:
        _refuse_what_fails([check_public_url(marketplace.site_url)])
        _refuse_frames_nobody_reaches(marketplace.frames_url)
    looked_for = Wanted(workspace_id=wanted.workspace_id)
    with Transport(address, token) as transport:
        prolific = Prolific(transport)
        _refuse_what_fails(list(examine(prolific, looked_for, address=address)))
        workspace_id = wanted.workspace_id or next(prolific.account.workspaces()).id
        currency = prolific.account.balance(workspace_id).currency
    return Terms(
        workspace_id=workspace_id,
        project_id=wanted.project_id,
        site_url=marketplace.site_url,
        currency=currency,
        is_live=wanted.is_live,
        spend_at_most_cents=wanted.spend_at_most_cents,
        hits_per_visit=wanted.hits_per_visit,
        hit_seconds=wanted.hit_seconds,
        visits_per_participant=wanted.visits_per_participant,
        settle_seconds=wanted.settle_seconds,
        screening_cents=wanted.screening_cents,
        screen_out_cents=wanted.screen_out_cents,
    )


def _receiver(bridge: Bridge) -> Receiver | None:
    """What takes in webhooks; None if there are none, which is said."""
    url = f"{bridge.terms.site_url}{EVENTS}"
    try:
        return register(bridge.backend, bridge.prolific, bridge.terms.workspace_id, url)
    except ProlificError as fault:
        click.echo(
            f"without webhooks, the bridge polls: {printable(str(fault))} "
            f"{printable(fault.next_step)}".rstrip(),
            err=True,
        )
        return None


def _refuse_frames_nobody_reaches(url: str) -> None:
    """A participant would come, and see a HIT without its question."""
    if not url:
        raise ConfigError(
            ["--crowd prolific needs --frames-url: where questions come from"],
            next_step="give a second https name that leads to --frames-port",
        )
    seen = check_public_url(url.replace("//*.", "//"))
    _refuse_what_fails([replace(seen, name="frames URL")])


def _refuse_what_fails(checks: Sequence[Check]) -> None:
    failed = [check for check in checks if check.level == "fail"]
    if failed:
        raise ConfigError(
            [f"{check.name}: {printable(check.sentence)}" for check in failed],
            next_step=failed[0].next_step or "piecework prolific doctor",
        )


def _consent(wanted: Recruiting) -> tuple[str, ...]:
    return CONSENT if wanted.consent is None else read_consent(wanted.consent)


def _say(terms: Terms, percent: str) -> None:
    limit = terms.money(terms.spend_at_most_cents)
    click.echo(
        f"Prolific takes {percent} % on top of what participants get, tax included",
        err=True,
    )
    if terms.is_live:
        click.echo(f"studies are published, up to {limit} all together", err=True)
    else:
        click.echo(
            "studies stay drafts: nothing is published without --live and "
            "--spend-at-most",
            err=True,
        )
