"""`store copy`, `archive`, `move` and `reconcile`: what a store holds, and where.

A store is copied between a file and a database, its settled batches are moved into Parquet
files, it continues at a marketplace's new address, and after a restore it is made to agree
with its marketplace.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.options import CAMPAIGN, DRY_RUN, JSON, LIVE_MARKETPLACE, load_results
from piecework.cli.output import run_command
from piecework.domain.errors import PlatformRefused
from piecework.domain.text import plural, shell_word

if TYPE_CHECKING:
    from piecework.campaign.opened import CampaignRun
    from piecework.engine.recover.comparing import Comparison
    from piecework.engine.recover.reconcile import Reconciliation


@click.command()
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@JSON
def copy(*, source: str, target: str, as_json: bool) -> None:
    """Copy a store and verify the copy.

    FROM and TO are a campaign's folder, a file with records of earned qualifications, or
    the URL of a PostgreSQL database, with ${VARIABLES} and, after `#`, the name of a
    schema.

    No pass may work meanwhile, and TO must have no store. FROM stays as it is: do not use
    both.

    Examples:
      piecework store copy out/birds postgresql://ann@db.example.org/labels
      piecework store copy postgresql://ann@db/labels#piecework_birds out/birds
    """
    from piecework.store.copying import copy as copy_store
    from piecework.store.copying import resolved

    old, new = resolved(_expanded(source), _expanded(target))
    done = copy_store(old, new)
    rows = sum(done.rows.values())
    if as_json:
        facts = {
            "from": str(old),
            "to": str(new),
            "schema": new.schema,
            "rows": done.rows,
            "sha256": done.digest,
        }
        click.echo(json.dumps(facts, indent=2))
        return
    click.echo(f"{plural(rows, 'row')} of {plural(len(done.rows), 'table')} copied to {new}")
    click.echo(f"both stores have the same rows (sha256 {done.digest[:16]})")
    if new.url:
        click.echo(
            "next: set `[store] url` in the machine's file to this URL, or PIECEWORK_STORE_URL"
        )
    else:
        click.echo("next: remove `[store] url` from the machine's file, and PIECEWORK_STORE_URL")
    click.echo(f"then keep {old} only as a copy: two stores would post and pay twice")


def _expanded(name: str) -> str:
    from piecework.config.user_files import with_secrets

    return with_secrets(name)


@click.command()
@CAMPAIGN
@JSON
def archive(campaign: Path, *, as_json: bool) -> None:
    """Move settled batches into Parquet files.

    For campaigns that grow: answers of old batches move into `archive` beside the store.
    Exports read them; passes no longer compare new answers with them. Verdicts, workers
    and money stay in the store, and so do the newest batches: as many as
    grows.archive_after_batches states, or 20.

    Examples:
      piecework store archive birds.toml
      piecework store archive birds.toml --json
    """
    from piecework.engine.opening import open_to_look
    from piecework.results.whole_pass import KEPT_BATCHES, archive_folder, archive_settled
    from piecework.store.lock import only_pass

    loaded = load_results(campaign)
    growth = loaded.growth
    keep = (growth.archive_after if growth else None) or KEPT_BATCHES
    with open_to_look(loaded) as opened, only_pass(loaded.store, by="piecework store archive"):
        done = archive_settled(opened, keep=keep, compacts=True)
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
        newest = "batch stays" if keep == 1 else f"{keep} batches stay"
        click.echo(f"nothing to archive: the newest {newest}")
        return
    click.echo(
        f"{plural(done.answers, 'answer')} of {plural(batches, 'batch')} moved into {folder}"
    )
    megabytes = [size / 1e6 for size in (done.bytes_before, done.bytes_after)]
    click.echo(f"the store had {megabytes[0]:.1f} MB; it has {megabytes[1]:.1f} MB")


@click.command()
@CAMPAIGN
@click.argument("url")
@JSON
def move(campaign: Path, url: str, *, as_json: bool) -> None:
    """Continue at a marketplace's new address.

    The command proves that the marketplace at URL is the store's own, by account, marks
    and HITs. It refuses while one also runs at the old address. It posts and pays
    nothing.

    Examples:
      piecework store move birds.toml https://hits.example.org
      piecework store move birds.toml http://127.0.0.1:9090 --json
    """
    from piecework.campaign.assembling import load_campaign
    from piecework.engine.begun import agreed_before
    from piecework.engine.recover.rebinding import rebind as rebind_store

    loaded = load_campaign(campaign)
    result = rebind_store(loaded, url)
    if as_json:
        click.echo(json.dumps(asdict(result), indent=2))
        return
    click.echo(
        f"{result.now} is the marketplace that was at {result.before}; it has "
        f"{plural(result.hits, 'HIT')} of this campaign"
    )
    if result.is_older:
        click.echo("it is an older copy of itself: it lacks what was done last")
        click.echo(f"next: piecework store reconcile {shell_word(campaign)}")
        return
    live = agreed_before(loaded) is not None
    click.echo(f"next: {run_command(campaign, result.now, live=live, once=True)}")


@click.command()
@CAMPAIGN
@DRY_RUN
@click.option(
    "--leave-refused",
    is_flag=True,
    help="Continue even if the marketplace refuses to repeat an act.",
)
@LIVE_MARKETPLACE
@JSON
def reconcile(
    campaign: Path, *, dry_run: bool, leave_refused: bool, live: bool, as_json: bool
) -> None:
    """Make store and marketplace agree after a restore.

    Use it after you restore a store or a marketplace from an older copy, which every
    other command refuses. It takes in what the store lacks, repeats what the marketplace
    has lost, and says what workers are owed for lost work.

    Examples:
      piecework store reconcile birds.toml --dry-run
      piecework store reconcile birds.toml
    """
    from piecework.campaign.assembling import load_campaign
    from piecework.engine.begun import bound_endpoint
    from piecework.engine.opening import open_on_marketplace
    from piecework.engine.recover import reconcile as reconciling

    loaded = load_campaign(campaign)
    with open_on_marketplace(loaded, bound_endpoint(loaded), live=live, allow_restored=True) as run:
        result = reconciling.reconcile(run, dry_run=dry_run, despite_refusals=leave_refused)
        owed_file = reconciling.owed_path(run)
        if as_json:
            click.echo(json.dumps(_as_dict(result, owed_file), indent=2))
        else:
            _say(run, result, owed_file, dry_run=dry_run)
    if result.refused and not leave_refused:
        act, refusal = result.refused[0]
        raise PlatformRefused(
            f"{plural(len(result.refused), 'act')} could not be repeated: "
            f"{act.intent.key}: {refusal}",
            code=refusal.code,
            kind=refusal.kind,
            next_step="fix the cause and run the same command again; or continue "
            f"without these acts: piecework store reconcile {shell_word(campaign)} --leave-refused",
        )


def _say(run: "CampaignRun", result: "Reconciliation", owed_file: Path, *, dry_run: bool) -> None:
    path = run.campaign.path
    if result.comparison.is_equal:
        click.echo("store and marketplace agree")
    elif dry_run:
        click.echo("store and marketplace differ; without --dry-run, reconcile does this:")
    else:
        click.echo("store and marketplace differed; reconcile did this:")
    for line in _lines(result.comparison):
        click.echo(line)
    cents = sum(each.cents for each in result.owed)
    if cents:
        workers = plural(len({each.worker for each in result.owed}), "worker")
        click.echo(
            f"{workers} are owed {run.campaign.rewards.shown(cents)} for work that the "
            "marketplace has lost"
        )
    if dry_run:
        click.echo("nothing was changed")
        click.echo(f"next: piecework store reconcile {shell_word(path)}")
        return
    if cents:
        click.echo(
            f"next: piecework pay {shell_word(path)} --from {shell_word(owed_file)} --label "
            "lost, after "
            "the next passes; it adds the amounts to other work of the same workers"
        )
    click.echo(f"next: {run_command(path, run.endpoint, live=run.is_live, once=True)}")


_KINDS = (
    (
        "unknown_hits",
        ("HIT", "HITs"),
        "at the marketplace that the store lacks; the next passes adopt them",
    ),
    (
        "lost_hits",
        ("HIT", "HITs"),
        "that the marketplace has lost; the next passes ask for their answers again",
    ),
    ("reopened", ("HIT", "HITs"), "still open at the marketplace; the next passes wait for them"),
    (
        "lost_assignments",
        ("assignment", "assignments"),
        "that the marketplace has lost; the answers stay in the store",
    ),
    ("returned_hits", ("HIT", "HITs"), "given up as lost that exist again; taken back"),
    (
        "returned_assignments",
        ("assignment", "assignments"),
        "given up as lost that exist again; taken back",
    ),
    ("undone", ("decision", "decisions"), "that the marketplace has lost; carried out again"),
    (
        "unknown_bonuses",
        ("bonus", "bonuses"),
        "that the marketplace has paid and the store lacked; recorded",
    ),
    ("lost_bonuses", ("bonus", "bonuses"), "that the marketplace has lost; paid again"),
    (
        "unknown_compensations",
        ("compensation", "compensations"),
        "that the marketplace has paid and the store lacked; recorded",
    ),
    (
        "lost_compensations",
        ("compensation", "compensations"),
        "that the marketplace has lost; paid again",
    ),
    (
        "unknown_exclusions",
        ("worker", "workers"),
        "excluded at the marketplace and not in the store; recorded",
    ),
    (
        "lost_exclusions",
        ("decision about a worker", "decisions about workers"),
        "that the marketplace has lost; carried out again",
    ),
)
"""Fields of a comparison, what they hold, and what happens to it."""


def _lines(comparison: "Comparison") -> Iterator[str]:
    """Yield what differs, a line for each kind."""
    for name, (noun, nouns), meaning in _KINDS:
        if number := len(getattr(comparison, name)):
            yield f"- {plural(number, noun, nouns)} {meaning}"
    if comparison.added_slots:
        slots = plural(comparison.added_slots, "slot")
        yield f"- {slots} more at the marketplace than in the store; adopted"
    if comparison.is_exclusion_lost:
        yield "- the qualification type that excludes workers is lost; created again"


def _as_dict(result: "Reconciliation", owed_file: Path) -> dict[str, object]:
    comparison = result.comparison
    return {
        "agrees": comparison.is_equal,
        "unknown_hits": [hit.hit_id for hit in comparison.unknown_hits],
        "added_slots": comparison.added_slots,
        "lost_hits": [hit.hit_id for hit in comparison.lost_hits],
        "reopened_hits": [hit.hit_id for hit in comparison.reopened],
        "lost_assignments": [each.assignment_id for each in comparison.lost_assignments],
        "returned_hits": [hit.hit_id for hit in comparison.returned_hits],
        "returned_assignments": [each.assignment_id for each in comparison.returned_assignments],
        "repeated_decisions": len(comparison.undone),
        "booked_bonuses": len(comparison.unknown_bonuses),
        "repeated_bonuses": len(comparison.lost_bonuses),
        "booked_compensations": len(comparison.unknown_compensations),
        "repeated_compensations": len(comparison.lost_compensations),
        "noted_exclusions": len(comparison.unknown_exclusions),
        "repeated_exclusions": len(comparison.lost_exclusions),
        "owed": [
            {"assignment_id": each.assignment_id, "worker": each.worker, "cents": each.cents}
            for each in result.owed
        ],
        "owed_file": str(owed_file) if owed_file.is_file() else None,
        "refused": [act.intent.key for act, _ in result.refused],
    }
