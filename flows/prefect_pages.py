"""Show a campaign on Prefect's pages: progress, flagged workers, the report."""

import secrets
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from prefect.artifacts import (
    create_markdown_artifact,
    create_progress_artifact,
    update_progress_artifact,
)
from prefect.client.schemas.objects import FlowRun, State
from prefect.events import emit_event
from prefect.events.worker import EventsWorker

from piecework.campaign.opened import OpenedCampaign
from piecework.config.user_files import whole_path
from piecework.domain.errors import (
    ConfigError,
    PieceworkError,
    RefusedForSafety,
    TransientPlatformError,
)
from piecework.domain.ids import WorkerId
from piecework.domain.progress import Progress, SourceState
from piecework.domain.store_address import StoreAddress
from piecework.domain.text import plural, shell_word
from piecework.qc.registry import TITLES
from piecework.report.formatting import in_markdown
from piecework.results.export import SUMMARY
from piecework.store import findings, last_pass

if TYPE_CHECKING:
    from prefect import Flow

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
        return f"a person: {decisions} in `piecework review {shell_word(campaign)}`"
    if progress.cap_reached:
        return f"a person: a cap is reached, and {progress.beyond_cap} are missing"
    if progress.is_finished:
        return f"nothing; the report is `{report}`" if report else "nothing"
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


FAILED = "piecework.pass.failed"
ENDED = "piecework.pass.ended"
PEOPLE = "piecework.campaign.waits-for-people"
FINISHED = "piecework.campaign.finished"
POSTED = "piecework.hits.posted"
ANSWERED = "piecework.answers.collected"
DECIDED = "piecework.answers.decided"
RELEASED = "piecework.dataset.released"

_SECONDS_TO_SEND = 10.0


def tell_of_failure(flow: "Flow[Any, Any]", flow_run: FlowRun, state: State[Any]) -> None:
    """Tell that a pass failed or its process died; a hook of the flow.

    For piecework's own errors the payload holds the message that a user would read.
    Other errors may contain anything, so only their type is told. The label
    `piecework.fault` lets an automation choose whether a person has to act: "files" of
    the campaign, the "marketplace" away, the process "died", or "other".
    """
    fault = state.result(raise_on_failure=False) if state.is_failed() else None
    sentence, next_step = "", "read the run's log on Prefect's pages"
    if isinstance(fault, PieceworkError):
        sentence, next_step = str(fault), fault.next_step
    elif fault is None:
        sentence = f"the run's process ended before the pass: {state.message or ''}"
        next_step = "nothing: the next pass continues, and does nothing twice"
    emit_event(
        event=FAILED,
        resource={
            **_resource(str(flow_run.parameters.get("campaign", ""))),
            "piecework.fault": _kind_of(fault),
        },
        related=[
            {
                "prefect.resource.id": f"prefect.flow-run.{flow_run.id}",
                "prefect.resource.role": "flow-run",
            }
        ],
        payload={
            "flow": flow.name,
            "state": state.name or state.type.value,
            "error": type(fault).__name__ if fault is not None else "",
            "sentence": sentence,
            "next_step": next_step,
        },
    )


def _kind_of(fault: object) -> str:
    if fault is None:
        return "died"
    if isinstance(fault, ConfigError | RefusedForSafety):
        return "files"
    return "marketplace" if isinstance(fault, TransientPlatformError) else "other"


def tell_of_end(campaign: str, progress: Progress, store: StoreAddress) -> None:
    """Tell that a pass succeeded: how far the campaign is, and who has to act.

    That it is finished is told once, by the first pass that finds it so.
    """
    event_id = None
    if progress.is_finished:
        event_id = last_pass.end_to_tell(store, event_id=secrets.token_hex(16))
        if event_id is None:
            return
    emit_event(
        event={"people": PEOPLE, "nobody": FINISHED}.get(progress.waiting_for, ENDED),
        resource=_resource(campaign),
        payload=progress.as_dict(),
        id=None if event_id is None else UUID(event_id),
    )
    if event_id is None or _are_sent():
        last_pass.mark_end_announced(store, is_announced=progress.is_finished)


def _are_sent() -> bool:
    """Wait until all events have left this process; whether they have."""
    drained = EventsWorker.drain_all(timeout=_SECONDS_TO_SEND)
    return isinstance(drained, tuple) and not drained[1]


def tell_of_pass(campaign: str, before: Progress, after: Progress) -> None:
    """Tell what a pass did: HITs posted, answers collected, answers decided."""
    steps = {
        POSTED: ("hits", after.hits_posted - before.hits_posted),
        ANSWERED: ("answers", after.answers - before.answers),
        DECIDED: ("answers", _decided(after) - _decided(before)),
    }
    for name, (counted, more) in steps.items():
        if more > 0:
            payload = {counted: more, "batch": after.batch}
            emit_event(event=name, resource=_resource(campaign), payload=payload)


def tell_of_release(campaign: str, *, number: int, folder: Path) -> None:
    """Tell that a release of the dataset was written, and to every sink."""
    emit_event(
        event=RELEASED,
        resource=_resource(campaign),
        payload={"release": number, "folder": str(folder)},
    )


def _decided(progress: Progress) -> int:
    return progress.answers - progress.undecided


def _resource(campaign: str) -> dict[str, str]:
    path = whole_path(Path(campaign))
    return {
        "prefect.resource.id": f"piecework.campaign.{path.stem}",
        "prefect.resource.name": path.stem,
        "piecework.campaign-file": str(path),
    }
