"""Make a bridge's steps beside a marketplace: each step does what is due, in one order."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

from piecework.foundation.client.transport import Transport
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.state.money import PriceList
from piecework.markets.bridging.accounts import Account, waiting_clients
from piecework.markets.bridging.admission import NO_LIMITS, Limits
from piecework.markets.connect.bridge import bonuses, deciding, messages, projects, reading, unknown
from piecework.markets.connect.bridge.bridge import (
    LEAST_PER_HOUR_CENTS,
    NAME,
    Bridge,
    LinkNames,
    Terms,
)
from piecework.markets.connect.bridge.connect_crowd import CONSENT, ConnectCrowd
from piecework.markets.connect.bridge.spending import LastStart, price_list
from piecework.markets.connect.client import Connect
from piecework.markets.connect.values import ApiKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Office(Account[Bridge]):
    """An account at Connect that a marketplace can use.

    Attributes:
        connect: the bridge's client.
        terms: the terms of its projects.
    """

    name: ClassVar[str] = NAME
    title: ClassVar[str] = "Connect"
    connect: Connect
    terms: Terms

    def start(self) -> LastStart:
        """See `Account`."""
        return LastStart(
            address=self.address,
            is_live=self.terms.is_live,
            spend_at_most_cents=self.terms.spend_at_most_cents,
        )

    def begun(self, backend: Backend) -> Bridge:
        """See `Account`."""
        return Bridge(backend, self.connect, self.terms)


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
    with (
        waiting_clients(address, key, Connect) as waiting,
        closing(
            ConnectCrowd(waiting, names or LinkNames(), consent=consent, limits=limits or Limits())
        ) as crowd,
    ):
        yield crowd


OFFLINE_KEY = ApiKey("offline-connect")
"""The key that an offline Connect accepts by default."""


def rehearsed_crowd(address: str, _prices: PriceList) -> AbstractContextManager[ConnectCrowd]:
    """Return the same for an offline Connect, whose participants arrive at once."""
    return crowd_at(address, OFFLINE_KEY, limits=NO_LIMITS)


def step(bridge: Bridge) -> bool:
    """Update Connect to match the marketplace; return whether a call changed it.

    It reads the state, then recruits, then carries out decisions, then pays. Nothing is
    published or paid before the file is compared with Connect.
    """
    bridge.listed = None
    return bridge.made_step(
        unknown.compare,
        (
            (reading.read_connect, False),
            (projects.recruit, True),
            (deciding.decide, False),
            (bonuses.pay, True),
            (messages.send, False),
        ),
    )


def settle(bridge: Bridge, *, most: int = 20) -> None:
    """Make steps until one changes nothing; for a rehearsal, where time is frozen."""
    for _ in range(most):
        if not step(bridge):
            return
