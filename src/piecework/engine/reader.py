"""Where a campaign stands, read again only when something has changed.

Each step of a pass asks the same reader what is due, and `status` shows what it says.
"""

from piecework.campaign.opened import OpenedCampaign
from piecework.engine.planning.next_action import (
    Action,
    NextPosting,
    Snapshot,
    next_action,
    next_posting,
)
from piecework.engine.snapshot import take_snapshot


class Reader:
    """Read an opened campaign for the steps of a pass.

    Attributes:
        opened: the campaign.
        poll_open_hits: check open HITs for new answers, even if that was done recently.
    """

    def __init__(self, opened: OpenedCampaign, *, poll_open_hits: bool = False) -> None:
        self.opened = opened
        self.poll_open_hits = poll_open_hits
        self._version: tuple[int, int] | None = None
        self._snapshot: Snapshot | None = None

    def snapshot(self) -> Snapshot:
        """Return what is open; it is read again after this or another process wrote."""
        version = self.opened.store.version()
        if self._snapshot is None or version != self._version:
            self._version, self._snapshot = version, take_snapshot(self.opened)
        return self._snapshot

    def action(self) -> Action:
        """Return what is due now, or whom the campaign waits for."""
        today = self.opened.clock.now().date()
        return next_action(self.snapshot(), self.opened.campaign, today=today)

    def posting(self) -> NextPosting | None:
        """Return the HITs to plan now, if any."""
        today = self.opened.clock.now().date()
        return next_posting(self.snapshot(), self.opened.campaign, today=today)
