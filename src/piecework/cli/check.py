"""`check`: all that can be known of a campaign before a call."""

import json
from datetime import datetime
from pathlib import Path

import click

from piecework.cli.options import CAMPAIGN, JSON
from piecework.domain.clock import SystemClock


@click.command()
@CAMPAIGN
@click.option(
    "--on",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Price by the fees of this UTC day; today without it.",
)
@click.option(
    "--endpoint", help="Price by what this marketplace says that it takes; only asks."
)
@click.option(
    "--reach",
    is_flag=True,
    help="Look whether a sample of the items' addresses and files gives pictures.",
)
@click.option(
    "--internal",
    is_flag=True,
    help="With --reach: ask addresses inside this machine's network too.",
)
@JSON
def check(
    campaign: Path,
    *,
    on: datetime | None,
    endpoint: str | None,
    reach: bool,
    internal: bool,
    as_json: bool,
) -> None:
    """Read, render and price everything; touch nothing.

    \b
    Example:  piecework check config/campaigns/demo.toml
              piecework check CAMPAIGN --reach
              piecework check CAMPAIGN --endpoint https://hits.example.org
    """  # noqa: D301 - click's mark for lines that stay lines
    if internal and not reach:
        raise click.UsageError("--internal says what --reach may ask; give both")
    from piecework.cli.work.check import check_campaign
    from piecework.cli.work.check_tables import say_checked

    day = (on or SystemClock().now()).date()
    checked = check_campaign(
        campaign, on=day, endpoint=endpoint, reach=reach, internal=internal
    )
    if as_json:
        click.echo(json.dumps(checked.as_dict(), indent=2, sort_keys=True))
        return
    say_checked(checked)
