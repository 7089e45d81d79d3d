"""Events about campaigns, for Prefect's automations to wait for.

Events are best effort and may be lost, so no necessary work depends on one.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from prefect.client.schemas.objects import FlowRun, State
from prefect.events import emit_event

from piecework.domain.errors import PieceworkError
from piecework.domain.progress import Progress

if TYPE_CHECKING:
    from prefect import Flow

FAILED = "piecework.pass.failed"
ENDED = "piecework.pass.ended"
PEOPLE = "piecework.campaign.waits-for-people"
FINISHED = "piecework.campaign.finished"
POSTED = "piecework.hits.posted"
ANSWERED = "piecework.answers.collected"
DECIDED = "piecework.answers.decided"
RELEASED = "piecework.dataset.released"


def tell_of_failure(
    flow: "Flow[Any, Any]", flow_run: FlowRun, state: State[Any]
) -> None:
    """Tell that a pass failed or its process died; a hook of the flow.

    For piecework's own errors the payload holds the message that a user would read.
    Other errors may contain anything, so only their type is told.
    """
    fault = state.result(raise_on_failure=False) if state.is_failed() else None
    emit_event(
        event=FAILED,
        resource=_resource(str(flow_run.parameters.get("campaign", ""))),
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
            "sentence": str(fault) if isinstance(fault, PieceworkError) else "",
            "next_step": getattr(fault, "next_step", ""),
        },
    )


def tell_of_end(campaign: str, progress: Progress) -> None:
    """Tell that a pass succeeded: how far the campaign is, and who has to act."""
    name = {"people": PEOPLE, "nobody": FINISHED}.get(progress.waiting_for, ENDED)
    emit_event(event=name, resource=_resource(campaign), payload=progress.as_dict())


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
    path = Path(campaign).resolve()
    return {
        "prefect.resource.id": f"piecework.campaign.{path.stem}",
        "prefect.resource.name": path.stem,
        "piecework.campaign-file": str(path),
    }
