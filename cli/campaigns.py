"""Commands on a campaign: check, run, advance, status, decisions, export."""

import json
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import click

from cli.polling import POLL_SECONDS
from cli.words import say_progress, text_of
from domain.clock import SystemClock
from domain.errors import ConfigError

_FILE = click.argument("campaign", type=click.Path(path_type=Path))
_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
_LIVE = click.option(
    "--live",
    is_flag=True,
    help="Real people work and are owed money; needed for a marketplace on another "
    "machine. Shows the most that it can cost and has it typed back.",
)
_SPEND = click.option(
    "--spend-at-most",
    metavar="USD",
    help="What the whole campaign may take, for good or until said again; nobody is "
    "asked then.",
)
_ANEW = click.option(
    "--anew",
    is_flag=True,
    help="Begin although HITs of a campaign of this name are there already.",
)
_ENDPOINT = click.option(
    "--endpoint",
    envvar="PIECEWORK_ENDPOINT",
    required=True,
    help="URL of the marketplace (or PIECEWORK_ENDPOINT), see `piecework serve`.",
)


@click.command()
@_FILE
@click.option(
    "--on",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Price by the fees of this UTC day; today without it.",
)
@_JSON
def check(campaign: Path, *, on: datetime | None, as_json: bool) -> None:
    """Read, render and price everything; touch nothing.

    Example:  piecework check config/campaigns/demo.toml
    """
    from cli.checking import check_campaign, say_checked  # noqa: PLC0415 - pandas costs a second

    checked = check_campaign(campaign, on=(on or SystemClock().now()).date())
    if as_json:
        click.echo(json.dumps(checked.as_dict(), indent=2, sort_keys=True))
        return
    say_checked(checked)


@click.command()
@_FILE
@_ENDPOINT
@_LIVE
@_SPEND
@_ANEW
@click.option("--poll-seconds", type=POLL_SECONDS, default=60.0, show_default=True)
@_JSON
def run(
    campaign: Path,
    *,
    endpoint: str,
    live: bool,
    spend_at_most: str | None,
    anew: bool,
    poll_seconds: float,
    as_json: bool,
) -> None:
    """Make passes until the campaign is finished or waits for people.

    A marketplace keeps books: it writes down what every worker is owed. It moves no
    money; whoever runs it pays outside.

    Example:  piecework run birds.toml --endpoint http://127.0.0.1:8080

    Live:     piecework run birds.toml --endpoint https://hits.example.org --live
    """
    from cli.passing import run_passes  # noqa: PLC0415 - Prefect costs seconds

    say_progress(
        run_passes(
            campaign,
            endpoint,
            live=live,
            poll_seconds=poll_seconds,
            spend_at_most=spend_at_most,
            anew=anew,
        ),
        as_json=as_json,
    )


@click.command()
@_FILE
@_ENDPOINT
@_LIVE
@_SPEND
@_ANEW
@click.option(
    "--rehearsal",
    is_flag=True,
    help="The marketplace is a rehearsal's, see `piecework crowd`.",
)
@click.option(
    "--harvest",
    is_flag=True,
    help="Fetch now what open HITs have got so far; else they are asked every 6 hours.",
)
@_JSON
def advance(
    campaign: Path,
    *,
    endpoint: str,
    live: bool,
    spend_at_most: str | None,
    anew: bool,
    rehearsal: bool,
    harvest: bool,
    as_json: bool,
) -> None:
    """Make one pass: do what is due, and end; for a schedule.

    With PREFECT_API_URL set the pass is a flow run on that server; without, it needs no
    Prefect. Where nothing is due, it ends at once; the marketplace is asked for news
    every minute at most, and the less comes, the less often (every two hours at least).

    A marketplace keeps books: it writes down what every worker is owed. It moves no
    money; whoever runs it pays outside.

    Example:  piecework advance birds.toml --endpoint http://127.0.0.1:8080

    Live:     piecework advance birds.toml --endpoint https://hits.example.org
              --live --spend-at-most 120
    """
    from cli.advancing import advance_once  # noqa: PLC0415 - boto3 costs a third of a second
    from flows.orders import Orders, amount_cents  # noqa: PLC0415 - as above

    orders = Orders(
        campaign=campaign,
        endpoint=endpoint,
        live=live,
        spend_at_most_cents=amount_cents(spend_at_most) if spend_at_most else None,
        rehearsal=rehearsal,
        anew=anew,
    )
    say_progress(advance_once(orders, harvest=harvest), as_json=as_json)


@click.command()
@_FILE
@click.option(
    "--look",
    is_flag=True,
    help="Ask the marketplace too: which HITs are there that the store does not know?",
)
@_JSON
def status(campaign: Path, *, look: bool, as_json: bool) -> None:
    """Say how far a campaign is, what it cost, and who waits for whom.

    \b
    Example:  piecework status config/campaigns/demo.toml
              piecework status birds.toml --look
    """  # noqa: D301 - click's mark for lines that stay lines
    from cli.looking import say_unknown_hits  # noqa: PLC0415 - pandas costs a second
    from flows.steps.progress import progress  # noqa: PLC0415
    from flows.steps.unknown_hits import unknown_hits  # noqa: PLC0415
    from flows.wiring import load_campaign, stored_place  # noqa: PLC0415

    with stored_place(load_campaign(campaign)) as place:
        if look and place.is_rehearsal:
            raise ConfigError(
                [f"{campaign}: was only rehearsed; there is no marketplace to ask"],
                next_step=f"piecework status {campaign}",
            )
        reached = progress(place)
        unknown = unknown_hits(place) if look else []
    if look and as_json:
        more = {"unknown_hits": [asdict(one) for one in unknown]}
        click.echo(json.dumps(reached.as_dict() | more, indent=2, sort_keys=True))
        return
    say_progress(reached, as_json=as_json)
    if look:
        say_unknown_hits(place, unknown)
    if reached.to_decide and not as_json:
        click.echo(f"next: piecework decisions {campaign} --write decisions.csv")


@click.command()
@_FILE
@click.option(
    "--write",
    type=click.Path(path_type=Path),
    help="Write what waits for a person to this CSV file.",
)
@click.option(
    "--read",
    type=click.Path(path_type=Path),
    help="Read a filled-in file back; all of it or nothing.",
)
@click.option("--by", help="Who answers for the decisions that are read.")
def decisions(
    campaign: Path, *, write: Path | None, read: Path | None, by: str | None
) -> None:
    """Take decisions to a person and back, as a CSV file.

    Example:  piecework decisions birds.toml --write decisions.csv

    Then:     piecework decisions birds.toml --read decisions.csv --by ada
    """
    if (write is None) == (read is None):
        raise click.UsageError("give either --write FILE or --read FILE")
    if read is not None and not (by or "").strip():
        raise click.UsageError("--read needs --by NAME: a decision has an author")
    from flows.steps.decision_file import read_decisions, waiting_csv  # noqa: PLC0415
    from flows.wiring import load_campaign, stored_place  # noqa: PLC0415

    with stored_place(load_campaign(campaign)) as place:
        if write is not None:
            content, rows = waiting_csv(place)
            write.write_bytes(content)
            click.echo(f"{write}: {rows} decisions to make")
        elif read is not None:
            new = read_decisions(
                place, text_of(read), decided_by=str(by).strip(), name=str(read)
            )
            click.echo(f"{read}: {new} decisions stored; the next pass acts on them")


@click.command()
@_FILE
def export(campaign: Path) -> None:
    """Write the dataset and the report again, as far as the campaign has come.

    Example:  piecework export config/campaigns/demo.toml
    """
    from flows.results.clean import clean  # noqa: PLC0415 - dictionaries cost a second
    from flows.results.export import export as write_files  # noqa: PLC0415
    from flows.wiring import load_campaign, stored_place  # noqa: PLC0415

    with stored_place(load_campaign(campaign)) as place:
        clean(place)
        click.echo(f"report: {write_files(place)}")
