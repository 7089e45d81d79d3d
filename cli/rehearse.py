"""`rehearse`: a whole campaign on simulated workers."""

import json
import time
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from cli.options import CAMPAIGN, JSON
from cli.output import say_progress
from cli.prefect_server import TemporaryServer


@click.command()
@CAMPAIGN
@JSON
def rehearse(campaign: Path, *, as_json: bool) -> None:
    """Rehearse the whole campaign on simulated workers.

    Nobody is paid and no account is needed. The dataset, the report and the store are
    written to the campaign's output folder.

    Example:  piecework rehearse config/campaigns/demo.toml
    """
    began = time.monotonic()
    server = TemporaryServer()
    console = Console(stderr=True)
    with console.status("starting Prefect and the marketplace"):
        from cli.work.rehearse import rehearse_campaign  # noqa: PLC0415 - costs seconds
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("answers accepted"),
        console=console,
        transient=True,
    ) as bar:
        result = rehearse_campaign(campaign, bar, server)
    seconds = time.monotonic() - began
    if as_json:
        click.echo(json.dumps({**result.facts, "seconds": round(seconds, 1)}, indent=2))
        return
    say_progress(result.progress, as_json=False)
    click.echo(
        f"simulated workers took {result.virtual_hours:.1f} hours; "
        f"this rehearsal took {seconds:.0f} seconds"
    )
    click.echo(f"dataset: {result.report.parent / 'dataset'}")
    click.echo(f"store:   {result.report.parent / 'piecework.db'}")
    click.echo(f"report:  {result.report}")
