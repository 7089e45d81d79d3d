"""Make a bridge's steps beside a marketplace: each step does what is due, in one order."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from piecework.foundation.client.errors import Unusable
from piecework.foundation.client.transport import Transport
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.state.money import PriceList
from piecework.markets.bridging.accounts import Account, waiting_clients
from piecework.markets.bridging.admission import NO_LIMITS, Limits
from piecework.markets.prolific.bridge import (
    bonuses,
    deciding,
    messages,
    reading,
    reconciling,
    recruiting,
    requirements,
    screening,
    studies,
)
from piecework.markets.prolific.bridge.bridge import NAME, Bridge, Terms
from piecework.markets.prolific.bridge.prolific_crowd import CONSENT, ProlificCrowd
from piecework.markets.prolific.bridge.spending import LastStart, last_start, price_list
from piecework.markets.prolific.calling import PROLIFIC, Token
from piecework.markets.prolific.client import Prolific

PROJECT = "piecework"
"""The default project for studies."""

_COMPLETED = "https://app.prolific.com/submissions/complete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Office(Account[Bridge]):
    """An account at Prolific that a marketplace can use.

    Attributes:
        prolific: the bridge's client.
        terms: the terms of its studies.
    """

    name: ClassVar[str] = NAME
    title: ClassVar[str] = "Prolific"
    crowd: ProlificCrowd
    prolific: Prolific
    terms: Terms

    def start(self) -> LastStart:
        """See `Account`."""
        return last_start(self.address, self.terms)

    def begun(self, backend: Backend) -> Bridge:
        """See `Account`."""
        bridge = Bridge(backend, self.prolific, self.terms)
        # Requesters may require filters from their first call on.
        bridge.tried(partial(requirements.offer, bridge))
        return bridge


@contextmanager
def office(
    address: str, token: Token, terms: Terms, *, consent: tuple[str, ...] = CONSENT
) -> Iterator[Office]:
    """Open an account, and fill in from it what the terms leave open.

    Args:
        address: the API's address.
        token: the account's token.
        terms: the terms, with workspace and currency; no project means `PROJECT`.
        consent: the paragraphs that participants agree to.

    Raises:
        Refused: the account cannot be used with these terms.
    """
    with ExitStack() as stack:
        prolific = Prolific(stack.enter_context(Transport(address, token)))
        crowd = stack.enter_context(crowd_at(address, token, consent=consent))
        balance = prolific.account.balance(terms.workspace_id)
        if balance.currency != terms.currency:
            raise Unusable(
                f"the workspace is in {balance.currency}, not in {terms.currency}",
                next_step=f"use a workspace in {terms.currency}",
            )
        filled_in = _filled_in(prolific, terms)
        prices = price_list(
            prolific, terms.currency, least_per_hour_cents=filled_in.least_per_hour_cents
        )
        yield Office(
            prolific=prolific, crowd=crowd, prices=prices, address=address, terms=filled_in
        )


@contextmanager
def crowd_at(
    address: str, token: Token, *, consent: tuple[str, ...] = CONSENT, limits: Limits | None = None
) -> Iterator[ProlificCrowd]:
    """Return a marketplace's interface to participants, with its own connections."""
    with (
        waiting_clients(address, token, Prolific) as waiting,
        closing(
            ProlificCrowd(
                waiting, _completed_url(address), consent=consent, limits=limits or Limits()
            )
        ) as crowd,
    ):
        yield crowd


OFFLINE_TOKEN = Token("rehearsal")
"""An offline Prolific accepts any token."""


def rehearsed_crowd(address: str, _prices: PriceList) -> AbstractContextManager[ProlificCrowd]:
    """Return the same for an offline Prolific, whose participants arrive at once."""
    return crowd_at(address, OFFLINE_TOKEN, limits=NO_LIMITS)


def _filled_in(prolific: Prolific, terms: Terms) -> Terms:
    least = recommended = 0
    for each in prolific.recruiting.reward_recommendations(terms.workspace_id, terms.currency):
        if each.currency == terms.currency:
            least = each.least_per_hour_minor
            recommended = each.recommended_per_hour_minor
    return replace(
        terms,
        project_id=terms.project_id or _project(prolific, terms.workspace_id),
        least_per_hour_cents=least,
        recommended_per_hour_cents=recommended,
    )


def _project(prolific: Prolific, workspace_id: str) -> str:
    """Return the project for studies, creating it if it does not exist."""
    for project in prolific.account.projects(workspace_id):
        if project.title == PROJECT:
            return project.id
    return prolific.account.create_project(workspace_id, PROJECT).id


def _completed_url(address: str) -> str:
    """Return where submissions are ended; an emulator serves that page itself."""
    return _COMPLETED if address == PROLIFIC else f"{address}/submissions/complete"


def step(bridge: Bridge) -> bool:
    """Update Prolific to match the marketplace; return whether a call changed it.

    It reads the state, then updates who may take part, then carries out decisions, then
    pays. Nothing is published or paid before the file is compared with Prolific.
    """
    bridge.is_throttled = False
    return bridge.made_step(
        reconciling.compare,
        (
            (requirements.offer, False),
            (reading.read_prolific, False),
            (recruiting.keep_in_step, False),
            (studies.recruit, True),
            (screening.screen, True),
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
