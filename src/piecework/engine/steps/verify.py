"""At the end, look whether what was approved is approved: workers live by it.

An act is believed by its answer. A marketplace that lost its data, or a program that
answers in its place, may say yes and have done nothing; so when nothing is left to do,
a sample of approvals is read again.
"""

import random
from collections.abc import Iterator, Sequence

from piecework.campaign.opened import CampaignRun
from piecework.domain.errors import PlatformRefused
from piecework.domain.ids import AssignmentId
from piecework.engine.reader import Reader
from piecework.engine.step import Step
from piecework.store import intents, pass_notes
from piecework.store.settlements import DONE, FORGET

SAMPLE = 5


def due(reader: Reader) -> Sequence[str]:
    """Approved assignments, once all is done and as long as no sample was read."""
    if reader.action().waiting_for != "nobody":
        return ()
    store = reader.opened.store
    forgotten = set(intents.subjects(store, FORGET, outcome=DONE))
    approved = [
        subject
        for subject in intents.subjects(store, "approve", outcome=DONE)
        if subject not in forgotten
    ]
    verified = pass_notes.read(store).verified_approvals
    return () if verified == len(approved) else approved


def act(run: CampaignRun, due: Sequence[str]) -> int:
    """Read a sample of approvals again; how many were read.

    Raises:
        PlatformRefused: some are not approved; the next pass looks again.
    """
    draw = random.Random(f"piecework verifies {run.campaign.name}")  # noqa: S311 - no secret
    sample = draw.sample(due, min(SAMPLE, len(due)))
    if untrue := list(_not_approved(run, sample)):
        raise PlatformRefused(
            f"{len(untrue)} of {len(sample)} approvals that were read again are not "
            f"there: {', '.join(untrue)}; the marketplace said that they were",
            code="NotApproved",
            next_step="ask who runs the marketplace: its data may be lost, or another "
            "program answers; `aws mturk approve-assignment` pays one by hand",
        )
    pass_notes.keep(run.store, "verified_approvals", len(due))
    return len(sample)


verify = Step("verify", due, act)


def _not_approved(run: CampaignRun, sample: list[str]) -> Iterator[str]:
    for assignment_id in sample:
        status = run.platform.assignment_status(AssignmentId(assignment_id))
        if status != "Approved":
            yield f"{assignment_id} is {status}"
