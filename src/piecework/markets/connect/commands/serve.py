"""`market serve --crowd connect`: the marketplace with participants of Connect."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

import click

from piecework.cli.serve_markets import (
    OpenedCrowd,
    opened_bridge,
    refuse_closed_addresses,
    spending_limit,
    token_file,
)
from piecework.domain.errors import ConfigError

if TYPE_CHECKING:
    from piecework.cli.serve_options import CrowdOptions
    from piecework.marketplace.http.options import Marketplace
    from piecework.markets.connect.bridge.bridge import LinkNames
    from piecework.markets.connect.bridge.serving import Office


OPTIONS = (
    click.Option(
        ["--connect-url"],
        envvar="CONNECT_URL",
        default="https://connect-api.cloudresearch.com",
        show_default=True,
        help="URL of Connect's API (or CONNECT_URL); plain http only on this machine.",
    ),
    click.Option(
        ["--link-names"],
        default="",
        metavar="NAMES",
        help="With --crowd connect: how links name participant, assignment and "
        "project; default: participantId,assignmentId,projectId.",
    ),
    click.Option(
        ["--fee-percent"],
        default="",
        metavar="PERCENT",
        help="With --crowd connect: Connect's fee; default: ask Connect.",
    ),
)

_MOST_PERCENT = 100
_LINK_PARTS = 3


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
        RefusedForSafety: others can read the key.
    """
    from piecework.cli.errors import api_faults
    from piecework.foundation.client.token import api_address
    from piecework.markets.connect.bridge.bridge import NAME, Terms
    from piecework.markets.connect.bridge.serving import CONSENT, office, step
    from piecework.markets.connect.commands.account import needed_key
    from piecework.markets.connect.values import SERVICE

    limit = spending_limit(NAME, options)
    names, percent = _link_names(own["link_names"]), _percent(own["fee_percent"])
    with api_faults():
        address = api_address(own["connect_url"], SERVICE)
        key = needed_key(token_file(NAME, options))
        refuse_closed_addresses(marketplace, address, crowd=NAME)
        terms = Terms(
            site_url=marketplace.site_url,
            is_live=options.live,
            spend_at_most_cents=limit,
            hits_per_visit=options.hits_per_visit,
            hit_seconds=options.hit_seconds,
            settle_seconds=options.settle_seconds,
            link_names=names,
        )
        with (
            office(address, key, terms, consent=consent or CONSENT, percent=percent) as account,
            opened_bridge(marketplace, options, account, step, limit) as (_, opened),
        ):
            _say(account)
            yield opened


def _link_names(text: str) -> "LinkNames":
    from piecework.markets.connect.bridge.bridge import LinkNames

    if not text:
        return LinkNames()
    names = [name.strip() for name in text.split(",")]
    if len(names) != _LINK_PARTS or not all(name.isidentifier() for name in names):
        raise ConfigError(
            ["--link-names: give three names: of participant, assignment and project"],
            next_step="--link-names participantId,assignmentId,projectId",
        )
    return LinkNames(*names)


def _percent(text: str) -> Decimal | None:
    if not text:
        return None
    try:
        percent = Decimal(text)
    except InvalidOperation:
        percent = Decimal(-1)
    if not 0 <= percent <= _MOST_PERCENT:
        raise ConfigError([f"--fee-percent: {text!r} is not a percentage"])
    return percent


def _say(office: "Office") -> None:
    from piecework.markets.connect.bridge.bridge import money

    click.echo(f"Connect adds {office.prices.percent} % to what participants get", err=True)
    click.echo(
        "requirements on approvals and adult content count as met: Connect has no filter for them",
        err=True,
    )
    if office.terms.is_live:
        limit = money(office.terms.spend_at_most_cents)
        click.echo(f"the bridge publishes projects, for up to {limit} in all", err=True)
    else:
        click.echo(
            "projects stay unpublished; --live with --spend-at-most publishes them", err=True
        )
