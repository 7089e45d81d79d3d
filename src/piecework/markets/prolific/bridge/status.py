"""The state of everything at Prolific, read from the marketplace's tables only."""

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from piecework.marketplace.state.outside_market import MARKET_OF_HIT_TYPE
from piecework.marketplace.state.transaction import Transaction
from piecework.markets.bridging.losses import UnknownStudy, read_unknown
from piecework.markets.bridging.studies import in_own_study, of_own_person
from piecework.markets.prolific.bridge.bridge import NAME
from piecework.markets.prolific.bridge.spending import (
    LastStart,
    committed_cents,
    held_cents,
    number_of,
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

_STUDIES = (
    "SELECT studies.*, hit_types.hit_type_id, hit_types.title, "
    "requesters.name AS requester FROM studies "
    "JOIN hit_types ON hit_types.id = studies.hit_type "
    "JOIN requesters ON requesters.id = hit_types.requester "
    f"WHERE studies.market = '{NAME}' ORDER BY studies.id"
)
_VISITS = (
    "SELECT visits.*, count(assignments.id) FILTER "
    "(WHERE assignments.status = 'Submitted') AS undecided FROM visits "
    "LEFT JOIN assignments ON assignments.visit = visits.id WHERE study = ? "
    "GROUP BY visits.id"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyStatus:
    """The state of one study.

    Attributes:
        hit_type_id: the HIT type of its HITs.
        study_id: the id at Prolific; None until the study is created.
        status: Prolific's status, or the stage before Prolific has one.
        page: the study's page at Prolific.
        currency: the currency of its amounts.
        cost_cents: the cost of a place, including fees and tax.
        states: the number of visits by status at Prolific.
        waits_for_requester: visits with an undecided HIT, paid or not.
        waits_for_participant: visits with an open request to return.
        eligible: how many participants met its filters when it was created; 0 means
            fewer than 25, and None that Prolific was not asked.
        trouble: what keeps the study from continuing; "" if nothing does.
    """

    hit_type_id: str
    title: str
    requester: str
    study_id: str | None
    status: str
    page: str
    places: int
    hits_per_visit: int
    currency: str
    reward_cents: int
    cost_cents: int | None
    states: dict[str, int]
    waits_for_requester: int
    waits_for_participant: int
    eligible: int | None
    trouble: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The state of all studies; amounts in minor units of the workspace's currency.

    Attributes:
        spent_cents: what Prolific has charged for visits and bonuses.
        held_cents: what it holds for open or undecided places.
        left_cents: what the cap of the last start leaves; negative if it was lowered.
            None: nothing is published or paid.
        committed_cents: what is spent at Prolific or promised; the cap applies to this.
        bonuses_waiting_cents: bonuses not paid yet.
        troubles: messages about bonuses and visits that a person should read.
        unknown_messages: messages that may or may not have been sent.
        unknown: studies at Prolific that the file lacks.
        currency: the currency of all amounts.
    """

    of_hit_types: tuple[StudyStatus, ...]
    spent_cents: int
    held_cents: int
    left_cents: int | None
    committed_cents: int
    bonuses_waiting_cents: int
    troubles: tuple[str, ...]
    unknown_messages: int
    unknown: tuple[UnknownStudy, ...]
    currency: str

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for `--json`."""
        return asdict(self)


def read_status(transaction: Transaction) -> Status:
    """Return the state as of the bridge's last step."""
    start, studies = LastStart.read(transaction), []
    for study in transaction.all(_STUDIES):
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
                states=dict(sorted(Counter(visit["status"] for visit in visits).items())),
                waits_for_requester=sum(visit["undecided"] > 0 for visit in visits),
                waits_for_participant=sum(
                    visit["return_asked_ms"] is not None for visit in waiting
                ),
                eligible=study["eligible"],
                trouble=study["trouble"],
            )
        )
    committed = committed_cents(transaction)
    return Status(
        of_hit_types=tuple(studies),
        spent_cents=spent_cents(transaction),
        held_cents=held_cents(transaction),
        left_cents=start.spend_at_most_cents - committed if start.is_live else None,
        committed_cents=committed,
        bonuses_waiting_cents=number_of(
            transaction,
            "SELECT coalesce(sum(cents), 0) FROM bonus_lines "
            "JOIN visits ON visits.id = bonus_lines.visit "
            f"AND visits.{in_own_study(NAME)} "
            "LEFT JOIN bonus_batches ON bonus_batches.id = bonus_lines.batch "
            "WHERE coalesce(bonus_batches.stage, '') <> 'Paid'",
        ),
        troubles=(
            *(
                row["trouble"]
                for row in transaction.all(
                    "SELECT trouble FROM bonus_batches WHERE trouble <> '' "
                    f"AND {in_own_study(NAME)} "
                    "UNION SELECT trouble FROM visits WHERE trouble <> '' "
                    f"AND {in_own_study(NAME)} "
                )
            ),
            *(
                f"the HITs of {row['title']!r} pay nothing, and Prolific requires a "
                "reward; they are not offered there"
                for row in transaction.all(_UNPAID)
            ),
        ),
        unknown_messages=number_of(
            transaction,
            f"SELECT count(*) FROM messages WHERE sent_there = 'Unknown' AND {of_own_person(NAME)}",
        ),
        unknown=read_unknown(transaction, NAME),
        currency=start.currency or (studies[0].currency if studies else "GBP"),
    )


def _page(address: str, study_id: str | None) -> str:
    if study_id is None:
        return ""
    page = _PAGE if address == PROLIFIC else _EMULATOR_PAGE
    return page.format(address=address, study_id=study_id)
