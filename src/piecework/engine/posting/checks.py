"""Checks of a whole campaign, made before anything of it is planned or posted."""

import hashlib
from itertools import chain

from piecework.campaign import caps
from piecework.campaign.dealing import all_first_rounds
from piecework.campaign.opened import CampaignRun
from piecework.campaign.questions import question
from piecework.store import pass_notes


def check_campaign(run: CampaignRun) -> None:
    """Refuse a campaign that its caps or its pages do not let happen even once.

    Raises:
        BudgetExceeded: the plain campaign costs more than its caps allow.
        ConfigError: a page of a requester's own task cannot be rendered.
    """
    _check_caps(run)
    _check_pages(run)


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
