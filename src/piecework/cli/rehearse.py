"""`rehearse`: a whole campaign on simulated workers."""

import json
import time
from pathlib import Path
from typing import Literal

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from piecework.cli.options import CAMPAIGN, JSON
from piecework.cli.output import say_progress
from piecework.cli.prefect_server import TemporaryServer


@click.command()
@CAMPAIGN
@JSON
@click.option(
    "--crowd",
    type=click.Choice(["workers", "prolific"]),
    default="workers",
    show_default=True,
    help="Workers of a marketplace, or participants of an offline Prolific who are led "
    "to it.",
)
def rehearse(
    campaign: Path, *, as_json: bool, crowd: Literal["workers", "prolific"]
) -> None:
    """Rehearse the whole campaign on simulated workers.

    Nobody is paid and no account is needed. The dataset, the report and the store are
    written to the campaign's output folder.

    \b
    Example:  piecework rehearse config/campaigns/demo.toml
              piecework rehearse config/campaigns/demo.toml --crowd prolific
    """  # noqa: D301 - click's mark for lines that stay lines
    began = time.monotonic()
    from piecework.campaign.assembling import read_anywhere

    # A fault of the file is told before a server starts and Prefect is imported.
    read_anywhere(campaign)
    server = TemporaryServer()
    console = Console(stderr=True)
    with console.status("starting Prefect and the marketplace"):
        from piecework.cli.work.rehearse import rehearse_campaign
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("answers accepted"),
        console=console,
        transient=True,
    ) as bar:
        result = rehearse_campaign(campaign, bar, server, crowd=crowd)
    seconds = time.monotonic() - began
    if as_json:
        remarks = [{"level": one.level, "text": one.text} for one in result.remarks]
        document = {**result.facts, "seconds": round(seconds, 1), "remarks": remarks}
        click.echo(json.dumps(document, indent=2))
        return
    say_progress(result.progress, as_json=False)
    click.echo(
        f"simulated workers took {result.virtual_hours:.1f} hours; "
        f"this rehearsal took {seconds:.0f} seconds"
    )
    click.echo(
        "assumed: a HIT takes a careful worker "
        f"{result.hit_seconds / 60:.1f} minutes in the middle, others less or more; "
        "who comes is chance, so few workers tell little of wages"
    )
    for remark in result.remarks:
        click.echo(f"{remark.word}: {remark.text}")
    for line in result.books.lines() if result.books else ():
        click.echo(line)
    click.echo(f"dataset: {result.report.parent / 'dataset'}")
    click.echo(f"store:   {result.report.parent / 'piecework.db'}")
    click.echo(f"report:  {result.report}")
