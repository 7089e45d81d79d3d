"""`prolific status`: shows a marketplace's studies to a person."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.marketplace_file import transaction_in
from piecework.cli.options import DATABASE, JSON
from piecework.domain.counts import plural
from piecework.domain.printable import printable
from piecework.webclient.values import Money

if TYPE_CHECKING:
    from piecework.marketplace.bridging.losses import UnknownStudy
    from piecework.prolific.bridge.status import Status, StudyStatus


@click.command("status")
@DATABASE
@JSON
def prolific_status(*, database: Path, as_json: bool) -> None:
    """Show a marketplace's studies.

    For each study, the list shows places, submissions, money, and who has to act next.
    The figures are as of the last step of `piecework serve --crowd prolific`; the
    command does not call Prolific.

    Examples:
      piecework prolific status
      piecework prolific status --database marketplace.db
    """
    from piecework.prolific.bridge.status import read_status

    with transaction_in(database) as transaction:
        status = read_status(transaction)
    if as_json:
        click.echo(json.dumps(status.as_dict(), indent=2))
        return
    _say(status)


def _say(status: "Status") -> None:
    if not (status.of_hit_types or status.unknown):
        none = "no study yet: this marketplace has no HITs that recruit at Prolific"
        click.echo("\n".join([none, *map(printable, status.troubles)]))
        return
    for study in status.of_hit_types:
        for line in _lines(study):
            click.echo(line)
    for unknown in status.unknown:
        for line in _lines_of_unknown(unknown, status.currency):
            click.echo(line)
    _say_money(status, status.currency)
    click.echo(f"messages that may not have been sent: {status.unknown_messages}")
    for trouble in status.troubles:
        click.echo(printable(trouble))


def _say_money(status: "Status", currency: str) -> None:
    left = "nothing: served without --live"
    if status.left_cents is not None:
        left = _money(status.left_cents, currency)
    for what, amount in (
        ("spent", _money(status.spent_cents, currency)),
        ("held for open or undecided places", _money(status.held_cents, currency)),
        ("left of what may be spent", left),
        ("bonuses that wait", _money(status.bonuses_waiting_cents, currency)),
    ):
        click.echo(f"{what}: {amount}")


def _lines(study: "StudyStatus") -> Iterator[str]:
    """Yield the lines of a study, at most 80 columns wide."""
    yield printable(f"{study.title[:40]} ({study.requester[:40]}): {study.status.lower()}")
    pay = f"pays {_money(study.reward_cents, study.currency)}"
    if study.cost_cents is not None:
        pay += f", costs {_money(study.cost_cents, study.currency)}"
    hits = plural(study.hits_per_visit, "HIT")
    yield f"  {plural(study.places, 'place')} of {hits}; each {pay}"
    states = [f"{n} {state.lower()}" for state, n in study.states.items()]
    yield f"  submissions: {', '.join(states) or 'none yet'}"
    if study.waits_for_requester:
        yield f"  {study.waits_for_requester} waiting for the requester to decide"
    if study.waits_for_participant:
        yield f"  {study.waits_for_participant} asked to return their submission"
    if study.eligible == 0:
        from piecework.prolific.bridge.terms import FEW_ELIGIBLE

        yield f"  {FEW_ELIGIBLE}"
    if study.trouble:
        yield f"  {printable(study.trouble)}"
    yield f"  {study.page}"


def _lines_of_unknown(study: "UnknownStudy", currency: str) -> Iterator[str]:
    yield printable(f"study {study.study_id}, which this file lacks: {study.status.lower()}")
    yield f"  {printable(study.internal_name)}"
    yield (
        f"  {plural(study.places, 'place')}, {plural(study.submissions, 'submission')};"
        f" {_money(study.spent_cents, currency)} spent, "
        f"{_money(study.held_cents, currency)} held"
    )
    if study.is_left:
        yield "  left to Prolific, which pays the participants"
        return
    yield "  the server publishes nothing until you adopt or leave it:"
    yield f"  piecework prolific reconcile --adopt {study.study_id}"


def _money(cents: int, currency: str) -> str:
    return str(Money(minor=cents, currency=currency))
