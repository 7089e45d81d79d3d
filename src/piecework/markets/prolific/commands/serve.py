"""`market serve --crowd prolific`: the marketplace with participants of Prolific."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from piecework.cli.options import WholeNumber
from piecework.cli.serve_markets import (
    OpenedCrowd,
    amount_of,
    opened_bridge,
    refuse_closed_addresses,
    spending_limit,
    token_file,
)
from piecework.domain.errors import load_extra
from piecework.domain.text import printable

if TYPE_CHECKING:
    from piecework.cli.serve_options import CrowdOptions
    from piecework.marketplace.http.options import Marketplace
    from piecework.markets.prolific.bridge.bridge import Bridge, Terms
    from piecework.markets.prolific.bridge.recruiting import Recruiting
    from piecework.markets.prolific.bridge.webhooks import Receiver


OPTIONS = (
    click.Option(
        ["--prolific-url"],
        envvar="PROLIFIC_URL",
        default="https://api.prolific.com",
        show_default=True,
        help="URL of Prolific's API (or PROLIFIC_URL); plain http only on this machine.",
    ),
    click.Option(
        ["--workspace"], default="", help="Workspace to charge; optional if you have only one."
    ),
    click.Option(["--project"], default="", help="Project for the studies; default: a new one."),
    click.Option(
        ["--visits-per-participant"],
        type=WholeNumber(1, 1000),
        default=10,
        show_default=True,
        help="Visits that a participant may make to the same study.",
    ),
    click.Option(
        ["--screening-pay"],
        default="",
        metavar="AMOUNT",
        help="Payment for taking a qualification test; default: offer no test at Prolific.",
    ),
    click.Option(
        ["--screen-out-pay"],
        default="",
        metavar="AMOUNT",
        help="Payment to participants who arrive but find no work, if the workspace allows it.",
    ),
    click.Option(
        ["--webhooks"],
        is_flag=True,
        help="Let Prolific report events at once; the bridge still polls now and then.",
    ),
)


@contextmanager
def open_crowd(
    marketplace: "Marketplace",
    options: "CrowdOptions",
    own: Mapping[str, Any],
    consent: tuple[str, ...],
) -> Iterator[OpenedCrowd]:
    """Open the account and the bridge; see `markets.registry.Market.opened`.

    Raises:
        ConfigError: the account or the addresses cannot be used; nothing was sent.
        RefusedForSafety: others can read the token.
    """
    load_extra("pycountry", extra="prolific", use="--crowd prolific")
    from piecework.cli.errors import api_faults
    from piecework.foundation.client.token import api_address
    from piecework.markets.prolific.bridge.bridge import NAME
    from piecework.markets.prolific.bridge.recruiting import agreed_terms
    from piecework.markets.prolific.bridge.serving import CONSENT, office, step
    from piecework.markets.prolific.calling import SERVICE
    from piecework.markets.prolific.commands.account import token_of

    limit = spending_limit(NAME, options)
    recruiting = _recruiting(options, own, limit)
    with api_faults():
        address = api_address(own["prolific_url"], SERVICE)
        token = token_of(token_file(NAME, options))
        refuse_closed_addresses(marketplace, address, crowd=NAME)
        terms = agreed_terms(recruiting, address, token, site_url=marketplace.site_url)
        with (
            office(address, token, terms, consent=consent or CONSENT) as account,
            opened_bridge(marketplace, options, account, step, limit) as (bridge, opened),
        ):
            _say(account.terms, str(account.prices.percent))
            receiver = _receiver(bridge) if own["webhooks"] else None
            crowd = replace(account.crowd, webhooks=receiver)
            news = None if receiver is None else receiver.news
            yield replace(opened, crowd=crowd, news=news)


def _recruiting(options: "CrowdOptions", own: Mapping[str, Any], limit_cents: int) -> "Recruiting":
    from piecework.markets.prolific.bridge.recruiting import Recruiting

    return Recruiting(
        workspace_id=own["workspace"],
        project_id=own["project"],
        is_live=options.live,
        spend_at_most_cents=limit_cents,
        hits_per_visit=options.hits_per_visit,
        hit_seconds=options.hit_seconds,
        visits_per_participant=own["visits_per_participant"],
        settle_seconds=options.settle_seconds,
        screening_cents=amount_of("--screening-pay", own["screening_pay"]),
        screen_out_cents=amount_of("--screen-out-pay", own["screen_out_pay"]),
    )


def _receiver(bridge: "Bridge") -> "Receiver | None":
    """Return the receiver of webhooks; None, with a message, if Prolific refuses."""
    from piecework.foundation.client.errors import ApiError
    from piecework.marketplace.workers.visit_site import EVENTS
    from piecework.markets.prolific.bridge.webhooks import register

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
    click.echo(f"Prolific adds {percent} % to what participants get, tax included", err=True)
    if terms.is_live:
        click.echo(f"the bridge publishes studies, for up to {limit} in all", err=True)
    else:
        click.echo("studies stay drafts; --live with --spend-at-most publishes them", err=True)
