"""Make a bridge's steps beside a marketplace: each step does what is due, in one order."""

from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from pathlib import Path

from piecework.foundation.client.transport import Patience, Transport
from piecework.marketplace.state import outside_market
from piecework.marketplace.state.backend import Backend, Rules
from piecework.marketplace.state.money import PriceList
from piecework.marketplace.state.outside_market import OutsideMarket
from piecework.markets.bridging.admission import LEAST_REGISTERS, NO_LIMITS, Limits
from piecework.markets.connect.bridge import bonuses, deciding, messages, projects, reading, unknown
from piecework.markets.connect.bridge.bridge import (
    LEAST_PER_HOUR_CENTS,
    NAME,
    Bridge,
    LinkNames,
    Terms,
)
from piecework.markets.connect.bridge.connect_crowd import CONSENT, ConnectCrowd
from piecework.markets.connect.bridge.spending import keep_start, price_list
from piecework.markets.connect.client import Connect
from piecework.markets.connect.values import ApiKey

_LITTLE = Patience(tries=2, first_seconds=0.5, longest_seconds=5)
"""The patience of calls that a participant waits for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Office:
    """An account at Connect that a marketplace can use.

    Attributes:
        connect: the bridge's client.
        crowd: the marketplace's interface to participants.
        prices: what Connect charges.
        address: the API's address.
        terms: the terms of its projects.
    """

    connect: Connect
    crowd: ConnectCrowd
    prices: PriceList
    address: str
    terms: Terms

    @contextmanager
    def bridge(
        self, database: Path, rules: Rules, *, among: Collection[str] = ()
    ) -> Iterator[Bridge]:
        """Open a bridge on a marketplace's database, with its own connection.

        Args:
            database: the marketplace's database.
            rules: how the marketplace is served.
            among: the names of all markets that are served; () is only this one.
        """
        backend = Backend(database, replace(rules, prices=self.prices))
        try:
            with backend.transaction() as transaction:
                outside_market.claim(
                    transaction,
                    OutsideMarket(name=NAME, title="Connect", prices=self.prices),
                    among=among,
                )
                keep_start(transaction, self.address, self.terms)
            yield Bridge(backend, self.connect, self.terms)
        finally:
            backend.close()


@contextmanager
def office(
    address: str,
    key: ApiKey,
    terms: Terms,
    *,
    consent: tuple[str, ...] = CONSENT,
    percent: Decimal | None = None,
) -> Iterator[Office]:
    """Open an account.

    Args:
        address: the API's address.
        key: the account's key.
        terms: the terms.
        consent: the paragraphs that participants agree to.
        percent: Connect's fee, if a person states it; None asks Connect.

    Raises:
        ApiError: the account cannot be used.
    """
    with ExitStack() as stack:
        connect = Connect(stack.enter_context(Transport(address, key)))
        crowd = stack.enter_context(crowd_at(address, key, names=terms.link_names, consent=consent))
        prices = price_list(connect, least_per_hour_cents=LEAST_PER_HOUR_CENTS, percent=percent)
        yield Office(connect=connect, crowd=crowd, prices=prices, address=address, terms=terms)


@contextmanager
def crowd_at(
    address: str,
    key: ApiKey,
    *,
    names: LinkNames | None = None,
    consent: tuple[str, ...] = CONSENT,
    limits: Limits | None = None,
) -> Iterator[ConnectCrowd]:
    """Return a marketplace's interface to participants, with its own connections."""
    with ExitStack() as stack:
        waiting = [
            Connect(stack.enter_context(Transport(address, key, patience=_LITTLE)))
            for _ in range(LEAST_REGISTERS)
        ]
        crowd = ConnectCrowd(waiting, names or LinkNames(), consent, limits=limits or Limits())
        yield stack.enter_context(closing(crowd))


OFFLINE_KEY = ApiKey("offline-connect")
"""The key that an offline Connect accepts by default."""


def rehearsed_crowd(
    address: str,
    _prices: PriceList,
) -> AbstractContextManager[ConnectCrowd]:
    """Return the same for an offline Connect, whose participants arrive at once."""
    return crowd_at(address, OFFLINE_KEY, limits=NO_LIMITS)


def step(bridge: Bridge) -> bool:
    """Update Connect to match the marketplace; return whether a call changed it.

    It reads the state, then recruits, then carries out decisions, then pays. Nothing is
    published or paid before the file is compared with Connect.
    """
    bridge.changes, bridge.faults, bridge.is_due_soon = 0, [], False
    bridge.listed = None
    bridge.tried(partial(unknown.compare, bridge))
    for part, spends in (
        (reading.read_connect, False),
        (projects.recruit, True),
        (deciding.decide, False),
        (bonuses.pay, True),
        (messages.send, False),
    ):
        if bridge.is_compared or not spends:
            bridge.tried(partial(part, bridge))
    return bridge.changes > 0


def settle(bridge: Bridge, *, most: int = 20) -> None:
    """Make steps until one changes nothing; for a rehearsal, where time is frozen."""
    for _ in range(most):
        if not step(bridge):
            return
