"""What can be posted: a campaign within its caps, and HITs that a page can show.

The whole campaign is checked before its first HIT is planned or posted. In a campaign
that grows, HITs that are too large for a page are divided, and rows that no page can
show are set aside.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain

from piecework.campaign import caps
from piecework.campaign.dealing import affordable, all_first_rounds, pays_for_first_rounds
from piecework.campaign.opened import CampaignRun
from piecework.campaign.questions import faults_of_page, posted_question
from piecework.domain.campaign import Campaign
from piecework.domain.hit import Item, PlannedHit
from piecework.domain.ids import HitKey, ItemId
from piecework.domain.text import one_line
from piecework.engine.posted_hits import may_be_posted, publish_key
from piecework.store import campaign_facts, hits, intents, source
from piecework.store.campaign_facts import PassNotes
from piecework.store.database import writing

_LOG = logging.getLogger(__name__)


def check_campaign(run: CampaignRun) -> None:
    """Refuse a campaign that its caps or its pages make impossible.

    Raises:
        BudgetExceeded: the campaign without replacements costs more than its caps.
        ConfigError: a page of a requester's own task cannot be rendered.
    """
    notes = campaign_facts.read_notes(run.store)
    _check_caps(run, notes)
    _check_pages(run, notes)


def _check_caps(run: CampaignRun, notes: PassNotes) -> None:
    """Refuse a campaign that costs more than its current caps allow.

    To deal forty thousand items takes a fifth of a second. So this check is repeated
    only when a price or a cap has changed: fees may depend on the day.
    """
    now = run.clock.now()
    digest = caps.digest_of_caps(run.campaign, at=now)
    if notes.caps_digest != digest:
        caps.check_caps(run.campaign, at=now)
        campaign_facts.keep_note(run.store, "caps_digest", digest)


def _check_pages(run: CampaignRun, notes: PassNotes) -> None:
    """Render every page of a requester's own task before the first is posted.

    A template may have an error that only one item triggers. Once HITs are posted, it
    could not be corrected, because the store is bound to the task's files.
    """
    own = run.campaign.task.own
    if own is None or notes.rendered_task_digest == own.digest:
        return
    if run.campaign.growth is not None:
        return  # each row's page is rendered before it is taken in
    items = {item.item_id: item for item in run.campaign.items}
    today = run.clock.now().date()
    for hit in chain(*all_first_rounds(run.campaign, on=today)):
        posted_question(run.campaign, hit, items)
    campaign_facts.keep_note(run.store, "rendered_task_digest", own.digest)


class Pages:
    """Which items fit onto a page together; each page is rendered once.

    Args:
        campaign: the campaign.
        items: the items by id; perhaps with others.
        round_number: the round that is planned.
    """

    def __init__(
        self, campaign: Campaign, items: Mapping[ItemId, Item], *, round_number: int
    ) -> None:
        self._campaign, self._items, self._round = campaign, items, round_number
        self._faults: dict[tuple[ItemId, ...], list[str]] = {}

    def fits(self, item_ids: Sequence[ItemId]) -> bool:
        """Return whether a page can show these items."""
        return not self._faults_of(tuple(item_ids))

    def unusable(self, planned: Sequence[PlannedHit]) -> dict[ItemId, str]:
        """Return why items cannot be shown even alone, of HITs with one item."""
        return {
            hit.item_ids[0]: "; ".join(faults)
            for hit in planned
            if not hit.extends and len(hit.item_ids) == 1
            if (faults := self._faults_of(hit.item_ids))
        }

    def _faults_of(self, item_ids: tuple[ItemId, ...]) -> list[str]:
        if item_ids not in self._faults:
            self._faults[item_ids] = faults_of_page(
                self._campaign, self._items, item_ids, round_number=self._round
            )
        return self._faults[item_ids]


def set_aside(run: CampaignRun, faults: Mapping[ItemId, str]) -> None:
    """Set rows aside that no page can show; part of the caller's transaction."""
    growth = run.campaign.growth
    assert growth is not None  # noqa: S101 - only its rows can be set aside
    source.set_unusable(
        run.store,
        {
            item_id: one_line(f"{growth.source.name}: {item_id!r}: {fault}")
            for item_id, fault in faults.items()
        },
    )


def drop_unshowable(
    run: CampaignRun, planned: Iterable[PlannedHit], begun: Mapping[str, datetime]
) -> frozenset[HitKey]:
    """Drop plans that no page can show; their rows are asked again, or set aside.

    Pages may have changed since the HITs were planned, as with another version.

    Args:
        run: the campaign, which grows.
        planned: HITs that are not posted.
        begun: when calls of earlier passes were begun that have no outcome, by intent.

    Returns:
        HITs that no page can show, but that such a call may have posted.
    """
    dropped, held, faults = [], set[HitKey](), dict[ItemId, str]()
    for hit in planned:
        pages = Pages(run.campaign, run.items_of([hit]), round_number=hit.round)
        if hit.extends or pages.fits(hit.item_ids):
            continue
        if may_be_posted(run, hit, begun):
            held.add(hit.hit_key)
            continue
        dropped.append(hit.hit_key)
        alone = [replace(hit, item_ids=(item_id,)) for item_id in hit.item_ids]
        faults |= pages.unusable(alone)
    if dropped:
        with writing(run.store):
            set_aside(run, faults)
            hits.give_up(run.store, dropped)
    return frozenset(held)


def within_caps(
    run: CampaignRun, planned: Sequence[PlannedHit], begun: Mapping[str, datetime]
) -> Sequence[PlannedHit]:
    """Drop plans for which the caps of campaign and batches pay no more; return the others.

    A cap may have been lowered since they were planned, or a fee raised. The answers are
    missing then as at any cap that was reached, and asked for when it is raised. A campaign
    that has posted nothing is refused instead.

    Args:
        run: the campaign.
        planned: HITs that are not posted.
        begun: when calls of earlier passes were begun that have no outcome, by intent.

    Raises:
        BudgetExceeded: and ConfigError: as `check_campaign`, if any is left.
    """
    notes = campaign_facts.read_notes(run.store)
    is_news = notes.caps_digest != caps.digest_of_caps(run.campaign, at=run.clock.now())
    # Planning kept to caps and prices as they were.
    if (is_news or begun) and hits.ids(run.store):
        planned = _drop_beyond_caps(run, planned, begun)
    if planned:
        _check_caps(run, notes)
        _check_pages(run, notes)
    return planned


def _drop_beyond_caps(
    run: CampaignRun, planned: Sequence[PlannedHit], begun: Mapping[str, datetime]
) -> Sequence[PlannedHit]:
    campaign, payable = run.campaign, list(planned)
    today = run.clock.now().date()
    if campaign.growth is None and not pays_for_first_rounds(campaign, on=today):
        payable = []  # nothing is planned either
    for batch in dict.fromkeys(hit.batch for hit in payable):
        room = caps.left(run, batch)
        payable = affordable(payable, left_cents=room.campaign)
        of_batch = {
            hit.hit_key
            for hit in caps.payable([hit for hit in payable if hit.batch == batch], room.batch)
        }
        payable = [hit for hit in payable if hit.batch != batch or hit.hit_key in of_batch]
    kept = {hit.hit_key for hit in payable}
    beyond = {
        hit.hit_key: hit
        for hit in planned
        if hit.hit_key not in kept and not may_be_posted(run, hit, begun)
    }
    if not beyond:
        return planned
    _LOG.warning("a cap does not pay for planned HITs, which are dropped: %s", len(beyond))
    with writing(run.store):
        for hit in beyond.values():
            intents.withdraw(run.store, publish_key(hit))
        hits.give_up(run.store, [*beyond])
    return [hit for hit in planned if hit.hit_key not in beyond]
