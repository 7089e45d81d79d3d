"""At the end, check that approvals took effect, because workers depend on the money.

piecework trusts the response to each call. But a marketplace that lost its data, or a
program that answers in its place, may confirm a call without effect. So when all work
is done, this step checks a sample of approvals.
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
    """Return approved assignments once all is done, unless a sample was checked."""
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
    """Check a sample of approvals; return how many were checked.

    Raises:
        PlatformRefused: some are not approved; the next pass checks again.
    """
    draw = random.Random(f"piecework verifies {run.campaign.name}")  # noqa: S311 - no secret
    sample = draw.sample(due, min(SAMPLE, len(due)))
    if untrue := list(_not_approved(run, sample)):
        raise PlatformRefused(
            f"{len(untrue)} of {len(sample)} approvals that were checked did not take "
            f"effect: {', '.join(untrue)}; the marketplace confirmed them",
            code="NotApproved",
            next_step="ask the marketplace's operator: its data may be lost, or "
            "another program may answer; `aws mturk approve-assignment` pays one "
            "by hand",
        )
    pass_notes.keep(run.store, "verified_approvals", len(due))
    return len(sample)


verify = Step("verify", due, act)


def _not_approved(run: CampaignRun, sample: list[str]) -> Iterator[str]:
    for assignment_id in sample:
        status = run.platform.assignment_status(AssignmentId(assignment_id))
        if status != "Approved":
            yield f"{assignment_id} is {status}"
