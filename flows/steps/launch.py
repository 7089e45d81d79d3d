"""Post what comes next, each HIT through an intent, never past a cap."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from itertools import chain, takewhile

from domain.campaign import Campaign
from domain.errors import PlatformRefused
from domain.hit import HitType, Item, PlannedHit, QualificationRequirement
from domain.ids import HitId, HitTypeId, ItemId, QualificationTypeId
from flows.steps import caps, qualifying
from flows.steps.decide import waiting_for_people
from flows.steps.planning import (
    affordable,
    deal,
    first_round,
    replacements,
)
from flows.steps.posted import (
    OPERATION,
    annotation,
    publish_key,
    recording,
    refuse_posted_elsewhere,
    take_in,
)
from flows.steps.state import State, missing, read_state
from flows.steps.stop import is_stopped, wind_down
from flows.workplace import Workplace
from hit_templates.render import render_hit
from platforms.question import html_question
from store import hits, stops
from store.acting import carry_out
from store.database import about, fix
from store.intents import Act, Intent


def launch(place: Workplace) -> int:
    """Plan what is due and post every planned HIT; how many were posted.

    Of a stopped campaign nothing is posted, and what is live is expired.

    Raises:
        BudgetExceeded: the plain campaign costs more than its caps allow.
    """
    items = {item.item_id: item for item in place.campaign.items}
    if is_stopped(place):
        wind_down(place)
        return 0
    # What is there, is there, whatever the caps say now.
    known = take_in(place)
    caps.check_caps(place.campaign, at=place.clock.now())
    due = next_hits(place, read_state(place))
    if due:
        hits.plan(place.store, due)
    # What today's cap does not allow stays planned until tomorrow.
    unposted = caps.payable_today(place, hits.unposted(place.store))
    if not unposted:
        return 0
    refuse_posted_elsewhere(place, unposted)
    # Asked for beforehand: no call is made while the store is being written.
    types = {
        cents: _hit_type(place, cents)
        for cents in sorted({hit.reward_cents for hit in unposted})
    }
    acts = (
        _publish(place, hit, types[hit.reward_cents], items, known)
        # A person may stop the campaign while it posts.
        for hit in takewhile(lambda _: not is_stopped(place), unposted)
    )
    try:
        # What is refused to one HIT (money, a title) is refused to the next.
        carry_out(
            place.store,
            acts,
            clock=place.clock,
            at_once=place.at_once,
            stop_at_refusal=True,
        )
    except PlatformRefused as refusal:
        if refusal.kind != "hit_type_unknown":
            raise
        raise _cannot_be_posted(place, refusal) from refusal
    return len(unposted)


def _cannot_be_posted(place: Workplace, refusal: PlatformRefused) -> PlatformRefused:
    return PlatformRefused(
        f"{refusal}: somebody deleted it, or a qualification type that it requires "
        f"({place.campaign.exclusion_name!r}), and this campaign can post no more HITs",
        code=refusal.code,
        kind=refusal.kind,
        next_step=f"piecework stop {place.campaign.path}: later passes pay for what "
        "came; then begin a campaign of another name for what is missing",
    )


def next_hits(place: Workplace, state: State) -> list[PlannedHit]:
    """What should be planned now; nothing while earlier work is open, or at the end.

    First what the batch at work misses, then the next batch, and when all are posted,
    what any batch still misses. Money for batches to come is not spent on replacements:
    an item with four answers is worth more than one with none.
    """
    campaign = place.campaign
    if is_stopped(place) or (state.batch and not _is_settled(place, state)):
        return []
    today = place.clock.now().date()
    begun = {hit.batch for hit in state.hits}
    batches = dict(enumerate(deal(campaign), start=1))
    to_come = [
        first_round(campaign, batch, item_ids, on=today)
        for batch, item_ids in batches.items()
        if batch not in begun
    ]
    reserved = sum(hit.cost_cents for fresh in to_come for hit in fresh)
    lacking = missing(state, chain(*batches.values()), campaign.posting.assignments)

    def again(batch: int) -> list[PlannedHit]:
        rounds = max(hit.round for hit in state.hits_of(batch))
        if rounds >= most_rounds(place):
            return []
        mine = {one: lacking[one] for one in batches[batch] if one in lacking}
        return replacements(campaign, batch, rounds + 1, mine, on=today)

    if state.batch:
        room = caps.left(place, state.batch).for_batch(reserved_cents=reserved)
        if chosen := affordable(again(state.batch), left_cents=room):
            return chosen
    choices = to_come[:1] if to_come else [again(batch) for batch in sorted(begun)]
    for choice in filter(None, choices):
        room = caps.left(place, choice[0].batch).for_batch()
        if chosen := affordable(choice, left_cents=room):
            return chosen
    return []


def most_rounds(place: Workplace) -> int:
    """How often a batch may be posted again; going on after a stop grants one more."""
    return place.campaign.posting.max_rounds + stops.undone(place.store)


def exclusion(place: Workplace) -> QualificationTypeId:
    """The qualification type that keeps workers out of this campaign's HITs."""
    if (known := about(place.store, "exclusion")) is not None:
        return QualificationTypeId(known)
    found = place.platform.exclusion(
        place.campaign.exclusion_name,
        "Held by workers whom the requester does not ask again for this kind of HIT.",
    )
    fix(place.store, "exclusion", found)
    return found


def question(campaign: Campaign, hit: PlannedHit, items: dict[ItemId, Item]) -> str:
    """The question document of a HIT: the rendered page in MTurk's envelope."""
    page = render_hit(
        campaign.task,
        [_with_page_url(items[item_id]) for item_id in hit.item_ids],
        practice=[_with_page_url(item) for item in campaign.practice],
        title=campaign.title,
        round_number=hit.round,
    )
    return html_question(page)


def _is_settled(place: Workplace, state: State) -> bool:
    return (
        state.is_collected(state.batch)
        and not state.has_undecided()
        and not state.unsettled()
        and not waiting_for_people(place, state)
    )


def _hit_type(place: Workplace, reward_cents: int) -> HitTypeId:
    campaign = place.campaign
    hit_type = HitType(
        title=campaign.title,
        description=campaign.hit_description,
        keywords=campaign.keywords,
        reward_cents=reward_cents,
        assignment_duration_seconds=campaign.posting.assignment_duration_seconds,
        auto_approval_delay_seconds=campaign.posting.auto_approval_delay_seconds,
        requirements=(
            *campaign.requirements,
            *qualifying.requirements(place),
            QualificationRequirement(
                qualification_type_id=exclusion(place), comparator="DoesNotExist"
            ),
        ),
    )
    values = json.dumps(asdict(hit_type), sort_keys=True)
    key = f"hit type {hashlib.sha256(values.encode()).hexdigest()[:16]}"
    if (known := about(place.store, key)) is not None:
        return HitTypeId(known)
    found = place.platform.hit_type(hit_type)
    fix(place.store, key, found)
    return found


def _publish(
    place: Workplace,
    hit: PlannedHit,
    hit_type_id: HitTypeId,
    items: dict[ItemId, Item],
    known: Mapping[str, HitId],
) -> Act:
    campaign, named = place.campaign, annotation(place, hit)
    intent = Intent(
        key=publish_key(hit),
        operation=OPERATION,
        arguments={"hit_type_id": hit_type_id, "annotation": named},
        amount_cents=hit.cost_cents,
    )
    caps.refuse_beyond(place, intent, batch=hit.batch)
    token = intent.token(place.store)

    def do() -> str:
        return place.platform.publish(
            hit_type_id,
            question(campaign, hit, items),
            max_assignments=hit.max_assignments,
            lifetime_seconds=campaign.posting.lifetime_seconds,
            annotation=named,
            token=token,
        )

    return Act(
        intent=intent,
        do=do,
        # Taken in if it was there: what is open still was looked for a moment ago.
        look=lambda: known.get(named),
        record=recording(place, hit),
    )


def _with_page_url(item: Item) -> Item:
    """Pictures that the marketplace serves have a path of its own on the page."""
    url = item.columns.get("url", "")
    if not url or url.startswith(("http://", "https://", "/")):
        return item
    return Item(
        item_id=item.item_id, columns={**item.columns, "url": f"/pictures/{url}"}
    )
