"""`forecast`: compares cost, days, wage and quality of choices over many rehearsals."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from piecework.cli.completion import CampaignFile
from piecework.cli.options import CAMPAIGN, JSON, WholeNumber

if TYPE_CHECKING:
    from collections.abc import Sequence

    from piecework.forecasting.forecasts import WrittenForecast
    from piecework.report.forecast import Forecast, Row

_FIGURES_WIDE, _CHOICE_WIDE = 20, 18
"""Widths on a terminal: the column of names, and the column of each choice."""


@click.command()
@CAMPAIGN
@click.option(
    "--seeds",
    type=WholeNumber(1, 1000),
    default=20,
    show_default=True,
    help="Number of rehearsals of each choice.",
)
@click.option(
    "--vary",
    multiple=True,
    metavar="KEY=VALUE,...",
    help="Values to compare: of reward, assignments, batches, items_per_hit, "
    "max_rounds or any table.key of the campaign file; or of workers (30,60), bad "
    "(5%,20% of the workers) or crowd (diligent:20+paster:5). Several --vary are "
    "combined.",
)
@click.option(
    "--from-pilot",
    type=CampaignFile(path_type=Path, dir_okay=False),
    metavar="CAMPAIGN",
    help="Take working times and lost answers from this campaign of real people.",
)
@click.option(
    "--processes",
    type=WholeNumber(1, 256),
    help="Rehearsals at the same time; default: the number of cores.",
)
@click.option(
    "--dask",
    metavar="ADDRESS",
    default="",
    help="Rehearse on the workers of this Dask scheduler, which must find CAMPAIGN at "
    "the same path.",
)
@click.option(
    "--endpoint", help="Show the prices of this marketplace's markets; nothing is changed there."
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
    endpoint: str | None,
    as_json: bool,
) -> None:
    """Compare cost, time and quality over rehearsals.

    The command rehearses the campaign many times and prints a table. It also writes
    the table with plots to a page in the campaign's output folder. A forecast costs
    nothing and needs no account.

    Examples:
      piecework forecast birds.toml
      piecework forecast birds.toml --seeds 5
      piecework forecast birds.toml --vary reward=0.50,1.00 --vary assignments=3,5
    """
    if dask and processes:
        raise click.UsageError("--processes is for this machine; leave it out with --dask")
    from piecework.forecasting.forecasts import as_document, make_forecast

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        line = bar.add_task("rehearsals", total=None)
        written = make_forecast(
            campaign,
            seeds=seeds,
            vary=vary,
            pilot=from_pilot,
            processes=processes,
            dask=dask,
            endpoint=endpoint,
            on_progress=lambda done, total: bar.update(line, completed=done, total=total),
        )
    if as_json:
        click.echo(json.dumps(as_document(written.forecast), indent=2))
        return
    say_forecast(written)


def say_forecast(written: "WrittenForecast") -> None:
    """Print a forecast as tables that fit the terminal."""
    from piecework.report.forecast import caption, price_line

    forecast = written.forecast
    click.echo(f"forecast of {forecast.campaign}, {forecast.currency}")
    click.echo(caption(forecast))
    console = Console(markup=False)
    beside = max((console.width - _FIGURES_WIDE) // _CHOICE_WIDE, 1)
    for first in range(0, len(forecast.rows), beside):
        console.print(_table(forecast, forecast.rows[first : first + beside]))
    for price in forecast.markets:
        click.echo(price_line(forecast, price))
    for sentence in forecast.assumptions:
        click.echo(f"- {sentence}")
    click.echo(f"page:  {written.page}")


def _table(forecast: "Forecast", rows: "Sequence[Row]") -> Table:
    """Return a table of choices side by side, each figure's range below its mean."""
    from piecework.report.forecast import columns, mean_and_range

    table = Table(box=box.SIMPLE, show_lines=True)
    table.add_column("", max_width=_FIGURES_WIDE - 3)
    for row in rows:
        table.add_column(row.name.replace(", ", "\n"), justify="right", no_wrap=True)
    for name, label in columns(forecast).items():
        cells = (mean_and_range(forecast, row, name) for row in rows)
        table.add_row(label, *("\n".join(filter(None, cell)) for cell in cells))
    return table
