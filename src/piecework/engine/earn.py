"""Grant and revoke earned qualifications, by the rules of `earned`.

Each change is stored in the records before its call and closed after it, under the
records' lock. A pass that finds a change begun looks who holds the qualification before
it calls again. A message about a grant may reach the worker twice if a process dies
just after it; the reason of a revocation goes with the revocation itself.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from piecework.campaign.opened import CampaignRun, OpenedCampaign
from piecework.domain.errors import PlatformRefused
from piecework.domain.ids import ItemId, QualificationTypeId, WorkerId
from piecework.domain.qualifications import (
    DueChange,
    EarnedRule,
    Holding,
    ItemOutcome,
    RecordedChange,
    due_change,
)
from piecework.engine.requirements import earned_type
from piecework.engine.snapshot import Reader, Step
from piecework.qc.gold import agreeing
from piecework.qc.ratings import with_ratings
from piecework.store import bound, decisions
from piecework.store.earned_records import (
    EarnedRecords,
    open_records,
    own_records,
    shared_records,
)
from piecework.store.intents import store_name
from piecework.store.tables import read_verdicts

_LOG = logging.getLogger(__name__)
_TYPE_UNKNOWN = "qualification_type_unknown"


def due(reader: Reader) -> Sequence[EarnedRule]:
    """Return the rules with new evidence, with open changes, or not applied today."""
    opened = reader.opened
    if opened.is_imported:
        return ()
    return [rule for rule in opened.campaign.earned if _is_due(opened, rule)]


def act(run: CampaignRun, due: Sequence[EarnedRule]) -> int:
    """Apply these rules; return how many qualifications were granted or revoked.

    If a type was deleted by hand, its changes stay open, and the campaign goes on.

    Raises:
        PlatformRefused: the marketplace refused some changes; a later pass tries them
            again, and all others are done.
    """
    refusals: list[PlatformRefused] = []
    number = 0
    for rule in due:
        with records_of(run, rule) as records, records.locked():
            records.state(rule, _contributor(run))
            _contribute(run, records, rule)
            # First what an earlier pass began, perhaps of another campaign.
            number += _finish(run, records, rule, refusals)
            now = run.clock.now()
            records.apply(rule, _changes(records, rule, run), now=now)
            number += _finish(run, records, rule, refusals)
    for refusal in refusals:
        if refusal.kind != _TYPE_UNKNOWN:
            raise refusal
    if refusals:
        _LOG.warning("somebody deleted an earned qualification: %s", refusals[0])
    return number


earn = Step("earn", due, act)


@contextmanager
def records_of(opened: OpenedCampaign, rule: EarnedRule) -> Iterator[EarnedRecords]:
    """Open the records of a rule; a rehearsal has its own beside its store."""
    store = opened.store.address
    if opened.is_rehearsal:
        address, market = own_records(store), f"rehearsal {store_name(opened.store)}"
    else:
        address = shared_records(rule.records, store)
        # An account is the same in all copies of a marketplace, also at another address.
        market = bound.read_bound(opened.store).account or opened.endpoint
    with open_records(address, market) as records:
        yield records


def _is_due(opened: OpenedCampaign, rule: EarnedRule) -> bool:
    edition = decisions.edition(opened.store)
    with records_of(opened, rule) as records:
        return (
            records.contribution(rule.kind, _contributor(opened)) != edition
            or not records.is_applied(rule, now=opened.clock.now())
            or bool(records.unfinished(rule.name))
        )


def _contributor(opened: OpenedCampaign) -> str:
    """Return the campaign's name, and its store's: another store is other work."""
    return f"{opened.campaign.name}/{store_name(opened.store)}"


def _contribute(run: CampaignRun, records: EarnedRecords, rule: EarnedRule) -> None:
    """Write how this campaign's decided answers came out, if that has changed."""
    campaign, edition = _contributor(run), decisions.edition(run.store)
    if records.contribution(rule.kind, campaign) == edition:
        return
    # Archived answers were written before they were archived.
    answers = run.recent_answers()
    items = run.items_by_id(map(ItemId, answers["item_id"].unique()))
    table = with_ratings(answers, run.campaign.task, items.values())
    outcomes = agreeing(table, read_verdicts(run.store)["verdict"])
    # A person may have undone a decision.
    pairs = {*zip(table["worker_id"], table["item_id"], strict=True)}
    undecided = pairs - {*zip(outcomes["worker_id"], outcomes["item_id"], strict=True)}
    records.contribute(
        rule.kind,
        campaign,
        (
            (
                WorkerId(worker_id),
                ItemOutcome(
                    at=submitted_at.to_pydatetime(),
                    campaign=campaign,
                    item_id=item_id,
                    agrees=agrees,
                ),
            )
            for worker_id, item_id, submitted_at, agrees in zip(
                outcomes["worker_id"],
                outcomes["item_id"],
                outcomes["submitted_at"],
                outcomes["agrees"].tolist(),
                strict=True,
            )
        ),
        undecided=[(WorkerId(worker), item) for worker, item in sorted(undecided)],
        decisions=edition,
    )


def _changes(
    records: EarnedRecords, rule: EarnedRule, run: CampaignRun
) -> Mapping[WorkerId, DueChange]:
    outcomes, holdings = records.outcomes(rule.kind), records.holdings(rule.name)
    open_changes = {
        change.worker_id for change in records.unfinished(rule.name) if change.done_at is None
    }
    due_changes = {
        worker_id: due_change(
            rule,
            outcomes.get(worker_id, ()),
            holdings.get(worker_id, Holding()),
            now=run.clock.now(),
        )
        for worker_id in sorted({*outcomes, *holdings} - open_changes)
    }
    return {worker_id: change for worker_id, change in due_changes.items() if change is not None}


def _finish(
    run: CampaignRun, records: EarnedRecords, rule: EarnedRule, refusals: list[PlatformRefused]
) -> int:
    """Carry out all open changes of a rule; return how many."""
    unfinished, number = records.unfinished(rule.name), 0
    if not unfinished:
        return 0
    type_id = earned_type(run, rule.name)
    try:
        holders = _holders(run, unfinished, type_id)
    except PlatformRefused as refusal:
        refusals.append(refusal)
        return 0
    for change in unfinished:
        try:
            _finish_change(run, records, change, type_id, is_held=change.worker_id in holders)
            number += change.done_at is None
        except PlatformRefused as refusal:
            refusals.append(refusal)
            if refusal.kind == _TYPE_UNKNOWN:
                break
    return number


def _finish_change(
    run: CampaignRun,
    records: EarnedRecords,
    change: RecordedChange,
    type_id: QualificationTypeId,
    *,
    is_held: bool,
) -> None:
    is_grant = change.change == "grant"
    if change.done_at is None:
        if not (change.was_begun and is_held == is_grant):
            records.begin(change, at=run.clock.now())
            _call(run, change, type_id)
        records.close(change, at=run.clock.now())
    if is_grant and change.notified_at is None:
        _notify(run, change)
    records.notified(change, at=run.clock.now())


def _holders(
    run: CampaignRun, unfinished: Sequence[RecordedChange], type_id: QualificationTypeId
) -> set[WorkerId]:
    """Return who holds a qualification, if an earlier call may have changed that."""
    if any(change.was_begun and change.done_at is None for change in unfinished):
        return set(run.platform.excluded(type_id))
    return set()


def _call(run: CampaignRun, change: RecordedChange, type_id: QualificationTypeId) -> None:
    if change.change == "grant":
        run.platform.exclude(change.worker_id, type_id)
    else:
        run.platform.revoke(change.worker_id, type_id, change.because)


def _notify(run: CampaignRun, change: RecordedChange) -> None:
    subject = f"You have the qualification {change.name}"
    if not run.platform.notify(change.worker_id, subject, change.because):
        _LOG.warning(
            "the marketplace cannot deliver the message about a qualification",
            extra={"facts": {"worker": run.pseudonym(change.worker_id)}},
        )
