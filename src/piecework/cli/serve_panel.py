"""`serve --crowd panel`: the marketplace with the people of a panel."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.marketplace_file import transaction_in
from piecework.cli.panel_file import read_panel, read_secrets
from piecework.domain.errors import ConfigError
from piecework.domain.printable import printable

if TYPE_CHECKING:
    from piecework.marketplace.http.options import Marketplace
    from piecework.panel.panel_file import Panel


def serve_panel(
    marketplace: "Marketplace", file: Path | None, consent: tuple[str, ...]
) -> None:
    """Serve until the process is told to stop.

    Args:
        marketplace: the options, as for invited people.
        file: the panel file.
        consent: what people agree to; () is the usual text.

    Raises:
        ConfigError: the panel file has faults, or options contradict each other.
    """
    from piecework.marketplace.http.server import serve_forever
    from piecework.marketplace.state import outside_market
    from piecework.panel.panel_crowd import PanelCrowd
    from piecework.panel.prices import prices_of
    from piecework.panel.secrets import UnusableError

    if file is None:
        raise ConfigError(
            ["--crowd panel needs --panel, the file that describes the panel"],
            next_step="piecework panel example external > panel.toml",
        )
    if marketplace.rehearsal:
        raise ConfigError(
            ["--crowd panel does not go with --rehearsal"],
            next_step="piecework rehearse CAMPAIGN --crowd panel",
        )
    panel = read_panel(file)
    secrets = read_secrets(file, panel)
    prices = prices_of(panel)
    try:
        crowd = PanelCrowd(panel, secrets, prices, consent)
    except UnusableError as fault:
        raise ConfigError([f"{file}: {fault}"]) from fault
    with transaction_in(
        marketplace.database,
        must_exist=False,
        must_be_live=True,
        currency=panel.pay.currency,
    ) as transaction:
        outside_market.claim(transaction, "panels")
    own = f"http://{marketplace.host}:{marketplace.port}"
    _say(panel, marketplace.site_url or own)
    serve_forever(replace(marketplace, crowd=crowd, prices=prices))


def _say(panel: "Panel", site_url: str) -> None:
    link = "&".join(
        f"{parameter}={name.upper()}"
        for name, parameter in panel.link.names().items()
        if parameter
    )
    proof = panel.verification.parameter
    link += f"&{proof}={panel.verification.by.upper()}" if proof else ""
    click.echo(
        f"people of {printable(panel.title)} come by "
        f"{site_url.rstrip('/')}/visit/arrive?{link}",
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
