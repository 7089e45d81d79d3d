"""One pass over a campaign: whatever is due, in the one order, written once.

`advance`, `run`, `rehearse` and the tests all come through here. Prefect is handed in
as `call` and changes nothing of it. What a step did is a line of the log.
"""

import logging
from collections.abc import Callable
from typing import Any, TypeVar

from piecework.campaign.opened import CampaignRun
from piecework.domain.counts import plural
from piecework.domain.progress import Progress
from piecework.engine.progress import read_progress
from piecework.engine.reader import Reader
from piecework.engine.step import Call, Step, call_plainly
from piecework.engine.steps.assess import assess
from piecework.engine.steps.collect import collect
from piecework.engine.steps.decide import decide
from piecework.engine.steps.launch import launch
from piecework.engine.steps.plan import plan
from piecework.engine.steps.resume import resume
from piecework.engine.steps.settle import settle
from piecework.engine.steps.verify import verify
from piecework.engine.steps.weigh import weigh
from piecework.engine.steps.wind_down import wind_down

_T = TypeVar("_T")
_LOG = logging.getLogger(__name__)
_DONE = {
    "collect": ("assignment came in", "assignments came in"),
    "assess": ("flag was raised by heuristics", "flags were raised by heuristics"),
    "decide": ("decision was made", "decisions were made"),
    "resume": ("payment was cut short", "payments were cut short"),
    "settle": ("decision was carried out", "decisions were carried out"),
    "weigh": ("label is not sure yet", "labels are not sure yet"),
    "wind down": ("HIT was ended", "HITs were ended"),
    "plan": ("HIT was planned", "HITs were planned"),
    "launch": ("HIT was posted or extended", "HITs were posted or extended"),
    "verify": (
        "approval was read again, and holds",
        "approvals were read again, and hold",
    ),
}
"""What the number means that a step gives back."""


CROWD = "crowd"
"""The step between two passes of a rehearsal, in which simulated workers work."""


STEPS: tuple[Step[Any, Any], ...] = (
    collect,
    assess,
    decide,
    resume,
    settle,
    weigh,
    wind_down,
    plan,
    launch,
    verify,
)
"""The one order."""


def run_pass(
    run: CampaignRun, *, call: Call = call_plainly, poll_open_hits: bool = False
) -> Progress:
    """Do whatever is due, and say how far the campaign is.

    Each step asks the reader what is due for it; one that finds nothing costs next to
    nothing, and is not called.

    Args:
        run: the campaign at work.
        call: what runs each step.
        poll_open_hits: ask open HITs for what they have got, however lately that was
            done.

    Raises:
        PieceworkError: as the steps say; making the pass again is always safe.
    """
    reader = Reader(run, poll_open_hits=poll_open_hits)
    for step in STEPS:
        step(run, reader, call=_with_log(call))
    return read_progress(run, reader)


def post(run: CampaignRun) -> int:
    """Plan and post what is due, or wind a stopped campaign down; how many HITs.

    Raises:
        PieceworkError: as the steps say; doing it again is always safe.
    """
    wind_down(run)
    plan(run)
    return launch(run)


def _with_log(call: Call) -> Call:
    """What runs steps, and says of each what it did if it did anything."""

    def logged(name: str, step: Callable[[], _T], /) -> _T:
        done = call(name, step)
        if isinstance(done, int) and done:
            _LOG.info(
                "%s",
                plural(done, *_DONE[name]),
                extra={"facts": {"step": name, "number": done}},
            )
        return done

    return logged
