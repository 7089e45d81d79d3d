"""The other markets that send a marketplace its workers, and what each charges.

A market that pays visits pays whole visits and rounds each payment. The difference from
the HITs' rewards and fees is booked as "outside price" after it has paid.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from piecework.marketplace.exceptions import invalid_parameters
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


def list_outside_prices(transaction: Transaction, requester: int) -> list[sqlite3.Row]:
    """Return price in cents and unsettled rest for each HIT type with studies."""
    return transaction.all(_OF_HIT_TYPES, requester)
