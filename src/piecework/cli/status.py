"""`status`: how far a campaign is, and who waits for whom."""

import json
from dataclasses import asdict
from pathlib import Path

import click

from piecework.cli.options import CAMPAIGN, JSON
from piecework.cli.output import say_progress
from piecework.domain.errors import ConfigError


@click.command()
@CAMPAIGN
@click.option(
    "--look",
    is_flag=True,
    help="Ask the marketplace too: which HITs are there that the store does not know?",
)
@JSON
def status(campaign: Path, *, look: bool, as_json: bool) -> None:
    """Say how far a campaign is, what it cost, and who waits for whom.

    \b
    Example:  piecework status config/campaigns/demo.toml
              piecework status birds.toml --look
    """  # noqa: D301 - click's mark for lines that stay lines
    from piecework.campaign.assembling import load_campaign
    from piecework.cli.work.orphan_hits import say_orphan_hits
    from piecework.engine.opening import on_its_platform, open_to_look
    from piecework.engine.posting.orphan_hits import orphan_hits
    from piecework.engine.progress import read_progress

    with open_to_look(load_campaign(campaign)) as run:
        if look and run.is_rehearsal:
            raise ConfigError(
                [f"{campaign}: was only rehearsed; there is no marketplace to ask"],
                next_step=f"piecework status {campaign}",
            )
        progress = read_progress(run)
        orphans = orphan_hits(on_its_platform(run)) if look else []
    if look and as_json:
        more = {"unknown_hits": [asdict(hit) for hit in orphans]}
        click.echo(json.dumps(progress.as_dict() | more, indent=2, sort_keys=True))
        return
    say_progress(progress, as_json=as_json)
    if look:
        say_orphan_hits(run, orphans)
    if progress.waiting_for == "the next pass" and run.is_imported and not as_json:
        click.echo(f"next: piecework assess {campaign}")
    if progress.to_decide and not as_json:
        click.echo(f"next: piecework review {campaign}, or `decisions` for a CSV")
