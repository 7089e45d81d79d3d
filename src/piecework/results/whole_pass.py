"""A whole pass: what is due is done, and a campaign that is finished gets its results.

`piecework.engine.passes` has the steps and their order; here is what comes after them,
once for commands, flows and rehearsals.
"""

from piecework.campaign.opened import CampaignRun, OpenedCampaign
from piecework.domain.progress import Progress
from piecework.engine.environments import open_environment
from piecework.engine.pass_request import PassRequest
from piecework.engine.passes import run_pass
from piecework.engine.progress import read_progress
from piecework.engine.step import Call, call_plainly
from piecework.payments.outside_prices import book_outside_prices, say_unsettled
from piecework.store import last_pass, outside_prices


def advance_without_prefect(
    request: PassRequest, *, poll_open_hits: bool = False
) -> Progress:
    """Make a pass over a campaign: for cron, for a terminal, and for a small machine.

    Args:
        request: what the pass is told.
        poll_open_hits: ask open HITs for what they have got, however lately that was
            done.

    Raises:
        PieceworkError: as the steps say; running it again is always safe.
    """
    with open_environment(request) as run:
        progress = run_pass(run, poll_open_hits=poll_open_hits)
        progress, _ = finish_pass(run, progress)
        remember_pass(run, progress, request)
    return progress


def finish_pass(
    run: CampaignRun, progress: Progress, *, call: Call = call_plainly
) -> tuple[Progress, str | None]:
    """Book what was taken for a campaign that is finished, and write its results.

    Returns:
        How far the campaign is then, and the report's path; `None` before its end.
    """
    if not progress.is_finished:
        return progress, None
    book_outside_prices(run.store, run.platform.prices(), run.clock)
    return read_progress(run), write_results(run, call=call)


def remember_pass(run: CampaignRun, progress: Progress, request: PassRequest) -> None:
    """Keep how far the campaign is, unless the next pass has something to book."""
    if progress.is_finished and outside_prices.unsettled(run.store):
        say_unsettled(run.store)
        return
    digest = request.digest()
    last_pass.remember(run.store, progress.as_dict(), request_digest=digest)


def write_results(opened: OpenedCampaign, *, call: Call = call_plainly) -> str:
    """Clean all text, then write dataset and report; the report's path."""
    # Words and drawing cost a second to import, and most passes write nothing.
    from piecework.results.clean import clean  # noqa: PLC0415
    from piecework.results.export import export  # noqa: PLC0415

    opened.batches.forget()  # a hundred megabytes of 195,905 answers
    call("clean", lambda: clean(opened))
    return str(call("export", lambda: export(opened)))
