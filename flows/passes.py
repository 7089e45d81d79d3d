"""One pass over a campaign: whatever is due, in the one order, written once.

`advance`, `run`, `rehearse` and the tests all come through here. Prefect is handed in
as `call` and changes nothing of it.
"""

from collections.abc import Callable
from typing import Protocol, TypeVar

from domain.progress import Progress
from flows.campaign_run import CampaignRun, CampaignStore
from flows.progress import read_progress
from flows.steps.assess import assess
from flows.steps.collect import collect
from flows.steps.decide import decide
from flows.steps.launch import launch
from flows.steps.settle import settle
from flows.steps.verify import verify

_T = TypeVar("_T")


class Call(Protocol):
    """Runs a step by its name; gives what the step gives."""

    def __call__(self, name: str, step: Callable[[], _T], /) -> _T:
        """Run the step once."""
        ...


def call_plainly(_name: str, step: Callable[[], _T], /) -> _T:
    """Run a step, and nothing around it."""
    return step()


def run_pass(
    run: CampaignRun, *, call: Call = call_plainly, poll_open_hits: bool = False
) -> Progress:
    """Do whatever is due, and say how far the campaign is.

    Each step asks the store what is due for it; one that finds nothing costs next to
    nothing.

    Args:
        run: the campaign at work.
        call: what runs each step.
        poll_open_hits: ask open HITs for what they have got, however lately that was
            done.

    Raises:
        PieceworkError: as the steps say; making the pass again is always safe.
    """
    call("collect", lambda: collect(run, poll_open_hits=poll_open_hits))
    call("assess", lambda: assess(run))
    call("decide", lambda: decide(run))
    call("settle", lambda: settle(run))
    call("launch", lambda: launch(run))
    call("verify", lambda: verify(run))
    return read_progress(run)


def write_results(campaign_store: CampaignStore, *, call: Call = call_plainly) -> str:
    """Clean all text, then write dataset and report; the report's path."""
    # Words and drawing cost a second to import, and most passes write nothing.
    from flows.results.clean import clean  # noqa: PLC0415
    from flows.results.export import export  # noqa: PLC0415

    call("clean", lambda: clean(campaign_store))
    return str(call("export", lambda: export(campaign_store)))
