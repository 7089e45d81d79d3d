"""`pay`: bonuses for work that is judged already."""

from pathlib import Path

import click

from piecework.cli.options import CAMPAIGN, JSON, LIVE_MARKETPLACE


@click.command()
@CAMPAIGN
@click.option(
    "--from",
    "file",
    type=click.Path(path_type=Path),
    help="Bonuses from this CSV: assignment_id or worker, amount, reason.",
)
@click.option(
    "--label",
    help="Tells these bonuses from others for the same work; with a label of its own "
    "the same assignment can have a second one.  [default: wage-floor, or bonus]",
)
@click.option("--yes", is_flag=True, help="Pay without asking.")
@LIVE_MARKETPLACE
@JSON
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
    rewards.wage_floor_per_hour for the median time of its kind of HIT gets the
    difference. Reading the same file twice pays nothing twice.

    Example:  piecework pay birds.toml

    From a file:  piecework pay birds.toml --from bonuses.csv --label thanks
    """
    from piecework.cli.work.pay import pay_bonuses

    pay_bonuses(
        campaign,
        file=file,
        label=label or ("wage-floor" if file is None else "bonus"),
        is_agreed=yes,
        live=live,
        as_json=as_json,
    )
