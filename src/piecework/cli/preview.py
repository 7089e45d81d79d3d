"""`preview`: do the task in a browser."""

import signal
import threading
from pathlib import Path

import click

from piecework.cli.options import CAMPAIGN, WholeNumber


@click.command()
@CAMPAIGN
@click.option(
    "--port",
    type=WholeNumber(1, 65_534),
    default=8080,
    show_default=True,
    help="Port of the site; the pages of questions take the next one.",
)
def preview(campaign: Path, *, port: int) -> None:
    """Do a HIT yourself in the browser.

    The preview deletes what you do when it ends. It stores nothing with the campaign.

    Example:  piecework preview config/campaigns/demo.toml
    """
    from piecework.campaign.assembling import read_anywhere
    from piecework.rehearsing.preview import serve_preview

    # Told to stop, it stops as by Ctrl-C, so that the folder goes away with it.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with serve_preview(read_anywhere(campaign), port=port) as addresses:
        click.echo(f"open {addresses.hit}")
        if addresses.test:
            click.echo(f"then the qualification test: {addresses.test}")
        click.echo("no work is paid and nothing is kept; Ctrl-C ends it")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            click.echo("ended")
