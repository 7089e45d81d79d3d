"""`serve --crowd connect`: the marketplace with participants of Connect."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.api_faults import api_faults
from piecework.cli.connect_account import needed_key
from piecework.cli.serve_outside import (
    OpenedCrowd,
    refuse_closed_addresses,
    spending_limit,
    value_for,
)
from piecework.domain.errors import ConfigError

if TYPE_CHECKING:
    from piecework.cli.serve_options import CrowdOptions
    from piecework.connect.bridge.serving import Office
    from piecework.connect.bridge.terms import LinkNames
    from piecework.marketplace.bridging.running import StepObserver
    from piecework.marketplace.http.options import Marketplace

_MOST_PERCENT = 100
_LINK_PARTS = 3


@contextmanager
def open_connect(
    marketplace: "Marketplace", options: "CrowdOptions", consent: tuple[str, ...]
) -> Iterator[OpenedCrowd]:
    """Open the account and the bridge.

    Args:
        marketplace: the options, as for invited people.
        options: who works, and on what terms.
        consent: what people agree to; () is the usual text.

    Raises:
        ConfigError: the account or the addresses cannot be used; nothing was sent.
        RefusedForSafety: others can read the key.
    """
    from piecework.connect.bridge.connect_crowd import CONSENT
    from piecework.connect.bridge.serving import office
    from piecework.connect.bridge.step import step
    from piecework.connect.bridge.terms import NAME, Terms
    from piecework.connect.token import SERVICE
    from piecework.marketplace.bridging.running import Running
    from piecework.marketplace.state.backend import Rules
    from piecework.webclient.address import api_address

    limit = spending_limit(NAME, options)
    names, percent = _link_names(options.link_names), _percent(options.fee_percent)
    file = value_for(NAME, "--token-file", options.token_file, len(options.crowds))
    with api_faults():
        address = api_address(options.connect_url, SERVICE)
        key = needed_key(Path(file) if file else None)
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
        rules = Rules(clock_is_right=marketplace.clock_is_right)
        with (
            office(address, key, terms, consent=consent or CONSENT, percent=percent) as opened,
            opened.bridge(marketplace.database, rules, among=options.crowds) as bridge,
        ):
            _say(opened)

            def running(after_step: "StepObserver | None") -> AbstractContextManager[None]:
                return Running(bridge, step, after_step=after_step).running()

            yield OpenedCrowd(
                crowd=opened.crowd, prices=opened.prices, spend_at_most_cents=limit, bridge=running
            )


def _link_names(text: str) -> "LinkNames":
    from piecework.connect.bridge.terms import LinkNames

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
    from piecework.connect.bridge.terms import money

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
