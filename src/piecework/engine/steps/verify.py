"""At the end, look whether what was approved is approved: workers live by it.

An act is believed by its answer. A marketplace that lost its data, or a program that
answers in its place, may say yes and have done nothing; so when nothing is left to do,
a sample of approvals is read again.
"""

import random
from collections.abc import Iterator

from piecework.campaign.acts import DONE, FORGET
from piecework.campaign.opened import CampaignRun
from piecework.domain.errors import PlatformRefused
from piecework.domain.ids import AssignmentId
from piecework.engine.planning.next_action import next_action
from piecework.engine.snapshot import take_snapshot
from piecework.store import intents
from piecework.store.database import get_setting, keep_setting

SAMPLE = 5
_KEY = "approvals verified"


def verify(run: CampaignRun) -> int:
    """Read a sample of approvals again, once all is done; how many were read.

    Raises:
        PlatformRefused: some are not approved; the next pass looks again.
    """
    action = next_action(take_snapshot(run), run.campaign, today=run.clock.now().date())
    if action.waiting_for != "nobody":
        return 0
    forgotten = set(intents.subjects(run.store, FORGET, outcome=DONE))
    approved = [
        subject
        for subject in intents.subjects(run.store, "approve", outcome=DONE)
        if subject not in forgotten
    ]
    if get_setting(run.store, _KEY) == str(len(approved)):
        return 0
    draw = random.Random(f"piecework verifies {run.campaign.name}")  # noqa: S311 - no secret
    sample = draw.sample(approved, min(SAMPLE, len(approved)))
    if untrue := list(_not_approved(run, sample)):
        raise PlatformRefused(
            f"{len(untrue)} of {len(sample)} approvals that were read again are not "
            f"there: {', '.join(untrue)}; the marketplace said that they were",
            code="NotApproved",
            next_step="ask who runs the marketplace: its data may be lost, or another "
            "program answers; `aws mturk approve-assignment` pays one by hand",
        )
    keep_setting(run.store, _KEY, str(len(approved)))
    return len(sample)


def _not_approved(run: CampaignRun, sample: list[str]) -> Iterator[str]:
    for assignment_id in sample:
        status = run.platform.assignment_status(AssignmentId(assignment_id))
        if status != "Approved":
            yield f"{assignment_id} is {status}"
