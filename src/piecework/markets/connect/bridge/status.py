"""The state of everything at Connect, read from the marketplace's tables only."""

from collections.abc import Iterator
from dataclasses import dataclass

from piecework.marketplace.state.transaction import Transaction
from piecework.markets.bridging.status import (
    MarketStatus,
    OfStudy,
    described_studies,
    loose_ends,
    states_of,
)
from piecework.markets.connect.bridge.bridge import NAME, money
from piecework.markets.connect.bridge.spending import LastStart, committed_cents, spent_cents
from piecework.markets.connect.bridge.unknown import sentence


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
            yield sentence(unknown)
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
    return Status(
        projects=tuple(_projects(transaction)),
        spent_cents=spent_cents(transaction),
        committed_cents=committed,
        **loose_ends(transaction, LastStart.read(transaction), committed),
    )


def _projects(transaction: Transaction) -> Iterator[ProjectStatus]:
    for study in described_studies(transaction, NAME):
        visits = transaction.all("SELECT status FROM visits WHERE study = ?", study["id"])
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
