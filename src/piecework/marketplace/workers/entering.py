"""Who may come in, and which visit an arrival begins or continues.

One law for every market: a participant has one open visit to a study, and it belongs to
the browser that began it.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.languages import sentence
from piecework.marketplace.state import visits
from piecework.marketplace.state.outside_crowd import Arrival, OutsideCrowd, Submission
from piecework.marketplace.state.transaction import Transaction
from piecework.marketplace.workers import discovery, qualifying

if TYPE_CHECKING:
    from piecework.foundation.signin.provider import Provider

_STUDY = (
    "SELECT studies.*, hit_types.hit_group_id, qualification_type_id, "
    "coalesce(qualification_types.name, hit_types.title) AS title, "
    "coalesce(qualification_types.description, hit_types.description) "
    "AS description, requesters.name AS requester_name FROM studies "
    "JOIN hit_types ON hit_types.id = studies.hit_type "
    "JOIN requesters ON requesters.id = hit_types.requester "
    "LEFT JOIN qualification_types "
    "ON qualification_types.id = studies.qualification_type WHERE study_id = ? "
    "AND studies.market = ?"
)

_UNKNOWN = "SELECT 1 FROM unknown_studies WHERE study_id = ? AND market = ? AND is_left = 0"
"""A study that is missing because the file was restored from a copy."""


def study_of(transaction: Transaction, crowd: OutsideCrowd, arrival: Arrival) -> sqlite3.Row:
    """Return the study of an arrival, with what its first page shows.

    Raises:
        Refusal: there is no such study (404), or a restored file lacks it (503).
    """
    row = transaction.first_row(_STUDY, arrival.study_id, crowd.name)
    if row is None and transaction.first_row(_UNKNOWN, arrival.study_id, crowd.name):
        raise Refusal(
            "VisitRefused",
            "The researchers are repairing this study right now. Your place is kept: "
            "please open the study again in a few minutes. If you have done the work "
            "and have its code, enter the code; you will be paid.",
            status=503,
        )
    if row is None:
        raise Refusal("VisitRefused", "There is no active study with this number here.", status=404)
    return row


def begin_visit(
    transaction: Transaction,
    study: sqlite3.Row,
    worker: sqlite3.Row,
    arrival: Arrival,
    submission: Submission,
) -> sqlite3.Row | None:
    """Return the visit that an arrival continues, if it begins none.

    Raises:
        Refusal: the submission is another participant's (403), or not active (409).
    """
    visit = visits.of_submission(transaction, study["market"], arrival.submission_id)
    is_others = visit is not None and visit["worker"] != worker["id"]
    if visit is not None and is_others and not submission.is_shown:
        # Either link may be made up; neither keeps the other participant out.
        visits.give_up_id(transaction, visit["id"])
        visit = None
    elif is_others:
        raise Refusal("NotYours", "This visit belongs to another person.", status=403)
    if submission.over:
        # This also holds for a visit that was begun: its link no longer opens a
        # session.
        raise Refusal("VisitOver", submission.over, status=409)
    return visit or visits.unfinished(
        transaction,
        study=study["id"],
        worker=worker,
        unshown_status=None if submission.is_shown else submission.status,
    )


def enter_visit(
    transaction: Transaction,
    study: sqlite3.Row,
    worker: sqlite3.Row,
    arrival: Arrival,
    submission: Submission,
    *,
    own: int | None,
) -> int | None:
    """Begin or continue the visit of an active submission; return it (row id).

    Args:
        transaction: the open one.
        study: a row of `_STUDY`.
        worker: the participant.
        arrival: the contents of the link.
        submission: its state at the other market.
        own: the visit that this browser began.

    Returns:
        None if another browser began it, and the link may have been guessed.

    Raises:
        Refusal: the submission is not active (409), or another participant's (403).
    """
    visit = begin_visit(transaction, study, worker, arrival, submission)
    if visit is not None:
        is_own = visit["id"] == own or arrival.is_proven
        return int(visit["id"]) if is_own else None
    return visits.begin_visit(
        transaction,
        study=study,
        worker=worker,
        submission_id=arrival.submission_id,
        submission=submission,
        may_work=may_work(transaction, worker, study),
    )


def may_work(transaction: Transaction, worker: sqlite3.Row, study: sqlite3.Row) -> bool:
    """Return whether requirements, blocks and limits let a worker visit a study."""
    try:
        if study["qualification_type_id"]:
            offered = qualifying.find_offer(transaction, worker, study["qualification_type_id"])
            return offered.refusal is None
        group = discovery.visible_group(transaction, worker, study["hit_group_id"])
    except Refusal:
        return False
    if group.limit is not None and group.limit.left < study["hits_per_visit"]:
        return False
    return group.may_accept


NOT_TICKED = sentence("Please tick the box if you agree, or close this page.")
"""What a page says that was sent without consent."""

OTHER_TEXT = sentence("This text has changed since you opened the page. Please read it again.")
"""What a page says whose text for consent is no longer the present one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admittance:
    """How workers come in.

    Attributes:
        crowds: the markets that send workers as visitors.
        consent: the text, one string per paragraph, to which its other workers agree
            before their first HIT; empty for none.
        provider_at: makes the provider at which invited workers may sign in, from the
            address to which it sends them back; `None`: only links sign in.
    """

    crowds: Sequence[OutsideCrowd] = ()
    consent: Sequence[str] = ()
    provider_at: "Callable[[str], Provider] | None" = None


@dataclass(frozen=True, slots=True)
class Crowds:
    """The crowds, at least one, in the order in which they are served.

    Attributes:
        all: the crowds.
    """

    all: Sequence[OutsideCrowd]

    @property
    def titles(self) -> str:
        """The markets' display names, joined by "or"."""
        return " or ".join(crowd.market for crowd in self.all)

    def of_link(self, query: Mapping[str, str]) -> OutsideCrowd:
        """Return the crowd whose links have these parameters.

        It is the first crowd if no crowd's links have them; that crowd refuses the
        link.
        """
        for crowd in self.all:
            if set(crowd.link_names) <= set(query):
                return crowd
        return self.all[0]

    def of_market(self, name: str) -> OutsideCrowd:
        """Return the crowd of a market; the first if the market is not served."""
        return next((crowd for crowd in self.all if crowd.name == name), self.all[0])
