"""Kill the current process (SIGKILL) at a chosen call of a campaign.

Every call of the platform goes through botocore. Its events tell when a request is
about to leave, when the reply has arrived, and when it has been read. One file counts
the calls of all passes of a campaign, so that the k-th call of the campaign can be
chosen.
"""

import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from piecework.campaign.opened import CampaignRun

Moment = Literal["before the call", "reply lost", "before the record"]

# The moment, as botocore's event: before the request leaves; when the server is done
# and its reply is unread; when the reply is read and not recorded.
EVENTS: dict[Moment, str] = {
    "before the call": "before-send.mturk",
    "reply lost": "response-received.mturk",
    "before the record": "after-call.mturk",
}


@dataclass(frozen=True, slots=True)
class Death:
    """Die at the `call`-th call of the campaign (from 1), at this moment of it."""

    call: int
    moment: Moment


def calls_made(calls: Path) -> list[str]:
    """Return the operations that were begun, in order, over all passes."""
    return calls.read_text().split() if calls.exists() else []


def _watch(run: CampaignRun, calls: Path, death: Death | None) -> None:
    events = run.platform._client.meta.events

    def count(event_name: str, **_: object) -> None:
        with calls.open("a") as file:
            file.write(event_name.rsplit(".", 1)[-1] + "\n")

    def die(**_: object) -> None:
        if death is not None and len(calls_made(calls)) == death.call:
            os.kill(os.getpid(), signal.SIGKILL)

    events.register_first("before-send.mturk", count)
    if death is not None:
        events.register_last(EVENTS[death.moment], die)
