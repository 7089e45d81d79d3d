"""What the bridge shows of its work, and what it may spend."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import ClassVar

from piecework.marketplace.state.money import PriceList
from piecework.marketplace.state.transaction import Transaction
from piecework.markets.bridging import accounts
from piecework.markets.bridging.accounts import SAMPLE_CENTS, number_of, prices_by_sample
from piecework.markets.bridging.losses import (
    MarketStatus,
    OfStudy,
    described_studies,
    loose_ends,
    states_of,
)
from piecework.markets.bridging.settling import paid_rejections
from piecework.markets.bridging.studies import in_own_study
from piecework.markets.connect.bridge.bridge import MOST_APPROVAL_SECONDS, NAME, money
from piecework.markets.connect.bridge.reading import unknown_sentence
from piecework.markets.connect.client import Connect
from piecework.markets.connect.values import CONNECT

_PAID = "(SELECT count(*) FROM visits WHERE study = studies.id AND outcome = 'Paid')"
_MAY_BE_PAID = (
    "(SELECT count(*) FROM visits WHERE study = studies.id "
    "AND (outcome = 'Paid' OR status = 'Pending'))"
)
_NOT_HERE = f"(SELECT coalesce(sum({{}}), 0) FROM unknown_studies WHERE market = '{NAME}')"
_BONUSES = (
    "(SELECT coalesce(sum(total_cents), 0) FROM bonus_batches WHERE stage IN ({}) "
    f"AND {in_own_study(NAME)})"
)
_COMMITTED = (
    "SELECT (SELECT coalesce(sum(cost_cents * CASE "
    f"WHEN stage = 'Retired' THEN {_PAID} "
    f"WHEN status IN ('Live', 'Paused') THEN max(places, {_MAY_BE_PAID}) "
    f"ELSE {_MAY_BE_PAID} END), 0) FROM studies "
    f"WHERE market = '{NAME}' AND stage IN ('Published', 'Retired')) + "
    + _BONUSES.format("'Paying', 'Paid'")
    + " + "
    + _NOT_HERE.format("spent_cents + held_cents")
)
_SPENT = (
    f"SELECT (SELECT coalesce(sum(cost_cents * {_PAID}), 0) FROM studies "
    f"WHERE market = '{NAME}' AND stage IN ('Published', 'Retired')) + "
    + _BONUSES.format("'Paid'")
    + " + "
    + _NOT_HERE.format("spent_cents")
)


def committed_cents(transaction: Transaction) -> int:
    """Return what is, or may be, spent at Connect; the cap applies to this."""
    return number_of(transaction, _COMMITTED)


def spent_cents(transaction: Transaction) -> int:
    """Return what Connect has charged for approved assignments and bonuses."""
    return number_of(transaction, _SPENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class LastStart(accounts.LastStart):
    """How the marketplace was last served for Connect, for readers of its file."""

    name: ClassVar[str] = NAME
    address: str = CONNECT


_SAMPLE_MINUTES = 60


def price_list(
    connect: Connect, *, least_per_hour_cents: int, percent: Decimal | None = None
) -> PriceList:
    """Return fees as a percentage of what participants get.

    Args:
        connect: the client.
        least_per_hour_cents: the least pay for an hour.
        percent: the fee, if a person states it; None asks Connect.
    """
    cost = SAMPLE_CENTS
    if percent is None:
        cost = connect.projects.cost_cents(payment_cents=SAMPLE_CENTS, minutes=_SAMPLE_MINUTES)
    prices = prices_by_sample(
        cost,
        "USD",
        least_per_hour_cents=least_per_hour_cents,
        longest_approval_seconds=MOST_APPROVAL_SECONDS,
    )
    return prices if percent is None else replace(prices, percent=percent)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectStatus(OfStudy):
    """The state of one project; amounts in cents.

    Attributes:
        project_id: the id at Connect; None until the project is created.
    """

    project_id: str | None

    def lines(self) -> Iterator[str]:
        """Yield its lines for a terminal."""
        yield f"{self.title[:40]} ({self.requester[:40]}): {self.status.lower()}"
        cost = "" if self.cost_cents is None else f", costs {money(self.cost_cents)}"
        yield (
            f"  places: {self.places}, HITs in each: {self.hits_per_visit}; each pays "
            f"{money(self.reward_cents)}{cost}"
        )
        states = [f"{number} {name}" for name, number in self.states.items()]
        yield f"  assignments: {', '.join(states) or 'none yet'}"
        if self.trouble:
            yield f"  {self.trouble}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Status(MarketStatus):
    """The state of all projects."""

    projects: tuple[ProjectStatus, ...]

    def lines(self) -> Iterator[str]:
        """Yield its lines for a terminal."""
        if not (self.projects or self.unknown):
            yield "no project yet: this marketplace has no HITs that recruit at Connect"
        for project in self.projects:
            yield from project.lines()
        for unknown in self.unknown:
            yield unknown_sentence(unknown)
        yield f"spent: {money(self.spent_cents)}"
        yield f"spent or promised: {money(self.committed_cents)}"
        left = "nothing: served without --live"
        if self.left_cents is not None:
            left = money(max(0, self.left_cents))
        yield f"left of what may be spent: {left}"
        yield f"bonuses that wait: {money(self.bonuses_waiting_cents)}"
        yield f"messages that may not have been sent: {self.unknown_messages}"
        yield from self.troubles


def read_status(transaction: Transaction) -> Status:
    """Return the state as of the bridge's last step."""
    committed = committed_cents(transaction)
    ends = loose_ends(transaction, LastStart.read(transaction), committed)
    rejected = paid_rejections(transaction, NAME, "Connect", money)
    ends["troubles"] = (*ends["troubles"], *rejected.values())
    return Status(
        projects=tuple(_projects(transaction)),
        spent_cents=spent_cents(transaction),
        committed_cents=committed,
        **ends,
    )


def _projects(transaction: Transaction) -> Iterator[ProjectStatus]:
    for study in described_studies(transaction, NAME):
        visits = transaction.all(
            "SELECT submission_id, status FROM visits WHERE study = ?", study["id"]
        )
        yield ProjectStatus(
            title=study["title"],
            requester=study["requester"],
            project_id=study["study_id"],
            status=study["status"] or study["stage"],
            places=study["places"],
            hits_per_visit=study["hits_per_visit"],
            reward_cents=study["reward_cents"],
            cost_cents=study["cost_cents"],
            states=states_of(visits),
            trouble=study["trouble"],
        )
