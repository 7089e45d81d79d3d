"""`prolific reconcile`: compares a marketplace's file and Prolific, study by study."""

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.api_faults import api_faults
from piecework.cli.marketplace_file import transaction_in
from piecework.cli.options import DATABASE, JSON
from piecework.cli.prolific_account import TOKEN_FILE, URL, needed_token
from piecework.domain.errors import ConfigError
from piecework.domain.printable import printable
from piecework.prolific.client import Prolific
from piecework.prolific.token import SERVICE
from piecework.webclient.address import api_address
from piecework.webclient.transport import Transport

if TYPE_CHECKING:
    from piecework.prolific.bridge.decisions import Decisions
    from piecework.prolific.bridge.reconciling import Difference
    from piecework.prolific.bridge.terms import Terms


@click.command("reconcile")
@click.option(
    "--adopt",
    metavar="STUDY",
    help="Take a study at Prolific into a file that lacks it, and continue it.",
)
@click.option(
    "--hit-type",
    metavar="ID",
    default="",
    help="With --adopt: the HIT type of the study, if the file lacks that too.",
)
@click.option(
    "--leave",
    metavar="STUDY",
    help="Stop a study that the file lacks; Prolific pays the participants in 21 days.",
)
@click.option(
    "--pay-lost",
    metavar="STUDY",
    help="Pay participants who submitted the study's code and have no answers here.",
)
@URL
@TOKEN_FILE
@DATABASE
@JSON
def prolific_reconcile(
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

    The command takes in what somebody approved, rejected, returned or stopped by hand
    on Prolific's pages. If amounts of money differ, it shows them and exits with code
    1.

    A marketplace's file that was restored from a copy lacks the studies that were
    published later. --adopt takes such a study in and pays the people who took part in
    it. --leave stops it.

    Examples:
      piecework prolific reconcile
      piecework prolific reconcile --adopt 6543ab...
      piecework prolific reconcile --leave 6543ab... --database marketplace.db
    """
    from piecework.prolific.bridge.decisions import Decisions

    decisions = Decisions(adopted=adopt, hit_type_id=hit_type, left=leave, paid_as_lost=pay_lost)
    terms = _terms_of_last_start(database)
    with api_faults(), Transport(api_address(url, SERVICE), needed_token(token_file)) as transport:
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
    from piecework.prolific.bridge.spending import LastStart
    from piecework.prolific.bridge.terms import Terms

    with transaction_in(database) as transaction:
        start = LastStart.read(transaction)
    if not start.project_id:
        raise ConfigError(
            [f"{database}: never served with Prolific's participants"],
            next_step="piecework serve --crowd prolific",
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
    from piecework.prolific.bridge.bridge import Bridge

    with closing(Backend(database, rules_of(database))) as backend:
        bridge = Bridge(backend, prolific, terms)
        differences = decisions.reconcile(bridge)
    if bridge.faults:
        raise ConfigError(bridge.faults, next_step="try again later")
    return differences
