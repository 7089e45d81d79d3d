"""What the bridge shows of its work, and what it may spend."""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from piecework.foundation.client.calls import Money
from piecework.foundation.client.errors import ApiError, Unusable
from piecework.marketplace.state.assignments import LATEST_APPROVAL_OF_VISITS_MS
from piecework.marketplace.state.clock import SECOND
from piecework.marketplace.state.money import PriceList
from piecework.marketplace.state.outside_crowd import MARKET_OF_HIT_TYPE
from piecework.marketplace.state.transaction import Transaction
from piecework.markets.bridging import accounts
from piecework.markets.bridging.accounts import SAMPLE_CENTS, number_of, prices_by_sample
from piecework.markets.bridging.losses import (
    MarketStatus,
    OfStudy,
    described_studies,
    loose_ends,
    states_of,
)
from piecework.markets.bridging.places import VisitPlan
from piecework.markets.bridging.settling import SCREENED_OUT, paid_rejections
from piecework.markets.bridging.studies import in_own_study
from piecework.markets.prolific.bridge.bridge import NAME, Terms
from piecework.markets.prolific.bridge.reading import ENDED, FREES_ITS_PLACE, RECRUITING
from piecework.markets.prolific.bridge.recruiting import with_recruiting
from piecework.markets.prolific.bridge.requirements import Requirement, filters_of
from piecework.markets.prolific.calling import PROLIFIC
from piecework.markets.prolific.client import Prolific

if TYPE_CHECKING:
    from piecework.markets.prolific.resources.recruiting import Filter, RecruitmentTime

_PAID = (
    "(SELECT count(*) FROM visits WHERE study = studies.id AND outcome = 'Paid' "
    f"AND status <> '{SCREENED_OUT}')"
)
_SCREENED_OUT = (
    "(SELECT count(*) FROM visits WHERE study = studies.id AND outcome = 'Paid' "
    f"AND status = '{SCREENED_OUT}')"
)
_NOT_HERE = (
    "(SELECT coalesce(sum(spent_cents), 0) FROM unknown_studies "
    f"WHERE market = '{NAME}') "
    "+ (SELECT coalesce(sum(unbooked_bonus_cents), 0) FROM studies "
    f"WHERE market = '{NAME}')"
)
"""What Prolific has charged that the books lack."""

_IS_CLOSED = f"(halted_by IN ('', 'Market') AND status IN {ENDED})"
"""Only that person offers the free places of a study that a person stopped again, and
nobody those of a study that the market has closed."""

_COMMITTED = (
    "SELECT (SELECT coalesce(sum(cost_cents * "
    f"iif(stage = 'Retired', {_PAID}, "
    # A place may be taken again, and its earlier rejection may be undone.
    f"max(iif({_IS_CLOSED}, {_PAID} + undecided, places), "
    "(SELECT count(*) FROM visits "
    f"WHERE study = studies.id AND status NOT IN {FREES_ITS_PLACE}))) "
    "+ screen_out_cost_cents * "
    f"iif(stage = 'Retired' OR {_IS_CLOSED}, {_SCREENED_OUT}, screen_out_slots)), 0) "
    f"FROM studies WHERE market = '{NAME}' AND stage IN ('Published', 'Retired')) + "
    "(SELECT coalesce(sum(total_cents), 0) FROM bonus_batches "
    f"WHERE {in_own_study(NAME)} AND stage IN ('Paying', 'Paid')) + {_NOT_HERE} + "
    "(SELECT coalesce(sum(held_cents), 0) FROM unknown_studies "
    f"WHERE market = '{NAME}')"
)
_SPENT = (
    f"SELECT (SELECT coalesce(sum(cost_cents * {_PAID} "
    f"+ screen_out_cost_cents * {_SCREENED_OUT}), 0) FROM studies "
    f"WHERE market = '{NAME}' AND stage IN ('Published', 'Retired')) + "
    "(SELECT coalesce(sum(total_cents), 0) FROM bonus_batches WHERE stage = 'Paid' "
    f"AND {in_own_study(NAME)}) "
    f"+ {_NOT_HERE}"
)
_BEING_PAID = (
    "SELECT coalesce(sum(total_cents), 0) FROM bonus_batches WHERE stage = 'Paying' "
    f"AND {in_own_study(NAME)}"
)
_HELD = (
    "SELECT coalesce(sum(cost_cents * "
    f"iif(status IN {RECRUITING}, max(places - {_PAID}, undecided), undecided) "
    "+ screen_out_cost_cents * "
    f"iif(status IN {RECRUITING}, max(screen_out_slots - {_SCREENED_OUT}, 0), 0)), 0) "
    f"FROM studies WHERE market = '{NAME}' AND stage IN ('Published', 'Retired')"
)
_HELD_NOT_HERE = f"SELECT coalesce(sum(held_cents), 0) FROM unknown_studies WHERE market = '{NAME}'"


def committed_cents(transaction: Transaction) -> int:
    """Return what is, or may be, spent at Prolific; the cap applies to this."""
    return number_of(transaction, _COMMITTED)


def spent_cents(transaction: Transaction) -> int:
    """Return what Prolific has charged for paid visits and bonuses."""
    return number_of(transaction, _SPENT)


def held_cents(transaction: Transaction) -> int:
    """Return what Prolific holds for open or undecided places."""
    return number_of(transaction, _HELD) + number_of(transaction, _HELD_NOT_HERE)


def taken_if_unrejected(transaction: Transaction, visit: sqlite3.Row) -> int:
    """Return what would be spent, held and being paid if a rejection is undone.

    This differs from `committed_cents`, which counts all places of ended studies too.
    """
    change = "UPDATE studies SET undecided = undecided + ? WHERE id = ?"
    transaction.execute(change, 1, visit["study"])
    taken = spent_cents(transaction) + held_cents(transaction) + number_of(transaction, _BEING_PAID)
    transaction.execute(change, -1, visit["study"])
    return taken


@dataclass(frozen=True, slots=True, kw_only=True)
class LastStart(accounts.LastStart):
    """How the marketplace was last served for Prolific, for readers of its file.

    Attributes:
        workspace_id: the workspace that paid.
        project_id: the project of its studies.
        currency: the workspace's currency.
    """

    name: ClassVar[str] = NAME
    address: str = PROLIFIC
    workspace_id: str = ""
    project_id: str = ""
    currency: str = ""


def last_start(address: str, terms: Terms) -> LastStart:
    """Return how the marketplace is served on these terms."""
    return LastStart(
        address=address,
        is_live=terms.is_live,
        spend_at_most_cents=terms.spend_at_most_cents,
        workspace_id=terms.workspace_id,
        project_id=terms.project_id,
        currency=terms.currency,
    )


def price_list(prolific: Prolific, currency: str, *, least_per_hour_cents: int = 0) -> PriceList:
    """Return fees and tax as Prolific computes them for a hundred pounds or dollars."""
    return prices_by_sample(
        prolific.studies.calculated_cost_minor(reward_minor=SAMPLE_CENTS, places=1),
        currency,
        least_per_hour_cents=least_per_hour_cents,
        longest_approval_seconds=LATEST_APPROVAL_OF_VISITS_MS // SECOND,
    )


FEWEST_COUNTED = 25
"""Prolific reports a smaller number of participants as 0."""

VISIT_SECONDS = 180
"""The length of a visit that the server aims at, unless it is told otherwise."""

_HOUR = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The HITs of a campaign.

    Attributes:
        batches: for each batch, the number of HITs by number of assignments.
        most_hits: the most HITs of one participant; `None` for no limit.
        items_in_hit: the most items of a HIT.
        reward_cents: the reward of each.
        seconds: how long each takes; 0 if unknown.
        requirements: on participants, in MTurk's terms.
        recruiting: lists and shares, as the marketplace keeps them (JSON); `None`
            for neither.
        currency: of the reward.
    """

    batches: Sequence[Mapping[int, int]]
    reward_cents: int
    seconds: int
    requirements: Sequence[Requirement]
    currency: str
    recruiting: str | None = None
    most_hits: int | None = None
    items_in_hit: int = 1

    def planned(self, seconds: float) -> VisitPlan:
        """Return the visits if a HIT takes so long."""
        return VisitPlan(
            batches=self.batches,
            seconds=seconds,
            visit_seconds=VISIT_SECONDS,
            most_hits=self.most_hits,
            items_in_hit=self.items_in_hit,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchEstimate:
    """What Prolific says about the study of one batch; attributes as in `Estimate`.

    Attributes:
        shorter: how many of the places have fewer HITs, as the last HITs of a batch.
    """

    shorter: int
    hits_per_visit: int
    places: int
    minutes: int
    reward_cents: int
    cost_cents: int
    hours: float | None
    hours_shown: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What Prolific says about the studies of these HITs: one for each batch.

    Batches are posted one after another, so cost and time add up.

    Attributes:
        eligible: participants who meet all filters; 0 means fewer than 25.
        hits_per_visit: HITs in a place of the largest study.
        places: how many places the HITs fill, in all.
        minutes: how long a visit takes.
        reward_cents: the reward of a place.
        cost_cents: the cost of all places with fees and tax.
        hours: the predicted times until the last place of each study is taken, added up;
            `None` if unknown.
        hours_shown: the time of the first study in Prolific's words; "" if unknown.
        batches: the studies by batch.
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
    batches: tuple["BatchEstimate", ...]

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
            next_step=f"state the campaign's amounts in {currency}, or choose another workspace",
        )
    recruiting = prolific.recruiting
    kinds = {kind.id: kind for kind in recruiting.filter_kinds(workspace_id)}
    filters = with_recruiting(filters_of(work.requirements, kinds), work.recruiting)
    seconds = work.seconds or _guessed(prolific, workspace_id, work)
    planned = work.planned(seconds)
    plans = [tuple(planned.visits(slots)) for slots in work.batches]
    by_plan = {
        plan: _of_batch(
            prolific,
            workspace_id,
            filters,
            plan,
            reward_cents=work.reward_cents,
            minutes=planned.minutes(plan[0][1]),
        )
        for plan in dict.fromkeys(plans)
    }
    batches = tuple(by_plan[plan] for plan in plans)
    hours = [each.hours for each in batches if each.hours is not None]
    largest = max(batches, key=lambda each: each.places * each.hits_per_visit)
    return Estimate(
        eligible=recruiting.eligible_count(workspace_id, filters),
        hits_per_visit=largest.hits_per_visit,
        places=sum(each.places for each in batches),
        minutes=largest.minutes,
        reward_cents=largest.reward_cents,
        cost_cents=sum(each.cost_cents for each in batches),
        currency=currency,
        hours=round(sum(hours), 2) if len(hours) == len(batches) else None,
        hours_shown=batches[0].hours_shown,
        batches=batches,
    )


def _of_batch(
    prolific: Prolific,
    workspace_id: str,
    filters: "Sequence[Filter]",
    plan: Sequence[tuple[int, int]],
    *,
    reward_cents: int,
    minutes: int,
) -> BatchEstimate:
    """Ask Prolific about the studies of a batch: their visits, and the HITs in each."""
    (places, hits), *shorter = plan
    reward = hits * reward_cents
    time: RecruitmentTime | None = None
    # Not every account has the prediction, and the rest is worth knowing.
    with suppress(ApiError):
        time = prolific.recruiting.recruitment_time(
            workspace_id, filters, reward_minor=reward, places=places, minutes=minutes
        )
    return BatchEstimate(
        hits_per_visit=hits,
        places=sum(visits for visits, _ in plan),
        shorter=sum(visits for visits, _ in shorter),
        minutes=minutes,
        reward_cents=reward,
        cost_cents=sum(
            prolific.studies.calculated_cost_minor(
                reward_minor=length * reward_cents, places=visits
            )
            for visits, length in plan
        ),
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


_PAGE = "https://app.prolific.com/researcher/workspaces/studies/{study_id}"
_EMULATOR_PAGE = "{address}/emulator/site"
"""Where researchers see a study; an emulator has pages only for participants."""

_UNPAID = (
    "SELECT title FROM hit_types WHERE reward_cents = 0 AND assignable_hits > 0 "
    f"AND {MARKET_OF_HIT_TYPE} = '{NAME}'"
)

_VISITS = (
    "SELECT visits.*, count(assignments.id) FILTER "
    "(WHERE assignments.status = 'Submitted') AS undecided FROM visits "
    "LEFT JOIN assignments ON assignments.visit = visits.id WHERE study = ? "
    "GROUP BY visits.id"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyStatus(OfStudy):
    """The state of one study.

    Attributes:
        hit_type_id: the HIT type of its HITs.
        study_id: the id at Prolific; None until the study is created.
        page: the study's page at Prolific.
        currency: the currency of its amounts.
        waits_for_requester: visits with an undecided HIT, paid or not.
        waits_for_participant: visits with an open request to return.
        eligible: how many participants met its filters when it was created; 0 means
            fewer than 25, and None that Prolific was not asked.
    """

    hit_type_id: str
    study_id: str | None
    page: str
    currency: str
    waits_for_requester: int
    waits_for_participant: int
    eligible: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Status(MarketStatus):
    """The state of all studies; amounts in minor units of the workspace's currency.

    Attributes:
        held_cents: what Prolific holds for places, tests and screen-outs, open or undecided.
        currency: the currency of all amounts.
    """

    of_hit_types: tuple[StudyStatus, ...]
    held_cents: int
    currency: str


def read_status(transaction: Transaction) -> Status:
    """Return the state as of the bridge's last step."""
    start, studies = LastStart.read(transaction), []
    for study in described_studies(transaction, NAME):
        visits = transaction.all(_VISITS, study["id"])
        waiting = [visit for visit in visits if visit["outcome"] is None]
        studies.append(
            StudyStatus(
                hit_type_id=study["hit_type_id"],
                title=study["title"],
                requester=study["requester"],
                study_id=study["study_id"],
                status=study["status"] or study["stage"].upper(),
                page=_page(start.address, study["study_id"]),
                places=study["places"],
                hits_per_visit=study["hits_per_visit"],
                currency=study["currency"],
                reward_cents=study["reward_cents"],
                cost_cents=study["cost_cents"],
                states=states_of(visits, study["not_begun"]),
                waits_for_requester=sum(visit["undecided"] > 0 for visit in visits),
                waits_for_participant=sum(
                    visit["return_asked_ms"] is not None for visit in waiting
                ),
                eligible=study["eligible"],
                trouble=study["trouble"],
            )
        )
    committed = committed_cents(transaction)
    ends = loose_ends(transaction, start, committed)
    unpaid = (
        f"the HITs of {row['title']!r} pay nothing, and Prolific requires a "
        "reward; they are not offered there"
        for row in transaction.all(_UNPAID)
    )
    currency = start.currency or (studies[0].currency if studies else "GBP")
    rejected = paid_rejections(
        transaction, NAME, "Prolific", lambda cents: Money(minor=cents, currency=currency)
    )
    ends["troubles"] = (*ends["troubles"], *unpaid, *rejected.values())
    return Status(
        of_hit_types=tuple(studies),
        spent_cents=spent_cents(transaction),
        held_cents=held_cents(transaction),
        committed_cents=committed,
        currency=currency,
        **ends,
    )


def _page(address: str, study_id: str | None) -> str:
    if study_id is None:
        return ""
    page = _PAGE if address == PROLIFIC else _EMULATOR_PAGE
    return page.format(address=address, study_id=study_id)
