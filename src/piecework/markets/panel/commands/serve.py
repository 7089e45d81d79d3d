"""`market serve --crowd panel`: the marketplace with the people of a panel."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from piecework.cli.marketplace_file import transaction_in
from piecework.cli.serve_markets import OpenedCrowd
from piecework.domain.errors import ConfigError
from piecework.domain.text import printable
from piecework.markets.panel.commands.lists import read_panel, read_secrets

if TYPE_CHECKING:
    from piecework.cli.serve_options import CrowdOptions
    from piecework.marketplace.http.options import Marketplace
    from piecework.markets.panel.panel_file import Panel


OPTIONS = (
    click.Option(
        ["--panel"],
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        help="With --crowd panel: the file that describes the panel.",
    ),
)


@contextmanager
def open_crowd(
    marketplace: "Marketplace",
    options: "CrowdOptions",
    own: Mapping[str, Any],
    consent: tuple[str, ...],
) -> Iterator[OpenedCrowd]:
    """Read the panel file, and prepare the file; see `markets.registry.Market.opened`.

    Raises:
        ConfigError: the panel file has faults, or options contradict each other.
    """
    from piecework.marketplace.state import outside_crowd
    from piecework.markets.panel.arrivals import UnusableError
    from piecework.markets.panel.panel_crowd import PanelCrowd
    from piecework.markets.panel.panel_file import market_of, prices_of

    file = own["panel"]
    if file is None:
        raise ConfigError(
            ["--crowd panel needs --panel, the file that describes the panel"],
            next_step="piecework market panel example external > panel.toml",
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
        outside_crowd.claim(transaction, market_of(panel), among=options.crowds)
    here = f"http://{marketplace.host}:{marketplace.port}"
    _say(panel, marketplace.site_url or here)
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
