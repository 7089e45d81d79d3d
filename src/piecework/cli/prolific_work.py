"""`prolific status`, `reconcile`, `settle`: a marketplace's studies, for people."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.marketplace_file import transaction_in
from piecework.cli.options import DATABASE, JSON
from piecework.domain.counts import plural
from piecework.domain.errors import ConfigError
from piecework.domain.printable import printable

if TYPE_CHECKING:
    from piecework.prolific.bridge.status import Status, StudyStatus
    from piecework.prolific.bridge.unknown import UnknownStudy

API = click.option(
    "--url",
    envvar="PROLIFIC_URL",
    default="https://api.prolific.com",
    show_default=True,
    help="Of the API (or PROLIFIC_URL); http on this machine only.",
)
TOKEN_FILE = click.option(
    "--token-file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="A file of yours alone (mode 600) with the token, instead of PROLIFIC_TOKEN.",
)


@click.command()
@DATABASE
@JSON
def status(*, database: Path, as_json: bool) -> None:
    """Show a marketplace's studies: places, submissions, money, what waits for whom.

    Reads the marketplace's file as of the last step of `piecework serve --crowd
    prolific`; nothing is asked of Prolific.

    Example:  piecework prolific status --database marketplace.db
    """
    from piecework.prolific.bridge.status import read_status  # noqa: PLC0415 - when asked for

    with transaction_in(database) as transaction:
        found = read_status(transaction)
    if as_json:
        click.echo(json.dumps(found.as_dict(), indent=2))
        return
    _say(found)


@click.command()
@click.argument("batches", metavar="BATCH...", nargs=-1, required=True)
@click.option(
    "--paid/--unpaid",
    "is_paid",
    default=None,
    required=True,
    help="What Prolific's pages show: its bonuses are there, or none of them.",
)
@DATABASE
def settle(*, batches: tuple[str, ...], is_paid: bool, database: Path) -> None:
    """Say whether BATCH of bonuses was paid, where the file does not know.

    No answer came from Prolific, or Prolific shows bonuses that the file lacks since it
    was brought back from a copy. Look at the submissions there first: with --unpaid it
    is paid once more. Several are settled together, all or none.

    Example:  piecework prolific settle 6543ab... --paid
    """
    from piecework.prolific.bridge.bonuses import settle_unknown  # noqa: PLC0415 - when asked
    from piecework.prolific.http.errors import Unusable  # noqa: PLC0415 - when asked for

    try:
        with transaction_in(database) as transaction:
            for batch in batches:
                settle_unknown(transaction, batch, is_paid=is_paid)
    except Unusable as fault:
        raise ConfigError([str(fault)], next_step=fault.next_step) from fault
    click.echo("booked as paid" if is_paid else "it will be paid with the next step")


@click.command()
@click.option(
    "--adopt",
    metavar="STUDY",
    help="Take a study of Prolific's into a file that lacks it, and go on with it.",
)
@click.option(
    "--hit-type",
    metavar="ID",
    default="",
    help="With --adopt: whose HITs it is for, where the file lacks its HIT type too.",
)
@click.option(
    "--leave",
    metavar="STUDY",
    help="Stop a study that the file lacks; Prolific pays who took part, in 21 days.",
)
@click.option(
    "--pay-lost",
    metavar="STUDY",
    help="Pay who ended a submission by the study's code and has no answers here.",
)
@API
@TOKEN_FILE
@DATABASE
@JSON
def reconcile(
    *,
    adopt: str | None,
    hit_type: str,
    leave: str | None,
    pay_lost: str | None,
    url: str,
    token_file: Path | None,
    database: Path,
    as_json: bool,
) -> None:
    """Compare all studies with Prolific, and take in what was changed there by hand.

    What was approved, rejected, returned or stopped on Prolific's own pages is taken
    over; sums of money that differ are shown, and end the command with 1.

    A file that was brought back from a copy lacks what happened since. Studies that
    were published since are adopted or left; who took part in an adopted study is paid.

    \b
    Example:  piecework prolific reconcile --database marketplace.db
              piecework prolific reconcile --adopt 6543ab...
    """  # noqa: D301 - click's mark for lines that stay lines
    from piecework.cli.work.reconcile import Decisions, reconcile_file  # noqa: PLC0415 - when asked for

    decisions = Decisions(
        adopted=adopt, hit_type_id=hit_type, left=leave, paid_as_lost=pay_lost
    )
    differences = reconcile_file(
        database, url=url, token_file=token_file, decisions=decisions
    )
    if as_json:
        click.echo(json.dumps([each.as_dict() for each in differences], indent=2))
    for each in () if as_json else differences:
        mark = "taken in" if each.is_taken_in else "look"
        click.echo(f"{mark:8}  {each.study_id}  {printable(each.sentence)}")
    if not (as_json or differences):
        click.echo("no difference")
    if any(not each.is_taken_in for each in differences):
        click.get_current_context().exit(1)


def _say(found: "Status") -> None:
    if not (found.of_hit_types or found.unknown):
        none = "no study yet: none of this marketplace's HITs recruits at Prolific"
        click.echo("\n".join([none, *map(printable, found.troubles)]))
        return
    for study in found.of_hit_types:
        for line in _lines(study):
            click.echo(line)
    for unknown in found.unknown:
        for line in _lines_of_unknown(unknown, found.currency):
            click.echo(line)
    _say_money(found, found.currency)
    click.echo(f"messages that may not have been sent: {found.unknown_messages}")
    for trouble in found.troubles:
        click.echo(printable(trouble))


def _say_money(found: "Status", currency: str) -> None:
    left = "nothing, without --live"
    if found.left_cents is not None:
        left = _money(found.left_cents, currency)
    for what, amount in (
        ("spent", _money(found.spent_cents, currency)),
        (
            "held for places that are open or not decided",
            _money(found.held_cents, currency),
        ),
        ("left of what may be spent", left),
        ("bonuses that wait", _money(found.bonuses_waiting_cents, currency)),
    ):
        click.echo(f"{what}: {amount}")


def _lines(study: "StudyStatus") -> Iterator[str]:
    """A study in lines that fit a terminal of 80 columns."""
    yield printable(
        f"{study.title[:40]} ({study.requester[:40]}): {study.status.lower()}"
    )
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
        yield f"  {study.waits_for_participant} asked to return, and may still"
    if study.trouble:
        yield f"  {printable(study.trouble)}"
    yield f"  {study.page}"


def _lines_of_unknown(study: "UnknownStudy", currency: str) -> Iterator[str]:
    yield printable(
        f"study {study.study_id}, which is not in this file: {study.status.lower()}"
    )
    yield f"  {printable(study.internal_name)}"
    yield (
        f"  {plural(study.places, 'place')}, {plural(study.submissions, 'submission')};"
        f" {_money(study.spent_cents, currency)} spent, "
        f"{_money(study.held_cents, currency)} held"
    )
    if study.is_left:
        yield "  left to Prolific, which pays who took part"
        return
    yield "  nothing is published until you adopt or leave it:"
    yield f"  piecework prolific reconcile --adopt {study.study_id}"


def _money(cents: int, currency: str) -> str:
    from piecework.prolific.values import Money  # noqa: PLC0415 - when asked for

    return str(Money(minor=cents, currency=currency))
