"""The other markets that send a marketplace its workers, and what each charges.

People from one market do each HIT type: from the market that its requirements name,
otherwise from the first that was served. The tables of visits hold the markets' own
ids, and only a market's own code can pay for them. So a market that was served once has
to be served each time.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from piecework.marketplace.exceptions import invalid_parameters
from piecework.marketplace.state import outside_types
from piecework.marketplace.state.database_file import WrongDatabaseError
from piecework.marketplace.state.money import PriceList
from piecework.marketplace.state.outside_types import OutsideType
from piecework.marketplace.state.transaction import Transaction

MARKET_OF_HIT_TYPE = (
    "coalesce(nullif(hit_types.market, ''), "
    "(SELECT name FROM outside_markets ORDER BY id LIMIT 1), '')"
)
"""SQL: the name of the market whose people do a HIT type; '' without any market."""

_PRICES = "SELECT prices FROM outside_markets WHERE name = ?"


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
    transaction.execute(
        "INSERT INTO outside_markets (name, title, prices, has_bridge) "
        "VALUES (?, ?, ?, ?) "
        "ON CONFLICT (name) DO UPDATE SET title = excluded.title, "
        "prices = excluded.prices",
        market.name,
        market.title,
        json.dumps(market.prices.members()),
        market.has_bridge,
    )
    crowd = OutsideType(
        type_id=outside_types.crowd_id(market.name),
        name=f"People from {market.title}"[:200],
        description=f"Only people who come from {market.title} hold this.",
    )
    outside_types.keep(transaction, market.name, [crowd])


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
    markets = outside_types.markets(transaction)
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
    row = transaction.first_row(_PRICES, market) if market else None
    return _prices(transaction, row)


def prices_of_worker(transaction: Transaction, worker: int) -> PriceList:
    """Return the prices for what a worker gets beside rewards.

    Args:
        transaction: the open one.
        worker: row id.
    """
    row = transaction.first_row(
        "SELECT prices FROM outside_markets "
        "JOIN participants ON participants.market = outside_markets.name "
        "WHERE worker = ?",
        worker,
    )
    return _prices(transaction, row)


def _prices(transaction: Transaction, row: sqlite3.Row | None) -> PriceList:
    if row is None:
        return transaction.prices
    return PriceList.of_members(json.loads(row["prices"]))
