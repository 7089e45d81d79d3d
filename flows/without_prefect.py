"""A whole pass without Prefect: for cron, for a terminal, and for a small machine."""

from piecework.domain.progress import Progress
from piecework.flows.environments import open_environment
from piecework.flows.pass_request import PassRequest
from piecework.flows.passes import book_at_end, remember_pass, run_pass, write_results


def advance_without_prefect(
    request: PassRequest, *, poll_open_hits: bool = False
) -> Progress:
    """Do what is due on a campaign; dataset and report once it is finished.

    Args:
        request: what the pass is told.
        poll_open_hits: ask open HITs for what they have got, however lately that was
            done.

    Raises:
        PieceworkError: as the steps say; running it again is always safe.
    """
    with open_environment(request) as run:
        progress = book_at_end(run, run_pass(run, poll_open_hits=poll_open_hits))
        if progress.is_finished:
            write_results(run)
        remember_pass(run, progress, request)
    return progress
