"""One pass from the command line: a look first, and Prefect only if a server is set."""

import os
from dataclasses import replace

from domain.money import cents_to_wire
from domain.progress import Progress
from flows.pass_request import PassRequest
from flows.quick_check import cached_progress


def advance_once(request: PassRequest, *, poll_open_hits: bool) -> Progress:
    """Do what is due; a person is asked for leave only if something is."""
    reached = None if poll_open_hits else cached_progress(request)
    if reached is not None:
        return reached
    if not request.rehearsal:
        request = _with_leave(request)
    if os.environ.get("PREFECT_API_URL"):
        from cli.passing import advance_in_prefect  # noqa: PLC0415 - costs seconds

        return advance_in_prefect(request, poll_open_hits=poll_open_hits)
    from flows.without_prefect import advance_without_prefect  # noqa: PLC0415 - pandas

    return advance_without_prefect(request, poll_open_hits=poll_open_hits)


def _with_leave(request: PassRequest) -> PassRequest:
    from cli.leave import leave_to_spend  # noqa: PLC0415 - pandas costs a second

    given = request.spend_at_most_cents
    allowed = leave_to_spend(
        request.campaign,
        request.endpoint,
        live=request.live,
        spend_at_most=None if given is None else cents_to_wire(given),
    )
    return replace(request, spend_at_most_cents=allowed)
