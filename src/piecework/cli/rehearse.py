"""Tries a campaign without cost: `rehearse` on simulated workers, `preview` in your browser.

Many rehearsals compare cost, days, wage and quality of choices.
"""

import json
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar
from rich.progress import Progress as RichProgress
from rich.table import Table

from piecework.cli.options import CAMPAIGN, JSON, CampaignFile, WholeNumber, grouped
from piecework.cli.output import plain_console, say_progress
from piecework.cli.prefect_server import TemporaryServer
from piecework.domain.crowds import MARKETS, Market
from piecework.domain.errors import ConfigError
from piecework.domain.progress import Progress
from piecework.domain.text import shell_word
from piecework.markets.registry import market

if TYPE_CHECKING:
    from piecework.campaign.rehearsal_folders import Begun
    from piecework.domain.campaign import Campaign
    from piecework.report.components import Note
    from piecework.report.forecast import Forecast, Row
    from piecework.simulation.forecast.forecasts import WrittenForecast


_TIMES = 20
"""Rehearsals of each choice, if the command line states choices and no number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Forecast:
    """What many rehearsals compare, and where they run."""

    times: int | None
    vary: tuple[str, ...]
    from_pilot: Path | None
    processes: int | None
    dask: str
    endpoint: str | None

    @property
    def is_asked(self) -> bool:
        return any(getattr(self, field.name) for field in fields(self))


@click.command()
@CAMPAIGN
@click.option("--again", is_flag=True, help="Rehearse again although nothing has changed.")
@JSON
@click.option(
    "--crowd",
    "crowds",
    type=click.Choice(["workers", *MARKETS]),
    multiple=True,
    default=["workers"],
    show_default=True,
    help="Who works: the marketplace's simulated workers, or those of a market; "
    "repeat it for several.",
)
@grouped(
    "many",
    _Forecast,
    click.option(
        "--times",
        type=WholeNumber(1, 1000),
        help="Rehearse this number of times, and print a table of cost, time and quality.  "
        f"[default: once; with --vary: {_TIMES}]",
    ),
    click.option(
        "--vary",
        multiple=True,
        metavar="KEY=VALUE,...",
        help="Values to compare: of reward, answers, batches, items_per_hit, "
        "max_rounds or any table.key; of workers (30,60), bad (5%,20% of them) "
        "or crowd (diligent:20+paster:5). Several are combined.",
    ),
    click.option(
        "--from-pilot",
        type=CampaignFile(path_type=Path, dir_okay=False),
        metavar="CAMPAIGN",
        help="Take working times and lost answers from this campaign of real people.",
    ),
    click.option(
        "--processes",
        type=WholeNumber(1, 256),
        help="Rehearsals at the same time, of many; default: the number of cores.",
    ),
    click.option(
        "--dask",
        metavar="ADDRESS",
        default="",
        help="Rehearse on this Dask scheduler's workers, which find CAMPAIGN at the same path.",
    ),
    click.option(
        "--endpoint",
        help="Also show the prices of this marketplace's markets.",
    ),
)
def rehearse(
    campaign: Path, *, again: bool, as_json: bool, crowds: tuple[str, ...], many: _Forecast
) -> None:
    """Run a whole campaign on simulated workers.

    A rehearsal costs nothing and needs no account. Dataset, report, store and copies of
    its files are in a folder such as out/birds/rehearsals/1; the last ten are kept.

    If nothing has changed, an interrupted rehearsal continues, and a finished one is
    shown.

    With --times or --vary, it rehearses many times, prints a table, and writes a page
    with plots.

    Examples:
      piecework rehearse birds.toml
      piecework rehearse birds.toml --crowd prolific --crowd panel
      piecework rehearse birds.toml --times 5 --vary reward=0.50,1.00
    """
    if many.is_asked:
        if again or crowds != ("workers",):
            raise click.UsageError(
                f"{'--again' if again else '--crowd'}: no use with many rehearsals"
            )
        _forecast(campaign, many, as_json=as_json)
        return
    began = time.monotonic()
    from piecework.campaign.assembling import read_anywhere

    # Report a fault of the file before starting a server and importing Prefect.
    stated = read_anywhere(campaign)
    markets = _markets(crowds)
    from piecework.simulation.rehearsals.campaign import finished_facts, prepare_rehearsal

    loaded, begun = prepare_rehearsal(campaign, markets, again=again)
    facts = finished_facts(loaded)
    is_same = facts is not None
    if not as_json:
        _say_which(begun, campaign, is_same=is_same)
    if facts is None:
        facts = _rehearsed(loaded, markets)
    progress, remarks = _outcome(loaded)
    seconds = time.monotonic() - began
    if as_json:
        document = {
            **facts,
            "warnings": _warnings(stated),
            "before": begun.before,
            "changes": begun.changes,
            "is_same_as_before": is_same,
            "seconds": round(seconds, 1),
            "remarks": [{"level": note.level, "text": note.text} for note in remarks],
        }
        click.echo(json.dumps(document, indent=2))
        return
    say_progress(progress, as_json=False)
    _say_warnings(stated)
    _say(loaded, facts, remarks, None if is_same else seconds)
    if begun.changes:
        from piecework.simulation.forecast.compared_rehearsals import change_lines

        for line in change_lines(campaign, begun):
            click.echo(line)


def _warnings(campaign: "Campaign") -> list[str]:
    """Return what `check` warns of in the campaign file: many people rehearse first."""
    from piecework.campaign.pricing import price
    from piecework.campaign.warnings import campaign_warnings
    from piecework.domain.clock import SystemClock

    return campaign_warnings(campaign, price(campaign, on=SystemClock().now().date()))


def _say_warnings(campaign: "Campaign") -> None:
    for warning in _warnings(campaign):
        click.secho(f"WARNING: {warning}", fg="yellow")


def _rehearsed(campaign: "Campaign", markets: "tuple[Market, ...]") -> dict[str, object]:
    """Rehearse with a bar of progress; return what the flow returns."""
    server = click.get_current_context().with_resource(closing(TemporaryServer()))
    console = Console(stderr=True)
    with console.status("starting Prefect and the marketplace"):
        from prefect import tags

        from piecework.flows.rehearse import rehearsal_flow
    with _bar(console) as bar:
        flow = rehearsal_flow(campaign, on_progress=_listener(bar, campaign))
        with server.in_use(), tags("piecework", "rehearsal", campaign.name):
            return flow(str(campaign.path), markets)


def _markets(crowds: tuple[str, ...]) -> "tuple[Market, ...]":
    """Return the markets whose people work; none for the marketplace's own workers.

    Raises:
        ConfigError: workers would work beside people from markets, or an extra is not
            installed.
        BrokenMarket: the description of a market cannot be loaded.
    """
    named = cast("tuple[Market, ...]", tuple(dict.fromkeys(crowds)))
    if crowds == ("workers",):
        return ()
    if "workers" in crowds:
        raise ConfigError(["--crowd workers: simulated workers do not work beside other crowds"])
    for name in named:
        market(name).load_needs()
    return named


def _say_which(begun: "Begun", path: Path, *, is_same: bool) -> None:
    """Say whether a rehearsal begins, continues or is shown again."""
    if is_same:
        click.echo(
            f"same as rehearsal {begun.number}, so its result is shown; "
            f"piecework rehearse {shell_word(path)} --again repeats it"
        )
        return
    click.echo(f"rehearsal {begun.number} {'begins' if begun.is_new else 'continues'}")


def _bar(console: Console) -> Bar:
    return Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("answers accepted"),
        console=console,
        transient=True,
    )


def _listener(bar: Bar, campaign: "Campaign") -> Callable[[Progress], None]:
    """Return a function that shows a campaign's progress on a bar."""
    wanted = len(campaign.items) * campaign.posting.assignments
    line = bar.add_task("batch 1", total=wanted)

    def show(progress: Progress) -> None:
        bar.update(line, completed=progress.accepted, description=f"batch {progress.batch_shown}")

    return show


def _outcome(campaign: "Campaign") -> "tuple[Progress, list[Note]]":
    """Return the progress of a campaign, and the problems in its report."""
    from piecework.engine.opening import NO_MARKETS, open_to_look
    from piecework.engine.progress import read_progress
    from piecework.report.components import Note
    from piecework.report.model import report_model
    from piecework.report.sections.summary import summary_notes
    from piecework.results.report_facts import report_facts

    with open_to_look(campaign) as opened:
        progress = read_progress(opened)
        remarks = [*summary_notes(report_model(report_facts(opened)))]
        if campaign.crowds is not None and opened.campaign.crowds is None:
            remarks.append(Note("watch", NO_MARKETS))
    return progress, [note for note in remarks if note.level in {"problem", "watch"}]


def _say(
    campaign: "Campaign",
    facts: Mapping[str, object],
    remarks: "Sequence[Note]",
    seconds: float | None,
) -> None:
    from piecework.campaign.warnings import own_seconds
    from piecework.report.books import Books

    hours = float(str(facts["virtual_seconds"])) / 3600
    click.echo(
        f"simulated workers took {hours:.1f} hours"
        + ("" if seconds is None else f"; this rehearsal took {seconds:.0f} seconds")
    )
    click.echo(
        "assumed: a careful worker takes a median of "
        f"{own_seconds(campaign) / 60:.1f} minutes for a HIT; other workers take less "
        "or more. With few workers, wages depend on chance"
    )
    for remark in remarks:
        click.echo(f"{remark.word}: {remark.text}")
    books = Books.from_facts(facts)
    for line in books.lines() if books else ():
        click.echo(line)
    folder = Path(str(facts["report"])).parent
    click.echo(f"dataset: {folder / 'dataset'}")
    click.echo(f"store:   {campaign.store}")
    click.echo(f"report:  {facts['report']}")


_FIGURES_WIDE, _CHOICE_WIDE = 20, 18
"""Widths on a terminal: the column of names, and the column of each choice."""


def _forecast(campaign: Path, wanted: _Forecast, *, as_json: bool) -> None:
    """Rehearse many times, and print a table."""
    if wanted.dask and wanted.processes:
        raise click.UsageError("--processes is for this machine; leave it out with --dask")
    from piecework.simulation.forecast.forecasts import as_document, make_forecast

    with RichProgress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        line = bar.add_task("rehearsals", total=None)
        written = make_forecast(
            campaign,
            seeds=wanted.times or _TIMES,
            vary=wanted.vary,
            pilot=wanted.from_pilot,
            processes=wanted.processes,
            dask=wanted.dask,
            endpoint=wanted.endpoint,
            on_progress=lambda done, total: bar.update(line, completed=done, total=total),
        )
    if as_json:
        click.echo(json.dumps(as_document(written.forecast), indent=2))
        return
    say_forecast(written)


def say_forecast(written: "WrittenForecast") -> None:
    """Print a forecast as tables that fit the terminal."""
    from piecework.report.forecast import choice_caption, price_line

    forecast = written.forecast
    click.echo(f"forecast of {forecast.campaign}, {forecast.currency}")
    click.echo(choice_caption(forecast))
    console = plain_console()
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
    from piecework.report.forecast import forecast_columns, mean_and_range

    table = Table(box=box.SIMPLE, show_lines=True)
    table.add_column("", max_width=_FIGURES_WIDE - 3)
    for row in rows:
        table.add_column(row.name.replace(", ", "\n"), justify="right", no_wrap=True)
    for name, label in forecast_columns(forecast).items():
        cells = (mean_and_range(forecast, row, name) for row in rows)
        table.add_row(label, *("\n".join(filter(None, cell)) for cell in cells))
    return table


@click.command()
@CAMPAIGN
@click.option(
    "--port",
    type=WholeNumber(1, 65_534),
    help="Port of the site; the question pages use the next port. Default: free ports.",
)
def preview(campaign: Path, *, port: int | None) -> None:
    """Do a HIT yourself in the browser.

    The preview stores nothing with the campaign. When it ends, it deletes what you did.

    Examples:
      piecework preview birds.toml
      piecework preview birds.toml --port 9000
    """
    from piecework.campaign.assembling import read_anywhere
    from piecework.simulation.rehearsals.rehearsal import serve_preview

    # SIGTERM ends it like Ctrl-C, so that the folder is deleted.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with serve_preview(read_anywhere(campaign), port=port or 0) as addresses:
        click.echo(f"open {addresses.hit}")
        if addresses.test:
            click.echo(f"then the qualification test: {addresses.test}")
        click.echo("the preview pays and stores nothing; Ctrl-C ends it")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            click.echo("ended")
