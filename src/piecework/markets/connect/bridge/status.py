"""The state of everything at Connect, read from the marketplace's tables only."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from piecework.marketplace.state.transaction import Transaction
from piecework.markets.bridging.losses import UnknownStudy, read_unknown
from piecework.markets.bridging.studies import in_own_study, of_own_person
from piecework.markets.connect.bridge.bridge import NAME, money
from piecework.markets.connect.bridge.spending import LastStart, committed_cents, spent_cents
from piecework.markets.connect.bridge.unknown import sentence

_PROJECTS = (
    "SELECT studies.*, hit_types.title, requesters.name AS requester FROM studies "
    "JOIN hit_types ON hit_types.id = studies.hit_type "
    "JOIN requesters ON requesters.id = hit_types.requester "
    f"WHERE studies.market = '{NAME}' ORDER BY studies.id"
)
_TROUBLES = (
    "SELECT trouble FROM bonus_batches WHERE trouble <> '' "
    f"AND {in_own_study(NAME)} "
    "UNION SELECT trouble FROM visits WHERE trouble <> '' "
    f"AND {in_own_study(NAME)} "
)
_BONUSES_WAITING = (
    "SELECT coalesce(sum(cents), 0) FROM bonus_lines "
    f"JOIN visits ON visits.id = bonus_lines.visit AND visits.{in_own_study(NAME)} "
    "LEFT JOIN bonus_batches ON bonus_batches.id = bonus_lines.batch "
    "WHERE coalesce(bonus_batches.stage, '') <> 'Paid'"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectStatus:
    """The state of one project; amounts in cents.

    Attributes:
        project_id: the id at Connect; None until the project is created.
        status: Connect's status, or the stage before Connect has one.
        cost_cents: the cost of a place, with Connect's fee.
        states: the number of visits by status at Connect.
        trouble: what keeps the project from continuing; "" if nothing does.
    """

    title: str
    requester: str
    project_id: str | None
    status: str
    places: int
    hits_per_visit: int
    reward_cents: int
    cost_cents: int | None
    states: dict[str, int]
    trouble: str

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
class Status:
    """The state of all projects; amounts in cents.

    Attributes:
        spent_cents: what Connect has charged for assignments and bonuses.
        committed_cents: what is spent at Connect or promised; the cap applies to this.
        left_cents: what the cap of the last start leaves. None: nothing is published.
        bonuses_waiting_cents: bonuses not paid yet.
        troubles: messages about bonuses and visits that a person should read.
        unknown_messages: messages that may or may not have been sent.
        unknown: projects at Connect that the file lacks.
    """

    projects: tuple[ProjectStatus, ...]
    spent_cents: int
    committed_cents: int
    left_cents: int | None
    bonuses_waiting_cents: int
    troubles: tuple[str, ...]
    unknown_messages: int
    unknown: tuple[UnknownStudy, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for `--json`."""
        return asdict(self)

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
    start = LastStart.read(transaction)
    committed = committed_cents(transaction)
    waiting = transaction.first_row(_BONUSES_WAITING)
    unsure = transaction.first_row(
        f"SELECT count(*) FROM messages WHERE sent_there = 'Unknown' AND {of_own_person(NAME)}"
    )
    return Status(
        projects=tuple(_projects(transaction)),
        spent_cents=spent_cents(transaction),
        committed_cents=committed,
        left_cents=start.spend_at_most_cents - committed if start.is_live else None,
        bonuses_waiting_cents=int(waiting[0]) if waiting else 0,
        troubles=tuple(str(row["trouble"]) for row in transaction.all(_TROUBLES)),
        unknown_messages=int(unsure[0]) if unsure else 0,
        unknown=read_unknown(transaction, NAME),
    )


def _projects(transaction: Transaction) -> Iterator[ProjectStatus]:
    for study in transaction.all(_PROJECTS):
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
            states=dict(sorted(Counter(visit["status"] for visit in visits).items())),
            trouble=study["trouble"],
        )
