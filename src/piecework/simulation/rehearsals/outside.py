"""A rehearsal with people from other markets, one or several at once, and their bridges."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

from piecework.campaign.opened import CampaignRun
from piecework.domain.campaign import Campaign
from piecework.domain.errors import PlatformRefused
from piecework.domain.ids import WorkerId
from piecework.engine.payments.outside_prices import book_outside_prices
from piecework.engine.progress import read_progress
from piecework.marketplace.state import visits
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.state.ledger import broken_laws
from piecework.marketplace.state.money import PriceList
from piecework.platforms.clocks import VirtualClock
from piecework.report.books import Books
from piecework.simulation.crowd.site import Site
from piecework.simulation.crowd.visit_site import VisitingSite
from piecework.simulation.rehearsals.marketplace_books import outside_price_cents, spent_cents

_LAST_DAY = 30
"""Markets themselves settle everything before: the latest after 21 days."""


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
    def address(self) -> str:
        """Where it is: what its `rehearsed_crowd` gets in the marketplace's process."""
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


_UNSETTLED = (
    "WITH own AS (SELECT id FROM studies WHERE market = ?) "
    "SELECT (SELECT count(*) FROM visits WHERE outcome IS NULL AND study IN own) + "
    "(SELECT count(*) FROM bonus_batches WHERE stage <> 'Paid' AND study IN own) + "
    "(SELECT count(*) FROM bonus_lines JOIN visits ON visits.id = bonus_lines.visit "
    "WHERE batch IS NULL AND study IN own)"
)


class RehearsedBridge(Protocol):
    """The parts of a bridge that a rehearsal needs."""

    @property
    def backend(self) -> Backend:
        """The marketplace's database, with the bridge's own connection."""
        ...

    @property
    def name(self) -> str:
        """How the marketplace's tables name the other market."""
        ...

    @property
    def market(self) -> str:
        """The other market's display name."""
        ...

    @property
    def faults(self) -> Sequence[str]:
        """Messages about what failed in the last step."""
        ...


@dataclass(frozen=True, slots=True)
class AtBridge:
    """A market whose people a bridge pays; the base of `RehearsedMarket`s.

    Attributes:
        bridge: the bridge.
    """

    bridge: RehearsedBridge

    @property
    def backend(self) -> Backend:
        """See `RehearsedMarket`."""
        return self.bridge.backend

    @property
    def title(self) -> str:
        """See `RehearsedMarket`."""
        return self.bridge.market

    @property
    def faults(self) -> Sequence[str]:
        """See `RehearsedMarket`."""
        return self.bridge.faults

    def unsettled(self) -> int:
        """See `RehearsedMarket`."""
        with self.backend.transaction() as transaction:
            row = transaction.first_row(_UNSETTLED, self.bridge.name)
        return int(row[0]) if row else 0

    def pay_out(self) -> None:
        """See `RehearsedMarket`; the bridge pays everything."""


def steps_at(
    bridge: RehearsedBridge, clock: VirtualClock, settle: Callable[[], None], *, no_holders: str
) -> Callable[[datetime], None]:
    """Return what makes the bridge's steps at a time.

    Args:
        bridge: the bridge.
        clock: the marketplace's clock, which is moved there.
        settle: makes steps until one changes nothing.
        no_holders: the trouble of a study whose qualification has no holder yet, which
            later grants can solve.
    """

    def steps(now: datetime) -> None:
        clock.move_to(now)
        settle()
        _refuse_trouble(bridge, no_holders)

    return steps


def worker_id_of(bridge: RehearsedBridge, participant_id: str) -> WorkerId:
    """Return the worker id of a participant; "" before the first visit."""
    with bridge.backend.transaction() as transaction:
        known = visits.known_participant(transaction, bridge.name, participant_id)
    return WorkerId(known["worker_id"] if known else "")


def _refuse_trouble(bridge: RehearsedBridge, no_holders: str) -> None:
    """Report at once a trouble that no participant can solve.

    Raises:
        PlatformRefused: a study cannot be created or paid for.
    """
    with bridge.backend.transaction() as transaction:
        row = transaction.first_row(
            "SELECT trouble FROM studies WHERE trouble NOT IN ('', ?) "
            "AND stage <> 'Retired' AND market = ?",
            no_holders,
            bridge.name,
        )
    if row is not None:
        raise PlatformRefused(f"{bridge.market}: {row['trouble']}", code="StudyTrouble")
