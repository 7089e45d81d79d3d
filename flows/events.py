"""Events about campaigns, for Prefect's automations to wait for.

Events are best effort and may be lost, so no necessary work depends on one.
"""

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from prefect.client.schemas.objects import FlowRun, State
from prefect.events import emit_event
from prefect.events.worker import EventsWorker

from piecework.domain.errors import (
    ConfigError,
    PieceworkError,
    RefusedForSafety,
    TransientPlatformError,
)
from piecework.domain.progress import Progress
from piecework.domain.store_address import StoreAddress
from piecework.store import last_pass

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
    path = Path(campaign).resolve()
    return {
        "prefect.resource.id": f"piecework.campaign.{path.stem}",
        "prefect.resource.name": path.stem,
        "piecework.campaign-file": str(path),
    }
