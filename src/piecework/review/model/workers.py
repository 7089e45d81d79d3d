"""The workers of a campaign: what each did and earned, and exclusion by hand at any time.

Exports and reports show each worker by a pseudonym; the id stays in the store. A
person's decision is stored at once and carried out through an intent like every act:
by the pass at work, or by the command that made the decision. A qualification that was
earned and revoked can be restored by hand.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from piecework.campaign.opened import OpenedCampaign, known_worker
from piecework.domain.errors import ConfigError
from piecework.domain.ids import WorkerId
from piecework.domain.qualifications import DueChange, EarnedRule, RecordedChange, latest_share
from piecework.domain.text import shell_word
from piecework.domain.verdicts import Decision, Verdict
from piecework.engine.earn import records_of
from piecework.store import assignments, decisions, last_pass, workers
from piecework.store.settlements import PAID_ALREADY
from piecework.store.workers import WorkerTotals

_KEPT_OUT: tuple[Verdict, ...] = ("exclude", "block")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerHistory:
    """A worker by pseudonym, with their work and the decisions about them.

    Attributes:
        worker: the pseudonym.
        worker_id: their id, which no page or file shows.
        decisions: the decisions about the worker, the one in force last.
    """

    worker: str
    worker_id: WorkerId
    totals: WorkerTotals
    decisions: Sequence[Decision]

    @property
    def exclusion(self) -> Decision | None:
        """The decision that excludes the worker, if any."""
        latest = self.decisions[-1] if self.decisions else None
        return latest if latest and latest.verdict in _KEPT_OUT else None


def worker_histories(opened: OpenedCampaign) -> list[WorkerHistory]:
    """Return all workers of the campaign, those with most answers first."""
    decided = decisions.about_workers(opened.store)
    known = workers.totals(opened.store, paid_already=PAID_ALREADY)
    all_histories = [
        WorkerHistory(
            worker=opened.pseudonym(worker_id),
            worker_id=worker_id,
            totals=totals,
            decisions=decided.get(worker_id, ()),
        )
        for worker_id, totals in known.items()
    ]
    return sorted(all_histories, key=lambda history: (-history.totals.answers, history.worker))


def exclude_worker(opened: OpenedCampaign, worker: str, *, because: str, by: str) -> str:
    """Decide that a worker, flagged or not, is offered no later HIT.

    Args:
        opened: the campaign.
        worker: the pseudonym, or at least its first four characters.
        because: the reason, which stays in the store.
        by: the name of the person who decides.

    Returns:
        The whole pseudonym.

    Raises:
        ConfigError: no worker or several have this pseudonym, or the worker is
            excluded already.
    """
    return _decide(opened, worker, "exclude", because=because, by=by)


def include_worker(opened: OpenedCampaign, worker: str, *, because: str, by: str) -> str:
    """Decide that an excluded or blocked worker is offered HITs again.

    After that, only a person can exclude the worker; the policy no longer does.

    Returns:
        The whole pseudonym.

    Raises:
        ConfigError: no worker or several have this pseudonym, or the worker is not
            excluded.
    """
    return _decide(opened, worker, "include", because=because, by=by)


def _decide(opened: OpenedCampaign, worker: str, verdict: Verdict, *, because: str, by: str) -> str:
    worker_id = known_worker(opened, worker)
    with opened.store.db.atomic():
        history = decisions.about_workers(opened.store).get(worker_id, [])
        latest = history[-1] if history else None
        is_out = latest is not None and latest.verdict in _KEPT_OUT
        if is_out == (verdict == "exclude"):
            raise _is_so_already(opened, worker, latest if is_out else None)
        decision = Decision(
            subject_kind="worker",
            subject_id=worker_id,
            verdict=verdict,
            decided_by=by,
            decided_at=opened.clock.now(),
            because=because,
        )
        decisions.overrule(opened.store, [decision])
    return opened.pseudonym(worker_id)


def _is_so_already(opened: OpenedCampaign, worker: str, latest: Decision | None) -> ConfigError:
    if latest is None:
        fault = f"{worker} is not excluded"
    else:
        at = f"{latest.decided_at:%Y-%m-%d %H:%M} UTC"
        what = {"exclude": "excluded", "block": "blocked"}[latest.verdict]
        fault = f"{worker} is {what} already, since {at}, by {latest.decided_by}"
    return ConfigError(
        [fault], next_step=f"piecework workers list {shell_word(opened.campaign.path)}"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EarnedHistory:
    """A qualification with all its changes.

    Attributes:
        holders: how many workers hold it now.
        changes: in the order in which they were decided, of all campaigns.
    """

    rule: EarnedRule
    holders: int
    changes: Sequence[RecordedChange]


def earned_histories(opened: OpenedCampaign) -> list[EarnedHistory]:
    """Return the qualifications that the campaign states, with their changes."""
    histories = []
    for rule in opened.campaign.earned:
        with records_of(opened, rule) as records:
            histories.append(
                EarnedHistory(
                    rule=rule,
                    holders=len(records.holdings(rule.name)),
                    changes=records.changes(rule.name),
                )
            )
    return histories


def restore_earned(opened: OpenedCampaign, worker: str, name: str, *, because: str, by: str) -> str:
    """Decide that a worker gets a qualification; only later items count against them.

    Args:
        opened: a campaign that states the qualification and knows the worker.
        worker: the pseudonym, at least its first four characters, or the worker's id.
        name: the qualification's name.
        because: a sentence that the worker reads.
        by: the name of the person who decides.

    Returns:
        The whole pseudonym.

    Raises:
        ConfigError: the campaign states no such qualification, no worker or several
            have this pseudonym, the worker holds it, or a change is under way.
    """
    rules = {rule.name: rule for rule in opened.campaign.earned}
    if name not in rules:
        raise ConfigError(
            [f"{opened.campaign.path}: no file of earned has the name {name!r}"],
            next_step=f"piecework workers earned {shell_word(opened.campaign.path)}",
        )
    ids = assignments.all_workers(opened.store)
    worker_id = next((worker_id for worker_id in ids if worker_id == worker), None) or known_worker(
        opened, worker
    )
    with records_of(opened, rules[name]) as records, records.locked():
        if any(
            change.worker_id == worker_id and change.done_at is None
            for change in records.unfinished(name)
        ):
            raise ConfigError(
                [f"{worker}: a change of {name!r} was not carried out yet"],
                next_step=f"piecework run {shell_word(opened.campaign.path)} --once, then "
                "this again",
            )
        if worker_id in records.holdings(name):
            raise ConfigError(
                [f"{worker} holds {name!r}"],
                next_step=f"piecework workers earned {shell_word(opened.campaign.path)}",
            )
        now = opened.clock.now()
        outcomes = records.outcomes(rules[name].kind).get(worker_id, ())
        change = DueChange(
            change="grant",
            share=latest_share(rules[name], outcomes, now=now),
            because=f"You have the qualification “{name}” again: {because}",
        )
        records.restore(name, worker_id, change, by=by, at=now)
    last_pass.forget(opened.store)
    return opened.pseudonym(worker_id)
