"""`stop`: ends a campaign early without losing an answer; --undo continues it."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.options import CAMPAIGN, JSON
from piecework.cli.output import say_progress
from piecework.domain.errors import CampaignBusy, ConfigError

if TYPE_CHECKING:
    from piecework.campaign.opened import CampaignRun


@click.command()
@CAMPAIGN
@click.option("--undo", is_flag=True, help="Let the next pass continue the campaign.")
@JSON
def stop(campaign: Path, *, undo: bool, as_json: bool) -> None:
    """Stop posting and close open HITs.

    A worker who has accepted a HIT may still submit it. Later passes
    (`piecework run` or `advance`) collect, judge and pay what was submitted, then write
    the dataset. You may stop a campaign while a pass runs, and repeat the command.

    Examples:
      piecework stop birds.toml
      piecework stop birds.toml --undo
    """
    from piecework.campaign.assembling import load_campaign
    from piecework.campaign.binding import refuse_imported
    from piecework.engine.opening import on_its_platform, open_to_look
    from piecework.engine.progress import read_progress
    from piecework.store import campaign_facts

    with open_to_look(load_campaign(campaign)) as opened:
        refuse_imported(opened.campaign)
        if opened.is_rehearsal:
            raise ConfigError(
                [f"{campaign}: only rehearsed, so there is nothing to stop"],
                next_step=f"piecework status {campaign}",
            )
        if undo:
            was_stopped = campaign_facts.undo_stop(opened.store, at=opened.clock.now())
            outcome = "continues" if was_stopped else "was not stopped"
        elif read_progress(opened).is_finished:
            outcome = "finished already; it has no open HITs"
        else:
            campaign_facts.record_stop(opened.store, at=opened.clock.now())
            outcome = f"stopped; {_expire(on_its_platform(opened))}"
        progress = read_progress(opened)
    if not as_json:
        click.echo(f"{campaign}: {outcome}")
    say_progress(progress, as_json=as_json)
    if not as_json and not progress.is_finished:
        click.echo(f"next: piecework run {campaign} --endpoint {opened.endpoint}")


def _expire(run: "CampaignRun") -> str:
    """Expire the open HITs now, unless a pass is at work, which does it itself."""
    from piecework.engine.wind_down import wind_down
    from piecework.store import intents
    from piecework.store.lock import only_pass

    before = intents.done(run.store, "expire")
    try:
        with only_pass(run.campaign.store, by="piecework stop"):
            wind_down(run)
    except CampaignBusy as busy:
        return f"{busy}, and its next pass expires the open HITs"
    expired = len(intents.done(run.store, "expire") - before)
    return f"expired {expired} HITs; no more are posted"
