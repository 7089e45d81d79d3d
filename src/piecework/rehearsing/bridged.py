"""What rehearsals with a bridge to another market have in common."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from piecework.domain.errors import PlatformRefused
from piecework.domain.ids import WorkerId
from piecework.marketplace.state import visits
from piecework.marketplace.state.backend import Backend
from piecework.platforms.virtual_clock import VirtualClock

_UNSETTLED = (
    "SELECT (SELECT count(*) FROM visits WHERE outcome IS NULL) + "
    "(SELECT count(*) FROM bonus_batches WHERE stage <> 'Paid') + "
    "(SELECT count(*) FROM bonus_lines WHERE batch IS NULL)"
)


class RehearsedBridge(Protocol):
    """The parts of a bridge that a rehearsal needs."""

    @property
    def backend(self) -> Backend:
        """The marketplace's database, with the bridge's own connection."""
        ...

    @property
    def market(self) -> str:
        """The other market's display name."""
        ...

    @property
    def faults(self) -> Sequence[str]:
        """Messages about what failed in the last step."""
        ...


class LookedAfter(Protocol):
    """The participants' site."""

    now: datetime

    def look_after(self) -> bool:
        """Let the bridge make steps at the present time."""
        ...


def steps_at(
    bridge: RehearsedBridge,
    clock: VirtualClock,
    settle: Callable[[], None],
    *,
    no_holders: str,
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


def let_settle(
    bridge: RehearsedBridge,
    clock: VirtualClock,
    site: LookedAfter,
    *,
    grace: timedelta,
    last_day: int,
) -> None:
    """Let days pass until every visit is settled and every bonus is paid.

    Args:
        bridge: the bridge.
        clock: the marketplace's clock.
        site: the participants' site.
        grace: the time in which participants who have just finished enter their code.
        last_day: the day by which the other market itself settles everything.

    Raises:
        PlatformRefused: something is not settled then.
    """
    clock.refresh()
    for passes in (timedelta(), grace, *[timedelta(days=1)] * last_day):
        site.now = clock.let_pass(passes)
        site.look_after()
        if not _unsettled(bridge):
            return
    raise PlatformRefused(
        f"{_unsettled(bridge)} visits or bonuses are not settled after {last_day} "
        f"days: {'; '.join(bridge.faults)}",
        code="NotSettled",
    )


def worker_id_of(bridge: RehearsedBridge, participant_id: str) -> WorkerId:
    """Return the worker id of a participant; "" before the first visit."""
    with bridge.backend.transaction() as transaction:
        known = visits.known_participant(transaction, participant_id)
    return WorkerId(known["worker_id"] if known else "")


def _unsettled(bridge: RehearsedBridge) -> int:
    with bridge.backend.transaction() as transaction:
        row = transaction.first_row(_UNSETTLED)
    return int(row[0]) if row else 0


def _refuse_trouble(bridge: RehearsedBridge, no_holders: str) -> None:
    """Report at once a trouble that no participant can solve.

    Raises:
        PlatformRefused: a study cannot be created or paid for.
    """
    with bridge.backend.transaction() as transaction:
        row = transaction.first_row(
            "SELECT trouble FROM studies WHERE trouble NOT IN ('', ?) "
            "AND stage <> 'Retired'",
            no_holders,
        )
    if row is not None:
        raise PlatformRefused(f"{bridge.market}: {row['trouble']}", code="StudyTrouble")
