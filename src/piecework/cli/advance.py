"""`advance`: makes one pass, for a schedule."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.consent import consent_to_spend
from piecework.cli.options import (
    ALLOW_SECOND_STORE,
    CAMPAIGN,
    ENDPOINT,
    JSON,
    LIVE,
    METRICS_FOLDER,
    SPEND_AT_MOST,
    grouped,
)
from piecework.cli.output import say_progress
from piecework.domain.progress import Progress

if TYPE_CHECKING:
    from piecework.engine.pass_request import PassRequest
    from piecework.engine.watching.watch import Watch

SOURCE_FAULT = 4
"""Exit code of a pass that did all its work except reading its source."""


@dataclass(frozen=True, slots=True)
class PassOptions:
    """Options of a single pass, as the command line names them."""

    metrics_folder: Path | None
    rehearsal: bool
    poll_open_hits: bool


@click.command()
@CAMPAIGN
@ENDPOINT
@LIVE
@SPEND_AT_MOST
@ALLOW_SECOND_STORE
@grouped(
    "options",
    PassOptions,
    METRICS_FOLDER,
    click.option(
        "--rehearsal", is_flag=True, help="The marketplace is a rehearsal's; see `piecework crowd`."
    ),
    click.option(
        "--poll-open-hits",
        is_flag=True,
        help="Ask for the work on open HITs now; otherwise every 6 hours.",
    ),
)
@JSON
def advance(
    campaign: Path,
    *,
    endpoint: str,
    live: bool,
    spend_at_most: str | None,
    allow_second_store: bool,
    options: PassOptions,
    as_json: bool,
) -> None:
    r"""Make one pass, for a schedule.

    If nothing is due, the pass ends at once. It asks the marketplace for news at most
    once a minute, and less often while little comes in, down to once every two hours.
    If PREFECT_API_URL is set, the pass is a flow run on that Prefect server. Otherwise
    it needs no Prefect.

    The marketplace records what each worker is owed. It moves no money: its operator
    pays the workers outside, or the Prolific bridge pays them.

    The exit code is 4 if a source of items that grows could not be read, or lost too
    many rows at once. The pass has then done all its other work.

    Examples:
      piecework advance birds.toml --endpoint http://127.0.0.1:8080
      piecework advance birds.toml --endpoint https://hits.example.org \
        --live --spend-at-most 120
    """
    from piecework.engine.pass_request import PassRequest
    from piecework.engine.watching.watch import pass_span, watch_passes

    request = PassRequest(
        campaign=campaign,
        endpoint=endpoint,
        live=live,
        rehearsal=options.rehearsal,
        allow_second_store=allow_second_store,
    )
    with watch_passes(campaign, options.metrics_folder) as watch, pass_span(campaign):
        request = _spending(request, spend_at_most)
        progress = _advance(request, watch, poll_open_hits=options.poll_open_hits)
        watch.end(progress)
    say_progress(progress, as_json=as_json)
    if progress.source is not None and progress.source.fault:
        raise click.exceptions.Exit(SOURCE_FAULT)


def _spending(request: "PassRequest", spend_at_most: str | None) -> "PassRequest":
    """Return the request with the amount of the command line, if it has one."""
    from piecework.engine.pass_request import amount_cents

    if spend_at_most is None:
        return request
    currency = request.file.tables.rewards.currency
    return request.spending(amount_cents(spend_at_most, currency))


def _advance(request: "PassRequest", watch: "Watch", *, poll_open_hits: bool) -> Progress:
    """Make the pass; ask a person for consent only if something is due."""
    from piecework.engine.quick_check import cached_progress

    progress = None if poll_open_hits else cached_progress(request)
    if progress is not None:
        return progress
    if not request.rehearsal:
        request = _with_consent(request)
    if os.environ.get("PREFECT_API_URL"):
        return _advance_in_prefect(request, watch, poll_open_hits=poll_open_hits)
    from piecework.results.whole_pass import advance_without_prefect

    return advance_without_prefect(request, watch, poll_open_hits=poll_open_hits)


def _with_consent(request: "PassRequest") -> "PassRequest":
    return request.spending(
        consent_to_spend(
            request.assembled,
            request.endpoint,
            live=request.live,
            stated_cents=request.spend_at_most_cents,
        )
    )


def _advance_in_prefect(
    request: "PassRequest", watch: "Watch", *, poll_open_hits: bool
) -> Progress:
    """Run the flow `advance` in this process; the Prefect server in use records it."""
    from prefect import tags

    from piecework.campaign.assembling import load_campaign
    from piecework.engine.opening import open_to_look
    from piecework.engine.progress import read_progress
    from piecework.flows.advance import flow_of

    with tags("piecework", request.campaign.stem):
        flow = flow_of(request, watch, poll_open_hits=poll_open_hits)
        flow(str(request.campaign.resolve()))
    with open_to_look(load_campaign(request.campaign)) as opened:
        return read_progress(opened)
