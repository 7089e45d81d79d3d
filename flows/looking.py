"""A look before a pass: whether anything is due, at the cost of next to nothing.

Most passes of a schedule find workers at work, or people who have not decided. Those
end here: without pandas, without Prefect, and with one question to the marketplace at
most (which of the HITs that are open have become reviewable), for each HIT type. The
store decides whether what the last pass found still holds (`store.standing`).
"""

from config.campaign_file import output_folder, read_file
from domain.ids import HitTypeId
from domain.progress import Progress
from flows.orders import Orders
from platforms.credentials import Credentials
from platforms.mturk import MTurk
from store.lock import only_pass
from store.standing import Glance, glance

_REHEARSAL = Credentials(access_key="REHEARSAL", secret_key="rehearsal")  # noqa: S106 - opens nothing


def look(orders: Orders, *, credentials: Credentials | None = None) -> Progress | None:
    """How far the campaign is if nothing is due now; `None` if a pass has to find out.

    Args:
        orders: what the pass is told.
        credentials: keys for the marketplace; without them, boto3's own chain.

    Raises:
        CampaignBusy: another process works on the campaign.
        ConfigError: the campaign file cannot be read, or there is no access key.
        TransientPlatformError: the marketplace could not be asked.
    """
    folder = output_folder(orders.campaign, read_file(orders.campaign))
    if not folder.is_dir():
        return None
    with only_pass(folder):
        found = glance(folder, asked=orders.digest())
        reached = None if found is None else Progress.from_dict(found.progress)
        if found is None or reached is None or not _stands(reached):
            return None
        if reached.waiting_for == "workers":
            keys = _REHEARSAL if orders.rehearsal else credentials
            platform = MTurk(
                orders.endpoint,
                access_key=keys.access_key if keys else None,
                secret_key=keys.secret_key if keys else None,
            )
            if has_news(platform, found):
                return None
    return reached


def _stands(reached: Progress) -> bool:
    """Whether nothing but workers or people can move the campaign; not time, either."""
    return reached.waiting_for in {"nobody", "people", "workers"} and (
        not reached.goes_on_at
    )


def has_news(platform: MTurk, found: Glance) -> bool:
    """Whether a HIT whose answers have not been fetched has become reviewable."""
    hit_types = [HitTypeId(hit_type) for hit_type in found.hit_types]
    reviewable = platform.reviewable_hits(hit_types)
    return any(hit_id in found.open_hits for hit_id in reviewable)
