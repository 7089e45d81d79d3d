"""Ask Prolific about a study that does not exist yet: participants, cost and time.

Nothing is created. The study is the first one that the bridge would make of the HITs,
with the usual options of the server, so a real one may differ.
"""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from piecework.foundation.client.errors import ApiError, Unusable
from piecework.markets.prolific.bridge.recruits import with_recruiting
from piecework.markets.prolific.bridge.requirements import Requirement, filters_of
from piecework.markets.prolific.client import Prolific

if TYPE_CHECKING:
    from piecework.markets.prolific.resources.recruiting import RecruitmentTime

FEWEST_COUNTED = 25
"""Prolific reports a smaller number of participants as 0."""

VISIT_SECONDS = 180
"""The length of a visit that the server aims at, unless it is told otherwise."""

_HOUR = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The HITs of a campaign.

    Attributes:
        assignments: how many are wanted in all.
        reward_cents: the reward of each.
        seconds: how long each takes; 0 if unknown.
        requirements: on participants, in MTurk's terms.
        recruiting: lists and shares, as the marketplace keeps them (JSON); `None`:
            there are none.
        currency: of the reward.
    """

    assignments: int
    reward_cents: int
    seconds: int
    requirements: Sequence[Requirement]
    currency: str
    recruiting: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What Prolific says about the study of these HITs.

    Attributes:
        eligible: participants who meet all filters; 0 means fewer than 25.
        hits_per_visit: HITs in a place of the study.
        places: how many places the HITs fill.
        minutes: how long a visit takes.
        reward_cents: the reward of a place.
        cost_cents: the cost of all places with fees and tax.
        hours: the predicted time until the last place is taken; `None` if unknown.
        hours_shown: the same in Prolific's words; "" if unknown.
    """

    eligible: int
    hits_per_visit: int
    places: int
    minutes: int
    reward_cents: int
    cost_cents: int
    currency: str
    hours: float | None
    hours_shown: str

    @property
    def is_hardly_anybody(self) -> bool:
        """Whether so few participants are eligible that Prolific does not count."""
        return not self.eligible

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for `--json`."""
        return asdict(self)


def estimate(prolific: Prolific, workspace_id: str, work: Work) -> Estimate:
    """Ask Prolific about the study of these HITs; this changes nothing there.

    Raises:
        Unusable: the workspace has another currency, or a filter is not offered.
        Refused: Prolific refuses a filter.
    """
    currency = prolific.account.balance(workspace_id).currency
    if currency != work.currency:
        raise Unusable(
            f"the workspace pays in {currency}, and the campaign in {work.currency}",
            next_step=f'set rewards.currency = "{currency}", or choose another workspace',
        )
    recruiting = prolific.recruiting
    kinds = {kind.id: kind for kind in recruiting.filter_kinds(workspace_id)}
    filters = with_recruiting(filters_of(work.requirements, kinds), work.recruiting)
    seconds = work.seconds or _guessed(prolific, workspace_id, work)
    hits = max(1, min(math.ceil(VISIT_SECONDS / seconds), work.assignments))
    places = math.ceil(work.assignments / hits)
    reward_cents, minutes = hits * work.reward_cents, max(1, round(hits * seconds / 60))
    time: RecruitmentTime | None = None
    # Not every account has the prediction, and the rest is worth knowing.
    with suppress(ApiError):
        time = recruiting.recruitment_time(
            workspace_id, filters, reward_minor=reward_cents, places=places, minutes=minutes
        )
    return Estimate(
        eligible=recruiting.eligible_count(workspace_id, filters),
        hits_per_visit=hits,
        places=places,
        minutes=minutes,
        reward_cents=reward_cents,
        cost_cents=prolific.studies.calculated_cost_minor(reward_minor=reward_cents, places=places),
        currency=currency,
        hours=time.hours if time else None,
        hours_shown=time.words if time else "",
    )


def _guessed(prolific: Prolific, workspace_id: str, work: Work) -> float:
    """Return how long a HIT takes if its reward is the pay that Prolific recommends."""
    for each in prolific.recruiting.reward_recommendations(workspace_id, work.currency):
        if each.recommended_per_hour_minor:
            hours = work.reward_cents / each.recommended_per_hour_minor
            return max(1.0, hours * _HOUR)
    return float(VISIT_SECONDS)
