"""A cheap check before a pass: is anything due?

Most scheduled passes find workers at work, or people who have not decided. Those end
here, without pandas and without Prefect. For each HIT type they ask the marketplace at
most one question: which open HITs have become reviewable. The fewer HITs it finds, the
less often it is asked (`piecework.engine.waits`). The store knows whether the result
of the last pass still holds (`piecework.store.last_pass`).
"""

from datetime import datetime

from piecework.domain.clock import Clock, SystemClock
from piecework.domain.errors import PlatformRefused
from piecework.domain.ids import HitTypeId
from piecework.domain.progress import Progress
from piecework.engine.pass_request import PassRequest
from piecework.engine.waits import LEAST_WAIT, LONGEST_WAIT, OPEN_HITS, next_wait
from piecework.platforms.endpoint import REHEARSAL, Credentials
from piecework.platforms.mturk import MTurk
from piecework.store.last_pass import LastPass, mark_polled, recall
from piecework.store.lock import only_pass


def cached_progress(
    request: PassRequest, *, credentials: Credentials | None = None, clock: Clock | None = None
) -> Progress | None:
    """Return the progress if no step is due now; `None` if a pass has to find out.

    Args:
        request: what the pass is asked to do.
        credentials: keys for the marketplace; without them, boto3's own chain.
        clock: tells what time has made due; not the clock of a rehearsal.

    Raises:
        CampaignBusy: another process works on the campaign.
        ConfigError: the campaign file cannot be read, or there is no access key.
        TransientPlatformError: the marketplace could not be asked.
    """
    now = (clock or SystemClock()).now()
    address = request.file.store
    if not address.url and not address.folder.is_dir():
        return None
    with only_pass(address):
        last = recall(address, request_digest=request.digest())
        progress = None if last is None else Progress.from_dict(last.progress)
        if last is None or progress is None or not _holds(progress, request, now):
            return None
        if progress.waiting_for == "workers" and _may_poll(last, request, now):
            keys = REHEARSAL if request.rehearsal else credentials
            try:
                came = count_news(MTurk.with_keys(request.endpoint, keys), last)
            except PlatformRefused:
                # A HIT type may have been deleted by hand; a pass handles it.
                return None
            left = len(last.open_hits) - came
            wait = next_wait(last.wait or LEAST_WAIT, came=came, left=left)
            mark_polled(address, at=now, wait=wait)
            if came:
                return None
    return progress


def count_news(platform: MTurk, last: LastPass) -> int:
    """Return how many HITs with unfetched answers have become reviewable."""
    hit_types = [HitTypeId(hit_type) for hit_type in last.hit_types]
    reviewable = platform.reviewable_hits(hit_types, older=last.older)
    return sum(hit_id in last.open_hits for hit_id in reviewable)


def _holds(progress: Progress, request: PassRequest, now: datetime) -> bool:
    """Return whether only workers or people can move the campaign, not time."""
    # A rehearsal's time moves with events, and HITs that no worker takes expire in it.
    if progress.due_at and not request.rehearsal:
        due_at = datetime.fromisoformat(progress.due_at)
        if due_at <= now:
            return False
        # While HITs are open, a time later than their next poll means that the clock
        # was wrong. Rows may wait for their batch for as long as the campaign says.
        if progress.waiting_for == "workers" and due_at > now + OPEN_HITS:
            return False
    if progress.due_at and progress.waiting_for == "new rows" and request.rehearsal:
        return False
    if progress.source is not None and progress.source.fault:
        return False  # it may be readable by now
    if progress.refused:
        return False  # the market may have funds by now
    return progress.waiting_for in {"nobody", "people", "workers", "new rows"} and (
        not progress.goes_on_at
    )


def _may_poll(last: LastPass, request: PassRequest, now: datetime) -> bool:
    if request.rehearsal or last.polled_at is None or last.wait is None:
        return True
    return not now < last.polled_at + last.wait <= now + LONGEST_WAIT
