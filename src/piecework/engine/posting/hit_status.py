"""Whether a posted HIT is over or gone, where a listing does not tell."""

from datetime import timedelta

from piecework.campaign.opened import CampaignRun
from piecework.domain.errors import PlatformRefused
from piecework.domain.hit import HitStatus, PlannedHit
from piecework.domain.ids import HitId

_LAG = timedelta(hours=1)
"""How long a listing may take to show that a HIT is over."""

_KEPT = timedelta(days=120)
"""How long a platform keeps a HIT that is over."""


def must_be_over(run: CampaignRun, hit: PlannedHit, *, since: timedelta = _LAG) -> bool:
    """Return whether a HIT's times, as posted, mean that no worker can be at work."""
    posting = run.campaign.posting
    seconds = posting.lifetime_seconds + posting.assignment_duration_seconds
    latest = run.clock.now() - timedelta(seconds=seconds) - since
    return hit.posted_at is not None and hit.posted_at < latest


def status_of(run: CampaignRun, hit: PlannedHit) -> HitStatus:
    """Return the platform's status of a HIT; `Disposed` if it was deleted long ago.

    Raises:
        PlatformRefused: it does not know the HIT, and cannot have deleted it yet.
    """
    hit_id = HitId(str(hit.hit_id))
    try:
        return run.platform.hit_status(hit_id)
    except PlatformRefused as refusal:
        if refusal.kind != "hit_unknown":
            raise
        if must_be_over(run, hit, since=_KEPT):
            return "Disposed"
        # With another requester's keys every HIT of ours is unknown, and still live.
        raise PlatformRefused(
            f"the marketplace does not know HIT {hit_id}, which this campaign posted: "
            "the keys are another requester's, or the marketplace has lost its data",
            code=refusal.code,
            kind=refusal.kind,
            next_step="check AWS_ACCESS_KEY_ID; then run the same command again",
        ) from refusal
