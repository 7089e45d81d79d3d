"""`serve --crowd panel`: the marketplace with the people of a panel."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from piecework.cli.marketplace_file import transaction_in
from piecework.cli.panel import read_panel, read_secrets
from piecework.cli.serve_markets import OpenedCrowd
from piecework.domain.errors import ConfigError
from piecework.domain.text import printable

if TYPE_CHECKING:
    from piecework.cli.serve_options import CrowdOptions
    from piecework.marketplace.http.options import Marketplace
    from piecework.markets.panel.panel_file import Panel


@contextmanager
def open_panel(
    marketplace: "Marketplace", options: "CrowdOptions", consent: tuple[str, ...]
) -> Iterator[OpenedCrowd]:
    """Read the panel file, and prepare the marketplace's file for its people.

    Args:
        marketplace: the options, as for invited people.
        options: who works.
        consent: what people agree to; () is the usual text.

    Raises:
        ConfigError: the panel file has faults, or options contradict each other.
    """
    from piecework.marketplace.state import outside_market
    from piecework.markets.panel.panel_crowd import PanelCrowd
    from piecework.markets.panel.panel_file import market_of, prices_of
    from piecework.markets.panel.secrets import UnusableError

    file = options.panel
    if file is None:
        raise ConfigError(
            ["--crowd panel needs --panel, the file that describes the panel"],
            next_step="piecework panel example external > panel.toml",
        )
    panel = read_panel(file)
    secrets = read_secrets(file, panel)
    prices = prices_of(panel)
    try:
        crowd = PanelCrowd(panel, secrets, prices, consent)
    except UnusableError as fault:
        raise ConfigError([f"{file}: {fault}"]) from fault
    with transaction_in(
        marketplace.database, must_exist=False, must_be_live=True, currency=panel.pay.currency
    ) as transaction:
        outside_market.claim(transaction, market_of(panel), among=options.crowds)
    own = f"http://{marketplace.host}:{marketplace.port}"
    _say(panel, marketplace.site_url or own)
    yield OpenedCrowd(crowd=crowd, prices=prices)


def _say(panel: "Panel", site_url: str) -> None:
    link = "&".join(
        f"{parameter}={name.upper()}" for name, parameter in panel.link.names().items() if parameter
    )
    proof = panel.verification.parameter
    link += f"&{proof}={panel.verification.by.upper()}" if proof else ""
    click.echo(
        f"people of {printable(panel.title)} come by {site_url.rstrip('/')}/visit/arrive?{link}",
        err=True,
    )
    click.echo(
        "requirements on country, adult content and approvals count as met: the panel "
        "must choose people by them",
        err=True,
    )
    if panel.verification.by == "nothing":
        click.echo(
            "WARNING: links are not verified: anyone can come with any id, take HITs "
            f"and open others' visits. The panel file accepts this: "
            f"{printable(panel.verification.accepted_risk)}",
            err=True,
        )
