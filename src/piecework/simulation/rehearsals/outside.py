"""A rehearsal with people from other markets, one or several at once."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from piecework.campaign.opened import CampaignRun
from piecework.domain.campaign import Campaign
from piecework.domain.errors import PlatformRefused
from piecework.engine.payments.outside_prices import book_outside_prices
from piecework.engine.progress import read_progress
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.state.ledger import broken_laws
from piecework.marketplace.state.money import PriceList
from piecework.platforms.clocks import VirtualClock
from piecework.results.books import Books
from piecework.simulation.crowd.site import Site
from piecework.simulation.crowd.visiting_site import VisitingSite
from piecework.simulation.rehearsals.marketplace_books import outside_price_cents, spent_cents

PROLIFIC, CONNECT = "prolific.db", "connect.db"
"""The files of the offline markets, in the campaign's folder."""

_LAST_DAY = 30
"""Prolific itself settles everything after 21 days, Connect after 14."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What a market took for a campaign.

    Attributes:
        cents: rewards, bonuses, fees and tax.
        broken_laws: invariants about money that do not hold there.
    """

    cents: int
    broken_laws: tuple[str, ...] = ()


class RehearsedMarket(Protocol):
    """One market, its people, and what settles their work."""

    @property
    def title(self) -> str:
        """Its display name."""
        ...

    @property
    def site(self) -> VisitingSite:
        """The site for its people."""
        ...

    @property
    def backend(self) -> Backend:
        """A connection to the marketplace's database."""
        ...

    @property
    def grace(self) -> timedelta:
        """The time in which people who have just finished tell their market."""
        ...

    @property
    def faults(self) -> Sequence[str]:
        """Messages about what failed last."""
        ...

    def unsettled(self) -> int:
        """Return how many visits and bonuses are not settled yet."""
        ...

    def pay_out(self) -> None:
        """Pay what no bridge pays."""
        ...

    def taken(self) -> Taken:
        """Return what the market took."""
        ...


class OfflineMarket(Protocol):
    """A market before its marketplace is served."""

    @property
    def prices(self) -> PriceList:
        """What it charges."""
        ...

    @property
    def served(self) -> Mapping[str, object]:
        """The arguments of `marketplace_process.program` that name it."""
        ...

    def at_work(
        self,
        campaign: Campaign,
        database: Path,
        endpoint_url: str,
        clock: VirtualClock,
        *,
        among: Collection[str],
    ) -> AbstractContextManager[RehearsedMarket]:
        """Open the bridge to a marketplace, and the site for people.

        Args:
            campaign: the campaign on that marketplace.
            database: the marketplace's database.
            endpoint_url: the marketplace's URL.
            clock: the marketplace's clock.
            among: the names of all markets that it serves.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AtMarkets:
    """The markets of one campaign.

    Attributes:
        markets: by their names.
        site: where people from all of them work.
        clock: the marketplace's clock.
        folder: where the books are written.
    """

    markets: Mapping[str, RehearsedMarket]
    site: Site
    clock: VirtualClock
    folder: Path

    def close_books(self, run: CampaignRun) -> Books:
        """Settle everything, and return and store what all ledgers say.

        Raises:
            PlatformRefused: something is not settled in the end.
        """
        self._let_settle()
        markets = self.markets.values()
        for market in markets:
            market.pay_out()
        book_outside_prices(run.store, run.platform.prices(), run.clock)
        progress = read_progress(run)
        taken = {market.title: market.taken() for market in markets}
        backend = next(iter(markets)).backend
        with backend.transaction() as transaction:
            books = Books(
                currency=progress.currency,
                pipeline=progress.spent_cents,
                marketplace=spent_cents(transaction),
                outside_price=outside_price_cents(transaction),
                taken={title: each.cents for title, each in taken.items()},
                broken_laws=(
                    *broken_laws(transaction),
                    *(law for each in taken.values() for law in each.broken_laws),
                ),
            )
        books.keep(self.folder)
        return books

    def _let_settle(self) -> None:
        """Let days pass until every visit is settled and every bonus is paid."""
        markets = self.markets.values()
        if not self._unsettled():
            return
        self.clock.refresh()
        grace = max(market.grace for market in markets)
        for passes in (timedelta(), grace, *[timedelta(days=1)] * _LAST_DAY):
            self.site.now = self.clock.let_pass(passes)
            self.site.look_after()
            if not self._unsettled():
                return
        faults = [fault for market in markets for fault in market.faults]
        raise PlatformRefused(
            f"{self._unsettled()} visits or bonuses are not settled after {_LAST_DAY} "
            f"days: {'; '.join(faults)}",
            code="NotSettled",
        )

    def _unsettled(self) -> int:
        return sum(market.unsettled() for market in self.markets.values())
