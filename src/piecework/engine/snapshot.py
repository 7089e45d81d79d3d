"""Where a campaign stands, as the counts and moments that the planner needs.

Each is one question to the store, at a cost that hangs on what is open, not on what
has been.
"""

from datetime import datetime

from piecework.campaign import caps
from piecework.campaign.opened import CampaignStore
from piecework.domain.ids import AssignmentId
from piecework.engine.planning.deadlines import decision_deadline, due_since
from piecework.engine.planning.next_action import BatchState, Snapshot
from piecework.engine.polling import OPEN_HITS
from piecework.engine.stopping import is_winding_down
from piecework.payments.interrupted_payments import has_interrupted_payments
from piecework.store import assignments, decisions, hits, item_totals, ledger, stops
from piecework.store.hits import HitCounts


def take_snapshot(campaign_store: CampaignStore) -> Snapshot:
    """What is open now."""
    store, campaign = campaign_store.store, campaign_store.campaign
    counts = hits.count_by_batch(store)
    unposted = hits.unposted(store)
    stopped = stops.stopped_at(store) is not None
    return Snapshot(
        batch=hits.batch_at_work(store),
        batches=_batches(campaign_store, counts),
        open_hits=sum(batch.open for batch in counts),
        unposted=len(unposted),
        payable_now=bool(caps.payable_today(campaign_store, unposted)),
        decidable=len(decidable(campaign_store)),
        undecided=assignments.has_undecided(store),
        proposals=count_proposals(campaign_store),
        # What was imported was settled where it was collected.
        unsettled=0 if campaign_store.is_imported else decisions.count_unsettled(store),
        interrupted_payments=has_interrupted_payments(store),
        stopped=stopped,
        winding_down=stopped and is_winding_down(store),
        left_cents=campaign.rewards.cap_cents - ledger.taken_cents(store),
        most_rounds=campaign.posting.rounds + stops.undone(store),
        due_at=_due_at(campaign_store),
        next_day=caps.next_day(campaign_store),
        # Of what was imported nothing is asked again.
        unweighed=0
        if campaign_store.is_imported
        else len(item_totals.to_weigh(store, campaign.posting)),
    )


def due_for_decision(campaign_store: CampaignStore) -> frozenset[AssignmentId]:
    """Undecided assignments of which the decision cannot wait, or need not."""
    store, campaign = campaign_store.store, campaign_store.campaign
    if is_batch_collected(campaign_store):
        return assignments.undecided(store)
    latest = due_since(campaign.posting, campaign_store.clock.now())
    return assignments.undecided(store, submitted_before=latest)


def decidable(campaign_store: CampaignStore) -> frozenset[AssignmentId]:
    """Those of them that do not wait for a person."""
    due = due_for_decision(campaign_store)
    if campaign_store.campaign.decided_by == "person":
        return due - decisions.proposed_assignments(campaign_store.store)
    return due


def count_proposals(campaign_store: CampaignStore) -> int:
    """How many subjects a person has to look at; none where the policy decides."""
    if campaign_store.campaign.decided_by == "policy":
        return 0
    return decisions.count_proposals(campaign_store.store)


def is_batch_collected(campaign_store: CampaignStore) -> bool:
    """Whether all answers of the batch at work are here."""
    store = campaign_store.store
    at_work = hits.batch_at_work(store)
    return any(
        counts.is_collected
        for counts in hits.count_by_batch(store)
        if counts.batch == at_work
    )


def next_poll_of_open_hits(campaign_store: CampaignStore) -> datetime | None:
    """When open HITs are next asked for what they have got; `None` if none is open."""
    longest_ago = hits.next_poll_base(campaign_store.store)
    return None if longest_ago is None else longest_ago + OPEN_HITS


def _batches(
    campaign_store: CampaignStore, counts: list[HitCounts]
) -> dict[int, BatchState]:
    store, campaign = campaign_store.store, campaign_store.campaign
    lacks = item_totals.batches_lacking(
        store, campaign.posting, crowd=campaign.crowd_size
    )
    nothing = item_totals.Lacks(answers=0, least=0)
    cap = campaign.rewards.batch_budget_cents
    return {
        batch.batch: BatchState(
            last_round=batch.last_round,
            is_collected=batch.is_collected,
            lacking=lacks.get(batch.batch, nothing).answers,
            least_lacking=lacks.get(batch.batch, nothing).least,
            out_of_reach=lacks.get(batch.batch, nothing).out_of_reach,
            unsure=lacks.get(batch.batch, nothing).unsure,
            left_cents=None
            if cap is None
            else cap - ledger.taken_by_batch_cents(store, batch.batch),
        )
        for batch in counts
    }


def _due_at(campaign_store: CampaignStore) -> datetime | None:
    moments = [next_poll_of_open_hits(campaign_store), _next_deadline(campaign_store)]
    return min((moment for moment in moments if moment), default=None)


def _next_deadline(campaign_store: CampaignStore) -> datetime | None:
    """When the next assignment of an open batch is to be judged, if nothing happens."""
    if is_batch_collected(campaign_store):
        return None
    posting = campaign_store.campaign.posting
    submitted_at = assignments.next_submission_after(
        campaign_store.store, due_since(posting, campaign_store.clock.now())
    )
    return None if submitted_at is None else decision_deadline(posting, submitted_at)
