"""`forecast`: cost, days, wage and quality of alternatives, told by many rehearsals."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from piecework.cli.options import CAMPAIGN, JSON, WholeNumber

if TYPE_CHECKING:
    from collections.abc import Sequence

    from piecework.forecasting.forecasts import WrittenForecast
    from piecework.report.forecast import Forecast, Row

_FIGURES_WIDE, _CHOICE_WIDE = 20, 18
"""Cells of a terminal: the names of the figures, and one choice beside another."""


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
    """Compare cost, time and quality by rehearsals.

    The command prints a table, and writes it with plots as a page into the campaign's
    output folder. Forecasts cost nothing and need no account.

    \b
    Example:  piecework forecast config/campaigns/demo.toml --seeds 5
              piecework forecast CAMPAIGN --vary reward=0.50,1.00
                  --vary assignments=3,5
    """  # noqa: D301 - click's mark for lines that stay lines
    if dask and processes:
        raise click.UsageError("--processes are of this machine; leave out --dask")
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
            on_progress=lambda done, total: bar.update(
                line, completed=done, total=total
            ),
        )
    if as_json:
        click.echo(json.dumps(as_document(written.forecast), indent=2))
        return
    say_forecast(written)


def say_forecast(written: "WrittenForecast") -> None:
    """Print a forecast as tables as wide as the terminal."""
    from piecework.report.forecast import caption

    forecast = written.forecast
    click.echo(f"forecast of {forecast.campaign}, {forecast.currency}")
    click.echo(caption(forecast))
    console = Console(markup=False)
    beside = max((console.width - _FIGURES_WIDE) // _CHOICE_WIDE, 1)
    for first in range(0, len(forecast.rows), beside):
        console.print(_table(forecast, forecast.rows[first : first + beside]))
    for sentence in forecast.assumptions:
        click.echo(f"- {sentence}")
    click.echo(f"page:  {written.page}")


def _table(forecast: "Forecast", rows: "Sequence[Row]") -> Table:
    """As many choices as stand side by side, each figure's range below its mean."""
    from piecework.report.forecast import columns, mean_and_range

    table = Table(box=box.SIMPLE, show_lines=True)
    table.add_column("", max_width=_FIGURES_WIDE - 3)
    for row in rows:
        table.add_column(row.name.replace(", ", "\n"), justify="right", no_wrap=True)
    for name, label in columns(forecast).items():
        cells = (mean_and_range(forecast, row, name) for row in rows)
        table.add_row(label, *("\n".join(filter(None, cell)) for cell in cells))
    return table
