"""Who may do a HIT: the qualifications that it requires or refuses.

They are the exclusion of workers, the test before the work, earned qualifications, and
work in earlier campaigns. That type belongs to the earlier campaign, so campaigns share
it; before HITs are posted, those of its workers who lack the qualification get it.

Replacements may be done only by workers who have not answered the same items. A HIT that
lost whole assignments gets more slots, and no worker gets the same HIT twice. Partly
lost assignments are replaced by new HITs. If the marketplace can, it keeps these apart
from all HITs that show one of their items. Otherwise workers who have answered one of the
items get a qualification, and the new HITs require its absence. So they do if the
marketplace has lost such answers: it does not know any more who gave them.
"""

import logging
from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta

from piecework.campaign.opened import CampaignRun, OpenedCampaign
from piecework.domain.campaign import EarlierCampaign
from piecework.domain.errors import ConfigError, PlatformRefused
from piecework.domain.hit import PlannedHit, PostableTest, QualificationRequirement
from piecework.domain.ids import HitId, QualificationTypeId, WorkerId
from piecework.domain.qualifications import QualificationTest
from piecework.engine.posted_hits import GONE, slots_wanted, status_of
from piecework.hit_templates.qualification import answer_key, digest_of_test, question_form
from piecework.store import (
    assignments,
    bound,
    campaign_facts,
    decisions,
    hits,
    intents,
    workers,
)
from piecework.store.database import exists, open_store, writing

_LOG = logging.getLogger(__name__)

UNKNOWN_WORKER = "InvalidParameterValue"
"""The code with which a marketplace refuses an unknown worker, among other things."""


def exclusion_types(run: CampaignRun) -> tuple[QualificationTypeId, ...]:
    """Return which qualifications excluded workers hold; the first call creates the type.

    After the campaign's type, there are those that it had under other names. Workers who
    were excluded hold them, and HITs that were posted require them not to exist.
    """
    name, kept = run.campaign.exclusion_name, campaign_facts.platform_types(run.store, "exclusion")
    if name not in kept:
        kept[name] = find_exclusion_type(run, name)
        campaign_facts.keep_platform_type(run.store, "exclusion", kept[name], subject=name)
    return tuple(map(QualificationTypeId, dict.fromkeys((kept[name], *kept.values()))))


def find_exclusion_type(run: CampaignRun, name: str) -> QualificationTypeId:
    """Return the type with this name, which excluded workers hold, created or found."""
    return run.platform.exclusion(
        name, "Held by workers whom the requester does not ask again for this kind of HIT."
    )


def exclusion_types_left(run: CampaignRun) -> tuple[QualificationTypeId, ...]:
    """Return these types without those of earlier names that somebody deleted.

    Workers whom a deleted type kept out get the current one. These calls can be repeated
    safely, so they need no intent. A campaign that had one name makes no call.
    """
    current, *earlier = types = exclusion_types(run)
    deleted = [type_id for type_id in earlier if not run.platform.knows(type_id)]
    if not deleted or not run.platform.knows(current):
        return types
    holders = run.platform.excluded(current)
    waiting = decisions.unsettled(run.store, "exclude")
    for decision in decisions.load_decisions(run.store, "worker", verdicts=["exclude"]):
        worker_id = WorkerId(decision.subject_id)
        if decision in waiting or worker_id in holders:
            continue
        try:
            run.platform.exclude(worker_id, current)
        except PlatformRefused as refusal:
            # An account that was deleted takes no HITs.
            if refusal.code != UNKNOWN_WORKER:
                raise
    with writing(run.store):
        campaign_facts.drop_exclusions(run.store, deleted, at=run.clock.now())
    return exclusion_types(run)


def requirements_of_test(run: CampaignRun) -> tuple[QualificationRequirement, ...]:
    """Return what the campaign's test demands of workers; empty without a test."""
    test = run.campaign.qualification
    if test is None:
        return ()
    return (
        QualificationRequirement(
            qualification_type_id=post_test(run, test),
            comparator="GreaterThanOrEqualTo",
            integer_values=(test.least_passing,),
            lets_look=True,
        ),
    )


def is_test_posted(opened: OpenedCampaign) -> bool:
    """Return whether the campaign has a test that workers may have taken."""
    return (
        opened.campaign.qualification is not None
        and campaign_facts.platform_types(opened.store, "test") != {}
    )


def keep_test_scores(run: CampaignRun) -> None:
    """Record who has taken the test so far and their scores; they may take it again.

    HITs that were posted before the test was changed still require the earlier one. So
    of somebody who took both, the better score counts. If a type was deleted by hand, it
    has no more scores; what came is still paid.
    """
    best = dict[WorkerId, int]()
    for type_id in dict.fromkeys(campaign_facts.platform_types(run.store, "test").values()):
        try:
            scores = dict(run.platform.scores(QualificationTypeId(type_id)))
        except PlatformRefused as refusal:
            if refusal.kind != "qualification_type_unknown":
                raise
            _LOG.warning("somebody deleted the type of the campaign's test: %s", refusal)
            continue
        best |= {worker: max(score, best.get(worker, score)) for worker, score in scores.items()}
    workers.keep_scores(run.store, best, at=run.clock.now())


def post_test(run: CampaignRun, test: QualificationTest) -> QualificationTypeId:
    """Create the qualification type of a test as it is now once, and return its id.

    Raises:
        PlatformRefused: it was changed, and has the name that it had before.
    """
    digest = digest_of_test(test)
    if (known := campaign_facts.platform_type(run.store, "test", digest)) is not None:
        return QualificationTypeId(known)
    posted = PostableTest(
        name=test.name,
        description=test.task.description,
        question_form=question_form(test, site=run.platform.endpoint),
        answer_key=answer_key(test),
        duration_seconds=test.duration_seconds,
        retry_seconds=test.retry_seconds,
    )
    # Creating it twice has no further effect: it is found by its name.
    type_id = run.platform.qualification(posted)
    campaign_facts.keep_platform_type(run.store, "test", type_id, subject=digest)
    return type_id


def earned_type(run: CampaignRun, name: str) -> QualificationTypeId:
    """Return the type with this name; the first call creates or finds it."""
    if (known := campaign_facts.platform_type(run.store, "earned", name)) is not None:
        return QualificationTypeId(known)
    made = run.platform.exclusion(name, "Workers earn it by good work.", is_shown=True)
    campaign_facts.keep_platform_type(run.store, "earned", made, subject=name)
    return made


def requirements_of_earned(run: CampaignRun) -> tuple[QualificationRequirement, ...]:
    """Return which earned qualifications workers must have, or must not have.

    A rehearsal leaves them out: its workers have earned nothing before.
    """
    if run.is_rehearsal:
        return ()
    wanted = [(name, True) for name in run.campaign.wanted_earned]
    unwanted = [(name, False) for name in run.campaign.unwanted_earned]
    return tuple(
        QualificationRequirement(
            qualification_type_id=earned_type(run, name),
            comparator="Exists" if is_wanted else "DoesNotExist",
        )
        for name, is_wanted in (*wanted, *unwanted)
    )


def requirements_of_earlier_work(run: CampaignRun) -> tuple[QualificationRequirement, ...]:
    """Return what HITs require because of earlier campaigns.

    A rehearsal leaves them out: its marketplace does not know real workers.

    Raises:
        ConfigError: an earlier campaign has no store, no workers that are wanted, or
            ran at another marketplace.
    """
    if run.is_rehearsal:
        return ()
    return tuple(
        QualificationRequirement(
            qualification_type_id=_held_type(run, earlier),
            comparator="Exists" if earlier.is_wanted else "DoesNotExist",
        )
        for earlier in run.campaign.earlier
    )


def _held_type(run: CampaignRun, earlier: EarlierCampaign) -> QualificationTypeId:
    """Return the type that the earlier campaign's workers hold, all of them by now."""
    store_name, workers = _workers_of_earlier(run, earlier)
    type_id = run.platform.exclusion(
        f"piecework: workers of {store_name}", f"Held by workers of the campaign {earlier.name}."
    )
    holders = set(run.platform.excluded(type_id))
    for worker_id in workers:
        if worker_id not in holders:
            run.platform.exclude(worker_id, type_id)
    return type_id


def _workers_of_earlier(run: CampaignRun, earlier: EarlierCampaign) -> tuple[str, list[WorkerId]]:
    where = f"requirements.{earlier.key}: the campaign {earlier.name}"
    if not exists(earlier.store):
        raise ConfigError([f"{where} was not started yet"])
    with closing(open_store(earlier.store)) as store:
        theirs, workers = bound.read_bound(store), assignments.all_workers(store)
    mine = bound.read_bound(run.store)
    # An account is the same in all copies of a marketplace, also at another address.
    is_same = theirs.account == mine.account and (
        theirs.account is not None or theirs.environment == mine.environment
    )
    if not is_same:
        raise ConfigError([f"{where} ran elsewhere, so this marketplace does not know its workers"])
    if earlier.is_wanted and not workers:
        raise ConfigError([f"{where} has no workers yet, so no worker could work here"])
    return str(theirs.name), workers


_LEAST_LIFE = 0.5
"""Share of a HIT's lifetime that must be left for slots to be added to it."""


def extendable(run: CampaignRun, batch: int) -> list[PlannedHit]:
    """Return HITs of a batch that may get more slots, in the order of their plan.

    It has no HITs from which excluded workers may not be kept out: someone deleted the
    qualification type since they were posted, and such a worker could still take them.
    """
    now, lost_at = run.clock.now(), campaign_facts.read_notes(run.store).exclusion_lost_at
    filled = [
        hit
        for hit in hits.filled_hits(run.store, batch)
        if _has_life(hit, now) and (lost_at is None or _is_posted_after(hit, lost_at))
    ]
    if run.platform.keeps_apart():
        return filled
    # Workers who answered one of its items in another HIT would not be kept out.
    return [hit for hit in filled if _showing(run, hit) == [hit.hit_id]]


def _has_life(hit: PlannedHit, now: datetime) -> bool:
    """Whether workers may take a HIT for long enough to find a slot added to it."""
    life = timedelta(seconds=(1 - _LEAST_LIFE) * hit.lifetime_seconds)
    return hit.posted_at is not None and now < hit.posted_at + life


def _is_posted_after(hit: PlannedHit, moment: datetime) -> bool:
    return hit.posted_at is not None and hit.posted_at > moment


def apart_from(run: CampaignRun, hit: PlannedHit) -> list[HitId]:
    """Return the HITs from which a HIT is kept apart, if the marketplace can do it."""
    if hit.round == 0 or not run.platform.keeps_apart():
        return []
    return _showing(run, hit)


def keep_out(run: CampaignRun, hit: PlannedHit) -> QualificationTypeId | None:
    """Return a qualification held by all who answered an item of a HIT, if needed.

    All its calls can be repeated safely, so they need no intent.
    """
    if hit.round == 0 or hit.extends:
        return None
    of_lost = assignments.workers_of_items(run.store, hit.item_ids, is_lost=True)
    if run.platform.keeps_apart() and not of_lost:
        return None
    known = campaign_facts.platform_type(run.store, "answered", hit.hit_key)
    if known is not None:
        return QualificationTypeId(known)
    made = run.platform.exclusion(
        f"piecework: answered {intents.store_name(run.store)}/{hit.hit_key}",
        "Held by workers who have answered what a HIT asks for.",
    )
    for worker_id in assignments.workers_of_items(run.store, hit.item_ids):
        try:
            run.platform.exclude(worker_id, made)
        except PlatformRefused as refusal:
            # The marketplace may have lost the worker, too.
            if worker_id not in of_lost or refusal.code != UNKNOWN_WORKER:
                raise
    campaign_facts.keep_platform_type(run.store, "answered", made, subject=hit.hit_key)
    return made


def extending(
    run: CampaignRun, hit: PlannedHit, extension: PlannedHit, *, slots: int | None, token: str
) -> Callable[[], str]:
    """Return the call that adds slots to a HIT; its outcome is the HIT's id or `GONE`.

    Args:
        run: the campaign at work.
        hit: the HIT.
        extension: its slots, as they were planned.
        slots: how many the HIT has by this pass's listing, if it was listed.
        token: the token of the call.
    """
    hit_id, wanted = HitId(str(hit.hit_id)), slots_wanted(hit, extension)

    def do() -> str:
        # Added by hand or by a newer copy of the store: there are enough already.
        if slots is not None and slots >= wanted:
            return hit_id
        try:
            run.platform.extend(hit_id, more=extension.max_assignments, slots=wanted, token=token)
        except PlatformRefused:
            if status_of(run, hit) != "Disposed":
                raise
            return GONE
        return hit_id

    return do


def _showing(run: CampaignRun, hit: PlannedHit) -> list[HitId]:
    return hits.showing(run.store, hit.item_ids, batch=hit.batch)
