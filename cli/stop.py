"""`stop`: end a campaign early without losing an answer, and go on again."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.options import CAMPAIGN, JSON
from cli.output import say_progress
from domain.errors import CampaignBusy, ConfigError

if TYPE_CHECKING:
    from flows.workplace import Workplace


@click.command()
@CAMPAIGN
@click.option("--undo", is_flag=True, help="Let the campaign go on with its next pass.")
@JSON
def stop(campaign: Path, *, undo: bool, as_json: bool) -> None:
    """Post nothing more, and let nobody take the HITs that are open.

    Whoever works on one may still submit it. Later passes (`piecework run` or
    `advance`) collect, judge and pay all that came; then the dataset is written. It
    works while a pass is under way, and as often as you like.

    \b
    Example:  piecework stop birds.toml
              piecework stop birds.toml --undo
    """  # noqa: D301 - click's mark for lines that stay lines
    from flows.assembling import load_campaign  # noqa: PLC0415 - pandas costs a second
    from flows.steps.progress import progress  # noqa: PLC0415
    from flows.wiring import stored_place  # noqa: PLC0415
    from store import stops  # noqa: PLC0415

    with stored_place(load_campaign(campaign)) as place:
        if place.is_rehearsal:
            raise ConfigError(
                [f"{campaign}: was only rehearsed; nobody works on it between passes"],
                next_step=f"piecework status {campaign}",
            )
        if undo:
            was_stopped = stops.undo(place.store, at=place.clock.now())
            said = "goes on" if was_stopped else "was not stopped"
        else:
            stops.stop(place.store, at=place.clock.now())
            said = f"stopped; {_expire(place)}"
        reached = progress(place)
    if not as_json:
        click.echo(f"{campaign}: {said}")
    say_progress(reached, as_json=as_json)
    if not as_json and not reached.is_finished:
        click.echo(
            f"next: piecework run {campaign} --endpoint {place.platform.endpoint}"
        )


def _expire(place: "Workplace") -> str:
    """Expire now what is live, unless a pass is at work, which does it itself."""
    from flows.steps.launch import launch  # noqa: PLC0415 - pandas costs a second
    from store import intents  # noqa: PLC0415
    from store.lock import only_pass  # noqa: PLC0415

    before = intents.done(place.store, "expire")
    try:
        with only_pass(place.campaign.out):
            launch(place)
    except CampaignBusy as busy:
        return f"{busy}, and expires with its next pass what is open"
    expired = len(intents.done(place.store, "expire") - before)
    return f"{expired} HITs expired just now, none is posted any more"
