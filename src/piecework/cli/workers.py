"""`workers`: the workers of a campaign and of a marketplace.

Workers are listed, excluded, and included again. They earn qualifications, which are also
granted by hand.
"""

import getpass
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from piecework.cli.forget import forget
from piecework.cli.invitations import say_workers
from piecework.cli.lazy_group import LazyGroup
from piecework.cli.options import (
    BY_PERSON,
    CAMPAIGN,
    DATABASE,
    JSON,
    REHEARSAL_NUMBER,
    CampaignFile,
    is_typed,
    load_results,
)
from piecework.cli.payday import known_people
from piecework.domain.errors import CampaignBusy, ConfigError, PieceworkError
from piecework.domain.text import one_line, plural, printable, shell_word
from piecework.store.lock import only_pass

if TYPE_CHECKING:
    from piecework.campaign.opened import OpenedCampaign
    from piecework.domain.qualifications import RecordedChange
    from piecework.domain.verdicts import Decision
    from piecework.review.model.workers import WorkerHistory

_DONE = {"grant": "granted", "revoke": "revoked"}


@click.command()
@CAMPAIGN
@REHEARSAL_NUMBER
@JSON
def earned(campaign: Path, *, as_json: bool) -> None:
    """List earned qualifications, with their evidence.

    Of all campaigns that share the qualification: who, when, and how many of the worker's
    latest items agreed.

    Examples:
      piecework workers earned birds.toml
      piecework workers earned birds.toml --json
    """
    from piecework.engine.opening import open_to_look
    from piecework.review.model.workers import earned_histories

    with open_to_look(load_results(campaign)) as opened:
        histories = earned_histories(opened)
        if as_json:
            document = [
                {
                    "name": history.rule.name,
                    "kind": history.rule.kind,
                    "holders": history.holders,
                    "changes": [_as_dict(opened, each) for each in history.changes],
                }
                for history in histories
            ]
            click.echo(json.dumps(document, indent=2))
            return
        for history in histories:
            click.echo(f"{history.rule.name}: {history.holders} hold it")
            for change in history.changes:
                click.echo(f"  {_line(opened, change)}")
                click.echo(f"    {one_line(change.because, at_most=500)}")
    if not histories:
        click.echo(f"{campaign}: no file in earned, so no work earns a qualification")


@click.command()
@CAMPAIGN
@click.argument("worker", metavar="PSEUDONYM")
@click.option("--name", required=True, help="Name of the qualification, as its file states it.")
@click.option("--because", required=True, help="The reason, which the worker reads.")
@BY_PERSON
def grant(campaign: Path, *, worker: str, name: str, because: str, by: str) -> None:
    """Grant an earned qualification by hand.

    Use it if a qualification was revoked or refused by mistake. Only later items count
    against the worker. PSEUDONYM may also be their id from `piecework market problems`.

    Examples:
      piecework workers grant birds.toml 1f3a... --name blur --because "Ours"
      piecework workers grant birds.toml A2ABC... --name blur --because "Ours"
    """
    from piecework.review.model.workers import restore_earned as restore_by_hand

    with _open_for_a_person(campaign, because, otherwise="earned") as opened:
        author = by.strip() or getpass.getuser()
        worker = restore_by_hand(opened, worker, name, because=because.strip(), by=author)
        later = _carried_out(opened)
    click.echo(f"{worker}: granted {name}{f'; {later}' if later else ''}")


@contextmanager
def _open_for_a_person(
    campaign: Path, because: str, *, otherwise: str
) -> Iterator["OpenedCampaign"]:
    """Open a campaign for a person's decision about a worker.

    Raises:
        click.UsageError: no reason is given.
        ConfigError: it was only rehearsed; names the command `otherwise` of `workers`.
    """
    from piecework.engine.opening import open_to_look

    if not because.strip():
        raise click.UsageError("--because is empty; give a reason")
    with open_to_look(load_results(campaign)) as opened:
        if opened.is_rehearsal:
            raise ConfigError(
                [f"{campaign}: only rehearsed, so its workers are simulated"],
                next_step=f"piecework workers {otherwise} {shell_word(campaign)}",
            )
        yield opened


def _carried_out(opened: "OpenedCampaign") -> str | None:
    """Tell the marketplace now; return None, or why it is told later."""
    from piecework.engine.earn import earn
    from piecework.engine.opening import on_its_platform

    try:
        with only_pass(opened.campaign.store, by="piecework workers"):
            earn(on_its_platform(opened))
    except CampaignBusy as busy:
        return f"{busy}, and its next pass tells the marketplace"
    except PieceworkError as fault:
        return f"stored; the next pass tells the marketplace ({fault})"
    return None


def _line(opened: "OpenedCampaign", change: "RecordedChange") -> str:
    share, dates = change.share, ""
    if share.first is not None and share.last is not None:
        dates = f", {share.first:%Y-%m-%d} to {share.last:%Y-%m-%d}"
    state = "" if change.done_at else "; not carried out yet"
    return (
        f"{change.decided_at:%Y-%m-%d %H:%M} {_DONE[change.change]} "
        f"{opened.pseudonym(change.worker_id)} by {change.decided_by}: "
        f"{share.agreed} of {share.items} items agreed{dates}{state}"
    )


def _as_dict(opened: "OpenedCampaign", change: "RecordedChange") -> dict[str, Any]:
    share = change.share
    return {
        "worker": opened.pseudonym(change.worker_id),
        "change": change.change,
        "decided_by": change.decided_by,
        "decided_at": change.decided_at.isoformat(),
        "items": share.items,
        "agreed": share.agreed,
        "first": share.first and share.first.isoformat(),
        "last": share.last and share.last.isoformat(),
        "because": change.because,
        "done_at": change.done_at and change.done_at.isoformat(),
    }


_LINE = "{:<16}  {:>4}  {:>7}  {:>4}  {:>7}  {:>8}  {:>9}  {}"


_WORKER = click.argument("worker", metavar="PSEUDONYM")
_BECAUSE = click.option(
    "--because", required=True, help="The reason, which is stored. The worker is not told."
)


@click.command("list")
@click.argument("campaign", required=False, type=CampaignFile(path_type=Path))
@click.option("--names", is_flag=True, help="With CAMPAIGN: add the names from --database.")
@DATABASE
@JSON
def list_(*, campaign: Path | None, names: bool, database: Path, as_json: bool) -> None:
    """List the workers of a campaign or marketplace.

    With CAMPAIGN, the list shows workers by pseudonym, with work, flags and pay; with
    --names, also the names of people whom you invited and the ids of a market's people, so
    do not publish it.

    Without CAMPAIGN, it shows who is invited to the marketplace of --database.

    Examples:
      piecework workers list birds.toml
      piecework workers list birds.toml --names
      piecework workers list --database try.db --json
    """
    if campaign is None and names:
        raise click.UsageError("--names needs CAMPAIGN; without it, the list has all names")
    if not database.exists() and (campaign is None or names):
        raise ConfigError(
            [f"{database}: no such file"],
            next_step="name the marketplace's file with --database"
            + ", or a CAMPAIGN" * (campaign is None),
        )
    if campaign is None:
        say_workers(database, as_json=as_json)
        return
    if not names and is_typed("database"):
        raise click.UsageError("give either CAMPAIGN or --database, or both with --names")
    people = known_people(database) if names else None
    known = None if people is None else people.names | people.participants
    listed = _list_workers(campaign, known, as_json=as_json)
    if known is not None and listed and not listed & known.keys():
        click.echo(
            f"{database} knows no worker of this campaign: it is the file of another "
            "marketplace, or the workers are simulated or come from another market",
            err=True,
        )


@click.command()
@CAMPAIGN
@_WORKER
@click.option("--undo", is_flag=True, help="Include an excluded or blocked worker again.")
@_BECAUSE
@BY_PERSON
@JSON
def exclude(
    campaign: Path, *, worker: str, undo: bool, because: str, by: str, as_json: bool
) -> None:
    """Exclude a worker, or include them again.

    An excluded worker is offered no more HITs. The campaign still judges and pays what
    they submitted, and the HIT that they are working on. PSEUDONYM may be the start of
    it. After --undo, only a person can exclude the worker: the policy no longer does.

    Examples:
      piecework workers exclude birds.toml 1f3a... --because "One word each."
      piecework workers exclude birds.toml 1f3a... --because "Spam." --by ada
      piecework workers exclude birds.toml 1f3a... --undo --because "A mistake."
    """
    from piecework.review.model.workers import exclude_worker, include_worker, worker_histories

    with _open_for_a_person(campaign, because, otherwise="list") as opened:
        author = by.strip() or getpass.getuser()
        decide = include_worker if undo else exclude_worker
        worker = decide(opened, worker, because=because.strip(), by=author)
        outcome = _decided(opened)
        (history,) = (row for row in worker_histories(opened) if row.worker == worker)
        if as_json:
            document = _worker_as_dict(opened, history) | {"carried_out": outcome is None}
            click.echo(json.dumps(document, indent=2))
            return
    done = "included again" if undo else "excluded"
    click.echo(f"{worker}: {done}{f'; {outcome}' if outcome else ''}")


@click.group(cls=LazyGroup, commands=[list_, exclude, earned, grant, forget])
def workers() -> None:
    """List, exclude and forget workers.

    A campaign knows its workers by pseudonyms. A marketplace knows the people whom you
    invite (`piecework market people`) by the names that you give them.

    Examples:
      piecework workers list birds.toml
      piecework workers exclude birds.toml 1f3a... --because "One word each."
      piecework workers earned birds.toml
    """


def _list_workers(path: Path, names: Mapping[str, str] | None, *, as_json: bool) -> frozenset[str]:
    """Print a campaign's workers by pseudonym and, if given, by name; return their ids."""
    from piecework.engine.opening import open_to_look
    from piecework.review.model.workers import worker_histories

    with open_to_look(load_results(path)) as opened:
        known = worker_histories(opened)
        ids = frozenset(history.worker_id for history in known)
        if as_json:
            click.echo(
                json.dumps(
                    [
                        _worker_as_dict(opened, history)
                        | ({} if names is None else {"name": names.get(history.worker_id)})
                        for history in known
                    ],
                    indent=2,
                )
            )
            return ids
        for line in _lines(opened, known, names):
            click.echo(line)
    excluded = [history for history in known if history.exclusion is not None]
    for history in excluded:
        click.echo(f"{history.worker} {_sentence(history.exclusion)}")
    if known and not opened.is_rehearsal:  # simulated workers cannot be excluded
        undo = " --undo" if excluded else ""
        click.echo(
            f'next: piecework workers exclude {shell_word(path)} PSEUDONYM{undo} --because "…"'
        )
    return ids


def _decided(opened: "OpenedCampaign") -> str | None:
    """Tell the marketplace now; return None, or why it is told later."""
    from piecework.engine.opening import on_its_platform
    from piecework.engine.settle import settle_workers

    if opened.is_imported:
        return "imported, so there is no marketplace to tell"
    try:
        with only_pass(opened.campaign.store, by="piecework workers"):
            settle_workers(on_its_platform(opened))
    except CampaignBusy as busy:
        return f"{busy}, and its next pass tells the marketplace"
    except PieceworkError as fault:
        return f"stored; the next pass tells the marketplace ({fault})"
    return None


def _lines(
    opened: "OpenedCampaign", known: "list[WorkerHistory]", names: Mapping[str, str] | None
) -> Iterator[str]:
    """Yield a line for each worker, at most 80 columns wide, and their name and flags below."""
    heads = ("worker", "HITs", "answers", "kept", "dropped", "rejected", "paid")
    yield f"workers of {opened.campaign.name}"
    yield _LINE.format(*heads, "now").rstrip()
    for history in known:
        totals = history.totals
        counts = (totals.assignments, totals.answers, totals.kept, totals.dropped)
        paid = opened.campaign.rewards.shown(totals.paid_cents)
        cells = (history.worker, *counts, totals.rejected, paid, _state(history))
        yield _LINE.format(*cells).rstrip()
        if names is not None:
            yield f"    {printable(names.get(history.worker_id) or 'name not known')}"
        for because, number in totals.rejected_elsewhere.items():
            yield printable(f"    {plural(number, 'assignment')}: {because}")
        flags = ", ".join(f"{name} {number}" for name, number in totals.flags.items())
        if flags:
            yield f"    flagged: {flags}"


def _state(history: "WorkerHistory") -> str:
    latest = history.decisions[-1].verdict if history.decisions else "keep"
    return {"exclude": "excluded", "block": "blocked", "include": "included"}.get(latest, "")


def _sentence(decision: "Decision | None") -> str:
    if decision is None:
        return ""
    what = {"exclude": "excluded", "block": "blocked"}[decision.verdict]
    at = f"{decision.decided_at:%Y-%m-%d %H:%M} UTC"
    return f"{what} {at} by {decision.decided_by}: {one_line(decision.because)}"


def _worker_as_dict(opened: "OpenedCampaign", history: "WorkerHistory") -> dict[str, Any]:
    totals = history.totals
    return {
        "worker": history.worker,
        "assignments": totals.assignments,
        "rejected": totals.rejected,
        "rejected_elsewhere": dict(totals.rejected_elsewhere),
        "answers": totals.answers,
        "kept": totals.kept,
        "dropped": totals.dropped,
        "flags": dict(totals.flags),
        "paid_cents": totals.paid_cents,
        "currency": opened.campaign.rewards.currency,
        "is_excluded": history.exclusion is not None,
        "decisions": [
            {
                "verdict": decision.verdict,
                "decided_by": decision.decided_by,
                "decided_at": decision.decided_at.isoformat(),
                "because": decision.because,
            }
            for decision in history.decisions
        ],
    }
