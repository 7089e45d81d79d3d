"""One pass from the command line: a look first, and Prefect only if a server is set."""

import os
from dataclasses import replace

from piecework.domain.money import cents_to_wire
from piecework.domain.progress import Progress
from piecework.engine.pass_request import PassRequest
from piecework.engine.quick_check import cached_progress


def advance_once(request: PassRequest, *, poll_open_hits: bool) -> Progress:
    """Do what is due; a person is asked for consent only if something is."""
    progress = None if poll_open_hits else cached_progress(request)
    if progress is not None:
        return progress
    if not request.rehearsal:
        request = _with_consent(request)
    if os.environ.get("PREFECT_API_URL"):
        from piecework.cli.work.run import advance_in_prefect

        return advance_in_prefect(request, poll_open_hits=poll_open_hits)
    from piecework.results.whole_pass import advance_without_prefect

    return advance_without_prefect(request, poll_open_hits=poll_open_hits)


def _with_consent(request: PassRequest) -> PassRequest:
    from piecework.cli.work.consent import consent_to_spend

    stated_cents = request.spend_at_most_cents
    allowed = consent_to_spend(
        request.campaign,
        request.endpoint,
        live=request.live,
        spend_at_most=None if stated_cents is None else cents_to_wire(stated_cents),
    )
    return replace(request, spend_at_most_cents=allowed)
