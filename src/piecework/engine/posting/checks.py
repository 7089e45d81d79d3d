"""Checks of a whole campaign before it plans or posts its first HIT."""

import hashlib
from itertools import chain

from piecework.campaign import caps
from piecework.campaign.dealing import all_first_rounds
from piecework.campaign.opened import CampaignRun
from piecework.campaign.questions import posted_question
from piecework.store import item_totals, pass_notes


def check_campaign(run: CampaignRun) -> None:
    """Refuse a campaign that its caps or its pages make impossible.

    Raises:
        BudgetExceeded: the campaign without replacements costs more than its caps.
        ConfigError: a page of a requester's own task cannot be rendered.
    """
    _check_caps(run)
    _check_pages(run)


def _check_caps(run: CampaignRun) -> None:
    """Refuse a campaign that costs more than its current caps allow.

    To deal forty thousand items takes a fifth of a second. So this check is repeated
    only when a price, a cap or the day has changed: fees may depend on the day.
    """
    campaign, now = run.campaign, run.clock.now()
    priced_by = [
        campaign.rewards,
        campaign.posting,
        campaign.requirements,
        campaign.crowds,
        now.date(),
    ]
    digest = hashlib.sha256(repr(priced_by).encode()).hexdigest()
    if pass_notes.read(run.store).caps_digest != digest:
        caps.check_caps(campaign, at=now)
        item_totals.reopen_within_budget(run.store)
        pass_notes.keep(run.store, "caps_digest", digest)


def _check_pages(run: CampaignRun) -> None:
    """Render every page of a requester's own task before the first is posted.

    A template may have an error that only one item triggers. Once HITs are posted, it
    could not be corrected, because the store is bound to the task's files.
    """
    own = run.campaign.task.own
    known = pass_notes.read(run.store).rendered_task_digest
    if own is None or known == own.digest:
        return
    if run.campaign.growth is not None:
        return  # each row's page is rendered before it is taken in
    items = {item.item_id: item for item in run.campaign.items}
    today = run.clock.now().date()
    for hit in chain(*all_first_rounds(run.campaign, on=today)):
        posted_question(run.campaign, hit, items)
    pass_notes.keep(run.store, "rendered_task_digest", own.digest)
