"""On which terms a marketplace recruits at Prolific."""

from dataclasses import dataclass

from piecework.prolific.resources.new_study import Device
from piecework.prolific.values import Money

MINUTE = 60_000
DAY = 24 * 60 * MINUTE


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How studies are made, and how much may be spent on them.

    Attributes:
        workspace_id: whose money it is.
        project_id: where the studies lie.
        site_url: the marketplace's site, as participants' browsers reach it.
        currency: the workspace's.
        is_live: whether anything is published; without, studies stay drafts.
        spend_at_most_cents: all studies and bonuses together, fees and tax included.
        least_per_hour_cents: what Prolific asks for at least.
        recommended_per_hour_cents: what it recommends; by it a HIT's time is estimated
            until enough were done to know.
        hits_per_visit: how many HITs a place is; 0 leaves it to the time they take.
        visit_seconds: how long a visit shall take where that is left open.
        hit_seconds: how long a HIT takes; 0 is not known.
        visits_per_participant: how often one may come to the same study.
        screening_cents: what taking a test is paid; 0 is that none is offered.
        screen_out_cents: what who came and found no work is paid; 0 is nothing.
        screening_places: how many may take a test before it is looked who passed.
        return_days: how long a participant has to return what was rejected here.
        settle_seconds: posts that come closer together than this are one study.
        bonus_pause_seconds: no bonus is paid for so long after the server's start: a
            bonus that was paid before it may show at Prolific so much later.
        grace_seconds: how long a participant has to enter his code by himself.
        devices: what may be used; none is anything.
    """

    workspace_id: str
    project_id: str
    site_url: str
    currency: str
    is_live: bool = False
    spend_at_most_cents: int = 0
    least_per_hour_cents: int = 0
    recommended_per_hour_cents: int = 0
    hits_per_visit: int = 0
    visit_seconds: int = 180
    hit_seconds: int = 0
    visits_per_participant: int = 10
    screening_cents: int = 0
    screen_out_cents: int = 0
    screening_places: int = 20
    return_days: int = 7
    settle_seconds: int = 20
    bonus_pause_seconds: int = 600
    grace_seconds: int = 180
    devices: tuple[Device, ...] = ()

    def money(self, cents: int) -> Money:
        """An amount in the workspace's currency."""
        return Money(minor=cents, currency=self.currency)
