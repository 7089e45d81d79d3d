"""Earned qualifications: what was granted and revoked, and restoring one by hand."""

from collections.abc import Sequence
from dataclasses import dataclass

from piecework.campaign.opened import OpenedCampaign, known_worker
from piecework.domain.errors import ConfigError
from piecework.domain.qualifications import DueChange, EarnedRule, latest_share
from piecework.engine.earn import records_of
from piecework.store import assignments, last_pass
from piecework.store.earned_records import RecordedChange


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


def restore(opened: OpenedCampaign, worker: str, name: str, *, because: str, by: str) -> str:
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
            [f"{opened.campaign.path}: no [[earned]] has the name {name!r}"],
            next_step=f"piecework workers earned {opened.campaign.path}",
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
                next_step=f"piecework advance {opened.campaign.path}, then this again",
            )
        if worker_id in records.holdings(name):
            raise ConfigError(
                [f"{worker} holds {name!r}"],
                next_step=f"piecework workers earned {opened.campaign.path}",
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
