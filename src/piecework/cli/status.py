"""`status`: shows how far a campaign is and what it waits for."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.options import CAMPAIGN, JSON, REHEARSAL_NUMBER, load_results
from piecework.cli.output import also_sent_lines, next_command, say_changes, say_progress
from piecework.domain.errors import ConfigError
from piecework.domain.text import plural, shell_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from piecework.campaign.opened import OpenedCampaign
    from piecework.domain.progress import Progress
    from piecework.engine.recover.other_stores import OrphanHit, Whose

_MEANING: dict["Whose", str] = {
    "this store": "This store posted them and has no record of it. The next pass "
    "adopts HITs that a pass was posting when it died. If some stay in this list after "
    "that, a newer copy of the store posted them: restore that copy before you make "
    "another pass.",
    "another store of this campaign": "Another store of this campaign posted them: it "
    "is on another machine, or lost. Restore that piecework.db if you can.",
    "others": "Another campaign or program posted them. Leave them alone unless you "
    "know that no program collects them.",
}
_SHOWN = 20


@click.command()
@CAMPAIGN
@REHEARSAL_NUMBER
@click.option(
    "--look", is_flag=True, help="Also ask the marketplace for HITs that the store does not know."
)
@click.option("--all", "all_rows", is_flag=True, help="Show the table of all counts.")
@JSON
def status(campaign: Path, *, look: bool, all_rows: bool, as_json: bool) -> None:
    """Show progress, cost and next steps.

    The command reads the campaign's store. With --look it also asks the marketplace.

    Examples:
      piecework status birds.toml
      piecework status birds.toml --all
      piecework status birds.toml --look
    """
    from piecework.engine.opening import on_its_platform, open_to_look
    from piecework.engine.progress import read_progress
    from piecework.engine.recover.other_stores import orphan_hits
    from piecework.store.assignments import names_also_sent
    from piecework.store.campaign_facts import agreed_cents

    with open_to_look(load_results(campaign)) as opened:
        if look and opened.is_rehearsal:
            raise ConfigError(
                [f"{campaign}: only rehearsed, so there is no marketplace to ask"],
                next_step=f"piecework status {shell_word(campaign)}",
            )
        progress = read_progress(opened)
        live = not opened.is_rehearsal and agreed_cents(opened.store) is not None
        orphans = orphan_hits(on_its_platform(opened)) if look else []
        say_changes(opened)
        also_sent = names_also_sent(opened.store) if progress.with_more else {}
    if as_json:
        more: dict[str, object] = {"also_sent": also_sent, "rehearsal": opened.campaign.number}
        if look:
            more["unknown_hits"] = [asdict(hit) for hit in orphans]
        click.echo(json.dumps(progress.as_dict() | more, indent=2, sort_keys=True))
        return
    say_progress(progress, as_json=False, all_rows=all_rows)
    for line in also_sent_lines(also_sent):
        click.echo(line)
    if look:
        _say_orphan_hits(opened, orphans)
    _say_next(opened, progress, campaign, live=live)


def _say_next(opened: "OpenedCampaign", progress: "Progress", path: Path, *, live: bool) -> None:
    """Print the command that a person types next, if any."""
    from piecework.campaign.rehearsal_folders import endpoint_of

    report = opened.campaign.out / "report.html"
    command = next_command(
        progress,
        path,
        report=report if report.exists() else None,
        endpoint=None
        if opened.is_imported
        else opened.endpoint or endpoint_of(opened.campaign.out),
        live=live,
    )
    if command:
        click.echo(f"next: {command}")


def _say_orphan_hits(opened: "OpenedCampaign", orphans: "Sequence[OrphanHit]") -> None:
    """Print each kind with its meaning, and commands to end one by hand."""
    if not orphans:
        click.echo(f"{opened.endpoint} has no HIT that the store does not know")
        return
    for whose, meaning in _MEANING.items():
        mine = [hit for hit in orphans if hit.whose == whose]
        if not mine:
            continue
        click.echo(f"\n{plural(len(mine), 'HIT')} unknown to the store, of {whose}:")
        click.echo(f"  {meaning}")
        for hit in mine[:_SHOWN]:
            # Another program wrote the annotation; !a keeps control characters out.
            click.echo(f"  {hit.hit_id}  {hit.annotation!a}")
        if len(mine) > _SHOWN:
            click.echo(f"  and {len(mine) - _SHOWN} more; --json names all")
    click.echo("\nThis command changed none of them. To end a HIT by hand:")
    aws = f"aws mturk --region us-east-1 --endpoint-url {opened.endpoint}"
    hit_id = f"--hit-id {orphans[0].hit_id}"
    for words in (
        f"update-expiration-for-hit {hit_id} --expire-at 1970-01-01",
        f"list-assignments-for-hit {hit_id}",
        "approve-assignment --assignment-id ASSIGNMENT",
        f"delete-hit {hit_id}",
    ):
        click.echo(f"  {aws} {words}")
