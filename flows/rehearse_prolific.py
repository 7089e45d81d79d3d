"""A rehearsal with participants: the offline Prolific, and the bridge that leads there.

The emulator runs in a thread of this process, so it ends with it whatever happens, and
keeps its state in a file beside the store. The bridge's steps are made here, when the
participants' time asks for them: no timing of threads decides anything.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal, Self

from domain.campaign import Campaign
from domain.errors import ConfigError, PlatformRefused, StoreError
from domain.money import dollars
from domain.progress import Progress
from marketplace.state.accounts import REHEARSAL_BALANCE_CENTS
from marketplace.state.audit import broken_laws
from marketplace.state.backend import Backend, Rules
from platforms.virtual_clock import START, VirtualClock
from prolific.bridge.bridge import Bridge
from prolific.bridge.marketplace_process import offline_client
from prolific.bridge.prices import price_list
from prolific.bridge.step import settle
from prolific.bridge.terms import Terms
from prolific.client import Prolific
from rehearsal.crowd.visit_site import VisitSite
from rehearsal.prolific.options import Options
from rehearsal.prolific.server import serve
from rehearsal.prolific.state import WrongDatabaseError

DATABASE = "prolific.db"
CURRENCY: Literal["GBP", "USD"] = "USD"
"""What campaigns state their amounts in."""

_SITE = "https://piecework.example"
"""Stands in studies' links; the marketplace's own port is another each time."""

_LAST_DAY = 30
"""By then Prolific itself has settled everything: after 21 days."""

_GRACE = timedelta(minutes=10)
"""Longer than the bridge waits for a code (`Terms.grace_seconds`)."""

_ACCOUNTS = ("rewards", "bonuses", "fees", "vat")


@contextmanager
def offline_prolific(campaign: Campaign) -> Iterator[str]:
    """The campaign's own offline Prolific, on a file beside the store; its URL.

    Raises:
        ConfigError: the campaign has a test, which participants cannot take.
        StoreError: the file belongs to something else.
    """
    if campaign.qualification is not None:
        raise ConfigError(
            [f"{campaign.path}: participants of Prolific take no qualification test"],
            next_step="rehearse it with --crowd workers, or leave [qualification] out",
        )
    options = Options(
        database=campaign.out / DATABASE,
        seed=campaign.rehearsal.seed,
        currency=CURRENCY,
        balance=balance_cents(campaign),
        start=START,
    )
    try:
        with serve(options) as url:
            yield url
    except WrongDatabaseError as wrong:
        raise StoreError(
            str(wrong),
            next_step="give this run a folder of its own ([output] folder)",
        ) from wrong


def balance_cents(campaign: Campaign) -> int:
    """What requester and workspace have: Prolific takes more than the file reckons."""
    return max(REHEARSAL_BALANCE_CENTS, 2 * campaign.rewards.budget_cents)


@dataclass(frozen=True, slots=True, kw_only=True)
class Books:
    """What was spent, by three ledgers that know nothing of each other, in cents.

    Attributes:
        pipeline: by what the pipeline booked.
        marketplace: paid to workers, and fees.
        outside_price: how much of these fees was booked after Prolific had paid, since
            it pays visits and not HITs.
        prolific: rewards, bonuses, fees and tax.
        broken_laws: sentences about money that are not true; there should be none.
    """

    pipeline: int
    marketplace: int
    outside_price: int
    prolific: int
    broken_laws: tuple[str, ...]

    @classmethod
    def from_facts(cls, facts: Mapping[str, object]) -> Self | None:
        """The books among the facts of a rehearsal; None if it had no participants."""
        values: Any = facts.get("books")
        return None if values is None else cls(**values)

    def lines(self) -> tuple[str, ...]:
        """A line for each ledger, and why they differ."""
        own_price = self.marketplace - self.outside_price - self.pipeline
        said = [
            f"booked by the pipeline:    {dollars(self.pipeline)}",
            f"booked by the marketplace: {dollars(self.marketplace)}",
            f"taken by Prolific:         {dollars(self.prolific)}",
        ]
        if own_price:
            said.append(
                f"  {dollars(own_price)} of fees are more than the pipeline reckons, "
                "by the fees that the campaign file states"
            )
        if self.outside_price:
            said.append(
                f"  {dollars(self.outside_price)} are for what no HIT was approved "
                "for: Prolific pays whole visits, and rounds each payment"
            )
        if self.marketplace != self.prolific:
            said.append("  the last two should be the same: a fault of piecework")
        return (*said, *(f"  broken: {law}" for law in self.broken_laws))


class AtProlific:
    """One campaign's bridge and participants' site, in virtual time."""

    def __init__(self, bridge: Bridge, clock: VirtualClock, site: VisitSite) -> None:
        self._bridge, self._clock, self.site = bridge, clock, site

    def finish(self) -> None:
        """Let days pass until every visit is settled and every bonus is paid.

        Raises:
            PlatformRefused: something is not settled when Prolific itself would have
                settled it.
        """
        self._clock.refresh()
        # Some have just finished, and may still enter their code.
        for passes in (timedelta(), _GRACE, *[timedelta(days=1)] * _LAST_DAY):
            self.site.now = self._clock.let_pass(passes)
            self.site.heed_requests()
            self.site.look_after()
            if not self._open_visits():
                return
        raise PlatformRefused(
            f"{self._open_visits()} visits or bonuses are not settled after "
            f"{_LAST_DAY} days: {'; '.join(self._bridge.faults)}",
            code="NotSettled",
        )

    def books(self, progress: Progress) -> Books:
        """The three ledgers, once all is settled."""
        theirs = self.site.books()
        with self._bridge.backend.transaction() as transaction:
            spent = transaction.one(
                "SELECT coalesce(sum(balance_cents), 0) FROM accounts "
                "WHERE kind IN ('worker', 'fees')"
            )
            outside = transaction.one(
                "SELECT coalesce(sum(cents), 0) FROM entries "
                "JOIN transfers ON transfers.id = entries.transfer "
                "JOIN accounts ON accounts.id = entries.account "
                "WHERE reason = 'outside price' AND kind = 'fees'"
            )
            broken = broken_laws(transaction)
        return Books(
            pipeline=progress.spent_cents,
            marketplace=int(spent[0]) if spent else 0,
            outside_price=int(outside[0]) if outside else 0,
            prolific=sum(theirs["accounts"].get(name, 0) for name in _ACCOUNTS),
            broken_laws=(*broken, *theirs["broken_laws"]),
        )

    def _open_visits(self) -> int:
        with self._bridge.backend.transaction() as transaction:
            row = transaction.one(
                "SELECT (SELECT count(*) FROM visits WHERE outcome IS NULL) + "
                "(SELECT count(*) FROM bonus_batches WHERE stage <> 'Paid') + "
                "(SELECT count(*) FROM bonus_lines WHERE batch IS NULL)"
            )
        return int(row[0]) if row else 0


@contextmanager
def at_prolific(
    campaign: Campaign,
    database: Path,
    endpoint_url: str,
    emulator_url: str,
    clock: VirtualClock,
) -> Iterator[AtProlific]:
    """Bridge and participants of a marketplace that was started for this Prolific.

    Args:
        campaign: at work there.
        database: the marketplace's.
        endpoint_url: where the marketplace is.
        emulator_url: where the offline Prolific is.
        clock: the marketplace's.
    """
    with offline_client(emulator_url) as prolific:
        rules = Rules(
            rehearsal=True,
            seed=campaign.rehearsal.seed,
            start=START,
            prices=price_list(prolific, CURRENCY),
        )
        with closing(Backend(database, rules)) as backend:
            bridge = Bridge(backend, prolific, _terms(campaign, prolific))
            site = VisitSite(
                endpoint_url,
                clock.now(),
                emulator_url=emulator_url,
                seed=campaign.rehearsal.seed,
                bridge=_steps(bridge, clock),
            )
            with closing(site):
                yield AtProlific(bridge, clock, site)


def _steps(bridge: Bridge, clock: VirtualClock) -> Callable[[datetime], None]:
    def steps(now: datetime) -> None:
        clock.move_to(now)
        settle(bridge)
        _check_studies(bridge)

    return steps


def _check_studies(bridge: Bridge) -> None:
    """Say at once what no participant could ever mend.

    Raises:
        PlatformRefused: a study cannot be made, or not be paid for.
    """
    with bridge.backend.transaction() as transaction:
        row = transaction.one(
            "SELECT trouble FROM studies WHERE trouble <> '' AND stage <> 'Retired'"
        )
    if row is not None:
        raise PlatformRefused(f"Prolific: {row['trouble']}", code="StudyTrouble")


def _terms(campaign: Campaign, prolific: Prolific) -> Terms:
    workspace = next(prolific.account.workspaces()).id
    [pay] = prolific.recruiting.reward_recommendations(workspace, CURRENCY)
    return Terms(
        workspace_id=workspace,
        project_id=next(prolific.account.projects(workspace)).id,
        site_url=_SITE,
        currency=CURRENCY,
        is_live=True,
        spend_at_most_cents=balance_cents(campaign),
        least_per_hour_cents=pay.least_per_hour_minor,
        recommended_per_hour_cents=pay.recommended_per_hour_minor,
        hit_seconds=campaign.rewards.expected_seconds or 0,
        # A pass has posted all of its HITs when the bridge looks.
        settle_seconds=0,
    )
