"""Post planned HITs and slots through intents, never beyond a cap."""

import hashlib
import json
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from itertools import takewhile
from typing import NamedTuple

from piecework.campaign import caps, shown_media
from piecework.campaign.dealing import as_new_hits
from piecework.campaign.opened import CampaignRun
from piecework.campaign.questions import posted_question
from piecework.domain.campaign import Campaign
from piecework.domain.crowds import crowd_type
from piecework.domain.errors import ConfigError, PlatformRefused
from piecework.domain.hit import (
    PROLIFIC,
    HitType,
    Item,
    PlannedHit,
    QualificationRequirement,
    WorkerLimit,
)
from piecework.domain.ids import HitId, HitKey, HitTypeId, ItemId, QualificationTypeId
from piecework.domain.text import shell_word
from piecework.engine import requirements
from piecework.engine.checks import drop_unshowable, within_caps
from piecework.engine.posted_hits import (
    PUBLISH,
    annotation,
    extended,
    keep_refused,
    may_be_posted,
    post_until_refused,
    publish_key,
    record_cut_off,
    recording,
    refuse_posted_elsewhere,
    slots_there,
    slots_wanted,
)
from piecework.engine.requirements import apart_from, extending, keep_out
from piecework.engine.snapshot import Reader, Step
from piecework.store import campaign_facts, hits, intents
from piecework.store.campaign_facts import kept_prices
from piecework.store.database import writing
from piecework.store.intents import Act, Intent

_LOG = logging.getLogger(__name__)


def due(reader: Reader) -> Sequence[PlannedHit]:
    """Return the HITs that are planned and not posted."""
    store = reader.opened.store
    unposted = hits.unposted(store)
    return unposted if unposted and campaign_facts.stopped_at(store) is None else ()


def act(run: CampaignRun, planned: Sequence[PlannedHit]) -> int:
    """Post what is planned, as far as today's cap allows; return how many HITs.

    Raises:
        BudgetExceeded: the campaign without replacements costs more than its caps.
        ConfigError: a page of a requester's own task cannot be rendered.
        PlatformRefused: HITs were refused, and no other market has any.
        RefusedForSafety: real people would not see a picture.
    """
    # Record HITs already posted before checking the caps.
    begun, held = intents.begun(run.store, PUBLISH), frozenset[HitKey]()
    if begun:
        record_cut_off(run)
        begun = intents.begun(run.store, PUBLISH)
        held = _held(run, begun)
        planned = hits.unposted(run.store)
    # A HIT type that requires a deleted qualification type is refused.
    excluding = requirements.exclusion_types_left(run)
    seen = _Seen(begun, intents.store_name(run.store), excluding)
    planned = _renewed(run, planned, seen.begun)
    planned = _priced_anew(run, planned, seen.begun)
    unposted = before = within_caps(run, planned, seen.begun)
    _try_pictures(run, unposted)
    refused = dict[str, PlatformRefused]()
    while due := _payable(run, unposted, refused, held):
        known_refusals = len(refused)
        for market, of_market in _by_market(due).items():
            try:
                _post_showable(run, of_market, seen)
            except PlatformRefused as refusal:
                if run.campaign.crowds is None:
                    raise
                refused[market] = refusal
        # A refusal frees the allowance of the day for HITs of the other markets.
        if len(refused) == known_refusals:
            break
        unposted = hits.unposted(run.store)
    # The snapshot looks at refusals only of a campaign on several markets.
    if run.campaign.crowds is not None:
        keep_refused(run, refused)
    return hits.count_posted(run.store, [hit.hit_key for hit in before])


launch = Step("launch", due, act)


def _try_pictures(run: CampaignRun, planned: Sequence[PlannedHit]) -> None:
    """Try a sample of the pictures that planned HITs show to real people.

    Raises:
        RefusedForSafety: workers would not see one of them.
    """
    if not run.is_live:
        return
    shown = run.items_of(planned)
    ids = dict.fromkeys(item_id for hit in planned for item_id in hit.item_ids)
    items = [shown[item_id] for item_id in ids if item_id in shown]
    for sentence in shown_media.refuse_unseen(run.campaign, items, run.platform):
        _LOG.warning("a picture could not be tried from here: %s", sentence)
    for sentence in shown_media.warnings_of_ends(run.campaign, items, run.clock.now()):
        _LOG.warning("%s", sentence)


class _Seen(NamedTuple):
    """What was looked up before the first call.

    Attributes:
        begun: when calls without an outcome were begun, by intent.
        name: the store's name.
        excluding: the types that excluded workers hold, the current one first.
    """

    begun: Mapping[str, datetime]
    name: str
    excluding: tuple[QualificationTypeId, ...]


def _held(run: CampaignRun, begun: Mapping[str, datetime]) -> frozenset[HitKey]:
    """Drop HITs that could not be shown to be posted; return those that may be."""
    if run.campaign.growth is None:
        return frozenset()
    cut_off = [hit for hit in hits.unposted(run.store) if publish_key(hit) in begun]
    return drop_unshowable(run, cut_off, begun)


def _renewed(
    run: CampaignRun, planned: Sequence[PlannedHit], begun: Mapping[str, datetime]
) -> Sequence[PlannedHit]:
    """Return planned HITs, with new ones for slots of HITs that may get none any more.

    A cap of a day or month may have put the slots off until their HIT is old, or the HIT
    keeps excluded workers out no longer. The new HITs are of the same round, so that it
    does not count as another one.
    """
    batches = {hit.batch for hit in planned if hit.extends}
    young = {hit.hit_key for batch in batches for hit in requirements.extendable(run, batch)}
    old = [
        hit
        for hit in planned
        if hit.extends
        and hit.extends not in young
        # The slots of a call that was cut off just now may still come.
        and not may_be_posted(run, hit, begun)
        # A newer copy of the store may have added them.
        and slots_there(run, hit) is None
    ]
    if not old:
        return planned
    keys = [hit.hit_key for hit in hits.load_hits(run.store)]
    new = as_new_hits(run.campaign, old, keys)
    with writing(run.store):
        for hit in old:
            # Since `record_cut_off` kept it, a call may have become too old to come.
            intents.withdraw(run.store, publish_key(hit))
        hits.give_up(run.store, [hit.hit_key for hit in old])
        hits.plan(run.store, new)
    return hits.unposted(run.store)


def _payable(
    run: CampaignRun,
    unposted: Sequence[PlannedHit],
    refused: Mapping[str, PlatformRefused],
    held: Collection[HitKey],
) -> list[PlannedHit]:
    """Return what to post now: what today's cap does not allow waits until tomorrow."""
    due = [hit for hit in unposted if hit.market not in refused and hit.hit_key not in held]
    return caps.payable(due, caps.left_today(run))


def _post_showable(run: CampaignRun, unposted: Sequence[PlannedHit], seen: _Seen) -> None:
    """Post HITs of one market; drop those of rows that no page can show.

    Raises:
        ConfigError: a page of a campaign with fixed items cannot be rendered.
        PlatformRefused: as `_post`.
    """
    while unposted:
        try:
            _post(run, unposted, seen)
        except ConfigError:
            if run.campaign.growth is None:
                raise
            # No call was made for a page that could not be rendered.
            drop_unshowable(run, unposted, {})
            left = {hit.hit_key for hit in hits.unposted(run.store)}
            others = [hit for hit in unposted if hit.hit_key in left]
            if len(others) == len(unposted):
                raise
            unposted = others
        else:
            return


def _by_market(planned: Sequence[PlannedHit]) -> dict[str, list[PlannedHit]]:
    markets: dict[str, list[PlannedHit]] = {}
    for hit in planned:
        markets.setdefault(hit.market, []).append(hit)
    return markets


def _post(run: CampaignRun, unposted: Sequence[PlannedHit], seen: _Seen) -> None:
    """Post HITs of one market.

    Raises:
        PlatformRefused: the marketplace refused one; no further one was begun.
    """
    slots = refuse_posted_elsewhere(run, unposted, seen.begun, seen.name)
    # Created beforehand: no call is made while the store is written.
    kept_out = {hit.hit_key: keep_out(run, hit) for hit in unposted}
    of_workers = (
        *requirements.requirements_of_test(run),
        *requirements.requirements_of_earlier_work(run),
        *requirements.requirements_of_earned(run),
    )
    types = {
        key: _hit_type(run, key, of_workers, seen.excluding)
        for key in dict.fromkeys(_shared(hit, kept_out, run.campaign) for hit in unposted)
    }
    items_by_id = run.items_of(unposted)
    acts = (
        _extend(run, hit, slots, seen.name)
        if hit.extends
        else _publish(run, hit, types[_shared(hit, kept_out, run.campaign)], items_by_id, seen)
        # A person may stop the campaign while it posts.
        for hit in takewhile(lambda _: campaign_facts.stopped_at(run.store) is None, unposted)
    )
    try:
        # A reason to refuse one HIT (money, a title) holds for the next, too.
        post_until_refused(run, acts)
    except PlatformRefused as refusal:
        if refusal.kind != "hit_type_unknown":
            raise
        raise _cannot_be_posted(run, refusal) from refusal


class _Terms(NamedTuple):
    """What makes two HITs of a campaign be of different types.

    Attributes:
        reward_cents: the reward.
        market: the market whose workers alone may do the HITs; "" for no such limit.
        kept_out: the qualification that workers must lack, besides the campaign's own.
        limits: how many HITs one worker may do.
    """

    reward_cents: int
    market: str
    kept_out: QualificationTypeId | None
    limits: tuple[WorkerLimit, ...]


def _shared(
    hit: PlannedHit, kept_out: Mapping[HitKey, QualificationTypeId | None], campaign: Campaign
) -> _Terms:
    return _Terms(
        reward_cents=hit.reward_cents,
        market=hit.market,
        kept_out=kept_out[hit.hit_key],
        limits=_limits(campaign, hit.batch),
    )


def _limits(campaign: Campaign, batch: int) -> tuple[WorkerLimit, ...]:
    """Return how many HITs one worker may do, in the campaign and in the batch.

    The campaign is always named, so that a limit that is added later counts all its HITs.
    """
    limits = [WorkerLimit(name=campaign.name, most=campaign.most_per_worker)]
    if campaign.most_in_batch is not None:
        limits.append(
            WorkerLimit(
                name=f"{campaign.name}, batch {batch}",
                most=campaign.most_in_batch,
                is_of_batch=True,
            )
        )
    return tuple(limits)


def _priced_anew(
    run: CampaignRun, planned: Sequence[PlannedHit], begun: Mapping[str, datetime]
) -> Sequence[PlannedHit]:
    """Return planned HITs with the fees that the marketplace charges now, and store these.

    This applies only if the marketplace states its prices. HITs with a begun intent
    keep their fees, and added slots cost what their HIT does.
    """
    if kept_prices(run.store) is None:
        return planned
    today = run.clock.now().date()
    fee_by_key = {
        hit.hit_key: run.campaign.rewards.fees_on(today, hit.market).reward_fee_cents(
            hit.reward_cents,
            max_assignments=hit.max_assignments,
            for_masters=run.campaign.is_for_masters,
        )
        for hit in planned
        if not hit.extends and publish_key(hit) not in begun
    }
    priced = [replace(hit, fee_cents=fee_by_key.get(hit.hit_key, hit.fee_cents)) for hit in planned]
    if priced != planned:
        hits.price_anew(run.store, fee_by_key)
    return priced


def _cannot_be_posted(run: CampaignRun, refusal: PlatformRefused) -> PlatformRefused:
    return PlatformRefused(
        f"{refusal}: someone deleted it, or a qualification type that it requires "
        f"({run.campaign.exclusion_name!r}), so this campaign can post no more HITs",
        code=refusal.code,
        kind=refusal.kind,
        next_step=f"piecework stop {shell_word(run.campaign.path)}: later passes pay for the "
        "submitted work; then start a campaign with another name for the "
        "missing answers",
    )


def _hit_type(
    run: CampaignRun,
    shared: _Terms,
    of_workers: tuple[QualificationRequirement, ...],
    excluding: tuple[QualificationTypeId, ...],
) -> HitTypeId:
    """Return the HIT type of a reward, for workers of a market.

    Args:
        run: the campaign at work.
        shared: what its HITs share.
        of_workers: requirements because of tests, earlier campaigns and work.
        excluding: the types that excluded workers hold, the current one first.
    """
    campaign, is_of_prolific = run.campaign, shared.market in {"", "prolific"}
    hit_type = HitType(
        title=campaign.title,
        description=campaign.hit_description,
        keywords=campaign.keywords,
        reward_cents=shared.reward_cents,
        assignment_duration_seconds=campaign.posting.assignment_duration_seconds,
        auto_approval_delay_seconds=campaign.posting.auto_approval_delay_seconds,
        requirements=(
            *_of_campaign(run, is_of_prolific=is_of_prolific),
            *of_workers,
            *(
                QualificationRequirement(qualification_type_id=type_id, comparator="DoesNotExist")
                for type_id in (*excluding, shared.kept_out)
                if type_id is not None
            ),
            *_of_market(shared.market),
        ),
        expected_seconds=campaign.rewards.expected_seconds,
        limits=shared.limits,
        # The simulated participants of a rehearsal are other people.
        recruiting=campaign.recruiting if is_of_prolific and not run.is_rehearsal else None,
    )
    values = json.dumps(asdict(hit_type), sort_keys=True)
    digest = hashlib.sha256(values.encode()).hexdigest()[:16]
    if (known := campaign_facts.platform_type(run.store, "hit type", digest)) is not None:
        return HitTypeId(known)
    try:
        made = run.platform.hit_type(hit_type)
    except PlatformRefused as refusal:
        is_of_type = refusal.kind == "qualification_type_unknown"
        if is_of_type and not run.platform.knows(excluding[0]):
            raise _cannot_be_posted(run, refusal) from refusal
        raise
    campaign_facts.keep_platform_type(run.store, "hit type", made, subject=digest)
    return made


def _of_market(market: str) -> tuple[QualificationRequirement, ...]:
    """Return what only workers of a market hold; they alone see its HITs."""
    if not market:
        return ()
    return (
        QualificationRequirement(qualification_type_id=crowd_type(market), comparator="Exists"),
    )


def _of_campaign(run: CampaignRun, *, is_of_prolific: bool) -> tuple[QualificationRequirement, ...]:
    """Return the campaign's requirements, if the marketplace knows them.

    Workers of other markets than Prolific answer no questions of its filters. A
    rehearsal leaves out Prolific's filters, unless it rehearses Prolific: simulated
    workers have answered no questions about themselves.

    Raises:
        PlatformRefused: the marketplace has no participants of Prolific, or Prolific
            does not offer a filter.
    """
    kept = []
    for requirement in run.campaign.requirements:
        type_id = requirement.qualification_type_id
        if type_id.startswith(PROLIFIC) and not is_of_prolific:
            continue
        if type_id.startswith(PROLIFIC) and not run.platform.knows(type_id):
            if run.is_rehearsal:
                continue
            raise PlatformRefused(
                f"prolific: this marketplace does not offer {type_id}",
                code="QualificationTypeDoesNotExist",
                next_step="piecework market prolific filters lists Prolific's filters; a "
                "marketplace has them with --crowd prolific",
            )
        kept.append(requirement)
    return tuple(kept)


def _publish(
    run: CampaignRun,
    hit: PlannedHit,
    hit_type_id: HitTypeId,
    items: Mapping[ItemId, Item],
    seen: _Seen,
) -> Act:
    campaign, named = run.campaign, annotation(run, hit, seen.name)
    posting = campaign.posting
    intent = Intent(
        key=publish_key(hit),
        operation=PUBLISH,
        subject=("hit", hit.hit_key),
        arguments={
            "hit_type_id": hit_type_id,
            "annotation": named,
            "lifetime_seconds": posting.lifetime_seconds,
            "duration_seconds": posting.assignment_duration_seconds,
            "auto_approval_seconds": posting.auto_approval_delay_seconds,
        },
        amount_cents=hit.cost_cents,
    )
    caps.refuse_beyond(run, intent, batch=hit.batch)
    token, others = intent.token(seen.name), apart_from(run, hit)

    def do() -> str:
        return run.platform.publish(
            hit_type_id,
            posted_question(campaign, hit, items),
            max_assignments=hit.max_assignments,
            lifetime_seconds=posting.lifetime_seconds,
            annotation=named,
            token=token,
            apart_from=others,
        )

    return Act(
        intent=intent,
        do=do,
        # `record_cut_off` has just looked for HITs of open intents.
        look=lambda: None,
        record=recording(run, hit),
    )


def _extend(run: CampaignRun, hit: PlannedHit, slots: Mapping[HitId, int], name: str) -> Act:
    known = extended(run, hit)
    hit_id = HitId(str(known.hit_id))
    intent = Intent(
        key=publish_key(hit),
        operation=PUBLISH,
        subject=("hit", hit.hit_key),
        arguments={"hit_id": hit_id, "slots": slots_wanted(known, hit)},
        amount_cents=hit.cost_cents,
    )
    caps.refuse_beyond(run, intent, batch=hit.batch)
    return Act(
        intent=intent,
        do=extending(run, known, hit, slots=slots.get(hit_id), token=intent.token(name)),
        # `record_cut_off` has just looked for slots of open intents.
        look=lambda: None,
        record=recording(run, hit),
    )
