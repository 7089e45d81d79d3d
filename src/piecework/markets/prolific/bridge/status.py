"""The state of everything at Prolific, read from the marketplace's tables only."""

from dataclasses import dataclass

from piecework.marketplace.state.outside_market import MARKET_OF_HIT_TYPE
from piecework.marketplace.state.transaction import Transaction
from piecework.markets.bridging.status import (
    MarketStatus,
    OfStudy,
    described_studies,
    loose_ends,
    states_of,
)
from piecework.markets.prolific.bridge.bridge import NAME
from piecework.markets.prolific.bridge.spending import (
    LastStart,
    committed_cents,
    held_cents,
    spent_cents,
)
from piecework.markets.prolific.calling import PROLIFIC

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
        held_cents: what Prolific holds for open or undecided places.
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
                states=states_of(visits),
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
    ends["troubles"] = (*ends["troubles"], *unpaid)
    return Status(
        of_hit_types=tuple(studies),
        spent_cents=spent_cents(transaction),
        held_cents=held_cents(transaction),
        committed_cents=committed,
        currency=start.currency or (studies[0].currency if studies else "GBP"),
        **ends,
    )


def _page(address: str, study_id: str | None) -> str:
    if study_id is None:
        return ""
    page = _PAGE if address == PROLIFIC else _EMULATOR_PAGE
    return page.format(address=address, study_id=study_id)
