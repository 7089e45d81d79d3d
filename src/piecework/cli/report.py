"""`report`: writes the report of a campaign again."""

import json
from pathlib import Path

import click

from piecework.cli.options import CAMPAIGN, JSON
from piecework.cli.output import say_changes


@click.command()
@CAMPAIGN
@JSON
def report(campaign: Path, *, as_json: bool) -> None:
    """Write the report again.

    The command writes the report of the work so far and prints its path. It leaves the
    dataset as it is: `piecework export` writes both.

    Examples:
      piecework report birds.toml
      piecework report birds.toml --json
    """
    from piecework.campaign.assembling import load_campaign
    from piecework.engine.opening import open_to_look
    from piecework.results.export import write_report

    with open_to_look(load_campaign(campaign)) as opened:
        written = write_report(opened)
        say_changes(opened)
    if as_json:
        click.echo(json.dumps({"report": str(written)}, indent=2))
        return
    click.echo(f"report: {written}")
