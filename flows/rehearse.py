"""`rehearse` as a Prefect flow: a whole campaign on simulated workers."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from prefect import Flow, flow

from piecework.campaign.opened import CampaignRun
from piecework.domain.campaign import Campaign
from piecework.domain.crowds import Market
from piecework.domain.progress import Progress
from piecework.engine.pass_request import CampaignPath
from piecework.engine.progress import read_progress
from piecework.flows.prefect_pages import LiveProgress, publish_artifacts
from piecework.flows.prefect_tasks import (
    label_run,
    logged_in_run,
    run_as_task,
    run_name,
    says_what_helps,
)
from piecework.platforms.clocks import START
from piecework.results.whole_pass import write_results
from piecework.simulation.crowd.crowd import Crowd
from piecework.simulation.rehearsals.campaign import prepare_rehearsal
from piecework.simulation.rehearsals.rehearsal import (
    rehearsal_at,
    rehearsal_of,
    work_through,
)


@flow(name="rehearse", flow_run_name=run_name, validate_parameters=True)
@says_what_helps
def rehearse(
    campaign: CampaignPath, crowds: tuple[Market, ...] = (), *, again: bool = False
) -> dict[str, object]:
    """Rehearse a campaign, from its file to the dataset and the report.

    Args:
        campaign: absolute path of the campaign file.
        crowds: the markets whose simulated people work, such as "panel"; none for the
            marketplace's own simulated workers.
        again: begin a new rehearsal although nothing has changed.

    Returns:
        The number of the rehearsal as `rehearsal`, the progress as plain values
        (`domain.progress.Progress`), the path of the report, the campaign's duration in
        virtual seconds as `virtual_seconds`, and for participants what the ledgers say
        was spent as `books`.
    """
    prepared, _ = prepare_rehearsal(Path(campaign), crowds, again=again)
    return _rehearse(prepared, crowds=crowds)


def rehearsal_flow(
    prepared: Campaign, *, on_progress: Callable[[Progress], None]
) -> Flow[[str, tuple[Market, ...]], dict[str, object]]:
    """Return the flow `rehearse` for one campaign; it reports progress after each pass.

    Args:
        prepared: as `prepare_rehearsal` made it; the flow is called with the path of its file.
        on_progress: called with how far the campaign is.
    """

    @says_what_helps
    def as_prepared(
        campaign: str,  # noqa: ARG001 - shown by Prefect
        crowds: tuple[Market, ...],
    ) -> dict[str, object]:
        return _rehearse(prepared, crowds=crowds, on_progress=on_progress)

    return Flow(as_prepared, name="rehearse", flow_run_name=run_name)


def _rehearse(
    campaign: Campaign,
    *,
    crowds: tuple[Market, ...],
    on_progress: Callable[[Progress], None] | None = None,
) -> dict[str, object]:
    """Rehearse a campaign inside a flow, with its steps as tasks; see `rehearse`."""
    if not crowds:
        with logged_in_run(), rehearsal_of(campaign) as (run, workers):
            return _to_the_end(run, workers, on_progress)
    with logged_in_run(), rehearsal_at(campaign, crowds) as (run, people, markets):

        def close_books() -> dict[str, object]:
            return {"books": asdict(markets.close_books(run))}

        return _to_the_end(run, people, on_progress, at_end=close_books)


def _to_the_end(
    run: CampaignRun,
    crowd: Crowd,
    on_progress: Callable[[Progress], None] | None,
    *,
    at_end: Callable[[], dict[str, object]] = dict,
) -> dict[str, object]:
    """Work, settle what the pipeline leaves, write the results, and return the facts.

    Args:
        run: the campaign at work.
        crowd: who works.
        on_progress: called with how far it is.
        at_end: called once the pipeline is done; returns facts that the report needs.
    """
    shown = LiveProgress()

    def reached(progress: Progress) -> None:
        label_run(progress)
        shown.show(progress)
        if on_progress is not None:
            on_progress(progress)

    progress = work_through(run, crowd, call=run_as_task, on_progress=reached)
    label_run(progress)
    virtual = run.clock.now() - START
    # If it is not finished, people decide first, which can take any time.
    more = at_end() if progress.is_finished else {}
    progress = read_progress(run)
    report = write_results(run, call=run_as_task)
    publish_artifacts(run, progress, report, shown)
    return {
        "rehearsal": run.campaign.number,
        **progress.as_dict(),
        "report": report,
        "virtual_seconds": virtual.total_seconds(),
        **more,
    }
