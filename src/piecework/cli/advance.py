"""`advance`: one pass, for a schedule."""

from pathlib import Path

import click

from piecework.cli.options import (
    ALLOW_SECOND_STORE,
    CAMPAIGN,
    ENDPOINT,
    JSON,
    LIVE,
    SPEND_AT_MOST,
)
from piecework.cli.output import say_progress


@click.command()
@CAMPAIGN
@ENDPOINT
@LIVE
@SPEND_AT_MOST
@ALLOW_SECOND_STORE
@click.option(
    "--rehearsal",
    is_flag=True,
    help="The marketplace is a rehearsal's, see `piecework crowd`.",
)
@click.option(
    "--poll-open-hits",
    is_flag=True,
    help="Fetch now what open HITs have got so far; else they are asked every 6 hours.",
)
@JSON
def advance(
    campaign: Path,
    *,
    endpoint: str,
    live: bool,
    spend_at_most: str | None,
    allow_second_store: bool,
    rehearsal: bool,
    poll_open_hits: bool,
    as_json: bool,
) -> None:
    """Make one pass: do what is due, and end; for a schedule.

    With PREFECT_API_URL set the pass is a flow run on that server; without, it needs no
    Prefect. Where nothing is due, it ends at once; the marketplace is asked for news
    every minute at most, and the less comes, the less often (every two hours at least).

    A marketplace keeps books: it writes down what every worker is owed. It moves no
    money; whoever runs it pays outside, or its bridge has Prolific pay.

    Example:  piecework advance birds.toml --endpoint http://127.0.0.1:8080

    Live:     piecework advance birds.toml --endpoint https://hits.example.org
              --live --spend-at-most 120
    """
    from piecework.cli.work.advance import advance_once
    from piecework.engine.pass_request import PassRequest, amount_cents

    request = PassRequest(
        campaign=campaign,
        endpoint=endpoint,
        live=live,
        spend_at_most_cents=(
            amount_cents(spend_at_most, campaign) if spend_at_most else None
        ),
        rehearsal=rehearsal,
        allow_second_store=allow_second_store,
    )
    say_progress(advance_once(request, poll_open_hits=poll_open_hits), as_json=as_json)
