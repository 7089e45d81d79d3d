"""`preview`: do the task in a browser."""

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
    """Do the task yourself in a browser; nothing is stored with the campaign.

    Example:  piecework preview config/campaigns/demo.toml
    """
    from piecework.cli.work.preview import serve_preview

    serve_preview(campaign, port=port)
