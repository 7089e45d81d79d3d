"""Post planned HITs and slots through intents, never beyond a cap."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from itertools import takewhile

from piecework.campaign import caps
from piecework.campaign.opened import CampaignRun
from piecework.campaign.questions import question
from piecework.domain.campaign import Campaign
from piecework.domain.errors import PlatformRefused
from piecework.domain.hit import (
    PROLIFIC,
    HitType,
    Item,
    PlannedHit,
    QualificationRequirement,
    WorkerLimit,
)
from piecework.domain.ids import HitId, HitKey, HitTypeId, ItemId, QualificationTypeId
from piecework.engine.posting import (
    earlier_workers,
    earned_types,
    qualification_test,
)
from piecework.engine.posting.checks import check_campaign
from piecework.engine.posting.exclusion import exclusion_type
from piecework.engine.posting.publishing import (
    OPERATION,
    annotation,
    extended,
    publish_key,
    recording,
    refuse_posted_elsewhere,
    slots_wanted,
    take_in,
)
from piecework.engine.posting.replacing import apart_from, extending, keep_out
from piecework.engine.reader import Reader
from piecework.engine.step import Step
from piecework.engine.stopping import is_stopped
from piecework.store import hits, intents, platform_types
from piecework.store.acting import carry_out
from piecework.store.intents import Act, Intent
from piecework.store.prices import kept_prices


def due(reader: Reader) -> int:
    """Return how many HITs are planned and not posted."""
    snapshot = reader.snapshot()
    return 0 if snapshot.stopped else snapshot.unposted


def act(run: CampaignRun, _unposted: int) -> int:
    """Post what is planned, as far as today's cap allows; return how many HITs.

    Raises:
        BudgetExceeded: the campaign without replacements costs more than its caps.
        ConfigError: a page of a requester's own task cannot be rendered.
    """
    # Record HITs already posted before checking the caps.
    known = take_in(run)
    _price_anew(run)
    check_campaign(run)
    # What today's cap does not allow stays planned until tomorrow.
    unposted = caps.payable_today(run, hits.unposted(run.store))
    if not unposted:
        return 0
    slots = refuse_posted_elsewhere(run, unposted)
    # Created beforehand: no call is made while the store is written.
    kept_out = {hit.hit_key: keep_out(run, hit) for hit in unposted}
    of_earlier = (*earlier_workers.requirements(run), *earned_types.requirements(run))
    types = {
        key: _hit_type(run, *key, of_earlier)
        for key in dict.fromkeys(
            _shared(hit, kept_out, run.campaign) for hit in unposted
        )
    }
    items_by_id = run.items_of(unposted)
    acts = (
        _extend(run, hit, slots)
        if hit.extends
        else _publish(
            run,
            hit,
            types[_shared(hit, kept_out, run.campaign)],
            items_by_id,
            known,
        )
        # A person may stop the campaign while it posts.
        for hit in takewhile(lambda _: not is_stopped(run.store), unposted)
    )
    try:
        # A reason to refuse one HIT (money, a title) holds for the next, too.
        carry_out(
            run.store,
            acts,
            clock=run.clock,
            at_once=1 if run.is_rehearsal else run.at_once,
            stop_at_refusal=True,
        )
    except PlatformRefused as refusal:
        if refusal.kind != "hit_type_unknown":
            raise
        raise _cannot_be_posted(run, refusal) from refusal
    return len(unposted)


launch = Step("launch", due, act)


def _shared(
    hit: PlannedHit,
    kept_out: Mapping[HitKey, QualificationTypeId | None],
    campaign: Campaign,
) -> tuple[int, QualificationTypeId | None, tuple[WorkerLimit, ...]]:
    """Return in what HIT types of the campaign differ: reward, kept out, limits."""
    return hit.reward_cents, kept_out[hit.hit_key], _limits(campaign, hit.batch)


def _limits(campaign: Campaign, batch: int) -> tuple[WorkerLimit, ...]:
    """Return how many HITs one worker may do, in the campaign and in the batch."""
    limits = []
    if campaign.most_per_worker is not None:
        limits.append(WorkerLimit(name=campaign.name, most=campaign.most_per_worker))
    if campaign.most_in_batch is not None:
        limits.append(
            WorkerLimit(
                name=f"{campaign.name}, batch {batch}",
                most=campaign.most_in_batch,
                is_of_batch=True,
            )
        )
    return tuple(limits)


def _price_anew(run: CampaignRun) -> None:
    """Set the fees of planned HITs to what the marketplace charges now.

    This applies only if the marketplace states its prices. HITs with a begun intent
    keep their fees, and added slots cost what their HIT does.
    """
    if kept_prices(run.store) is None:
        return
    fees = run.campaign.rewards.fees_on(run.clock.now().date())
    begun = {intent.key for intent in intents.load(run.store, OPERATION, is_done=False)}
    fee_by_key = {
        hit.hit_key: fees.reward_fee_cents(
            hit.reward_cents,
            max_assignments=hit.max_assignments,
            for_masters=run.campaign.is_for_masters,
        )
        for hit in hits.unposted(run.store)
        if not hit.extends and publish_key(hit) not in begun
    }
    hits.price_anew(run.store, fee_by_key)


def _cannot_be_posted(run: CampaignRun, refusal: PlatformRefused) -> PlatformRefused:
    return PlatformRefused(
        f"{refusal}: someone deleted it, or a qualification type that it requires "
        f"({run.campaign.exclusion_name!r}), so this campaign can post no more HITs",
        code=refusal.code,
        kind=refusal.kind,
        next_step=f"piecework stop {run.campaign.path}: later passes pay for the "
        "submitted work; then start a campaign with another name for the "
        "missing answers",
    )


def _hit_type(
    run: CampaignRun,
    reward_cents: int,
    kept_out: QualificationTypeId | None,
    limits: tuple[WorkerLimit, ...],
    of_earlier: tuple[QualificationRequirement, ...],
) -> HitTypeId:
    """Return the HIT type of a reward, for workers who lack a qualification.

    Args:
        run: the campaign at work.
        reward_cents: the reward.
        kept_out: the qualification that workers must lack, besides the campaign's own.
        limits: how many HITs one worker may do.
        of_earlier: requirements because of earlier campaigns and work.
    """
    campaign = run.campaign
    hit_type = HitType(
        title=campaign.title,
        description=campaign.hit_description,
        keywords=campaign.keywords,
        reward_cents=reward_cents,
        assignment_duration_seconds=campaign.posting.assignment_duration_seconds,
        auto_approval_delay_seconds=campaign.posting.auto_approval_delay_seconds,
        requirements=(
            *_of_campaign(run),
            *qualification_test.requirements(run),
            *of_earlier,
            *(
                QualificationRequirement(
                    qualification_type_id=type_id, comparator="DoesNotExist"
                )
                for type_id in (exclusion_type(run), kept_out)
                if type_id is not None
            ),
        ),
        expected_seconds=campaign.rewards.expected_seconds,
        limits=limits,
        # The simulated participants of a rehearsal are other people.
        recruiting=None if run.is_rehearsal else campaign.recruiting,
    )
    values = json.dumps(asdict(hit_type), sort_keys=True)
    digest = hashlib.sha256(values.encode()).hexdigest()[:16]
    if (known := platform_types.get(run.store, "hit type", digest)) is not None:
        return HitTypeId(known)
    made = run.platform.hit_type(hit_type)
    platform_types.keep(run.store, "hit type", made, subject=digest)
    return made


def _of_campaign(run: CampaignRun) -> tuple[QualificationRequirement, ...]:
    """Return the campaign's requirements, if the marketplace knows them.

    A rehearsal leaves out Prolific's filters, unless it rehearses Prolific: simulated
    workers have answered no questions about themselves.

    Raises:
        PlatformRefused: the marketplace has no participants of Prolific, or Prolific
            does not offer a filter.
    """
    kept = []
    for requirement in run.campaign.requirements:
        type_id = requirement.qualification_type_id
        if type_id.startswith(PROLIFIC) and not run.platform.knows(type_id):
            if run.is_rehearsal:
                continue
            raise PlatformRefused(
                f"requirements.prolific: this marketplace does not offer {type_id}",
                code="QualificationTypeDoesNotExist",
                next_step="piecework prolific filters lists Prolific's filters; a "
                "marketplace has them with --crowd prolific",
            )
        kept.append(requirement)
    return tuple(kept)


def _publish(
    run: CampaignRun,
    hit: PlannedHit,
    hit_type_id: HitTypeId,
    items: Mapping[ItemId, Item],
    known: Mapping[str, HitId],
) -> Act:
    campaign, named = run.campaign, annotation(run, hit)
    intent = Intent(
        key=publish_key(hit),
        operation=OPERATION,
        subject=("hit", hit.hit_key),
        arguments={"hit_type_id": hit_type_id, "annotation": named},
        amount_cents=hit.cost_cents,
    )
    caps.refuse_beyond(run, intent, batch=hit.batch)
    token, others = intent.token(run.store), apart_from(run, hit)

    def do() -> str:
        return run.platform.publish(
            hit_type_id,
            question(campaign, hit, items),
            max_assignments=hit.max_assignments,
            lifetime_seconds=campaign.posting.lifetime_seconds,
            annotation=named,
            token=token,
            apart_from=others,
        )

    return Act(
        intent=intent,
        do=do,
        # `take_in` has just looked for HITs of open intents.
        look=lambda: known.get(named),
        record=recording(run, hit),
    )


def _extend(run: CampaignRun, hit: PlannedHit, slots: Mapping[HitId, int]) -> Act:
    hit_id = HitId(str(extended(run, hit).hit_id))
    intent = Intent(
        key=publish_key(hit),
        operation=OPERATION,
        subject=("hit", hit.hit_key),
        arguments={"hit_id": hit_id, "slots": slots_wanted(run, hit)},
        amount_cents=hit.cost_cents,
    )
    caps.refuse_beyond(run, intent, batch=hit.batch)
    return Act(
        intent=intent,
        do=extending(run, hit, slots=slots.get(hit_id), token=intent.token(run.store)),
        # `take_in` has just looked for slots of open intents.
        look=lambda: None,
        record=recording(run, hit),
    )
