"""The marketplace's virtual time as the pipeline's clock.

In a rehearsal both must live in the same time: deadlines, auto-approval and the times
in the dataset come from one clock, which only the crowd moves.
"""

from datetime import datetime, timedelta

from rehearsal.crowd.site import WorkerSite


class MarketplaceClock:
    """A `domain.clock.Clock` that tells the marketplace's time.

    The time is asked for once and then remembered, for nobody else moves it; whoever
    lets another process move it calls `refresh`.
    """

    def __init__(self, endpoint_url: str) -> None:
        self._site = WorkerSite(endpoint_url)
        self._now: datetime | None = None

    def now(self) -> datetime:
        """The present moment of the marketplace, in UTC."""
        return self.refresh() if self._now is None else self._now

    @property
    def calls(self) -> int:
        """How many requests were sent."""
        return self._site.calls

    def refresh(self) -> datetime:
        """Ask the marketplace again."""
        self._now = self._site.clock()
        return self._now

    def move_to(self, moment: datetime) -> None:
        """Let time pass until a moment; one that has passed changes nothing."""
        if moment > self.now():
            self._site.move_clock(moment)
            self._now = moment

    def let_pass(self, span: timedelta) -> datetime:
        """Let time pass while nobody works; the new present."""
        self.move_to(self.now() + span)
        return self.now()

    def close(self) -> None:
        """Let go of the connection."""
        self._site.close()
