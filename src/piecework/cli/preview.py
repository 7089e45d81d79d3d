"""`preview`: lets you do a HIT in a browser."""

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
    help="Port of the site; the question pages use the next port.",
)
def preview(campaign: Path, *, port: int) -> None:
    """Do a HIT yourself in the browser.

    The preview stores nothing with the campaign. When it ends, it deletes what you did.

    Examples:
      piecework preview birds.toml
      piecework preview birds.toml --port 9000
    """
    from piecework.campaign.assembling import read_anywhere
    from piecework.rehearsing.preview import serve_preview

    # SIGTERM ends it like Ctrl-C, so that the folder is deleted.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with serve_preview(read_anywhere(campaign), port=port) as addresses:
        click.echo(f"open {addresses.hit}")
        if addresses.test:
            click.echo(f"then the qualification test: {addresses.test}")
        click.echo("the preview pays and stores nothing; Ctrl-C ends it")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            click.echo("ended")
