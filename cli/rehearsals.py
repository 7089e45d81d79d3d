"""`rehearse` and `preview`: see a campaign before anybody is paid."""

import json
import time
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from cli.polling import POLL_SECONDS
from cli.words import say_progress

_FILE = click.argument("campaign", type=click.Path(path_type=Path))


@click.command()
@_FILE
@click.option("--port", default=8080, show_default=True, help="0 takes a free one.")
@click.option("--poll-seconds", type=POLL_SECONDS, default=1.0, show_default=True)
def crowd(campaign: Path, *, port: int, poll_seconds: float) -> None:
    """Be the world of a rehearsed schedule: a marketplace and its simulated workers.

    Passes are made by somebody else (`piecework advance --rehearsal`, or a deployment);
    between them the workers work, in virtual time. Ends when the campaign is finished.

    Example:  piecework crowd config/campaigns/demo.toml --port 8080
    """
    from cli.crowding import work_between_passes  # noqa: PLC0415 - costs seconds

    work_between_passes(campaign, port=port, poll_seconds=poll_seconds, say=click.echo)


@click.command()
@_FILE
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def rehearse(campaign: Path, *, as_json: bool) -> None:
    """Rehearse the whole campaign on simulated workers.

    Nobody is paid and no account is needed. The dataset, the report and the store are
    written to the campaign's output folder.

    Example:  piecework rehearse config/campaigns/demo.toml
    """
    began = time.monotonic()
    console = Console(stderr=True)
    with console.status("starting Prefect and the marketplace"):
        from cli.rehearsing import rehearse_campaign  # noqa: PLC0415 - costs seconds
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("answers accepted"),
        console=console,
        transient=True,
    ) as bar:
        result = rehearse_campaign(campaign, bar)
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


@click.command()
@_FILE
@click.option(
    "--port",
    type=click.IntRange(1, 65_534),
    default=8080,
    show_default=True,
    help="Port of the site; the pages of questions take the next one.",
)
def preview(campaign: Path, *, port: int) -> None:
    """Do the task yourself in a browser; nothing is stored with the campaign.

    Example:  piecework preview config/campaigns/demo.toml
    """
    from cli.previewing import serve_preview  # noqa: PLC0415 - costs a second

    serve_preview(campaign, port=port)
