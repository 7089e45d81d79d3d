"""`export` and `report` as flows: the results of a campaign so far.

Both only read the store, so they need no marketplace and can run during a pass.
"""

from pathlib import Path

from prefect import flow

from piecework.campaign.assembling import load_campaign, load_with_results
from piecework.campaign.rehearsal_folders import latest_rehearsal
from piecework.config.campaign_file import parse
from piecework.config.trust import deployment_path, read_deployment
from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError
from piecework.domain.text import shell_word
from piecework.engine.opening import open_to_look
from piecework.engine.pass_request import CampaignPath
from piecework.engine.progress import read_progress
from piecework.flows.prefect_pages import publish_artifacts
from piecework.flows.prefect_tasks import (
    label_run,
    logged_in_run,
    materializing,
    run_name,
    says_what_helps,
)
from piecework.results.export import write_report
from piecework.results.whole_pass import write_results


@flow(name="export", flow_run_name=run_name, validate_parameters=True)
@says_what_helps
def export(campaign: CampaignPath) -> str:
    """Clean all text, then write dataset and report.

    Args:
        campaign: absolute path of the campaign file.

    Returns:
        The path of the report.
    """
    with logged_in_run(), open_to_look(_of_passes(Path(campaign))) as opened:
        progress = read_progress(opened)
        label_run(progress)
        report_path = write_results(opened, call=materializing(opened.campaign))
        publish_artifacts(opened, progress, report_path)
    return report_path


@flow(name="report", flow_run_name=run_name, validate_parameters=True)
@says_what_helps
def report(campaign: CampaignPath) -> dict[str, object]:
    """Show progress, money and who has to act, and write only the report.

    Args:
        campaign: absolute path of the campaign file.

    Returns:
        The progress as plain values (`domain.progress.Progress`).
    """
    with logged_in_run(), open_to_look(_of_passes(Path(campaign))) as opened:
        progress = read_progress(opened)
        label_run(progress)
        publish_artifacts(opened, progress, str(write_report(opened)))
    return progress.as_dict()


def _of_passes(path: Path) -> Campaign:
    """Load the campaign where its passes work: in a rehearsal if the deployment file says so.

    Neither stands for the other: not simulated workers for live work that is not here, nor live
    work for a rehearsal that has not begun.

    Raises:
        ConfigError: no rehearsal has begun.
    """
    if not (deployment_path(path).exists() and read_deployment(path).rehearsal):
        return load_campaign(path)
    if (number := latest_rehearsal(parse(path))) is None:
        raise ConfigError(
            [f"{path}: its deployment file says rehearsal = true, and no rehearsal has begun"],
            next_step="wait for its first pass, or begin a rehearsal: "
            f"piecework rehearse {shell_word(path)}",
        )
    return load_with_results(path, rehearsal=number)
