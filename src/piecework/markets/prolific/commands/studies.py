"""`prolific status`, `settle` and `reconcile`: a marketplace's studies, and their money.

`settle` records whether bonuses were paid, as Prolific's pages show. `reconcile` compares
a marketplace's file and Prolific, study by study.
"""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.errors import api_faults
from piecework.cli.market_accounts import ADOPT, LEAVE, PAY_LOST, TOKEN_FILE
from piecework.cli.marketplace_file import transaction_in
from piecework.cli.options import DATABASE, JSON
from piecework.domain.errors import ConfigError
from piecework.domain.text import plural, printable
from piecework.foundation.client.calls import Money
from piecework.foundation.client.token import api_address
from piecework.foundation.client.transport import Transport
from piecework.markets.prolific.calling import SERVICE
from piecework.markets.prolific.client import Prolific
from piecework.markets.prolific.commands.account import URL, token_of

if TYPE_CHECKING:
    from piecework.markets.bridging.losses import UnknownStudy
    from piecework.markets.prolific.bridge.bridge import Terms
    from piecework.markets.prolific.bridge.deciding import Decisions
    from piecework.markets.prolific.bridge.reconciling import Difference
    from piecework.markets.prolific.bridge.status import Status, StudyStatus


@click.command("status")
@DATABASE
@JSON
def status(*, database: Path, as_json: bool) -> None:
    """Show a marketplace's studies.

    Places, submissions, money, and who acts next, as of the last step of `market serve
    --crowd prolific`.

    Examples:
      piecework market prolific status
      piecework market prolific status --database marketplace.db
    """
    from piecework.markets.prolific.bridge.status import read_status

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
        (
            "held for places, tests and screen-outs that are open or undecided",
            _money(status.held_cents, currency),
        ),
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
        from piecework.markets.prolific.bridge.bridge import FEW_ELIGIBLE

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
    yield f"  piecework market prolific reconcile --adopt {study.study_id}"


def _money(cents: int, currency: str) -> str:
    return str(Money(minor=cents, currency=currency))


@click.command("settle")
@click.argument("batches", metavar="BATCH...", nargs=-1, required=True)
@click.option(
    "--paid/--unpaid",
    "is_paid",
    default=None,
    required=True,
    help="Whether the market's pages show the bonus.",
)
@DATABASE
def settle(*, batches: tuple[str, ...], is_paid: bool, database: Path) -> None:
    """Record whether bonuses were paid.

    Use it for a BATCH of bonuses that may have been paid. Look at the submissions at
    Prolific first: with --unpaid, the next step pays the batch. Several are recorded
    together.

    Examples:
      piecework market prolific settle 6543ab... --paid
      piecework market prolific settle 6543ab... 6543cd... --unpaid
    """
    from piecework.markets.prolific.bridge.bonuses import settle_unknown

    with api_faults(), transaction_in(database) as transaction:
        for batch in batches:
            settle_unknown(transaction, batch, is_paid=is_paid)
    click.echo("recorded as paid" if is_paid else "the next step pays it")


@click.command("reconcile")
@ADOPT
@click.option(
    "--hit-type",
    metavar="ID",
    default="",
    help="With --adopt: the HIT type of the study, if the file lacks that too.",
)
@LEAVE
@PAY_LOST
@URL
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
    """Compare all studies with Prolific.

    The command takes in what was approved, rejected, returned or stopped by hand at
    Prolific. If money differs, it exits with code 1.

    A restored marketplace lacks later studies: --adopt takes one in and pays its people,
    --leave stops it, and Prolific pays them in 21 days.

    Examples:
      piecework market prolific reconcile
      piecework market prolific reconcile --adopt 6543ab...
      piecework market prolific reconcile --leave 6543ab...
    """
    from piecework.markets.prolific.bridge.deciding import Decisions

    decisions = Decisions(adopted=adopt, hit_type_id=hit_type, left=leave, paid_as_lost=pay_lost)
    terms = _terms_of_last_start(database)
    with api_faults(), Transport(api_address(url, SERVICE), token_of(token_file)) as transport:
        differences = _differences(database, Prolific(transport), terms, decisions)
    if as_json:
        click.echo(json.dumps([each.as_dict() for each in differences], indent=2))
    for each in () if as_json else differences:
        mark = "taken in" if each.is_taken_in else "look"
        click.echo(f"{mark:8}  {each.study_id}  {printable(each.sentence)}")
    if not (as_json or differences):
        click.echo("no difference")
    if any(not each.is_taken_in for each in differences):
        click.get_current_context().exit(1)


def _terms_of_last_start(database: Path) -> "Terms":
    from piecework.markets.prolific.bridge.bridge import Terms
    from piecework.markets.prolific.bridge.status import LastStart

    with transaction_in(database) as transaction:
        start = LastStart.read(transaction)
    if not start.project_id:
        raise ConfigError(
            [f"{database}: never served with Prolific's participants"],
            next_step="piecework market serve --crowd prolific",
        )
    return Terms(
        workspace_id=start.workspace_id,
        project_id=start.project_id,
        site_url="",
        currency=start.currency,
    )


def _differences(
    database: Path, prolific: Prolific, terms: "Terms", decisions: "Decisions"
) -> "list[Difference]":
    from piecework.marketplace.state.backend import Backend, rules_of
    from piecework.markets.prolific.bridge.bridge import Bridge

    with closing(Backend(database, rules_of(database))) as backend:
        bridge = Bridge(backend, prolific, terms)
        differences = decisions.reconcile(bridge)
    if bridge.faults:
        raise ConfigError(bridge.faults, next_step="try again later")
    return differences
