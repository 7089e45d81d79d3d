"""Show a campaign on Prefect's pages: progress, flagged workers, the report."""

import socket
from pathlib import Path
from typing import TYPE_CHECKING, cast

from prefect.artifacts import (
    create_markdown_artifact,
    create_progress_artifact,
    update_progress_artifact,
)

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.ids import WorkerId
from piecework.domain.progress import Progress, SourceState
from piecework.domain.text import plural
from piecework.qc.registry import TITLES
from piecework.report.formatting import in_markdown
from piecework.results.export import SUMMARY
from piecework.store import findings

if TYPE_CHECKING:
    from uuid import UUID

_WORKERS = 500


class LiveProgress:
    """The share of accepted answers on the page of a flow run, which grows while it works."""

    def __init__(self) -> None:
        self._artifact: UUID | None = None
        self._percent = -1

    def show(self, progress: Progress) -> None:
        """Show the share; Prefect is called only if another percent is reached."""
        percent = int(100 * progress.accepted / (_wanted(progress) or 1))
        if percent == self._percent:
            return
        self._percent = percent
        if self._artifact is None:
            made = create_progress_artifact(
                progress=float(percent),
                key=f"{_key(progress.campaign)}-progress",
                description=f"accepted answers of {progress.campaign}",
            )
            self._artifact = cast("UUID", made)  # a coroutine only in an event loop
        else:
            update_progress_artifact(self._artifact, progress=float(percent))


def publish_artifacts(
    opened: OpenedCampaign,
    progress: Progress,
    report: str | None,
    live: LiveProgress | None = None,
) -> None:
    """Attach progress, flagged workers and the report to the flow run.

    A browser cannot open a file on another machine, so the report is attached as
    Markdown, with the place of its file.

    Args:
        opened: the campaign.
        progress: how far it is.
        report: path of the report, once there is one.
        live: what the run has shown of its progress so far.
    """
    name = opened.campaign.name
    key = _key(name)
    (live or LiveProgress()).show(progress)
    create_markdown_artifact(
        _status(progress, opened.campaign.path, report),
        key=f"{key}-status",
        description=f"what is done of {name}, what it cost, what is left, and what comes next",
    )
    flagged: dict[str, list[str]] = {}
    for finding in findings.load_findings(opened.store, only_flags=True):
        if finding.subject_kind == "worker":
            worker = opened.pseudonym(WorkerId(finding.subject_id))
            title = TITLES.get(finding.heuristic, finding.heuristic)
            evidence = in_markdown(f"{title}: {finding.evidence}")
            flagged.setdefault(worker, [f"- `{worker}`"]).append(f"    - {evidence}")
    if flagged:
        # Prefect shows a cell of a table on one line, and would cut the evidence.
        create_markdown_artifact(
            "\n".join(line for lines in [*flagged.values()][:_WORKERS] for line in lines),
            key=f"{key}-flagged-workers",
            description=f"{plural(len(flagged), 'worker')} of {name} whom a heuristic flagged, "
            "by pseudonym: a flag is a suspicion, not a verdict",
        )
    if report:
        where = f"The whole report, with its plots: `{report}` on {socket.gethostname()}"
        create_markdown_artifact(
            f"{Path(report).with_name(SUMMARY).read_text(encoding='utf-8')}\n{where}\n",
            key=f"{key}-report",
            description=f"how far the dataset of {name} can be trusted, and why",
        )


def _key(name: str) -> str:
    return name.replace("_", "-")


def _wanted(progress: Progress) -> int:
    return progress.accepted + progress.missing


def _status(progress: Progress, campaign: Path, report: str | None) -> str:
    """What is done, what it cost, what is left and what comes next."""
    shown = progress.shown
    done = [f"{progress.accepted:,} of {plural(_wanted(progress), 'answer')} accepted"]
    for number, what in (
        (progress.undecided, "not judged yet"),
        (progress.dropped + progress.surplus, "set aside"),
    ):
        done += [f"{number:,} {what}"] if number else []
    done += [f"{plural(progress.excluded, 'worker')} excluded"] if progress.excluded else []
    spent = "would be spent" if progress.is_rehearsal else "spent"
    cost = f"{shown(progress.spent_cents)} of {shown(progress.budget_cents)} {spent}"
    cost += f", {shown(progress.held_cents)} held for open HITs" if progress.held_cents else ""
    free = progress.budget_cents - progress.spent_cents - progress.held_cents
    kind = "rehearsal: workers were simulated" if progress.is_rehearsal else "campaign"
    look_at = [words for words in (progress.too_few_workers, *_source(progress.source)) if words]
    return "\n".join(
        (
            f"# {in_markdown(progress.campaign)} ({kind})",
            "",
            "| What | How far |",
            "|---|---|",
            f"| Done | {', '.join(done)} |",
            f"| Batch | {progress.batch_shown} |",
            f"| Cost | {cost} |",
            f"| Left | {plural(progress.missing, 'answer')}, {shown(free)} |",
            "",
            # Not in the table, where Prefect would not break their lines.
            f"**Next:** {_next(progress, campaign, report)}.",
            *(f"\n**Look at:** {in_markdown(words)}" for words in look_at),
        )
    )


def _next(progress: Progress, campaign: Path, report: str | None) -> str:
    """Who or what acts next, with the command for a person."""
    if progress.to_decide:
        decisions = plural(progress.to_decide, "decision")
        return f"a person: {decisions} in `piecework review {campaign}`"
    if progress.is_finished:
        return f"nothing; the report is `{report}`" if report else "nothing"
    if progress.cap_reached:
        return "a person: a cap is reached and answers are missing"
    if progress.waiting_for == "workers":
        return f"workers, on {plural(progress.hits_open, 'open HIT')}"
    because = f": {in_markdown(progress.reason)}" if progress.reason else ""
    return f"{progress.waiting_for}{because}"


def _source(state: SourceState | None) -> tuple[str, ...]:
    """What a person should know of a source that grows."""
    if state is None:
        return ()
    quarantined = f"{plural(state.quarantined, 'row')} cannot be used: " * bool(state.quarantined)
    return (
        f"{plural(state.waiting, 'row')} of the source wait for a batch" * bool(state.waiting),
        state.fault,
        state.unfinished,
        f"{quarantined}{'; '.join(state.faults)}" if quarantined else "",
    )
