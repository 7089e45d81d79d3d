"""`export` and `report` as flows: results of a campaign as far as it has come.

Both only read the store, so they need no marketplace and may run beside a pass.
"""

from prefect import flow

from flows.artifacts import publish_artifacts
from flows.orders import campaign_path
from flows.passes import run_name
from flows.results.export import write_report
from flows.steps.progress import progress
from flows.wiring import load_campaign, place_of, stored_place
from flows.writing import write_results


@flow(name="export", flow_run_name=run_name, validate_parameters=True)
def export(campaign: str) -> str:
    """Clean all text, then write dataset and report.

    Args:
        campaign: path of the campaign file; a relative one begins at the checkout.

    Returns:
        The path of the report.
    """
    with stored_place(load_campaign(campaign_path(campaign))) as place:
        path = str(place.campaign.path)
        report_path = write_results(path)
        publish_artifacts(path, progress(place), report_path)
    return report_path


@flow(name="report", flow_run_name=run_name, validate_parameters=True)
def report(campaign: str) -> dict[str, object]:
    """Show progress, money and who waits for whom, and write the report alone.

    Args:
        campaign: path of the campaign file; a relative one begins at the checkout.

    Returns:
        The progress as plain values (`domain.progress.Progress`).
    """
    with stored_place(load_campaign(campaign_path(campaign))) as place:
        path = str(place.campaign.path)
        reached = progress(place_of(path))
        publish_artifacts(path, reached, str(write_report(place)))
    return reached.as_dict()
