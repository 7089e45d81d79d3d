"""What a bridge to an outside market does at the marketplace: workers enter, studies are kept.

A market that pays visits pays whole visits and rounds each payment. The difference from
the HITs' rewards and fees is booked as "outside price" after it has paid.

A rehearsal's simulated workers and invited people do not use it: they sign in to this
marketplace and stay in it. Its implementation knows the other market. The marketplace
asks it only who a participant is when they arrive, and where to send them when they
leave. It reads what requesters want from participants (posts, approvals, bonuses,
blocks, messages) in the marketplace's own tables.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from piecework.marketplace.exceptions import Refusal, invalid_parameters, request_error
from piecework.marketplace.state import qualification_types
from piecework.marketplace.state.money import PriceList
from piecework.marketplace.state.qualification_types import OutsideType
from piecework.marketplace.state.storage import WrongDatabaseError
from piecework.marketplace.state.transaction import Transaction

MARKET_OF_HIT_TYPE = (
    "coalesce(nullif(hit_types.market, ''), "
    "(SELECT name FROM outside_markets ORDER BY id LIMIT 1), '')"
)
"""SQL: the name of the market whose people do a HIT type; '' without any market."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideMarket:
    """Another market.

    Attributes:
        name: how options, campaign files and tables name it, such as "prolific".
        title: its display name.
        prices: what it charges.
        has_bridge: whether a bridge pays there; otherwise people are paid from a list.
    """

    name: str
    title: str
    prices: PriceList
    has_bridge: bool = True


def claim(transaction: Transaction, market: OutsideMarket, *, among: Collection[str] = ()) -> None:
    """Store that a market sends workers, and its present prices.

    Args:
        transaction: the open one.
        market: the market.
        among: the names of all markets that are served now; () is only this one.

    Raises:
        WrongDatabaseError: people from a market that is not served now came before, or
            the markets' currencies differ.
    """
    for other in served(transaction):
        if other.name != market.name and other.name not in among:
            raise WrongDatabaseError(
                f"this marketplace's file has visits of people from {other.title}, so "
                f"it cannot be served for {market.title} alone. Give --crowd "
                f"{other.name} too, or name another file (--database)."
            )
        if other.prices.currency != market.prices.currency:
            raise WrongDatabaseError(
                f"{other.title} charges {other.prices.currency} and {market.title} "
                f"charges {market.prices.currency}; a marketplace has one currency. "
                "Name another file (--database) for one of them."
            )
    transaction.upsert(
        "outside_markets",
        "name",
        name=market.name,
        title=market.title,
        prices=json.dumps(market.prices.members()),
        has_bridge=market.has_bridge,
    )
    crowd = OutsideType(
        type_id=qualification_types.crowd_id(market.name),
        name=f"People from {market.title}"[:200],
        description=f"Only people who come from {market.title} hold this.",
    )
    qualification_types.keep_outside_types(transaction, market.name, [crowd])


def served(transaction: Transaction) -> tuple[OutsideMarket, ...]:
    """Return the markets in the order in which they were first served."""
    return tuple(
        OutsideMarket(
            name=row["name"],
            title=row["title"],
            prices=PriceList.of_members(json.loads(row["prices"])),
            has_bridge=bool(row["has_bridge"]),
        )
        for row in transaction.all("SELECT * FROM outside_markets ORDER BY id")
    )


def named(transaction: Transaction, requirements: Iterable[Mapping[str, Any]]) -> str:
    """Return the market that requirements name; "" if they name no market.

    They name it by its crowd or by one of its filters.

    Raises:
        Refusal: they name two markets.
    """
    markets = qualification_types.markets_of_types(transaction)
    names = {
        markets[each["QualificationTypeId"]]: each["QualificationTypeId"]
        for each in requirements
        if each["QualificationTypeId"] in markets and each["Comparator"] != "DoesNotExist"
    }
    if len(names) > 1:
        first, second, *_ = names.values()
        raise invalid_parameters(
            f"{first} and {second} are of different markets; people from one market do "
            "all HITs of a type."
        )
    return next(iter(names), "")


def prices_of_hit_type(transaction: Transaction, market: str) -> PriceList:
    """Return the prices for the HITs of a type.

    Args:
        transaction: the open one.
        market: the column `market` of the HIT type.
    """
    kept = transaction.value("SELECT prices FROM outside_markets WHERE name = ?", market)
    return _prices(transaction, kept)


def prices_of_worker(transaction: Transaction, worker: int) -> PriceList:
    """Return the prices for what a worker gets beside rewards.

    Args:
        transaction: the open one.
        worker: row id.
    """
    kept = transaction.value(
        "SELECT prices FROM outside_markets "
        "JOIN participants ON participants.market = outside_markets.name "
        "WHERE worker = ?",
        worker,
    )
    return _prices(transaction, kept)


def check_payable(transaction: Transaction, worker: int) -> None:
    """Refuse to book money for a forgotten person of a panel: no pay list can name them.

    A bridge needs no name: it pays through a submission.

    Args:
        transaction: the open one.
        worker: row id.

    Raises:
        Refusal: a market without a bridge sent the worker, who was forgotten.
    """
    if transaction.has(
        "SELECT 1 FROM visits JOIN outside_markets ON outside_markets.name = visits.market "
        "WHERE worker = ? AND NOT has_bridge "
        "AND NOT EXISTS (SELECT 1 FROM participants WHERE participants.worker = visits.worker)",
        worker,
    ):
        raise request_error(
            "PermissionDenied", "This person's data were deleted, so their panel cannot pay them."
        )


def _prices(transaction: Transaction, kept: str | None) -> PriceList:
    return PriceList.of_members(json.loads(kept)) if kept else transaction.prices


_OF_HIT_TYPES = (
    "WITH booked AS (SELECT subject, sum(entries.cents) AS cents FROM transfers "
    "JOIN entries ON entries.transfer = transfers.id "
    "JOIN accounts ON accounts.id = entries.account "
    "WHERE reason = 'outside price' AND kind = 'fees' GROUP BY subject) "
    "SELECT hit_types.hit_type_id, coalesce(sum(booked.cents), 0) AS cents, "
    "sum((SELECT count(*) FROM visits WHERE study = studies.id AND outcome IS NULL) + "
    "(SELECT count(*) FROM bonus_lines JOIN visits ON visits.id = bonus_lines.visit "
    "LEFT JOIN bonus_batches ON bonus_batches.id = bonus_lines.batch "
    "WHERE visits.study = studies.id AND coalesce(bonus_batches.stage, '') <> 'Paid')) "
    "AS unsettled FROM studies JOIN hit_types ON hit_types.id = studies.hit_type "
    "LEFT JOIN booked ON booked.subject = studies.internal_name "
    "WHERE hit_types.requester = ? GROUP BY hit_types.id ORDER BY hit_types.id"
)


PAID_THOUGH_REJECTED = (
    "(visits.outcome = 'Paid' "
    "AND EXISTS (SELECT 1 FROM assignments WHERE visit = visits.id AND status = 'Rejected') "
    "AND NOT EXISTS (SELECT 1 FROM assignments WHERE visit = visits.id "
    "AND status IN ('Approved', 'Submitted')))"
)
"""SQL: a visit that its market paid though all of its HITs were rejected."""


def list_paid_rejections(transaction: Transaction, requester: int) -> dict[str, list[str]]:
    """Return rejected assignments that their market paid all the same, by HIT type."""
    by_type: dict[str, list[str]] = {}
    for row in transaction.all(
        "SELECT hit_type_id, assignment_id FROM visits "
        "JOIN studies ON studies.id = visits.study "
        "JOIN hit_types ON hit_types.id = studies.hit_type "
        "JOIN assignments ON assignments.visit = visits.id AND assignments.status = 'Rejected' "
        f"WHERE hit_types.requester = ? AND {PAID_THOUGH_REJECTED} ORDER BY assignments.id",
        requester,
    ):
        by_type.setdefault(row["hit_type_id"], []).append(row["assignment_id"])
    return by_type


def list_outside_prices(transaction: Transaction, requester: int) -> list[sqlite3.Row]:
    """Return price in cents and unsettled rest for each HIT type with studies."""
    return transaction.all(_OF_HIT_TYPES, requester)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """The contents of a participant's link, which anyone can forge.

    Attributes:
        participant_id: the participant's id at the other market.
        study_id: the study through which they come; "" if links do not name it.
        submission_id: this participant's submission to the study.
        proof: what the link proves itself with, if anything.
        is_proven: whether only the participant can have this link. Otherwise someone
            may have guessed it.
    """

    participant_id: str
    study_id: str
    submission_id: str
    proof: str = ""
    is_proven: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A submission's state at the other market.

    Attributes:
        status: the other market's status.
        started_at: when its time began; None if unknown.
        over: sentences that tell the participant why the submission has ended; "" while
            it is active.
        is_shown: whether the other market has shown it; otherwise it may be made up.
    """

    status: str
    started_at: datetime | None = None
    over: str = ""
    is_shown: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class WayBack:
    """How a participant returns to the other market.

    Attributes:
        url: the address that a button opens; "" shows no button.
        code: the code to enter there; "" shows no code.
    """

    url: str = ""
    code: str = ""


NO_WAY_BACK = WayBack()


class TurnedBack(Refusal):
    """A participant came with a valid link, but there is no visit for them.

    Attributes:
        heading: what happened, in a few words.
        market: the other market's display name.
        way_back: how they return to the other market.
    """

    def __init__(
        self, kind: str, message: str, *, heading: str, market: str, way_back: WayBack
    ) -> None:
        super().__init__(kind, message, status=409)
        self.heading, self.market, self.way_back = heading, market, way_back


class OtherBrowser(Refusal):
    """A visit was begun in another browser, and a link alone does not move it.

    Attributes:
        market: the other market's display name.
        contact: how participants reach the requesters.
        link: the query of the link with which they came.
        has_messages: whether a message at the market can bring them a link that does.
    """

    def __init__(
        self, *, market: str, contact: str, link: Mapping[str, str], has_messages: bool
    ) -> None:
        super().__init__(
            "OtherBrowser",
            "This visit was begun in another browser. Please continue it there.",
            status=409,
        )
        self.market, self.contact = market, contact
        self.link, self.has_messages = link, has_messages


class NoEvents(Refusal):
    """The other market sends no events, or they are off."""

    def __init__(self) -> None:
        super().__init__("Http", "This page does not exist.", status=404)


class OutsideCrowd(Protocol):
    """The parts of the other market that a participant's visit needs.

    What most markets have in common is implemented here.
    """

    @property
    def name(self) -> str:
        """How tables and options name the market, such as "prolific"."""
        ...

    @property
    def market(self) -> str:
        """Its display name, such as "Prolific"."""
        ...

    @property
    def link_names(self) -> Sequence[str]:
        """The query parameters of its links, by which they are recognised."""
        ...

    @property
    def contact(self) -> str:
        """A sentence on how participants reach the requesters."""
        ...

    @property
    def consent(self) -> Sequence[str]:
        """The consent text for participants, one string per paragraph."""
        ...

    @property
    def has_returns(self) -> bool:
        """Whether people who stop must return their submission at the market."""
        return False

    @property
    def has_messages(self) -> bool:
        """Whether messages to participants are delivered by the market."""
        return True

    def pay(self, reward_cents: int) -> str:  # noqa: ARG002 - of the port
        """Return the pay of a visit for people; "" if the market itself shows it."""
        return ""

    def read_link(self, query: Mapping[str, str]) -> Arrival:
        """Read a participant's link.

        Raises:
            Refusal: a part of it is missing or invalid (400).
        """
        ...

    def link(self, arrival: Arrival) -> Mapping[str, str]:
        """Return the query of the link that `read_link` reads as this arrival."""
        ...

    def settle_on(self, transaction: "Transaction", arrival: Arrival) -> Arrival:  # noqa: ARG002 - of the port
        """Return the arrival with the study and the submission that it leads to.

        A link may leave the study open, and a person may come a second time while their
        visit is open. Most markets return the arrival unchanged.

        Raises:
            Refusal: there is no visit for this arrival; often `TurnedBack`.
        """
        return arrival

    async def look_up(self, arrival: Arrival, *, is_known: bool) -> Submission:
        """Ask the other market for a submission's state.

        Takes as long as a network call; never called while the database is locked.

        Args:
            arrival: the contents of the link.
            is_known: whether the participant has come before, so that others' forged
                links do not make them wait.

        Raises:
            Refusal: the submission does not exist or is another participant's (403), or
                the other market cannot be reached (503).
        """
        ...

    async def given_back(self, study_id: str) -> Mapping[str, Literal["Left", "Late"]]:  # noqa: ARG002 - of the port
        """Ask which submissions to a study ended at the other market without work.

        Called if a participant arrives and all HITs are reserved: some may be reserved
        by visits that have ended there. Takes as long as `look_up`.

        Returns:
            By submission id, how its visit ended: given back, or too late. Empty if the
            other market cannot say.
        """
        return {}

    def take_event(self, headers: Mapping[str, str], body: bytes) -> None:  # noqa: ARG002 - of the port
        """Take an event that claims to come from the other market.

        Args:
            headers: the request's headers, names in small letters.
            body: the request's raw body.

        Raises:
            Refusal: the event is not from the other market (403).
            NoEvents: the market sends none, or they are off.
        """
        raise NoEvents

    def way_back(self, transaction: "Transaction", visit: "sqlite3.Row") -> WayBack:  # noqa: ARG002 - of the port
        """Return how a participant returns from a visit that may have ended.

        Args:
            transaction: the open one.
            visit: a row of `visits.described`.
        """
        return WayBack(code=str(visit["code"])) if visit["stage"] == "Done" else NO_WAY_BACK
