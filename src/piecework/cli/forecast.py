"""`forecast`: cost, days, wage and quality of alternatives, told by many rehearsals."""

from pathlib import Path

import click

from piecework.cli.options import CAMPAIGN, JSON, WholeNumber


@click.command()
@CAMPAIGN
@click.option(
    "--seeds",
    type=WholeNumber(1, 1000),
    default=20,
    show_default=True,
    help="How often each choice is rehearsed.",
)
@click.option(
    "--vary",
    multiple=True,
    metavar="KEY=VALUE,...",
    help="What is varied: reward, assignments, batches, items_per_hit, max_rounds, any "
    "table.key of the campaign file; workers=30,60 in all, bad=5%,20% of them, "
    "crowd=diligent:20+paster:5. Several are crossed.",
)
@click.option(
    "--from-pilot",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="CAMPAIGN",
    help="A campaign that real people have worked on: its times and losses are used.",
)
@click.option(
    "--processes",
    type=WholeNumber(1, 256),
    help="Rehearsals at a time; as many as there are cores, if not given.",
)
@click.option(
    "--dask",
    metavar="ADDRESS",
    default="",
    help="Rehearse on the workers of the Dask scheduler there, which see CAMPAIGN "
    "under the same path.",
)
@JSON
def forecast(
    campaign: Path,
    *,
    seeds: int,
    vary: tuple[str, ...],
    from_pilot: Path | None,
    processes: int | None,
    dask: str,
    as_json: bool,
) -> None:
    """Rehearse a campaign many times, as it is or varied, and compare.

    A table is printed; it and its plots are a page in the campaign's output folder.
    Nobody is paid and no account is needed.

    \b
    Example:  piecework forecast config/campaigns/demo.toml --seeds 5
              piecework forecast CAMPAIGN --vary reward=0.50,1.00 --vary assignments=3,5
    """  # noqa: D301 - click's mark for lines that stay lines
    from piecework.cli.work.forecast import make_forecast, say_forecast

    if dask and processes:
        raise click.UsageError("--processes are of this machine; leave out --dask")
    made = make_forecast(
        campaign,
        seeds=seeds,
        vary=vary,
        pilot=from_pilot,
        processes=processes,
        dask=dask,
    )
    say_forecast(made, as_json=as_json)
