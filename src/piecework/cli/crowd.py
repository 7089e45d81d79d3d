"""`crowd`: simulated workers for a rehearsed schedule."""

from pathlib import Path

import click

from piecework.cli.options import CAMPAIGN, POLL_SECONDS, PORT


@click.command()
@CAMPAIGN
@click.option(
    "--port",
    type=PORT,
    default=8080,
    show_default=True,
    help="Port of the marketplace; 0 takes a free port.",
)
@click.option(
    "--frames-port",
    type=PORT,
    default=0,
    show_default=True,
    help="Port of the question pages; 0 takes a free port.",
)
@click.option(
    "--poll-seconds",
    type=POLL_SECONDS,
    default=1.0,
    show_default=True,
    help="Seconds between two checks whether a pass has ended.",
)
def crowd(campaign: Path, *, port: int, frames_port: int, poll_seconds: float) -> None:
    """Run a marketplace with simulated workers.

    Another program makes the passes: `piecework advance --rehearsal`, or a deployment.
    Between passes, the simulated workers work in virtual time. The command ends when
    the campaign is finished.

    Examples:
      piecework crowd birds.toml
      piecework crowd birds.toml --port 8090
      piecework advance birds.toml --rehearsal --endpoint http://127.0.0.1:8090
    """
    from piecework.rehearsing.between_passes import work_between_passes

    work_between_passes(
        campaign, port=port, frames_port=frames_port, poll_seconds=poll_seconds, say=click.echo
    )
