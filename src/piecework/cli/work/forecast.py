"""Makes a forecast under a progress bar, and writes it as a page."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isnan
from pathlib import Path

import click
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from piecework.campaign.assembling import load_campaign, read_anywhere
from piecework.config.campaign_file import parse
from piecework.engine.opening import open_to_look
from piecework.forecasting.choices import choices
from piecework.forecasting.outcomes import summarised
from piecework.forecasting.pilot import Pilot, pilot_of
from piecework.forecasting.rehearsals import BAD, crowd_as_stated, forecast
from piecework.report.forecast import (
    Forecast,
    Row,
    caption,
    columns,
    mean_and_range,
    render,
)

_FIGURES_WIDE, _CHOICE_WIDE = 20, 18
"""Cells of a terminal: the names of the figures, and one choice beside another."""


@dataclass(frozen=True, slots=True)
class Made:
    """A forecast and where its page lies."""

    forecast: Forecast
    page: Path


def make_forecast(
    campaign: Path,
    *,
    seeds: int,
    vary: Sequence[str],
    pilot: Path | None,
    processes: int | None,
    dask: str = "",
) -> Made:
    """Rehearse all choices, and write the page."""
    file = parse(campaign)
    if file.tables.imported is not None:
        read_anywhere(campaign)  # which refuses: nobody can be shown it
    tried = choices(vary)
    measured = _measured(pilot)
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        shown = bar.add_task("rehearsals", total=len(tried) * seeds)
        outcomes = forecast(
            campaign.resolve(),
            tried,
            seeds=seeds,
            pilot=measured,
            processes=processes,
            dask=dask,
            done=lambda done: bar.update(shown, completed=done),
        )
    made = Forecast(
        campaign=file.tables.name,
        currency=file.tables.rewards.currency,
        seeds=seeds,
        rows=[
            Row(choice.name, summarised(of_choice))
            for choice, of_choice in zip(tried, outcomes, strict=True)
        ],
        assumptions=_assumptions(crowd_as_stated(read_anywhere(campaign)), measured),
    )
    page = file.out / "forecast.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(render(made), encoding="utf-8")
    page.with_suffix(".json").write_text(_as_json(made), encoding="utf-8")
    return Made(made, page)


def say_forecast(made: Made, *, as_json: bool) -> None:
    """Print it: a table for people, the document for programs."""
    if as_json:
        click.echo(_as_json(made.forecast))
        return
    shown = made.forecast
    click.echo(f"forecast of {shown.campaign}, {shown.currency}\n{caption(shown)}")
    console = Console(markup=False)
    beside = max((console.width - _FIGURES_WIDE) // _CHOICE_WIDE, 1)
    for first in range(0, len(shown.rows), beside):
        console.print(_table(shown, shown.rows[first : first + beside]))
    for sentence in made.forecast.assumptions:
        click.echo(f"- {sentence}")
    click.echo(f"page:  {made.page}")


def _table(shown: Forecast, rows: Sequence[Row]) -> Table:
    """As many choices as stand side by side, each figure's range below its mean."""
    table = Table(box=box.SIMPLE, show_lines=True)
    table.add_column("", max_width=_FIGURES_WIDE - 3)
    for row in rows:
        table.add_column(row.name.replace(", ", "\n"), justify="right", no_wrap=True)
    for name, label in columns(shown).items():
        cells = (mean_and_range(shown, row, name) for row in rows)
        table.add_row(label, *("\n".join(filter(None, cell)) for cell in cells))
    return table


def _measured(pilot: Path | None) -> Pilot | None:
    if pilot is None:
        return None
    with open_to_look(load_campaign(pilot)) as store:
        return pilot_of(store)


def _assumptions(crowd: Mapping[str, int], pilot: Pilot | None) -> list[str]:
    bad = sum(number for name, number in crowd.items() if name in BAD)
    people = (
        f"{sum(crowd.values())} simulated workers, {bad} of them planted bad: "
        "[rehearsal.crowd] of the campaign file or the default, unless varied."
    )
    pay = (
        "Workers come and work the same whatever is paid, so a reward changes cost and "
        "wage only. Real people come sooner and stay longer for more."
    )
    caps = "Caps are not held: what a choice costs is what is asked."
    policy = "The policy of the campaign file decides; no person takes time for it."
    if pilot is None:
        return [people, pay, caps, policy, "Times and accuracy are the traits' own."]
    agreed = (
        ""
        if isnan(pilot.agreement)
        else f"; {pilot.agreement:.0%} of its choices are their item's majority"
    )
    measured = (
        f"From the pilot ({pilot.answers} answers of {pilot.workers} workers): "
        f"{pilot.seconds_per_item:.1f} s an item, {pilot.bad:.0%} of the workers bad, "
        f"who lost more than half of their answers{agreed}."
    )
    return [
        people,
        measured,
        pay,
        caps,
        policy,
        "The accuracy of honest workers is the traits' own.",
    ]


def _as_json(made: Forecast) -> str:
    document = {
        "campaign": made.campaign,
        "currency": made.currency,
        "seeds": made.seeds,
        "assumptions": list(made.assumptions),
        "choices": [
            {
                "choice": row.name,
                **{
                    name: {
                        key: None if isnan(value) else value
                        for key, value in asdict(estimate).items()
                    }
                    for name, estimate in row.estimates.items()
                },
            }
            for row in made.rows
        ],
    }
    return json.dumps(document, indent=2)
