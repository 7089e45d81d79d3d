"""A look before a pass: whether anything is due, at the cost of next to nothing.

Most passes of a schedule find workers at work, or people who have not decided. Those
end here: without pandas, without Prefect, and with one question to the marketplace at
most (which of the HITs that are open have become reviewable), for each HIT type; it is
asked the less often the less it brings (`store.polls`). The store decides whether what
the last pass found still holds (`store.standing`).
"""

from datetime import datetime
from pathlib import Path

from config.campaign_file import parse
from domain.clock import Clock, SystemClock
from domain.errors import PlatformRefused
from domain.ids import HitTypeId
from domain.progress import Progress
from flows.orders import Orders
from platforms.credentials import Credentials
from platforms.mturk import MTurk
from store import polls
from store.lock import only_pass
from store.standing import Glance, glance

_REHEARSAL = Credentials(access_key="REHEARSAL", secret_key="rehearsal")  # noqa: S106 - opens nothing


def look(
    orders: Orders,
    *,
    credentials: Credentials | None = None,
    clock: Clock | None = None,
) -> Progress | None:
    """How far the campaign is if nothing is due now; `None` if a pass has to find out.

    Args:
        orders: what the pass is told.
        credentials: keys for the marketplace; without them, boto3's own chain.
        clock: tells what time has made due; a rehearsal's has no part in it.

    Raises:
        CampaignBusy: another process works on the campaign.
        ConfigError: the campaign file cannot be read, or there is no access key.
        TransientPlatformError: the marketplace could not be asked.
    """
    now = (clock or SystemClock()).now()
    folder = parse(orders.campaign).out
    if not folder.is_dir():
        return None
    with only_pass(folder):
        found = glance(folder, asked=orders.digest())
        reached = None if found is None else Progress.from_dict(found.progress)
        if found is None or reached is None or not _stands(reached, orders, now):
            return None
        if reached.waiting_for == "workers" and _may_ask(folder, orders, now):
            keys = _REHEARSAL if orders.rehearsal else credentials
            platform = MTurk(
                orders.endpoint,
                access_key=keys.access_key if keys else None,
                secret_key=keys.secret_key if keys else None,
            )
            try:
                came = news(platform, found)
            except PlatformRefused:
                # A HIT type may have been deleted by hand; a pass knows what to do.
                return None
            left = len(found.open_hits) - came
            polls.asked(folder, at=now, came=came, left=left)
            if came:
                return None
    return reached


def _stands(reached: Progress, orders: Orders, now: datetime) -> bool:
    """Whether nothing but workers or people can move the campaign; not time, either."""
    # A rehearsal's time goes by events, and HITs that nobody takes expire in it.
    if reached.due_at and not orders.rehearsal:
        # No later than a harvest, or the clock was wrong when that was written.
        due_at = datetime.fromisoformat(reached.due_at)
        if not now < due_at <= now + polls.HARVEST:
            return False
    return reached.waiting_for in {"nobody", "people", "workers"} and (
        not reached.goes_on_at
    )


def _may_ask(folder: Path, orders: Orders, now: datetime) -> bool:
    again_at = None if orders.rehearsal else polls.ask_again_at(folder)
    return again_at is None or not now < again_at <= now + polls.LONGEST


def news(platform: MTurk, found: Glance) -> int:
    """How many HITs whose answers have not been fetched have become reviewable."""
    hit_types = [HitTypeId(hit_type) for hit_type in found.hit_types]
    reviewable = platform.reviewable_hits(hit_types, older=found.older)
    return sum(hit_id in found.open_hits for hit_id in reviewable)
