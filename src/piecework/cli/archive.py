"""`archive`: moves what workers wrote in settled batches into Parquet files."""

import json
from pathlib import Path

import click

from piecework.cli.options import CAMPAIGN, JSON
from piecework.domain.counts import plural


@click.command()
@CAMPAIGN
@click.option(
    "--keep",
    metavar="BATCHES",
    type=click.IntRange(min=1),
    help="The newest batches stay in the store.  [default: items.archive_after_batches, or 20]",
)
@JSON
def archive(campaign: Path, *, keep: int | None, as_json: bool) -> None:
    """Move settled batches into Parquet files.

    It is for campaigns that grow. The answers of old batches move into the folder
    `archive` beside the store. Exports and reports keep reading them. Passes no longer
    compare new answers with them, so a pass stays fast and the store small. Verdicts,
    workers and money stay in the store.

    Examples:
      piecework archive birds.toml
      piecework archive birds.toml --keep 50
    """
    from piecework.campaign.assembling import load_campaign
    from piecework.engine.opening import open_to_look
    from piecework.results.archiving import KEEP, archive_folder, archive_settled
    from piecework.store.lock import only_pass

    loaded = load_campaign(campaign)
    growth = loaded.growth
    after = (growth.archive_after if growth else None) or KEEP
    with open_to_look(loaded) as opened, only_pass(loaded.store, by="piecework archive"):
        done = archive_settled(opened, keep=keep or after, compacts=True)
        folder = archive_folder(opened.store)
    batches = len({part.batch for part in done.parts})
    if as_json:
        facts = {
            "batches": batches,
            "answers": done.answers,
            "bytes_before": done.bytes_before,
            "bytes_after": done.bytes_after,
            "folder": str(folder),
        }
        click.echo(json.dumps(facts, indent=2))
        return
    if not done.parts:
        stay = keep or after
        newest = "batch stays" if stay == 1 else f"{stay} batches stay"
        click.echo(f"nothing to archive: the newest {newest}")
        return
    click.echo(
        f"{plural(done.answers, 'answer')} of {plural(batches, 'batch')} moved into {folder}"
    )
    megabytes = [size / 1e6 for size in (done.bytes_before, done.bytes_after)]
    click.echo(f"the store had {megabytes[0]:.1f} MB; it has {megabytes[1]:.1f} MB")
