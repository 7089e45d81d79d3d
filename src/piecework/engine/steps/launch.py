"""Post what comes next, HITs and slots for them, through intents, never past a cap."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain, takewhile
from urllib.parse import quote

from piecework.campaign import caps
from piecework.campaign.dealing import (
    affordable,
    all_first_rounds,
    deal,
    first_round,
    replacements,
)
from piecework.campaign.opened import CampaignRun
from piecework.domain.campaign import Campaign
from piecework.domain.errors import PlatformRefused
from piecework.domain.hit import (
    HitType,
    Item,
    PlannedHit,
    QualificationRequirement,
    is_picture,
)
from piecework.domain.ids import HitId, HitTypeId, ItemId, QualificationTypeId
from piecework.engine.planning.next_action import Posting
from piecework.engine.posting import qualification_test
from piecework.engine.posting.adopting import adopt, is_adopting
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
from piecework.engine.posting.replacing import (
    apart_from,
    extendable,
    extending,
    keep_out,
)
from piecework.engine.reader import Reader
from piecework.engine.step import Step
from piecework.engine.stopping import is_stopped, wind_down
from piecework.hit_templates.render import render_hit
from piecework.platforms.question import html_question
from piecework.qc.heuristics.canary import planted_word
from piecework.store import (
    assignments,
    hits,
    intents,
    item_totals,
    pass_notes,
    platform_types,
)
from piecework.store.acting import carry_out
from piecework.store.database import Store
from piecework.store.intents import Act, Intent
from piecework.store.prices import kept_prices


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """What is to be posted, or ended.

    Attributes:
        winds_down: a person has stopped the campaign, and HITs of it are live.
        begins: no batch was begun; whether the caps let one begin is to be found out.
        unposted: HITs that are planned and not posted.
        posting: HITs that are to be planned.
        adopts: the platform may have HITs that the store does not know.
    """

    winds_down: bool = False
    begins: bool = False
    unposted: int = 0
    posting: Posting | None = None
    adopts: bool = False

    def __bool__(self) -> bool:
        return bool(
            self.winds_down
            or self.begins
            or self.unposted
            or self.posting is not None
            or self.adopts
        )


def due(reader: Reader) -> Due:
    """HITs to post or to plan; of a stopped campaign, those to expire."""
    snapshot = reader.snapshot()
    if snapshot.stopped:
        return Due(winds_down=snapshot.winding_down)
    return Due(
        begins=not snapshot.batches,
        unposted=snapshot.unposted,
        posting=reader.posting(),
        adopts=is_adopting(reader.opened.store),
    )


def act(run: CampaignRun, due: Due) -> int:
    """Plan what is due and post every planned HIT; how many were posted.

    Of a stopped campaign nothing is posted, and what is live is expired.

    Raises:
        BudgetExceeded: the plain campaign costs more than its caps allow.
        ConfigError: a page of a task of one's own cannot be rendered.
    """
    if due.winds_down:
        wind_down(run)
        return 0
    # What is there, is there, whatever the caps say now.
    known = take_in(run)
    adopted = adopt(run)
    _price_anew(run)
    _check_caps(run)
    _check_pages(run)
    # What was adopted is posted, so that something else comes next.
    posting = Reader(run).posting() if adopted else due.posting
    if posting is not None:
        hits.plan(run.store, _planned(run, posting))
        adopted += adopt(run)
    # What today's cap does not allow stays planned until tomorrow.
    unposted = caps.payable_today(run, hits.unposted(run.store))
    if not unposted:
        return adopted
    slots = refuse_posted_elsewhere(run, unposted)
    # Asked for beforehand: no call is made while the store is being written.
    kept_out = {hit.hit_key: keep_out(run, hit) for hit in unposted}
    types = {
        key: _hit_type(run, *key)
        for key in dict.fromkeys(
            (hit.reward_cents, kept_out[hit.hit_key]) for hit in unposted
        )
    }
    items_by_id = {item.item_id: item for item in run.campaign.items}
    acts = (
        _extend(run, hit, slots)
        if hit.extends
        else _publish(
            run,
            hit,
            types[hit.reward_cents, kept_out[hit.hit_key]],
            items_by_id,
            known,
        )
        # A person may stop the campaign while it posts.
        for hit in takewhile(lambda _: not is_stopped(run.store), unposted)
    )
    try:
        # What is refused to one HIT (money, a title) is refused to the next.
        carry_out(
            run.store,
            acts,
            clock=run.clock,
            at_once=1 if run.posts_in_order else run.at_once,
            stop_at_refusal=True,
        )
    except PlatformRefused as refusal:
        if refusal.kind != "hit_type_unknown":
            raise
        raise _cannot_be_posted(run, refusal) from refusal
    return adopted + len(unposted)


launch = Step("launch", due, act)


def _check_caps(run: CampaignRun) -> None:
    """Refuse a campaign that its caps, as they stand now, do not let happen even once.

    Dealing all items takes a fifth of a second for forty thousand, so it is done again
    when a price or a cap has changed, or the day, which fees may depend on.
    """
    campaign, now = run.campaign, run.clock.now()
    priced_by = [campaign.rewards, campaign.posting, campaign.requirements, now.date()]
    digest = hashlib.sha256(repr(priced_by).encode()).hexdigest()
    if pass_notes.read(run.store).caps_digest != digest:
        caps.check_caps(campaign, at=now)
        pass_notes.keep(run.store, "caps_digest", digest)


def _check_pages(run: CampaignRun) -> None:
    """Render every page of a task of one's own, before the first is posted.

    A template may have a fault that a single item meets. Met half-way, it could not be
    mended any more, since the store is bound to the task's files.
    """
    own = run.campaign.task.own
    known = pass_notes.read(run.store).rendered_task_digest
    if own is None or known == own.digest:
        return
    items = {item.item_id: item for item in run.campaign.items}
    today = run.clock.now().date()
    for hit in chain(*all_first_rounds(run.campaign, on=today)):
        question(run.campaign, hit, items)
    pass_notes.keep(run.store, "rendered_task_digest", own.digest)


def _price_anew(run: CampaignRun) -> None:
    """Let what is planned, and not begun, cost what the marketplace takes by now.

    Only where it says so itself. Slots that are added cost what their HIT does.
    """
    if kept_prices(run.store) is None:
        return
    fees = run.campaign.rewards.fees_on(run.clock.now().date())
    begun = {one.key for one in intents.load(run.store, OPERATION, is_done=False)}
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


def _planned(run: CampaignRun, posting: Posting) -> list[PlannedHit]:
    """The HITs of a posting, as far as there is money for them."""
    item_ids = deal(run.campaign)[posting.batch - 1]
    if posting.round == 0:
        excluded = len(item_totals.excluded(run.store))
        planned = first_round(
            run.campaign,
            posting.batch,
            item_ids,
            on=run.clock.now().date(),
            excluded=excluded,
        )
    else:
        planned = _replacements(run, posting, item_ids)
    return affordable(planned, left_cents=posting.room_cents)


def _replacements(
    run: CampaignRun, posting: Posting, item_ids: list[ItemId]
) -> list[PlannedHit]:
    wanted, crowd = run.campaign.posting, run.campaign.crowd_size
    lacking = item_totals.lacking(run.store, posting.batch, wanted, crowd=crowd)
    return replacements(
        run.campaign,
        posting.batch,
        posting.round,
        # In the order in which the batch was dealt.
        {item_id: lacking[item_id] for item_id in item_ids if item_id in lacking},
        on=run.clock.now().date(),
        extendable=extendable(run, posting.batch),
        keeps_apart=run.platform.keeps_apart(),
        **({} if crowd is None else {"free": partial(count_free, run.store, crowd)}),
    )


def count_free(store: Store, crowd: int, item_ids: Sequence[ItemId]) -> int:
    """Workers of a crowd who are not kept out and have answered none of these items."""
    answered = assignments.workers_of_items(store, item_ids)
    return crowd - len({*answered, *item_totals.excluded(store)})


def _cannot_be_posted(run: CampaignRun, refusal: PlatformRefused) -> PlatformRefused:
    return PlatformRefused(
        f"{refusal}: somebody deleted it, or a qualification type that it requires "
        f"({run.campaign.exclusion_name!r}), and this campaign can post no more HITs",
        code=refusal.code,
        kind=refusal.kind,
        next_step=f"piecework stop {run.campaign.path}: later passes pay for what "
        "came; then begin a campaign of another name for what is missing",
    )


def question(campaign: Campaign, hit: PlannedHit, items: dict[ItemId, Item]) -> str:
    """The question document of a HIT: the rendered page in MTurk's envelope."""
    page = render_hit(
        campaign.task,
        [_with_page_url(campaign, items[item_id]) for item_id in hit.item_ids],
        practice=[_with_page_url(campaign, item) for item in campaign.practice],
        title=campaign.title,
        round_number=hit.round,
        canary=planted_word(campaign.heuristics),
    )
    return html_question(page)


def _hit_type(
    run: CampaignRun, reward_cents: int, kept_out: QualificationTypeId | None
) -> HitTypeId:
    """The HIT type of a reward, for workers who lack a qualification."""
    campaign = run.campaign
    hit_type = HitType(
        title=campaign.title,
        description=campaign.hit_description,
        keywords=campaign.keywords,
        reward_cents=reward_cents,
        assignment_duration_seconds=campaign.posting.assignment_duration_seconds,
        auto_approval_delay_seconds=campaign.posting.auto_approval_delay_seconds,
        requirements=(
            *campaign.requirements,
            *qualification_test.requirements(run),
            *(
                QualificationRequirement(
                    qualification_type_id=type_id, comparator="DoesNotExist"
                )
                for type_id in (exclusion_type(run), kept_out)
                if type_id is not None
            ),
        ),
        expected_seconds=campaign.rewards.expected_seconds,
    )
    values = json.dumps(asdict(hit_type), sort_keys=True)
    digest = hashlib.sha256(values.encode()).hexdigest()[:16]
    if (known := platform_types.get(run.store, "hit type", digest)) is not None:
        return HitTypeId(known)
    made = run.platform.hit_type(hit_type)
    platform_types.keep(run.store, "hit type", made, subject=digest)
    return made


def _publish(
    run: CampaignRun,
    hit: PlannedHit,
    hit_type_id: HitTypeId,
    items: dict[ItemId, Item],
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
        # Taken in if it was there: what is open still was looked for a moment ago.
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
        # Taken in if they were there: what is open still was looked for a moment ago.
        look=lambda: None,
        record=recording(run, hit),
    )


def _with_page_url(campaign: Campaign, item: Item) -> Item:
    """Pictures that the marketplace serves have a path of its own on the page."""
    task, page = campaign.task, campaign.task.html_page
    named = {"url"} if page is None else {*task.columns[1:]}
    if page is not None and campaign.pictures is not None:
        named |= {
            name
            for name in page.possible_addresses
            if is_picture(item.columns.get(name, ""))
        }
    served = {
        # Names of files may hold spaces and "#", addresses may not.
        name: f"/pictures/{quote(url)}"
        for name, url in item.columns.items()
        if name in named and url and not url.startswith(_WHOLE)
    }
    if not served:
        return item
    return Item(item_id=item.item_id, columns={**item.columns, **served})


_WHOLE = ("http://", "https://", "/", "data:")
"""How an address begins that stays as it is."""
