"""`rebind`: continues a campaign at its marketplace's new address."""

import json
from dataclasses import asdict
from pathlib import Path

import click

from piecework.cli.options import CAMPAIGN, JSON
from piecework.domain.counts import plural


@click.command()
@CAMPAIGN
@click.argument("url")
@JSON
def rebind(campaign: Path, url: str, *, as_json: bool) -> None:
    """Continue at a marketplace's new address.

    A store belongs to one marketplace, by its address. If the marketplace has moved,
    this command proves that the one at URL is the same: by the requester's account, by
    the marks that both keep of each other, and by the campaign's HITs. It refuses while
    the marketplace also runs at the old address. It posts and pays nothing.

    Examples:
      piecework rebind birds.toml https://hits.example.org
      piecework rebind birds.toml http://127.0.0.1:9090 --json
    """
    from piecework.campaign.assembling import load_campaign
    from piecework.engine.recover.rebinding import rebind as rebind_store

    result = rebind_store(load_campaign(campaign), url)
    if as_json:
        click.echo(json.dumps(asdict(result), indent=2))
        return
    click.echo(
        f"{result.now} is the marketplace that was at {result.before}; it has "
        f"{plural(result.hits, 'HIT')} of this campaign"
    )
    if result.is_older:
        click.echo("it is an older copy of itself: it lacks what was done last")
        click.echo(f"next: piecework reconcile {campaign}")
        return
    click.echo(f"next: piecework advance {campaign} --endpoint {result.now}")
