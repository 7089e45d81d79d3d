"""What has been done, what it cost, and who waits for whom; for people and programs."""

from collections.abc import Container

from domain.hit import PlannedHit
from domain.ids import AnswerId, AssignmentId, ItemId
from domain.progress import Progress, Waiting
from domain.verdicts import Decision
from flows.steps import caps
from flows.steps.collect import next_harvest
from flows.steps.decide import waiting_for_people
from flows.steps.launch import most_rounds, next_hits
from flows.steps.left_open import has_left_open
from flows.steps.ripeness import next_ripening, ripe
from flows.steps.state import State, counted, missing, read_state
from flows.steps.stop import BY_A_PERSON, is_stopped, is_winding_down
from flows.workplace import Workplace
from store import judgements, ledger

_DAY = "rewards.day_budget_usd"


def progress(place: Workplace) -> Progress:
    """Where the campaign stands; asks nobody but the store."""
    state, campaign = read_state(place), place.campaign
    wanted = campaign.posting.assignments
    counting, surplus = counted(state, wanted)
    lacking = missing(state, [item.item_id for item in campaign.items], wanted)
    verdicts = [state.what_became_of(one) for one in state.decisions.values()]
    money = ledger.balances(place.store)
    for_people = waiting_for_people(place, state)
    waiting_for = _waiting_for(place, state, for_people)
    put_off = bool(_unposted(state)) and waiting_for != "the next pass"
    return Progress(
        campaign=campaign.name,
        is_rehearsal=place.is_rehearsal,
        items=len(campaign.items),
        batch=max((hit.batch for hit in state.hits), default=0),
        batches=campaign.posting.batches,
        hits_posted=sum(hit.hit_id is not None for hit in state.hits),
        hits_open=sum(not hit.collected_at for hit in state.hits if hit.hit_id),
        replaced=sum(hit.round > 0 for hit in state.hits if hit.hit_id),
        submitted=len(state.assignments),
        answers=len(state.answers),
        flagged=len(
            {
                (finding.subject_kind, finding.subject_id)
                for finding in judgements.findings(place.store)
                if finding.flag
            }
        ),
        accepted=len(counting),
        dropped=verdicts.count("drop"),
        surplus=len(surplus),
        missing=sum(lacking.values()),
        rejected=verdicts.count("reject"),
        excluded=verdicts.count("exclude") + verdicts.count("block"),
        to_decide=len(for_people),
        rewards_cents=money["rewards"],
        bonuses_cents=money["bonuses"],
        fees_cents=money["fees"],
        held_cents=money["held"],
        budget_cents=campaign.rewards.cap_cents,
        waiting_for=waiting_for,
        cap_reached=waiting_for == "nobody" and bool(lacking) and not is_stopped(place),
        stopped_by=_DAY if put_off else _stopped_by(place, state, lacking, waiting_for),
        goes_on_at=caps.next_day(place).isoformat() if put_off else "",
        due_at=_due_at(place, state) if waiting_for == "workers" else "",
    )


def _due_at(place: Workplace, state: State) -> str:
    moments = [next_harvest(place), next_ripening(place, state)]
    due = min((moment for moment in moments if moment), default=None)
    return due.isoformat() if due else ""


def _waiting_for(place: Workplace, state: State, for_people: list[Decision]) -> Waiting:
    unposted = [] if is_stopped(place) else _unposted(state)
    is_ending = is_stopped(place) and is_winding_down(place)
    # Of open HITs too: an assignment that was decided, or is to be before the platform
    # does it, or HITs that a pass died before posting, do not wait for workers.
    if (
        is_ending
        or state.unsettled()
        or _may_be_judged(place, state, for_people)
        or caps.payable_today(place, unposted)
    ):
        return "the next pass"
    if any(hit.hit_id and not hit.collected_at for hit in state.hits):
        return "workers"
    if unposted:
        return "the next day"
    if for_people:
        return "people"
    is_begun = bool(state.hits) or is_stopped(place)
    if is_begun and not _has_due(place, state):
        return "nobody"
    return "the next pass"


def _may_be_judged(place: Workplace, state: State, for_people: list[Decision]) -> bool:
    """Whether something can be decided now without a person."""
    held = {
        state.answers[AnswerId(one.subject_id)].assignment_id
        if one.subject_kind == "answer"
        else AssignmentId(one.subject_id)
        for one in for_people
        if one.subject_kind != "worker"
    }
    return not ripe(place, state) <= held


def _unposted(state: State) -> list[PlannedHit]:
    return [hit for hit in state.hits if hit.hit_id is None]


def _stopped_by(
    place: Workplace, state: State, lacking: Container[ItemId], waiting_for: Waiting
) -> str:
    """What ended a campaign that still misses answers, as the campaign file's key."""
    if is_stopped(place):
        return BY_A_PERSON
    batches = {
        hit.batch
        for hit in state.hits
        if any(item_id in lacking for item_id in hit.item_ids)
    }
    if waiting_for != "nobody" or not batches:
        return ""
    most = most_rounds(place)
    again = [
        batch
        for batch in sorted(batches)
        if max(hit.round for hit in state.hits_of(batch)) < most
    ]
    if not again:
        return "posting.max_rounds"
    room = caps.left(place, again[0])
    if room.batch is not None and room.batch < room.campaign:
        return "rewards.batch_budget_usd"
    return place.campaign.rewards.cap_name


def _has_due(place: Workplace, state: State) -> bool:
    return bool(
        state.has_undecided()
        or state.unsettled()
        or has_left_open(place)
        or next_hits(place, state)
    )
