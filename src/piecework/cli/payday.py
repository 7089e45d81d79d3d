"""Payday on one's own marketplace: a sheet of what people are owed, and what they got.

Their names are in the marketplace's file only, so they appear on the machine that has it.
"""

import getpass
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import click

from piecework.cli.marketplace_file import transaction_in
from piecework.cli.options import is_typed
from piecework.config.user_files import read_text
from piecework.domain.errors import ConfigError
from piecework.domain.text import plural, shell_word
from piecework.marketplace.workers import invitations

if TYPE_CHECKING:
    from piecework.campaign.opened import OpenedCampaign
    from piecework.engine.payments.payday import PersonPay, Recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownPeople:
    """Whom a marketplace's file knows.

    Attributes:
        names: the requester's own name for a person, by worker id.
        markets: the market that sends a person, by worker id.
        participants: that person's market and id there, such as `prolific 5f3a…`.
    """

    names: dict[str, str]
    markets: dict[str, str]
    participants: dict[str, str]


def known_people(database: Path) -> KnownPeople:
    """Return whom the marketplace of --database knows; no person without the file.

    Raises:
        ConfigError: the file was named and is missing, or is not a marketplace's.
    """
    if not database.exists() and not is_typed("database"):
        return KnownPeople(names={}, markets={}, participants={})
    with transaction_in(database) as transaction:
        rows = invitations.list_names(transaction)
    sent = [row for row in rows if row["market"] is not None]
    return KnownPeople(
        names={row["worker_id"]: row["handle"] for row in rows if row["market"] is None},
        markets={row["worker_id"]: row["market"] for row in sent},
        participants={
            row["worker_id"]: f"{row['market']} {unquote(row['participant_id'])}"
            for row in sent
            if row["participant_id"] is not None
        },
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Payday:
    """A sheet to write and a file of payouts to record."""

    sheet: Path | None
    paid: Path | None
    database: Path

    def is_asked(self, others: list[str]) -> bool:
        """Whether there is a sheet to write or a file to record.

        Args:
            others: the options that are stated, and that a payday does not have.

        Raises:
            click.UsageError: a part of the command line would have no effect.
        """
        if self.sheet is None and self.paid is None:
            return False
        if others:
            asked = "--sheet" if self.paid is None else "--paid"
            raise click.UsageError(f"{', '.join(others)}: no use with {asked}")
        return True

    def carry_out(self, path: Path, *, label: str | None, as_json: bool) -> None:
        """Record the payouts, then write the sheet."""
        from piecework.campaign.assembling import load_campaign
        from piecework.engine.opening import open_to_look
        from piecework.engine.payments.due_bonuses import label_fault
        from piecework.engine.payments.payday import everybody, sheet
        from piecework.postprocess.datasets.file_table import to_csv
        from piecework.store.files import write_private

        if label is not None and (fault := label_fault(label)):
            raise ConfigError([fault])
        known, recorded = known_people(self.database), None
        with open_to_look(load_campaign(path)) as opened:
            _refuse_without_money(opened)
            if self.paid is not None:
                recorded = _record(opened, self.paid, known, label=label)
            people = everybody(opened, known.markets)
            if self.sheet is not None:
                write_private(self.sheet, to_csv(sheet(people, known.names)))
        shown = opened.campaign.rewards.shown
        if as_json:
            document = {
                "currency": opened.campaign.rewards.currency,
                "recorded": None if recorded is None else asdict(recorded),
                "people": [_as_dict(person, known) for person in people],
            }
            click.echo(json.dumps(document, indent=2))
            return
        if recorded is not None:
            before = f"; {recorded.before} were recorded before" if recorded.before else ""
            payouts = plural(recorded.payouts, "payout")
            click.echo(f"{self.paid}: {payouts} recorded, {shown(recorded.cents)}{before}")
        _say(path, self.sheet, people, known, shown)


def _refuse_without_money(opened: "OpenedCampaign") -> None:
    if opened.is_imported or opened.is_rehearsal:
        why = "imported" if opened.is_imported else "only rehearsed"
        raise ConfigError([f"{opened.campaign.path}: {why}, so no person is owed money"])


def _record(
    opened: "OpenedCampaign", file: Path, known: KnownPeople, *, label: str | None
) -> "Recorded":
    from piecework.engine.payments.payday import record_payouts

    return record_payouts(
        opened,
        read_text(file),
        label=label,
        markets=known.markets,
        by=getpass.getuser(),
        name=str(file),
    )


def _say(
    path: Path,
    sheet: Path | None,
    people: "Sequence[PersonPay]",
    known: KnownPeople,
    shown: Callable[[int], str],
) -> None:
    owed, left = sum(person.owed for person in people), sum(person.left for person in people)
    where = "" if sheet is None else f"{sheet}: "
    click.echo(
        f"{where}{plural(len(people), 'person', 'people')}: {shown(owed)} owed, "
        f"{shown(owed - left)} paid out, {shown(left)} left; the ledger has the same total"
    )
    if sheet is None:
        return
    if unnamed := sum(person.worker_id not in known.names for person in people):
        click.echo(
            f"without a name in the marketplace's file: {plural(unnamed, 'person', 'people')}"
        )
    if left:
        click.echo("next: pay them, fill in amount and date, then")
        click.echo(f"      piecework pay {shell_word(path)} --paid {shell_word(sheet)}")


def _as_dict(person: "PersonPay", known: KnownPeople) -> dict[str, object]:
    return {
        "name": known.names.get(person.worker_id),
        "worker": person.worker,
        "paid_by": person.paid_by,
        "answers_accepted": person.answers,
        "rewards_cents": person.rewards,
        "bonuses_cents": person.bonuses,
        "compensations_cents": person.compensations,
        "owed_cents": person.owed,
        "paid_out_cents": person.paid_out,
        "left_cents": person.left,
    }
