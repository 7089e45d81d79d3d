"""What Prefect's pages show of a campaign: progress, flagged workers, the report."""

from pathlib import Path

from prefect.artifacts import (
    create_link_artifact,
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
)

from domain.ids import WorkerId
from domain.money import dollars
from domain.progress import Progress
from flows.wiring import place_of
from postprocess.pseudonyms import pseudonym
from store import judgements

_ROWS = 1000


def publish_artifacts(campaign: str, reached: Progress, report: str | None) -> None:
    """Attach progress, flagged workers and the report to the flow run.

    Args:
        campaign: path of the campaign file.
        reached: the progress to show.
        report: path of the report, once there is one.
    """
    place = place_of(campaign)
    key = place.campaign.name.replace("_", "-")
    wanted = reached.accepted + reached.missing
    create_progress_artifact(
        progress=100.0 * reached.accepted / wanted if wanted else 0.0,
        key=f"{key}-progress",
        description=f"accepted answers of {place.campaign.name}",
    )
    create_markdown_artifact(_markdown(reached), key=f"{key}-status")
    flagged = [
        {
            "worker": pseudonym(WorkerId(finding.subject_id), place.pseudonym_key),
            "heuristic": finding.heuristic,
            "evidence": finding.evidence,
        }
        for finding in judgements.findings(place.store)
        if finding.flag and finding.subject_kind == "worker"
    ]
    if flagged:
        create_table_artifact(flagged[:_ROWS], key=f"{key}-flagged-workers")
    if report:
        create_link_artifact(
            Path(report).as_uri(), link_text="report.html", key=f"{key}-report"
        )


def _markdown(reached: Progress) -> str:
    kind = "rehearsal: workers were simulated" if reached.is_rehearsal else "campaign"
    if reached.waiting_for == "people":
        kind += f", {reached.to_decide} decisions wait"
    lines = [
        f"# {reached.campaign} ({kind})",
        "",
        f"- batch {reached.batch} of {reached.batches}",
        f"- waiting for {reached.waiting_for}",
        f"- {reached.accepted} answers accepted, {reached.missing} missing",
        f"- {dollars(reached.spent_cents)} spent of {dollars(reached.budget_cents)}",
        f"- {dollars(reached.held_cents)} held for HITs that are open",
    ]
    return "\n".join(lines)
