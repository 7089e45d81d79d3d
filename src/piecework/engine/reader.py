"""Where a campaign stands, read once and again only when something has changed.

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
    """Reads an opened campaign for the steps of a pass.

    Attributes:
        opened: the campaign.
        poll_open_hits: ask open HITs for what they have got, however lately that was
            done.
    """

    def __init__(self, opened: OpenedCampaign, *, poll_open_hits: bool = False) -> None:
        self.opened = opened
        self.poll_open_hits = poll_open_hits
        self._version: tuple[int, int] | None = None
        self._snapshot: Snapshot | None = None

    def snapshot(self) -> Snapshot:
        """What is open; read again once this process or another has written."""
        version = self.opened.store.version()
        if self._snapshot is None or version != self._version:
            self._version, self._snapshot = version, take_snapshot(self.opened)
        return self._snapshot

    def action(self) -> Action:
        """What is due now, or whom the campaign waits for."""
        today = self.opened.clock.now().date()
        return next_action(self.snapshot(), self.opened.campaign, today=today)

    def posting(self) -> NextPosting | None:
        """The HITs that are to be planned now, if any."""
        today = self.opened.clock.now().date()
        return next_posting(self.snapshot(), self.opened.campaign, today=today)
