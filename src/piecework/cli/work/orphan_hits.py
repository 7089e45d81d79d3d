"""Says which HITs the platform has and the store does not, and what may be done."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, get_args

import click

from piecework.domain.counts import plural
from piecework.engine.posting.orphan_hits import OrphanHit, Whose

if TYPE_CHECKING:
    from piecework.campaign.opened import CampaignStore

_MEANING: dict[Whose, str] = {
    "this store": "This store posted them and has no note of it. The next pass takes "
    "in what was being posted when a pass died. What stays here after that was posted "
    "by a newer copy of the store: bring that back before any pass is made.",
    "another store of this campaign": "Another store of this campaign posted them: on "
    "another machine, or lost. Bring that piecework.db back if you can.",
    "others": "Another campaign or program posted them. Leave them alone unless you "
    "know that nobody collects them.",
}
_SHOWN = 20


def say_orphan_hits(run: "CampaignStore", found: Sequence[OrphanHit]) -> None:
    """Print every kind with what it means, and commands for one that is nobody's."""
    if not found:
        click.echo(f"{run.endpoint} has no HIT that the store does not know")
        return
    for whose in get_args(Whose):
        mine = [one for one in found if one.whose == whose]
        if not mine:
            continue
        click.echo(f"\n{plural(len(mine), 'HIT')} unknown to the store, of {whose}:")
        click.echo(f"  {_MEANING[whose]}")
        for one in mine[:_SHOWN]:
            # Strangers wrote the annotation.
            click.echo(f"  {one.hit_id}  {one.annotation!a}")
        if len(mine) > _SHOWN:
            click.echo(f"  and {len(mine) - _SHOWN} more; --json names all")
    click.echo(
        "\nNone was touched. What nobody collects any more can be ended by hand:"
    )
    aws = f"aws mturk --region us-east-1 --endpoint-url {run.endpoint}"
    hit = f"--hit-id {found[0].hit_id}"
    for words in (
        f"update-expiration-for-hit {hit} --expire-at 1970-01-01",
        f"list-assignments-for-hit {hit}",
        "approve-assignment --assignment-id ASSIGNMENT",
        f"delete-hit {hit}",
    ):
        click.echo(f"  {aws} {words}")
