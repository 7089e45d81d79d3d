"""`serve`: runs the marketplace as a process of its own."""

import logging
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli import logs
from piecework.cli.api_faults import api_faults
from piecework.cli.prolific_account import needed_token
from piecework.cli.serve_connect import serve_connect
from piecework.cli.serve_options import (
    AWS,
    PROLIFIC,
    REHEARSAL,
    SITE,
    WATCHING,
    AwsOptions,
    ProlificOptions,
    RehearsalOptions,
    SiteOptions,
    WatchingOptions,
)
from piecework.cli.serve_outside import (
    amount_of,
    refuse_closed_addresses,
    step_observer,
)
from piecework.cli.serve_panel import serve_panel
from piecework.cli.serve_watching import Watched, watched_parts
from piecework.config.utf8 import read_text
from piecework.domain.clock import SystemClock
from piecework.domain.errors import ConfigError, RefusedForSafety, StoreError
from piecework.domain.extras import load_extra
from piecework.domain.printable import printable

if TYPE_CHECKING:
    from piecework.marketplace.http.options import Marketplace
    from piecework.prolific.bridge.bridge import Bridge
    from piecework.prolific.bridge.recruiting import Recruiting
    from piecework.prolific.bridge.terms import Terms
    from piecework.prolific.bridge.webhooks import Receiver
    from piecework.webserver.server import Certificate
    from piecework.webserver.stand_in.settings import StandIn


@click.command()
@SITE
@WATCHING
@REHEARSAL
@AWS
@PROLIFIC
def serve(
    *,
    site: SiteOptions,
    watching: WatchingOptions,
    rehearsing: RehearsalOptions,
    aws: AwsOptions,
    recruiting: ProlificOptions,
) -> None:
    r"""Run the MTurk-compatible marketplace.

    Amazon Mechanical Turk closed on 2026-09-30. This server never calls Amazon and
    moves no money there. With --rehearsal it accepts any access key. Without it,
    programs must sign each call with a key from `piecework requester add`.

    With --as-aws, a program that calls Amazon's host names runs unchanged. The command
    prints the settings to paste before you start that program.

    Examples:
      piecework serve --rehearsal --as-aws
      piecework serve --crowd prolific --public-url https://hits.example.org \
        --frames-url https://frames.example.org
      piecework serve --crowd panel --panel panel.toml \
        --public-url https://hits.example.org \
        --frames-url https://frames.example.org
    """
    from piecework.marketplace.http.exposure import UnsafeBindError
    from piecework.marketplace.http.notification_sender import NotifyAddressError
    from piecework.marketplace.http.server import serve_forever
    from piecework.marketplace.state.database_file import WrongDatabaseError

    logs.say_from(logging.INFO)
    watched = watched_parts(
        watching, site.database, has_bridge=recruiting.crowd in ("prolific", "connect")
    )
    try:
        if recruiting.crowd == "prolific":
            load_extra("pycountry", extra="prolific", use="--crowd prolific")
            site = _checked(site, rehearsing, recruiting)
            terms = _recruiting(recruiting)
            marketplace = _marketplace(site, rehearsing, aws, watched)
            _serve_with_prolific(marketplace, terms, site, recruiting)
        elif recruiting.crowd == "connect":
            site = _checked(site, rehearsing, recruiting)
            consent = _read_consent(site.consent) if site.consent else ()
            marketplace = _marketplace(site, rehearsing, aws, watched)
            serve_connect(marketplace, recruiting, consent)
        elif recruiting.panel is not None or recruiting.crowd == "panel":
            _refuse_two_crowds(recruiting)
            site = _with_urls(site, recruiting)
            consent = _read_consent(site.consent) if site.consent else ()
            marketplace = _marketplace(site, rehearsing, aws, watched)
            serve_panel(marketplace, recruiting.panel, consent)
        else:
            site = _with_urls(site, recruiting)
            consent = _read_consent(site.consent) if site.consent else ()
            marketplace = _marketplace(site, rehearsing, aws, watched)
            serve_forever(replace(marketplace, consent=consent))
    except SystemExit:
        # The server has stopped, after Ctrl-C or a supervisor's signal.
        click.echo(
            f"ended; the marketplace is in {site.database}, and the same command "
            "continues it",
            err=True,
        )
        raise
    except UnsafeBindError as refusal:
        raise RefusedForSafety(
            str(refusal), next_step="piecework serve --help"
        ) from refusal
    except NotifyAddressError as wrong:
        raise ConfigError([f"--notify-url: {wrong}"]) from wrong
    except WrongDatabaseError as wrong:
        raise StoreError(str(wrong), next_step="piecework serve --help") from wrong


def _marketplace(
    site: SiteOptions,
    rehearsing: RehearsalOptions,
    aws: AwsOptions,
    watched: Watched,
) -> "Marketplace":
    from piecework.marketplace.http.options import Marketplace

    if rehearsing.rehearsal and site.trust_local:
        raise ConfigError(
            ["--trust-local has no effect in a rehearsal; any key works there"]
        )
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
    )


def _pictures(named: str | None) -> str | None:
    """Return the folder or bucket of pictures, once it was seen to exist.

    Raises:
        ConfigError: there is no such folder, or the bucket cannot be listed.
    """
    if named is None:
        return None
    if "://" in named:
        from piecework.exchange.picture_bucket import PictureBucket

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


def _with_urls(site: SiteOptions, recruiting: ProlificOptions) -> SiteOptions:
    """Return the site with the URLs that browsers open, as far as they are known.

    Raises:
        ConfigError: options contradict each other.
    """
    if recruiting.public_url and recruiting.crowd == "panel":
        site = _with_public_url(site, recruiting)
    if site.frames_url:
        return site
    return replace(site, frames_url=_frames_on_this_machine(site))


def _with_public_url(site: SiteOptions, recruiting: ProlificOptions) -> SiteOptions:
    if recruiting.public_url and site.site_url:
        raise ConfigError(
            ["--public-url and --site-url mean the same; give one of them"]
        )
    return replace(site, site_url=recruiting.public_url or site.site_url)


def _refuse_two_crowds(recruiting: ProlificOptions) -> None:
    if recruiting.crowd != "panel":
        raise ConfigError(["--panel needs --crowd panel"])


def _start(site: SiteOptions, rehearsing: RehearsalOptions) -> datetime | None:
    from piecework.marketplace.state import clock
    from piecework.marketplace.state.backend import is_begun

    if not rehearsing.start:
        return None
    if not rehearsing.rehearsal:
        raise ConfigError(
            ["--start needs --rehearsal; a live marketplace uses the machine's time"]
        )
    if is_begun(site.database):
        raise ConfigError(
            [f"--start needs a new file; {site.database} has a clock already"],
            next_step="move its clock with PUT /rehearsal/clock, or give another "
            "--database",
        )
    try:
        return clock.moment_of(rehearsing.start)
    except (ValueError, OverflowError) as fault:
        raise ConfigError([f"--start: {fault}"]) from fault


def _certificate(site: SiteOptions) -> "Certificate | None":
    from piecework.webserver.server import Certificate

    if site.tls is None:
        return None
    chain, key = site.tls
    return Certificate(chain=chain, key=key)


def _aws_proxy(site: SiteOptions, aws: AwsOptions) -> "StandIn":
    from piecework.marketplace.http.amazon_hosts import HOSTS
    from piecework.webserver.stand_in import authority

    return authority.establish(
        site.database.with_name(f"{site.database.stem}-aws"),
        HOSTS,
        now=SystemClock().now(),
        port=aws.aws_port,
        proxy_port=aws.proxy_port,
    )


def _checked(
    site: SiteOptions, rehearsing: RehearsalOptions, recruiting: ProlificOptions
) -> SiteOptions:
    """Return the site with the URL that participants open.

    Raises:
        ConfigError: options contradict each other.
    """
    if rehearsing.rehearsal:
        raise ConfigError(
            [f"--crowd {recruiting.crowd} does not go with --rehearsal"],
            next_step=f"piecework rehearse CAMPAIGN --crowd {recruiting.crowd}",
        )
    site = _with_public_url(site, recruiting)
    if recruiting.live != bool(recruiting.spend_at_most):
        raise ConfigError(
            ["--live and --spend-at-most AMOUNT go together; give both or neither"]
        )
    return site


def _recruiting(options: ProlificOptions) -> "Recruiting":
    from piecework.prolific.bridge.recruiting import Recruiting

    return Recruiting(
        workspace_id=options.workspace,
        project_id=options.project,
        is_live=options.live,
        spend_at_most_cents=amount_of("--spend-at-most", options.spend_at_most),
        hits_per_visit=options.hits_per_visit,
        hit_seconds=options.hit_seconds,
        visits_per_participant=options.visits_per_participant,
        settle_seconds=options.settle_seconds,
        screening_cents=amount_of("--screening-pay", options.screening_pay),
        screen_out_cents=amount_of("--screen-out-pay", options.screen_out_pay),
    )


def _serve_with_prolific(
    marketplace: "Marketplace",
    recruiting: "Recruiting",
    site: SiteOptions,
    options: ProlificOptions,
) -> None:
    """Serve until the process is told to stop, with the bridge in a thread.

    Raises:
        ConfigError: the account or the addresses cannot be used; nothing was sent.
        RefusedForSafety: others can read the token.
    """
    from piecework.marketplace.bridging.running import Running
    from piecework.marketplace.http.server import serve_forever
    from piecework.marketplace.state.backend import Rules
    from piecework.prolific.bridge.prolific_crowd import CONSENT
    from piecework.prolific.bridge.recruiting import agreed_terms
    from piecework.prolific.bridge.serving import office
    from piecework.prolific.bridge.step import step
    from piecework.prolific.token import SERVICE
    from piecework.webclient.address import api_address

    with api_faults():
        address = api_address(options.prolific_url, SERVICE)
        token = needed_token(options.token_file)
        refuse_closed_addresses(marketplace, address, crowd="prolific")
        terms = agreed_terms(recruiting, address, token, site_url=marketplace.site_url)
        consent = _read_consent(site.consent) if site.consent else CONSENT
        rules = Rules(clock_is_right=site.clock_is_right)
        with (
            office(address, token, terms, consent=consent) as opened,
            opened.bridge(site.database, rules) as bridge,
        ):
            _say(opened.terms, str(opened.prices.percent))
            receiver = _receiver(bridge) if options.webhooks else None
            served = replace(
                marketplace,
                crowd=replace(opened.crowd, webhooks=receiver),
                prices=opened.prices,
                spend_at_most_cents=recruiting.spend_at_most_cents,
            )
            news = None if receiver is None else receiver.news
            after_step = step_observer(served)
            with Running(bridge, step, news, after_step=after_step).running():
                serve_forever(served)


def _receiver(bridge: "Bridge") -> "Receiver | None":
    """Return the receiver of webhooks; None, with a message, if Prolific refuses."""
    from piecework.marketplace.workers.visit_site import EVENTS
    from piecework.prolific.bridge.webhooks import register
    from piecework.webclient.errors import ApiError

    url = f"{bridge.terms.site_url}{EVENTS}"
    try:
        return register(bridge.backend, bridge.prolific, bridge.terms.workspace_id, url)
    except ApiError as fault:
        click.echo(
            f"no webhooks, so the bridge polls: {printable(str(fault))} "
            f"{printable(fault.next_step)}".rstrip(),
            err=True,
        )
        return None


def _say(terms: "Terms", percent: str) -> None:
    limit = terms.money(terms.spend_at_most_cents)
    click.echo(
        f"Prolific adds {percent} % to what participants get, tax included",
        err=True,
    )
    if terms.is_live:
        click.echo(f"the bridge publishes studies, for up to {limit} in all", err=True)
    else:
        click.echo(
            "studies stay drafts; --live with --spend-at-most publishes them",
            err=True,
        )
