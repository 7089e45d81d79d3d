"""Show a campaign on Prefect's pages: progress, flagged workers, the report."""

import socket
from pathlib import Path

from prefect.artifacts import (
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
)

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.ids import WorkerId
from piecework.domain.progress import Progress
from piecework.results.export import SUMMARY
from piecework.store import findings

_ROWS = 1000


def publish_artifacts(opened: OpenedCampaign, progress: Progress, report: str | None) -> None:
    """Attach progress, flagged workers and the report to the flow run.

    A browser cannot open a file on another machine, so the report is attached as
    Markdown, with the place of its file.

    Args:
        opened: the campaign.
        progress: how far it is.
        report: path of the report, once there is one.
    """
    name = opened.campaign.name
    key = name.replace("_", "-")
    wanted = progress.accepted + progress.missing
    create_progress_artifact(
        progress=100.0 * progress.accepted / wanted if wanted else 0.0,
        key=f"{key}-progress",
        description=f"accepted answers of {name}",
    )
    create_markdown_artifact(
        _markdown(progress),
        key=f"{key}-status",
        description=f"how far {name} is, what it cost, and who is waited for",
    )
    flagged = [
        {
            "worker": opened.pseudonym(WorkerId(finding.subject_id)),
            "heuristic": finding.heuristic,
            "evidence": finding.evidence,
        }
        for finding in findings.load_findings(opened.store, only_flags=True)
        if finding.subject_kind == "worker"
    ]
    if flagged:
        create_table_artifact(
            flagged[:_ROWS],
            key=f"{key}-flagged-workers",
            description=f"workers of {name} whom a heuristic flagged, by pseudonym: "
            "a flag is a suspicion, not a verdict",
        )
    if report:
        where = f"The whole report, with its plots: `{report}` on {socket.gethostname()}"
        create_markdown_artifact(
            f"{Path(report).with_name(SUMMARY).read_text(encoding='utf-8')}\n{where}\n",
            key=f"{key}-report",
            description=f"how far the dataset of {name} can be trusted, and why",
        )


def _markdown(progress: Progress) -> str:
    kind = "rehearsal: workers were simulated" if progress.is_rehearsal else "campaign"
    if progress.waiting_for == "people":
        kind += f", {progress.to_decide} decisions wait"
    spent = progress.shown(progress.spent_cents)
    lines = [
        f"# {progress.campaign} ({kind})",
        "",
        f"- batch {progress.batch} of {progress.batches}",
        f"- waiting for {progress.waiting_for}",
        f"- {progress.accepted} answers accepted, {progress.missing} missing",
        f"- {spent} spent of {progress.shown(progress.budget_cents)}",
        f"- {progress.shown(progress.held_cents)} held for open HITs",
    ]
    return "\n".join(lines)
