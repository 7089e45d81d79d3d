"""`serve --crowd prolific`: the marketplace with participants of Prolific."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.api_faults import api_faults
from piecework.cli.prolific_account import needed_token
from piecework.cli.serve_outside import (
    OpenedCrowd,
    amount_of,
    refuse_closed_addresses,
    spending_limit,
    value_for,
)
from piecework.domain.extras import load_extra
from piecework.domain.printable import printable

if TYPE_CHECKING:
    from piecework.cli.serve_options import CrowdOptions
    from piecework.marketplace.bridging.running import StepObserver
    from piecework.marketplace.http.options import Marketplace
    from piecework.prolific.bridge.bridge import Bridge
    from piecework.prolific.bridge.recruiting import Recruiting
    from piecework.prolific.bridge.terms import Terms
    from piecework.prolific.bridge.webhooks import Receiver


@contextmanager
def open_prolific(
    marketplace: "Marketplace", options: "CrowdOptions", consent: tuple[str, ...]
) -> Iterator[OpenedCrowd]:
    """Open the account and the bridge.

    Args:
        marketplace: the options, as for invited people.
        options: who works, and on what terms.
        consent: what people agree to; () is the usual text.

    Raises:
        ConfigError: the account or the addresses cannot be used; nothing was sent.
        RefusedForSafety: others can read the token.
    """
    load_extra("pycountry", extra="prolific", use="--crowd prolific")
    from piecework.marketplace.bridging.running import Running
    from piecework.marketplace.state.backend import Rules
    from piecework.prolific.bridge.prolific_crowd import CONSENT
    from piecework.prolific.bridge.recruiting import agreed_terms
    from piecework.prolific.bridge.serving import office
    from piecework.prolific.bridge.step import step
    from piecework.prolific.bridge.terms import NAME
    from piecework.prolific.token import SERVICE
    from piecework.webclient.address import api_address

    recruiting = _recruiting(options, spending_limit(NAME, options))
    file = value_for(NAME, "--token-file", options.token_file, len(options.crowds))
    with api_faults():
        address = api_address(options.prolific_url, SERVICE)
        token = needed_token(Path(file) if file else None)
        refuse_closed_addresses(marketplace, address, crowd=NAME)
        terms = agreed_terms(recruiting, address, token, site_url=marketplace.site_url)
        rules = Rules(clock_is_right=marketplace.clock_is_right)
        with (
            office(address, token, terms, consent=consent or CONSENT) as opened,
            opened.bridge(marketplace.database, rules, among=options.crowds) as bridge,
        ):
            _say(opened.terms, str(opened.prices.percent))
            receiver = _receiver(bridge) if options.webhooks else None
            news = None if receiver is None else receiver.news

            def running(after_step: "StepObserver | None") -> AbstractContextManager[None]:
                return Running(bridge, step, news, after_step=after_step).running()

            yield OpenedCrowd(
                crowd=replace(opened.crowd, webhooks=receiver),
                prices=opened.prices,
                spend_at_most_cents=recruiting.spend_at_most_cents,
                bridge=running,
            )


def _recruiting(options: "CrowdOptions", limit_cents: int) -> "Recruiting":
    from piecework.prolific.bridge.recruiting import Recruiting

    return Recruiting(
        workspace_id=options.workspace,
        project_id=options.project,
        is_live=options.live,
        spend_at_most_cents=limit_cents,
        hits_per_visit=options.hits_per_visit,
        hit_seconds=options.hit_seconds,
        visits_per_participant=options.visits_per_participant,
        settle_seconds=options.settle_seconds,
        screening_cents=amount_of("--screening-pay", options.screening_pay),
        screen_out_cents=amount_of("--screen-out-pay", options.screen_out_pay),
    )


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
    click.echo(f"Prolific adds {percent} % to what participants get, tax included", err=True)
    if terms.is_live:
        click.echo(f"the bridge publishes studies, for up to {limit} in all", err=True)
    else:
        click.echo("studies stay drafts; --live with --spend-at-most publishes them", err=True)
