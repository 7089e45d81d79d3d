"""Plan the next HITs: a batch's first ones, or those that replace dropped answers."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import floor

from piecework.campaign.dealing import (
    Limits,
    affordable,
    deal,
    deal_batch,
    first_round,
    replacements,
)
from piecework.campaign.market_shares import hit_cost_cents
from piecework.campaign.opened import CampaignRun
from piecework.domain.campaign import Campaign
from piecework.domain.growing import MOST_IN_BATCH
from piecework.domain.hit import PlannedHit
from piecework.domain.ids import ItemId
from piecework.engine.checks import Pages, check_campaign, set_aside
from piecework.engine.next_action import NextPosting, next_posting
from piecework.engine.posted_hits import first_hits, with_markets
from piecework.engine.requirements import extendable
from piecework.engine.snapshot import Reader, Step
from piecework.store import assignments, dealt_items, hits, item_totals
from piecework.store.database import Store, writing
from piecework.store.dealt_items import DealtItems


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """What to plan.

    Attributes:
        begins: no batch was begun yet, and the caps have to be checked first.
        posting: the HITs to plan.
    """

    begins: bool = False
    posting: NextPosting | None = None

    def __bool__(self) -> bool:
        return self.begins or self.posting is not None


def due(reader: Reader) -> Due:
    """Return the HITs to plan; none while earlier work is open."""
    snapshot, opened = reader.snapshot(), reader.opened
    if snapshot.stopped:
        return Due()
    return Due(
        begins=not snapshot.batches and snapshot.growing is None,
        posting=next_posting(snapshot, opened.campaign, today=opened.clock.now().date()),
    )


def act(run: CampaignRun, due: Due) -> int:
    """Record which HITs come next; return how many.

    Raises:
        BudgetExceeded: the campaign without replacements costs more than its caps.
        ConfigError: a page of a requester's own task cannot be rendered.
    """
    check_campaign(run)
    if due.posting is None:
        return 0
    if run.campaign.growth is not None:
        return len(_planned_of_rows(run, due.posting))
    planned = _planned(run, due.posting)
    hits.plan(run.store, planned)
    return len(planned)


plan = Step("plan", due, act)


def _planned_of_rows(run: CampaignRun, posting: NextPosting) -> list[PlannedHit]:
    """Plan HITs of a campaign that grows; deal rows in the same transaction."""
    dealt = DealtItems(run.store)
    if posting.round:
        items = dealt.of_batch(posting.batch)
        campaign = replace(run.campaign, items=items)
        ids = [item.item_id for item in items]
        planned = affordable(
            _replacements(run, posting, ids, campaign), left_cents=posting.room_cents
        )
        hits.plan(run.store, planned)
        return planned
    # Rendering takes long, so it does not keep the store's other writers waiting.
    planned, unusable = _first_of_rows(run, posting)
    with writing(run.store):
        set_aside(run, unusable)
        hits.plan(run.store, planned)
        dealt_items.deal(
            run.store,
            [item_id for hit in planned for item_id in hit.item_ids],
            batch=posting.batch,
            at=run.clock.now(),
        )
    return planned


def _first_of_rows(
    run: CampaignRun, posting: NextPosting
) -> tuple[list[PlannedHit], dict[ItemId, str]]:
    """Return the HITs of a new batch: of the rows that wait longest, with gold.

    Rows that no page can show are in none of them, and are returned with the reason.
    """
    campaign, today = run.campaign, run.clock.now().date()
    each = hit_cost_cents(campaign, campaign.posting.assignments, on=today)
    payable = posting.room_cents // each * campaign.posting.items_per_hit
    most = max(1, min(MOST_IN_BATCH, floor(payable * (1 - campaign.gold_share))))
    rows = dealt_items.next_waiting(run.store, most)
    share = campaign.gold_share
    wanted = round(share * len(rows) / (1 - share)) if share else 0
    gold = dealt_items.next_waiting(run.store, wanted, gold=True)
    items = {item.item_id: item for item in (*rows, *gold)}
    pages = Pages(campaign, items, round_number=0)
    planned = first_round(
        replace(campaign, items=tuple(items.values())),
        posting.batch,
        deal_batch(campaign, posting.batch, rows, gold),
        on=today,
        excluded=len(item_totals.excluded(run.store)),
        fits=pages.fits,
    )
    unusable = pages.unusable(planned)
    usable = [hit for hit in planned if hit.item_ids[0] not in unusable]
    planned = affordable(with_markets(run, usable), left_cents=posting.room_cents)
    return planned, unusable


def _planned(run: CampaignRun, posting: NextPosting) -> list[PlannedHit]:
    """Return the HITs of a posting, as far as there is money for them."""
    item_ids = deal(run.campaign)[posting.batch - 1]
    if posting.round == 0:
        planned = first_hits(run, posting.batch, item_ids)
    else:
        planned = _replacements(run, posting, item_ids, run.campaign)
    return affordable(planned, left_cents=posting.room_cents)


def _replacements(
    run: CampaignRun, posting: NextPosting, item_ids: list[ItemId], campaign: Campaign
) -> list[PlannedHit]:
    wanted, crowd = run.campaign.posting, run.campaign.crowd_size
    lacking = item_totals.lacking(run.store, posting.batch, wanted, crowd=crowd)
    today, more = run.clock.now().date(), extendable(run, posting.batch)
    # In the order in which the batch was dealt.
    missing = {item_id: lacking[item_id] for item_id in item_ids if item_id in lacking}
    pages = Pages(run.campaign, run.items_by_id(missing), round_number=posting.round)
    limits = Limits(keeps_apart=run.platform.keeps_apart(), fits=pages.fits)
    if crowd is not None:
        limits = replace(limits, free=partial(count_free, run.store, crowd))

    def again(missing: Mapping[ItemId, int]) -> list[PlannedHit]:
        planned = replacements(
            campaign,
            posting.batch,
            posting.round,
            missing,
            on=today,
            extendable=more,
            limits=limits,
        )
        return with_markets(run, planned)

    return _within_item_budget(run, posting.batch, missing, again)


def _within_item_budget(
    run: CampaignRun,
    batch: int,
    missing: dict[ItemId, int],
    again: Callable[[Mapping[ItemId, int]], list[PlannedHit]],
) -> list[PlannedHit]:
    """Return HITs for what is missing; items that would cost too much are closed."""
    cap, planned = run.campaign.rewards.item_budget_cents, again(missing)
    if cap is None:
        return planned
    spent, closed = item_totals.spent_by_item(run.store, batch), set[ItemId]()
    # Without an item, the others of its HIT share its cost again.
    while beyond := _beyond(cap, planned, spent):
        closed |= beyond
        planned = again({name: count for name, count in missing.items() if name not in closed})
    item_totals.close_beyond_budget(run.store, closed)
    return planned


def _beyond(
    cap_cents: int, planned: Sequence[PlannedHit], spent: Mapping[ItemId, float]
) -> set[ItemId]:
    """Return items that would cost more than the cap with all these HITs together."""
    shares: defaultdict[ItemId, float] = defaultdict(float)
    for hit in planned:
        for item_id in hit.item_ids:
            shares[item_id] += hit.cost_cents / len(hit.item_ids)
    # Thirds of a cent add up to a little more than the whole.
    return {
        item_id
        for item_id, cents in shares.items()
        if round(spent.get(item_id, 0) + cents, 6) > cap_cents
    }


def count_free(store: Store, crowd: int, item_ids: Sequence[ItemId]) -> int:
    """Count workers of a crowd who may work and have answered none of these items."""
    answered = assignments.workers_of_items(store, item_ids)
    return crowd - len({*answered, *item_totals.excluded(store)})
