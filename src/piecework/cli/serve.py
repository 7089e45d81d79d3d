"""`serve`: runs the marketplace as a process of its own."""

import logging
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli import logs
from piecework.cli.backup import BACKUP, backed_up, replicator_of
from piecework.cli.marketplace_file import transaction_in
from piecework.cli.options import CampaignFile
from piecework.cli.serve_markets import (
    ServeCommand,
    check_crowds,
    opened_crowd,
    priced_at,
    recruits_live,
    serve_crowds,
    with_own_options,
)
from piecework.cli.serve_options import (
    AWS,
    CROWDS,
    REHEARSAL,
    SIMULATED,
    SITE,
    WATCHING,
    AwsOptions,
    CrowdOptions,
    RehearsalOptions,
    SiteOptions,
    Watched,
    WatchingOptions,
    simulated,
    watched_parts,
)
from piecework.cli.sign_in_options import PROVIDER, ProviderOptions, provider_of
from piecework.config.user_files import read_text
from piecework.domain.clock import SystemClock
from piecework.domain.errors import ConfigError, RefusedForSafety, StoreError
from piecework.domain.text import shell_word
from piecework.markets.registry import market

if TYPE_CHECKING:
    from piecework.domain.campaign import Campaign
    from piecework.foundation.server.server import Certificate
    from piecework.foundation.server.stand_in.relay import StandIn
    from piecework.marketplace.http.options import Marketplace
    from piecework.marketplace.state.money import PriceList


@with_own_options
@click.command(cls=ServeCommand)
@click.argument("campaign", required=False, type=CampaignFile(path_type=Path, dir_okay=False))
@SIMULATED
@SITE
@WATCHING
@BACKUP
@REHEARSAL
@AWS
@CROWDS
@PROVIDER
def serve(  # noqa: PLR0913 - a group of options each
    *,
    campaign: Path | None,
    simulate: Path | None,
    site: SiteOptions,
    watching: WatchingOptions,
    backup: str,
    rehearsing: RehearsalOptions,
    aws: AwsOptions,
    recruiting: CrowdOptions,
    signing_in: ProviderOptions,
    **own: object,
) -> None:
    r"""Run the MTurk-compatible marketplace.

    Programs sign each call with a key of `piecework market account add`; with
    --rehearsal, any key will do. The server never calls Amazon.

    With CAMPAIGN, it serves the campaign's pictures, opens an account with its budget,
    and leaves the key where `piecework run` finds it.

    With --as-aws, programs that call Amazon's host names run unchanged, with the settings
    that the command prints.

    With --simulate, simulated workers do a campaign's HITs in virtual time, between
    passes of `piecework run --once --rehearsal` or a deployment, until the campaign is
    finished.

    Examples:
      piecework market serve birds.toml
      piecework market serve --crowd prolific --help
    """
    from piecework.foundation.tracing.spans import sending
    from piecework.marketplace.http.hosts import UnsafeBindError
    from piecework.marketplace.http.notification_sender import NotifyAddressError
    from piecework.marketplace.state.storage import WrongDatabaseError

    if simulate is not None:
        simulated(simulate, site)
        return
    logs.say_from(logging.INFO)
    click.get_current_context().with_resource(sending("piecework-marketplace"))
    crowds = recruiting.crowds
    check_crowds(recruiting, is_rehearsal=rehearsing.rehearsal)
    replicator = replicator_of(backup, site.database, is_rehearsal=rehearsing.rehearsal)
    # It ends after the marketplace, so that the last commits are sent too.
    click.get_current_context().with_resource(backed_up(replicator))
    watched = watched_parts(
        watching,
        site.database,
        has_bridge=any(market(crowd).has_bridge for crowd in crowds),
        replica=replicator,
    )
    try:
        loaded = None if campaign is None else _read_campaign(campaign)
        site = _with_pictures(_with_urls(site, recruiting), loaded)
        marketplace = replace(
            _marketplace(site, rehearsing, aws, watched),
            provider_at=provider_of(signing_in, is_rehearsal=rehearsing.rehearsal),
        )
        _serve(marketplace, loaded, site, recruiting, own)
    except SystemExit:
        # The server has stopped, after Ctrl-C or a supervisor's signal.
        click.echo(
            f"ended; the marketplace is in {site.database}, and the same command continues it",
            err=True,
        )
        raise
    except UnsafeBindError as refusal:
        raise RefusedForSafety(str(refusal), next_step="piecework market serve --help") from refusal
    except NotifyAddressError as wrong:
        raise ConfigError([f"--notify-url: {wrong}"]) from wrong
    except WrongDatabaseError as wrong:
        raise StoreError(str(wrong), next_step="piecework market serve --help") from wrong


def _read_campaign(path: Path) -> "Campaign":
    from piecework.campaign.assembling import load_campaign

    return load_campaign(path)


def _with_pictures(site: SiteOptions, campaign: "Campaign | None") -> SiteOptions:
    """Return the site with a campaign's pictures, if no option names others."""
    if campaign is None or campaign.pictures is None or site.pictures is not None:
        return site
    return replace(site, pictures=campaign.pictures.address)


def _serve(
    marketplace: "Marketplace",
    campaign: "Campaign | None",
    site: SiteOptions,
    recruiting: CrowdOptions,
    own: Mapping[str, object],
) -> None:
    """Serve invited people, or those of markets, until the process is told to stop."""
    from piecework.marketplace.http.server import serve_forever

    consent = _read_consent(site.consent) if site.consent else ()
    ready: Callable[[str], object] = str
    with ExitStack() as stack:
        opened = [
            stack.enter_context(opened_crowd(crowd, marketplace, recruiting, own, consent))
            for crowd in recruiting.crowds
        ]
        own_prices = _own_prices(marketplace, campaign)
        if campaign is not None:
            # Its budget depends on what the marketplace, or its markets, charge.
            priced = priced_at(campaign, opened, own_prices)
            recruits = recruits_live(opened)
            ready = _account_of(priced, site, is_rehearsal=marketplace.rehearsal, recruits=recruits)
        if opened:
            serve_crowds(marketplace, opened, ready)
        else:
            prices = replace(own_prices, currency=_currency(marketplace))
            serve_forever(replace(marketplace, prices=prices, consent=consent), ready)


def _own_prices(marketplace: "Marketplace", campaign: "Campaign | None") -> "PriceList":
    """Return what a marketplace without markets takes: the machine's `[[fees]]`, or nothing.

    Nobody takes a share of what its workers earn. A rehearsal without `[[fees]]` takes what
    `check` assumes.

    Raises:
        ConfigError: the machine's file has a fault.
    """
    from piecework.config.machine_file import machine_file
    from piecework.config.rewards import stated_fees
    from piecework.marketplace.state.money import NO_FEES, PriceList

    beside = Path.cwd() / "no campaign" if campaign is None else campaign.path
    stated = stated_fees(machine_file(beside), SystemClock().now().date())
    if stated is None:
        return marketplace.prices if marketplace.rehearsal else NO_FEES
    return PriceList(
        percent=stated.percent,
        extra_percent_for_many=stated.extra_percent_for_many,
        extra_percent_for_masters=stated.masters_percent,
        minimum_cents=stated.minimum_cents,
    )


def _currency(marketplace: "Marketplace") -> str:
    """Return the currency of the file, as the first account or campaign has set it."""
    from piecework.marketplace.state.backend import rules_of

    known = marketplace.database.exists()
    return (rules_of(marketplace.database) if known else marketplace).prices.currency


def _account_of(
    campaign: "Campaign", site: SiteOptions, *, is_rehearsal: bool, recruits: bool
) -> Callable[[str], object]:
    """Open a campaign's account, and return what stores its key.

    The account has the campaign's name. A new account gets the campaign's budget; the key
    that is stored is kept, if it is one of this marketplace.

    Args:
        campaign: with what the markets charge.
        site: where the marketplace is.
        is_rehearsal: any key works, and no money is real.
        recruits: whether it recruits people of a market.

    Raises:
        ConfigError: the marketplace has another currency.
        RefusedForSafety: others can read the key that is stored.
    """
    from piecework.marketplace.state import accounts
    from piecework.platforms.endpoint import REHEARSAL as ANY_KEY
    from piecework.platforms.endpoint import (
        VARIABLE,
        LiveSite,
        MarketKey,
        as_text,
        key_path,
        known_key,
        why_live,
    )
    from piecework.store.files import write_private

    path = campaign.path
    file = key_path(path)
    known = known_key({VARIABLE: str(file)})
    if is_rehearsal:
        access_key, secret = ANY_KEY.access_key, ANY_KEY.secret_key
    else:
        rewards = campaign.rewards
        with transaction_in(
            site.database, must_exist=False, must_be_live=True, currency=rewards.currency
        ) as transaction:
            rows = accounts.list_keys(transaction)
            valid = {row["access_key"] for row in rows if row["revoked_ms"] is None}
            if known is not None and known.access_key in valid:
                access_key, secret = known.access_key, known.secret_key
            else:
                is_new = campaign.name not in {row["name"] for row in rows}
                deposit = rewards.budget_cents if is_new else 0
                key = accounts.give_key(transaction, campaign.name, deposit_cents=deposit)
                access_key, secret = key.access_key, key.secret

    def ready(url: str) -> None:
        file.parent.mkdir(mode=0o700, exist_ok=True)
        endpoint = _endpoint(site) or url
        write_private(file, as_text(MarketKey(endpoint, access_key, secret)).encode())
        # Not on stdout: the line with the addresses is the first there.
        click.echo(f"key of the account {campaign.name}: {file}", err=True)
        site_live = LiveSite("" if is_rehearsal else site.site_url or url, recruits=recruits)
        live = " --live" * bool(why_live(endpoint, site_live))
        click.echo(f"next: piecework run {shell_word(path)}{live}", err=True)

    return ready


def _endpoint(site: SiteOptions) -> str | None:
    """Return where commands on this machine reach a site that browsers open elsewhere."""
    from piecework.foundation.hosts import is_every_address, is_loopback

    listens_here = is_every_address(site.host) or is_loopback(site.host)
    if site.site_url and listens_here and site.tls is None and site.port:
        return f"http://127.0.0.1:{site.port}"
    return None


def _marketplace(
    site: SiteOptions, rehearsing: RehearsalOptions, aws: AwsOptions, watched: Watched
) -> "Marketplace":
    from piecework.marketplace.http.options import Marketplace

    if rehearsing.rehearsal and site.trust_local:
        raise ConfigError(["--trust-local has no effect in a rehearsal; any key works there"])
    return Marketplace(
        database=site.database,
        rehearsal=rehearsing.rehearsal,
        seed=rehearsing.seed,
        start=_start(site, rehearsing),
        clock_runs=rehearsing.rehearsal,
        pictures=_pictures(site.pictures),
        host=site.host,
        port=site.port,
        frames_port=site.frames_port,
        trust_local=site.trust_local,
        certificate=_certificate(site),
        site_url=site.site_url.rstrip("/"),
        frames_url=site.frames_url.rstrip("/"),
        aws_proxy=_aws_proxy(site, aws) if aws.as_aws else None,
        notify_url=site.notify_url,
        clock_is_right=site.clock_is_right,
        metrics=watched.metrics,
        access_log=watched.access_log,
        replica=watched.replica,
    )


def _pictures(named: str | None) -> str | None:
    """Return the folder or bucket of pictures, once it was seen to exist.

    Raises:
        ConfigError: there is no such folder, or the bucket cannot be listed.
    """
    if named is None:
        return None
    if "://" in named:
        from piecework.campaign.exchange.picture_bucket import PictureBucket

        PictureBucket(named).check()
    elif not Path(named).is_dir():
        raise ConfigError([f"--pictures: {named} is not a folder"])
    return named


def _read_consent(file: Path) -> tuple[str, ...]:
    """Return the paragraphs of a consent text, which empty lines separate.

    Raises:
        ConfigError: the file cannot be read, or is empty.
    """
    text = read_text(file, name="text of --consent").replace("\r\n", "\n")
    paragraphs = tuple(filter(None, (part.strip() for part in text.split("\n\n"))))
    if not paragraphs:
        raise ConfigError([f"--consent: {file} is empty"])
    return paragraphs


def _frames_on_this_machine(site: SiteOptions) -> str:
    """Return a second name of this machine; "" if an option says how to reach it.

    Cookies belong to a host, not to a port: under the site's own name, a question page
    could put another session into a worker's browser.
    """
    is_named = site.site_url or site.tls or site.host != "127.0.0.1"
    if is_named or not site.frames_port:
        return ""
    return f"http://localhost:{site.frames_port}"


def _with_urls(site: SiteOptions, recruiting: CrowdOptions) -> SiteOptions:
    """Return the site with the URLs that browsers open, as far as they are known.

    Raises:
        ConfigError: options contradict each other.
    """
    if recruiting.crowds:
        if recruiting.public_url and site.site_url:
            raise ConfigError(["--public-url and --site-url mean the same; give one of them"])
        site = replace(site, site_url=recruiting.public_url or site.site_url)
    if site.frames_url or any(market(crowd).has_bridge for crowd in recruiting.crowds):
        return site
    return replace(site, frames_url=_frames_on_this_machine(site))


def _start(site: SiteOptions, rehearsing: RehearsalOptions) -> datetime | None:
    from piecework.marketplace.state import clock
    from piecework.marketplace.state.backend import is_begun

    if not rehearsing.start:
        return None
    if not rehearsing.rehearsal:
        raise ConfigError(["--start needs --rehearsal; a live marketplace uses the machine's time"])
    if is_begun(site.database):
        raise ConfigError(
            [f"--start needs a new file; {site.database} has a clock already"],
            next_step="move its clock with PUT /rehearsal/clock, or give another --database",
        )
    try:
        return clock.moment_of(rehearsing.start)
    except (ValueError, OverflowError) as fault:
        raise ConfigError([f"--start: {fault}"]) from fault


def _certificate(site: SiteOptions) -> "Certificate | None":
    from piecework.foundation.server.server import Certificate

    if site.tls is None:
        return None
    chain, key = site.tls
    return Certificate(chain=chain, key=key)


def _aws_proxy(site: SiteOptions, aws: AwsOptions) -> "StandIn":
    from piecework.foundation.server.stand_in import authority
    from piecework.marketplace.http.hosts import AMAZON_HOSTS

    return authority.establish(
        site.database.with_name(f"{site.database.stem}-aws"),
        AMAZON_HOSTS,
        now=SystemClock().now(),
        port=aws.aws_port,
        proxy_port=aws.aws_port and aws.aws_port + 1,
    )
