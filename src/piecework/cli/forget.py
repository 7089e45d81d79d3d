"""`workers forget`: what a person wrote and who they are, removed at their request."""

import getpass
import json
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.marketplace_file import transaction_in
from piecework.cli.options import BY_PERSON, DATABASE, JSON, CampaignFile, is_typed, load_results
from piecework.cli.payday import known_people
from piecework.domain.errors import ConfigError, RefusedForSafety
from piecework.domain.text import plural, printable, shell_word
from piecework.marketplace.workers import forgetting
from piecework.store.lock import only_pass

if TYPE_CHECKING:
    from piecework.campaign.opened import OpenedCampaign
    from piecework.domain.ids import WorkerId
    from piecework.marketplace.state.transaction import Transaction
    from piecework.marketplace.workers.forgetting import KnownPerson

_STAYS = (
    "stays for the books, under the worker's id: assignments with times, verdicts and reasons; "
    "payments; qualifications and their evidence; exclusions; acts of reviewers"
)
_OUT_OF_REACH = (
    "not reached: backups and copies of these files, files of results and releases that were "
    "written, pay sheets and lists, logs, published datasets, records at other markets"
)


@click.command()
@click.argument("worker")
@click.argument("campaigns", metavar="[CAMPAIGN]...", nargs=-1, type=CampaignFile(path_type=Path))
@click.option("--yes", is_flag=True, help="Do it without asking.")
@BY_PERSON
@DATABASE
@JSON
def forget(
    worker: str,
    *,
    campaigns: tuple[Path, ...],
    yes: bool,
    by: str,
    database: Path,
    as_json: bool,
) -> None:
    """Delete a person's data at their request.

    WORKER is their name, worker id, id at their market, or pseudonym in the first
    CAMPAIGN. From each campaign, it removes their answers and findings about them; from
    the marketplace's file, also name, links, consent and messages. Records of money stay.

    It refuses while work of theirs is not judged or not paid.

    Examples:
      piecework workers forget ann birds.toml
      piecework workers forget A2ABC... birds.toml dogs.toml --database people.db
    """
    with _everything(worker, campaigns, database) as data:
        data.refuse()
        removed = data.counts()
        agreed = not removed or yes or _is_agreed(data, removed, as_json=as_json)
        if agreed:
            data.remove(by=by.strip() or getpass.getuser())
        elsewhere = data.elsewhere()
    if as_json:
        document = {
            "worker_id": data.worker_id,
            "removed": removed if agreed else {},
            "would_remove": {} if agreed else removed,
            "elsewhere": elsewhere,
        }
        click.echo(json.dumps(document, indent=2))
        return
    _say(data, removed, elsewhere, agreed=agreed)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Data:
    """What is known of one worker, in campaigns and in a marketplace's file."""

    worker_id: "WorkerId"
    campaigns: "Sequence[OpenedCampaign]"
    database: Path
    person: "KnownPerson | None"

    def refuse(self) -> None:
        """Raise `RefusedForSafety` if work is under way or not paid."""
        faults = [*self._faults_of_campaigns()]
        if self.person is not None:
            with transaction_in(self.database) as transaction:
                faults += self._faults_of_person(transaction, self.person)
        _refuse(faults)

    def _faults_of_campaigns(self) -> Iterator[str]:
        from piecework.engine.payments.payday import everybody
        from piecework.store.forgetting import unsettled

        markets = known_people(self.database).markets
        for opened in self.campaigns:
            path = opened.campaign.path
            if opened.is_imported:
                continue
            work, acts = unsettled(opened.store, self.worker_id)
            if work:
                yield f"{path}: {plural(work, 'assignment')} of theirs not judged or not settled"
            if acts:
                yield f"{path}: {plural(acts, 'act')} about them not carried out"
            for person in everybody(opened, markets):
                if person.worker_id == self.worker_id and person.left > 0:
                    left = opened.campaign.rewards.shown(person.left)
                    yield (
                        f"{path}: {left} of theirs is not recorded as paid "
                        f"(piecework pay {shell_word(path)} --sheet FILE, then --paid FILE)"
                    )

    def _faults_of_person(self, transaction: "Transaction", person: "KnownPerson") -> list[str]:
        counts = forgetting.unfinished(transaction, person)
        return [f"{self.database}: {what}: {number}" for what, number in counts.items()]

    def counts(self) -> dict[str, dict[str, int]]:
        """Return what can be removed, by file; files without any are left out."""
        from piecework.store.forgetting import removable

        counts = {
            str(opened.campaign.path): asdict(removable(opened.store, self.worker_id))
            for opened in self.campaigns
        }
        if self.person is not None:
            with transaction_in(self.database) as transaction:
                counts[str(self.database)] = forgetting.removable(transaction, self.person)
        kept = {file: {k: v for k, v in of_file.items() if v} for file, of_file in counts.items()}
        return {file: of_file for file, of_file in kept.items() if of_file}

    def remove(self, *, by: str) -> None:
        """Remove it from the stores, then from the marketplace's file.

        That file goes last because it alone knows the name by which the same command
        finds the worker again after an interruption.
        """
        from piecework.store.forgetting import forget_worker

        with ExitStack() as locks:
            for opened in self.campaigns:
                locks.enter_context(only_pass(opened.campaign.store, by="piecework workers"))
            # Work may have come while a person thought about it.
            self.refuse()
            for opened in self.campaigns:
                forget_worker(opened.store, self.worker_id, at=opened.clock.now(), by=by)
            if self.person is not None:
                with transaction_in(self.database) as transaction:
                    _refuse(self._faults_of_person(transaction, self.person))
                    forgetting.forget_person(transaction, self.person)
                forgetting.remove_from_log(self.database)

    def elsewhere(self) -> list[str]:
        """Return titles of HITs of campaigns that are not named, and still have answers."""
        from piecework.store.hits import ids

        if self.person is None:
            return []
        known = {hit_id for opened in self.campaigns for hit_id in ids(opened.store)}
        with transaction_in(self.database) as transaction:
            return forgetting.hits_elsewhere(transaction, self.person, known)


def _refuse(faults: Sequence[str]) -> None:
    if faults:
        raise RefusedForSafety(
            "\n".join(faults),
            next_step="finish, pay and record this first; then run the same command again",
        )


@contextmanager
def _everything(worker: str, paths: Sequence[Path], database: Path) -> Iterator[_Data]:
    """Open campaigns and marketplace; find the worker.

    Raises:
        ConfigError: no worker or several match, or a campaign was only rehearsed.
    """
    from piecework.domain.ids import WorkerId
    from piecework.engine.opening import open_to_look

    is_asked = is_typed("database") or not paths
    with ExitStack() as stack:
        opened = [stack.enter_context(open_to_look(load_results(path))) for path in paths]
        for each in opened:
            if each.is_rehearsal:
                path = each.campaign.path
                raise ConfigError([f"{path}: only rehearsed, so its workers are simulated"])
        known = _known(worker, opened)
        people = []
        if database.exists() or is_asked:
            with transaction_in(database) as transaction:
                people = forgetting.find_person(transaction, known or worker)
        same = [person for person in people if person.worker_id == (known or worker)]
        # An id goes before a name, which may be the same word.
        people = same if known else same or people
        if len(people) > 1:
            ids = ", ".join(person.worker_id for person in people)
            raise ConfigError([f"{worker!r} matches {ids}; name the worker by this id"])
        if not known and not people:
            raise _nobody(worker, paths)
        yield _Data(
            worker_id=known or WorkerId(people[0].worker_id),
            campaigns=opened,
            database=database,
            person=people[0] if people else None,
        )


def _known(worker: str, campaigns: "Sequence[OpenedCampaign]") -> "WorkerId | None":
    """Return the worker with this id in any campaign, or whole pseudonym in the first one.

    The start of a pseudonym may also be another person's name, so it is not enough.
    """
    from piecework.store.assignments import all_workers
    from piecework.store.imports import workers_set_aside

    for opened in campaigns:
        for worker_id in (*all_workers(opened.store), *workers_set_aside(opened.store)):
            if worker_id == worker:
                return worker_id
    for opened in campaigns[:1]:
        for worker_id in (*all_workers(opened.store), *workers_set_aside(opened.store)):
            if opened.pseudonym(worker_id) == worker.strip().lower():
                return worker_id
    return None


def _nobody(worker: str, paths: Sequence[Path]) -> ConfigError:
    if not paths:
        fault, names = f"no worker has the name or id {worker!r}", "piecework workers list"
        return ConfigError([fault], next_step=f"{names} shows all names")
    return ConfigError(
        [f"no worker has the name, id or whole pseudonym {worker!r}"],
        next_step=f"piecework workers list {shell_word(paths[0])}",
    )


def _is_agreed(data: _Data, removed: dict[str, dict[str, int]], *, as_json: bool) -> bool:
    if as_json or not sys.stdin.isatty():
        return False
    click.echo("This will be deleted, and cannot be restored:")
    _say_counts(removed)
    shown = printable(data.worker_id)
    typed = click.prompt(f"type {shown} to continue", default="", show_default=False, err=True)
    if typed.strip() != shown.strip():
        raise RefusedForSafety(f"that is not {shown}: nothing was removed")
    return True


def _say_counts(removed: dict[str, dict[str, int]]) -> None:
    for file, counts in removed.items():
        parts = ", ".join(f"{what} ({number})" for what, number in counts.items())
        click.echo(f"  {file}: {parts}")


def _say(
    data: _Data, removed: dict[str, dict[str, int]], elsewhere: Sequence[str], *, agreed: bool
) -> None:
    shown = printable(data.worker_id)
    if not agreed:
        click.echo(f"{shown}: nothing was removed yet; with --yes, this is:")
        _say_counts(removed)
        return
    if removed:
        click.echo(f"{shown}: removed")
        _say_counts(removed)
    else:
        click.echo(f"{shown}: nothing is left to remove")
    click.echo(_STAYS)
    click.echo(_OUT_OF_REACH)
    if data.person is None:
        click.echo(
            f"not reached: the marketplace's file; where it is: "
            f"piecework workers forget {printable(shlex.quote(data.worker_id))} --database FILE"
        )
    for title in elsewhere:
        click.echo(f"not reached: the store of the campaign with {printable(title)!r}; name it too")
    for opened in data.campaigns:
        path = opened.campaign.path
        click.echo(f"next: piecework export {shell_word(path)}, to write its results without them")
        click.echo(f"      the next run of {path} asks others for the answers that it lacks now")
