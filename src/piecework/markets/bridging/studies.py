"""The tables of studies and participants that all bridges keep.

A study's internal name is that by which the bridge finds it again at the other market. It
contains the identity that all copies of the marketplace's file share, and the generation
that created the study, so no copy repeats a name.

Several bridges work on one marketplace's database, each with the studies and the people
of one market; SQL conditions keep a bridge to its own rows.
"""

import json
import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Self

from piecework.marketplace.state import lineage, qualification_types, visits
from piecework.marketplace.state import qualification_types as system
from piecework.marketplace.state.clock import SECOND
from piecework.marketplace.state.outside_crowd import MARKET_OF_HIT_TYPE
from piecework.marketplace.state.transaction import Transaction
from piecework.marketplace.state.worker_limits import COUNTED_TOGETHER, IS_COUNTED
from piecework.marketplace.workers import discovery, eligibility

_HIT_TYPES = (
    "SELECT hit_types.*, (SELECT max(created_ms) FROM hits WHERE hit_type = "
    "hit_types.id AND status = 'Assignable') AS newest_ms FROM hit_types "
    f"WHERE {MARKET_OF_HIT_TYPE} = ?1 AND (assignable_hits > 0 OR EXISTS "
    "(SELECT 1 FROM studies WHERE studies.hit_type = hit_types.id "
    "AND studies.market = ?1 AND stage <> 'Retired' "
    "AND qualification_type IS NULL)) ORDER BY id"
)
_FREE_SLOTS = (
    "SELECT max_assignments - accepted - submitted - approved - rejected AS free, "
    "count(*) AS hits FROM hits WHERE hit_type = ? AND status = 'Assignable' "
    f"AND {IS_COUNTED} GROUP BY free"
)
_STUDY = (
    "SELECT * FROM studies WHERE hit_type = ? AND market = ? "
    "AND stage <> 'Retired' AND qualification_type IS NULL ORDER BY id DESC LIMIT 1"
)


def open_hit_types(transaction: Transaction, market: str) -> list[sqlite3.Row]:
    """Return a market's HIT types with work or a study.

    `newest_ms` is their last post.
    """
    return transaction.all(_HIT_TYPES, market)


def open_slots(transaction: Transaction, hit_type: int) -> dict[int, int]:
    """Return the number of open HITs of a type by number of free slots.

    A HIT that is apart from an older open one counts when that one is filled, so all
    that count can be done in one visit.
    """
    rows = transaction.all(_FREE_SLOTS, hit_type)
    return {row["free"]: row["hits"] for row in rows}


def present_study(transaction: Transaction, hit_type: int, market: str) -> sqlite3.Row | None:
    """Return the latest study of a HIT type at a market that is not retired."""
    return transaction.first_row(_STUDY, hit_type, market)


def revive_halted(transaction: Transaction, market: str, ended: Sequence[str]) -> None:
    """Read again what a person ended at a market, if there is work: no other takes its place.

    Args:
        transaction: the open one.
        market: how the marketplace's tables name the market.
        ended: the market's statuses of studies that have ended.
    """
    marks = ", ".join("?" * len(ended))
    transaction.execute(
        "UPDATE studies SET stage = 'Published' WHERE market = ? AND stage = 'Retired' "
        f"AND halted_by = '' AND status IN ({marks}) AND id IN (SELECT max(studies.id) "
        "FROM studies JOIN hit_types ON hit_types.id = studies.hit_type "
        "WHERE qualification_type IS NULL AND assignable_hits > 0 "
        "GROUP BY studies.hit_type, studies.market)",
        market,
        *ended,
    )


def published_studies(transaction: Transaction, market: str) -> list[sqlite3.Row]:
    """Return a market's studies that are there and not retired."""
    return transaction.all(
        "SELECT * FROM studies WHERE stage <> 'Retired' AND study_id IS NOT NULL AND market = ?",
        market,
    )


_NAME = re.compile(
    r"piecework (?P<hit_type_id>\w+) (?P<number>\d+) "
    r"(?P<identity>\w{8})-(?P<generation>\w{8})( (?P<qualification_type_id>\w+))?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyName:
    """The parts of a study's internal name.

    Attributes:
        identity: the identity of the marketplace's file and its copies.
        generation: the generation of the file that created the study.
        qualification_type_id: the type with the test it pays for; "" in other studies.
    """

    hit_type_id: str
    number: int
    identity: str
    generation: str
    qualification_type_id: str = ""

    @classmethod
    def new(
        cls,
        transaction: Transaction,
        hit_type_id: str,
        number: int,
        qualification_type_id: str = "",
    ) -> Self:
        """Return the name for a new study."""
        return cls(
            hit_type_id=hit_type_id,
            number=number,
            identity=lineage.identity(transaction),
            generation=lineage.current(transaction),
            qualification_type_id=qualification_type_id,
        )

    @classmethod
    def read(cls, internal_name: str | None) -> Self | None:
        """Parse a name; None if it is not in piecework's format."""
        match = _NAME.fullmatch(internal_name or "")
        if match is None:
            return None
        return cls(
            hit_type_id=match["hit_type_id"],
            number=int(match["number"]),
            identity=match["identity"],
            generation=match["generation"],
            qualification_type_id=match["qualification_type_id"] or "",
        )

    def __str__(self) -> str:
        words = f"piecework {self.hit_type_id} {self.number}"
        name = f"{words} {self.identity}-{self.generation}"
        return f"{name} {self.qualification_type_id}".rstrip()


def in_own_study(market: str) -> str:
    """Return the condition that the column `study` is of a market.

    >>> in_own_study("panel")
    "study IN (SELECT id FROM studies WHERE market = 'panel')"
    """
    return f"study IN (SELECT id FROM studies WHERE market = '{market}')"


def of_own_person(market: str) -> str:
    """Return the condition that the column `worker` is a person from a market."""
    return f"worker IN (SELECT worker FROM participants WHERE market = '{market}')"


_WAITING = (
    "SELECT messages.*, participants.participant_id, (SELECT studies.study_id "
    "FROM visits JOIN studies ON studies.id = visits.study "
    "JOIN hit_types ON hit_types.id = studies.hit_type "
    "WHERE visits.worker = messages.worker "
    "AND hit_types.requester = messages.requester "
    "ORDER BY visits.id DESC LIMIT 1) AS study_id FROM messages "
    "JOIN participants ON participants.worker = messages.worker "
    "WHERE sent_there IS NULL AND market = ? ORDER BY messages.id"
)


def waiting_messages(
    transaction: Transaction, market: str, *, from_ms: int = 0
) -> list[sqlite3.Row]:
    """Return the messages that wait, each with its worker's latest study of the requester.

    Of those that the process ended while sending, and those written before `from_ms`, it is
    unknown whether they were sent.
    """
    transaction.execute(
        "UPDATE messages SET sent_there = 'Unknown' WHERE (sent_there = 'Sending' "
        f"OR sent_there IS NULL AND sent_ms < ?) AND {of_own_person(market)}",
        from_ms,
    )
    return transaction.all(_WAITING, market)


_ENOUGH_ANSWERS = 10


def measured_seconds(transaction: Transaction, hit_type: int) -> float | None:
    """Return the median of the latest answers; None while there are too few.

    Types of one campaign, which a limit names, with the same requester, market and reward
    are of the same work: their answers count together. Two campaigns may have one title.

    Args:
        transaction: the open one.
        hit_type: row id.
    """
    took = [
        (row["answered_ms"] - row["shown_ms"]) / SECOND
        for row in transaction.all(
            "SELECT answered_ms, shown_ms FROM assignments "
            "JOIN hits ON hits.id = assignments.hit WHERE hits.hit_type IN "
            "(SELECT ?1 UNION SELECT alike.id FROM hit_types AS own "
            "JOIN hit_type_limits AS named ON named.hit_type = own.id "
            "JOIN hit_type_limits AS same USING (name, is_of_batch) "
            "JOIN hit_types AS alike ON alike.id = same.hit_type "
            "AND (alike.requester, alike.market, alike.reward_cents) "
            "= (own.requester, own.market, own.reward_cents) "
            "WHERE own.id = ?1 AND NOT is_of_batch) "
            "AND visit IS NOT NULL AND answered_ms IS NOT NULL "
            "ORDER BY assignments.id DESC LIMIT 100",
            hit_type,
        )
    ]
    return max(1.0, median(took)) if len(took) >= _ENOUGH_ANSWERS else None


PARTICIPANTS = (
    "SELECT workers.*, participant_id FROM participants "
    "JOIN workers ON workers.id = participants.worker WHERE market = ? "
    "ORDER BY workers.id"
)
_HAS_DONE = (
    "SELECT 1 FROM assignments JOIN hits ON hits.id = assignments.hit "
    "WHERE assignments.worker = ?1 AND (hits.hit_type = ?2 OR hits.is_apart = 1 "
    f"OR hits.hit_type IN ({COUNTED_TOGETHER.format('?2')})) LIMIT 1"
)
"""What may leave a worker too few HITs of a type: its HITs, and those that exclude some."""
_IS_BLOCKED = "SELECT 1 FROM blocks WHERE requester = ? AND worker = ?"
_NOT_OWN = {*eligibility.VOUCHED_FOR, *system.MASTERS}


def own_requirements(
    requirements: Sequence[Mapping[str, Any]], *, but: str = ""
) -> list[dict[str, Any]]:
    """Return the requirements on requesters' own qualification types.

    Args:
        requirements: all requirements of a HIT type.
        but: how the ids of types begin that stand for filters of the market; "" if the
            market has none.
    """
    return [
        dict(each)
        for each in requirements
        if each["QualificationTypeId"] not in _NOT_OWN
        and not qualification_types.is_crowd(each["QualificationTypeId"])
        and not (but and each["QualificationTypeId"].startswith(but))
    ]


def needs_holding(own: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a participant who holds no qualification is refused."""
    return any(not eligibility.meets(requirement, None) for requirement in own)


def fitting_and_unfit(
    transaction: Transaction,
    study: sqlite3.Row,
    participants: Sequence[sqlite3.Row],
    own: Sequence[dict[str, Any]],
) -> tuple[set[str], set[str]]:
    """Return the ids of participants who may work on a study, and of those to keep out.

    Those who may work but have done too many of the HITs are in both.

    Args:
        transaction: the open one.
        study: a row of `studies` with requester and hit_group_id of its HIT type.
        participants: rows of `PARTICIPANTS`.
        own: the requirements on requesters' own types.
    """
    fitting, unfit = set[str](), set[str]()
    for worker in participants:
        held = eligibility.holdings(transaction, worker)
        meets_all = not eligibility.unmet([*own], held, action="accept")
        is_blocked = transaction.first_row(_IS_BLOCKED, study["requester"], worker["id"])
        if meets_all and is_blocked is None:
            fitting.add(worker["participant_id"])
            if not _has_done_all(transaction, worker, study):
                continue
        unfit.add(worker["participant_id"])
    return fitting, unfit


def requirements_of(hit_type: sqlite3.Row) -> list[dict[str, Any]]:
    """Return the requirements of a HIT type."""
    requirements: list[dict[str, Any]] = json.loads(hit_type["requirements"])
    return requirements


def _has_done_all(transaction: Transaction, worker: sqlite3.Row, study: sqlite3.Row) -> bool:
    """Return whether the HITs left for a worker are too few to fill a visit."""
    if transaction.first_row(_HAS_DONE, worker["id"], study["hit_type"]) is None:
        return False
    wanted = int(study["hits_per_visit"])
    group = discovery.visible_group(transaction, worker, study["hit_group_id"])
    if group.available < wanted:
        return True
    return visits.most_hits(transaction, study["hit_type"], worker, most=wanted) < wanted
