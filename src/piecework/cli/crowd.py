"""`crowd`: the simulated workers of a rehearsed schedule."""

from pathlib import Path

import click

from piecework.cli.options import CAMPAIGN, POLL_SECONDS


@click.command()
@CAMPAIGN
@click.option("--port", default=8080, show_default=True, help="0 takes a free one.")
@click.option("--poll-seconds", type=POLL_SECONDS, default=1.0, show_default=True)
def crowd(campaign: Path, *, port: int, poll_seconds: float) -> None:
    """Run a marketplace with simulated workers.

    Passes are made by somebody else (`piecework advance --rehearsal`, or a deployment);
    between them the workers work, in virtual time. Ends when the campaign is finished.

    Example:  piecework crowd config/campaigns/demo.toml --port 8080
    """
    from piecework.rehearsing.between_passes import work_between_passes

    work_between_passes(campaign, port=port, poll_seconds=poll_seconds, say=click.echo)
