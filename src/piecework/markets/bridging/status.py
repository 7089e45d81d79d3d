"""What the status of every market says, read from the marketplace's tables only."""

import sqlite3
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any, TypedDict

from piecework.marketplace.state.transaction import Transaction
from piecework.markets.bridging.accounts import LastStart, number_of
from piecework.markets.bridging.losses import UnknownStudy, read_unknown
from piecework.markets.bridging.studies import in_own_study, of_own_person

_STUDIES = (
    "SELECT studies.*, hit_types.hit_type_id, hit_types.title, "
    "requesters.name AS requester FROM studies "
    "JOIN hit_types ON hit_types.id = studies.hit_type "
    "JOIN requesters ON requesters.id = hit_types.requester "
    "WHERE studies.market = ? ORDER BY studies.id"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OfStudy:
    """The state of one study.

    Attributes:
        status: the market's status, or the stage before the market has one.
        cost_cents: the cost of a place, including fees and tax.
        states: the number of visits by status at the market.
        trouble: what keeps the study from continuing; "" if nothing does.
    """

    title: str
    requester: str
    status: str
    places: int
    hits_per_visit: int
    reward_cents: int
    cost_cents: int | None
    states: dict[str, int]
    trouble: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketStatus:
    """The state of all that a market does for a marketplace; amounts in cents.

    Attributes:
        spent_cents: what the market has charged for visits and bonuses.
        committed_cents: what is spent there or promised; the cap applies to this.
        left_cents: what the cap of the last start leaves; negative if it was lowered.
            None: nothing is published or paid.
        bonuses_waiting_cents: bonuses not paid yet.
        troubles: messages about bonuses and visits that a person should read.
        unknown_messages: messages that may or may not have been sent.
        unknown: studies at the market that the file lacks.
    """

    spent_cents: int
    committed_cents: int
    left_cents: int | None
    bonuses_waiting_cents: int
    troubles: tuple[str, ...]
    unknown_messages: int
    unknown: tuple[UnknownStudy, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for `--json`."""
        return asdict(self)


class Ends(TypedDict):
    """What is left to do, as `MarketStatus` has it."""

    left_cents: int | None
    bonuses_waiting_cents: int
    troubles: tuple[str, ...]
    unknown_messages: int
    unknown: tuple[UnknownStudy, ...]


def loose_ends(transaction: Transaction, start: LastStart, committed_cents: int) -> Ends:
    """Return what waits at a market, as of the bridge's last step."""
    of_market = in_own_study(start.name)
    troubles = transaction.all(
        f"SELECT trouble FROM bonus_batches WHERE trouble <> '' AND {of_market} "
        f"UNION SELECT trouble FROM visits WHERE trouble <> '' AND {of_market}"
    )
    return Ends(
        left_cents=start.spend_at_most_cents - committed_cents if start.is_live else None,
        bonuses_waiting_cents=number_of(
            transaction,
            "SELECT coalesce(sum(cents), 0) FROM bonus_lines "
            f"JOIN visits ON visits.id = bonus_lines.visit AND visits.{of_market} "
            "LEFT JOIN bonus_batches ON bonus_batches.id = bonus_lines.batch "
            "WHERE coalesce(bonus_batches.stage, '') <> 'Paid'",
        ),
        troubles=tuple(str(row["trouble"]) for row in troubles),
        unknown_messages=number_of(
            transaction,
            "SELECT count(*) FROM messages WHERE sent_there = 'Unknown' "
            f"AND {of_own_person(start.name)}",
        ),
        unknown=read_unknown(transaction, start.name),
    )


def described_studies(transaction: Transaction, market: str) -> list[sqlite3.Row]:
    """Return a market's studies with the title, HIT type and requester of their HITs."""
    return transaction.all(_STUDIES, market)


def states_of(visits: list[sqlite3.Row]) -> dict[str, int]:
    """Return the number of visits by status at the market."""
    return dict(sorted(Counter(visit["status"] for visit in visits).items()))
