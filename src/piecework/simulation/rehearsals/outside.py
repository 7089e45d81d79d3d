"""A rehearsal with people from other markets, one or several at once, and their bridges."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from piecework.campaign.opened import CampaignRun
from piecework.domain.campaign import Campaign
from piecework.domain.errors import PlatformRefused, StoreError
from piecework.domain.ids import WorkerId
from piecework.engine.payments.outside_prices import book_outside_prices
from piecework.engine.progress import read_progress
from piecework.marketplace.state import visits
from piecework.marketplace.state.backend import Backend, Rules
from piecework.marketplace.state.ledger import broken_laws
from piecework.marketplace.state.money import PriceList
from piecework.markets.bridging.accounts import Account, Bridge
from piecework.platforms.clocks import START, VirtualClock
from piecework.report.books import Books
from piecework.simulation.crowd.site import Site
from piecework.simulation.crowd.visit_site import BridgedSite, VisitingSite
from piecework.simulation.rehearsals.marketplace import outside_price_cents, spent_cents

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


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsedMarket(ABC):
    """One market, its people, and what settles their work.

    Attributes:
        title: its display name.
        site: the site for its people.
        backend: a connection to the marketplace's database.
        grace: the time in which people who have just finished tell their market.
    """

    title: str
    site: VisitingSite
    backend: Backend
    grace: timedelta = timedelta()

    @property
    def faults(self) -> Sequence[str]:
        """Messages about what failed last."""
        return ()

    def unsettled(self) -> int:
        """Return how many visits and bonuses are not settled yet."""
        return 0

    def pay_out(self) -> None:  # noqa: B027 - most have nothing to pay
        """Pay what no bridge pays."""

    @abstractmethod
    def taken(self) -> Taken:
        """Return what the market took."""


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


B = TypeVar("B", bound=Bridge)


@dataclass(frozen=True, slots=True, kw_only=True)
class AtBridge(RehearsedMarket, Generic[B]):
    """A market whose people a bridge pays, in virtual time.

    Attributes:
        bridge: the bridge.
        accounts: those of the market's accounts from which the campaign paid.
    """

    site: BridgedSite
    bridge: B
    accounts: tuple[str, ...]

    @property
    def faults(self) -> Sequence[str]:
        """See `RehearsedMarket`."""
        return self.bridge.faults

    def unsettled(self) -> int:
        """See `RehearsedMarket`."""
        with self.backend.transaction() as transaction:
            row = transaction.first_row(_UNSETTLED, self.bridge.name)
        return int(row[0]) if row else 0

    def taken(self) -> Taken:
        """See `RehearsedMarket`."""
        theirs = self.site.books()
        return Taken(
            cents=sum(theirs["accounts"].get(name, 0) for name in self.accounts),
            broken_laws=tuple(theirs.get("broken_laws", ())),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineBridged(Generic[B]):
    """An offline market with a bridge, and the account there that pays for the campaign.

    Attributes:
        address: see `OfflineMarket`.
        account: the account.
        settle: makes steps of the bridge until one changes nothing.
        no_holders: the trouble of a study whose qualification has no holder yet, which
            later grants can solve.
        site: makes the participants' site from URL and time, and as keywords what
            `BridgedSite` takes.
        grace: see `RehearsedMarket`.
        accounts: see `AtBridge`.
    """

    address: str
    account: Account[B]
    settle: Callable[[B], None]
    no_holders: str
    site: Callable[..., BridgedSite]
    grace: timedelta
    accounts: tuple[str, ...]

    @property
    def prices(self) -> PriceList:
        """See `OfflineMarket`."""
        return self.account.prices

    @contextmanager
    def at_work(
        self,
        campaign: Campaign,
        database: Path,
        endpoint_url: str,
        clock: VirtualClock,
        *,
        among: Collection[str],
    ) -> Iterator[AtBridge[B]]:
        """See `OfflineMarket`."""
        seed = campaign.rehearsal.seed
        rules = Rules(rehearsal=True, seed=seed, start=START)
        with self.account.bridge(database, rules, among=among) as bridge:

            def steps(now: datetime) -> None:
                clock.move_to(now)
                self.settle(bridge)
                _refuse_trouble(bridge, self.no_holders)

            site = self.site(
                endpoint_url,
                clock.now(),
                seed=seed,
                bridge=steps,
                worker_id=partial(_worker_id_of, bridge),
            )
            with closing(site):
                yield AtBridge(
                    title=bridge.market,
                    site=site,
                    backend=bridge.backend,
                    grace=self.grace,
                    bridge=bridge,
                    accounts=self.accounts,
                )


@contextmanager
def own_file(wrong_database: type[Exception]) -> Iterator[None]:
    """Say what to do if the file of an offline market belongs to something else.

    Args:
        wrong_database: the error by which the offline market says so.

    Raises:
        StoreError: it does.
    """
    try:
        yield
    except wrong_database as wrong:
        raise StoreError(
            str(wrong), next_step="move that file away, then run the same command again"
        ) from wrong


def _worker_id_of(bridge: Bridge, participant_id: str) -> WorkerId:
    """Return the worker id of a participant; "" before the first visit."""
    with bridge.backend.transaction() as transaction:
        known = visits.known_participant(transaction, bridge.name, participant_id)
    return WorkerId(known["worker_id"] if known else "")


def _refuse_trouble(bridge: Bridge, no_holders: str) -> None:
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
