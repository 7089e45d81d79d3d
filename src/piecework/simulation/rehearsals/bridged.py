"""What rehearsals with a bridge to another market have in common."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from piecework.domain.errors import PlatformRefused
from piecework.domain.ids import WorkerId
from piecework.marketplace.state import visits
from piecework.marketplace.state.backend import Backend
from piecework.platforms.clocks import VirtualClock

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
