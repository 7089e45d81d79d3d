"""The terms on which a marketplace recruits at Prolific."""

from dataclasses import dataclass

from piecework.foundation.client.calls import Money
from piecework.markets.prolific.resources.new_study import Device

MINUTE = 60_000
DAY = 24 * 60 * MINUTE


NAME = "prolific"
"""How the marketplace's tables name this market."""

FEW_ELIGIBLE = (
    "fewer than 25 participants at Prolific meet the requirements, so the study may "
    "not fill; see `piecework prolific estimate`"
)
"""What people read about a study whose eligible participants Prolific counts as 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How studies are set up, and how much may be spent on them.

    Attributes:
        workspace_id: the workspace that pays.
        project_id: the project of the studies.
        site_url: the marketplace's site, as participants' browsers reach it.
        currency: the workspace's currency.
        is_live: whether studies are published; otherwise they stay drafts.
        spend_at_most_cents: the cap for all studies and bonuses, including fees and
            tax.
        least_per_hour_cents: the minimum hourly pay at Prolific.
        recommended_per_hour_cents: the recommended hourly pay, used to estimate a HIT's
            time until enough HITs are done.
        hits_per_visit: HITs in a place; 0 derives it from the time they take.
        visit_seconds: the target length of a visit if `hits_per_visit` is 0.
        hit_seconds: how long a HIT takes; 0 if unknown.
        visits_per_participant: visits allowed per participant and study.
        screening_cents: the pay for taking a test; 0 offers no tests.
        screen_out_cents: the pay for participants who arrive but find no work; 0 pays
            nothing.
        screening_places: participants who take a test before the results are checked.
        return_days: days a participant has to return a submission rejected here.
        settle_seconds: posts less than this far apart share one study.
        bonus_pause_seconds: how long no bonus is paid after the server's start, because
            a bonus paid before it may show at Prolific this much later.
        grace_seconds: how long a participant has to enter the code themselves.
        devices: the devices allowed; an empty list allows any.
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
        """Return an amount in the workspace's currency."""
        return Money(minor=cents, currency=self.currency)
