"""`pay` and `unreject`: money for work that is judged already."""

from pathlib import Path

import click

_FILE = click.argument("campaign", type=click.Path(path_type=Path))
_LIVE = click.option(
    "--live",
    is_flag=True,
    help="Needed if the campaign's marketplace is on another machine.",
)


@click.command()
@_FILE
@click.option(
    "--from",
    "file",
    type=click.Path(path_type=Path),
    help="Bonuses from this CSV: assignment_id or worker, amount_usd, reason.",
)
@click.option(
    "--label",
    help="Tells these bonuses from others for the same work; with a label of its own "
    "the same assignment can have a second one.  [default: wage-floor, or bonus]",
)
@click.option("--yes", is_flag=True, help="Pay without asking.")
@_LIVE
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def pay(
    campaign: Path,
    *,
    file: Path | None,
    label: str | None,
    yes: bool,
    live: bool,
    as_json: bool,
) -> None:
    """Pay bonuses, each once: up to the wage floor, or from a file.

    Shows what is due and what it costs; pays only after the amount was typed back, or
    with --yes. Without --from, every paid assignment whose reward and bonuses are below
    rewards.wage_floor_usd_per_hour for the median time of its kind of HIT gets the
    difference. Reading the same file twice pays nothing twice.

    Example:  piecework pay birds.toml

    From a file:  piecework pay birds.toml --from bonuses.csv --label thanks
    """
    from cli.paying import pay_bonuses  # noqa: PLC0415 - costs a second

    pay_bonuses(
        campaign,
        file=file,
        label=label or ("wage-floor" if file is None else "bonus"),
        is_agreed=yes,
        live=live,
        as_json=as_json,
    )


@click.command()
@_FILE
@click.option("--assignment", required=True, help="The rejected assignment's id.")
@click.option("--because", required=True, help="Why; the worker reads it.")
@click.option("--by", required=True, help="Who answers for it.")
@click.option("--pay-only", is_flag=True, help="Pay, but keep its answers out.")
@_LIVE
def unreject(
    campaign: Path,
    *,
    assignment: str,
    because: str,
    by: str,
    pay_only: bool,
    live: bool,
) -> None:
    """Take a rejection back: pay for the work and let its answers in again.

    Possible for 30 days after the submission. The rejection stays on record beside it.

    Example:  piecework unreject birds.toml --assignment 3X… --by ada
              --because "The picture was upside down; the caption is right."
    """
    from cli.paying import take_back  # noqa: PLC0415 - costs a second

    take_back(
        campaign,
        assignment,
        because=because,
        by=by,
        keep_answers=not pay_only,
        live=live,
    )
