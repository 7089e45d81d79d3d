"""Make a forecast of a campaign file: rehearse it, summarise, write a page."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isnan
from pathlib import Path

from piecework.campaign.assembling import load_campaign, read_anywhere
from piecework.campaign.pricing import market_prices
from piecework.config.campaign_file import parse
from piecework.domain.clock import SystemClock
from piecework.domain.crowds import MarketPrice
from piecework.engine.begun import as_priced
from piecework.engine.opening import open_to_look
from piecework.report.forecast import Forecast, Row, render_forecast
from piecework.simulation.forecast.choices import choices
from piecework.simulation.forecast.outcomes import summarised
from piecework.simulation.forecast.pilot import Pilot, pilot_of
from piecework.simulation.forecast.rehearsals import BAD, crowd_as_stated, forecast

_NO_MARKETS = (
    "Simulated workers come from no market: [crowds] is ignored, and every rehearsal "
    "has the fees of [rewards]. The prices by market are those of the campaign file as "
    "it is, with every item once."
)


@dataclass(frozen=True, slots=True)
class WrittenForecast:
    """A forecast and the path of its page."""

    forecast: Forecast
    page: Path


def make_forecast(
    campaign: Path,
    *,
    seeds: int,
    vary: Sequence[str],
    pilot: Path | None,
    processes: int | None,
    dask: str,
    endpoint: str | None,
    on_progress: Callable[[int, int], None],
) -> WrittenForecast:
    """Rehearse all choices, and write the page.

    Args:
        campaign: path of the campaign file.
        seeds: how many rehearsals of each choice.
        vary: what to vary, each `KEY=VALUE,...`.
        pilot: a campaign file that real people have worked on.
        processes: how many rehearsals run at once; by default one per core.
        dask: address of a Dask scheduler that runs them instead; "" for none.
        endpoint: a marketplace to ask for the prices of its markets; `None`: as known.
        on_progress: called with the number of finished rehearsals and the total.
    """
    file = parse(campaign)
    if file.tables.imported is not None:
        read_anywhere(campaign)  # raises: it cannot be shown to workers
    prices = _prices(campaign, endpoint)
    tried = choices(vary)
    measured = _measured(pilot)
    total = len(tried) * seeds
    on_progress(0, total)
    outcomes = forecast(
        campaign.resolve(),
        tried,
        seeds=seeds,
        pilot=measured,
        processes=processes,
        dask=dask,
        done=lambda done: on_progress(done, total),
    )
    made = Forecast(
        campaign=file.tables.name,
        currency=file.tables.rewards.currency,
        seeds=seeds,
        rows=[
            Row(choice.name, summarised(of_choice))
            for choice, of_choice in zip(tried, outcomes, strict=True)
        ],
        assumptions=[
            *_assumptions(crowd_as_stated(read_anywhere(campaign)), measured),
            *([_NO_MARKETS] if prices else []),
        ],
        markets=prices,
    )
    page = file.out / "forecast.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(render_forecast(made), encoding="utf-8")
    text = json.dumps(as_document(made), indent=2)
    page.with_suffix(".json").write_text(text, encoding="utf-8")
    return WrittenForecast(made, page)


def as_document(made: Forecast) -> dict[str, object]:
    """Convert to plain values, for `--json` and the file beside the page."""
    return {
        "campaign": made.campaign,
        "currency": made.currency,
        "seeds": made.seeds,
        "assumptions": list(made.assumptions),
        "markets": [
            {**asdict(each), "fee_percent": float(each.fee_percent)} for each in made.markets
        ],
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


def _prices(path: Path, endpoint: str | None) -> tuple[MarketPrice, ...]:
    """Return the price of the campaign file at each of its markets."""
    campaign, today = read_anywhere(path), SystemClock().now().date()
    if campaign.crowds is None:
        return ()
    return market_prices(as_priced(campaign, endpoint, on=today)[0], on=today)


def _measured(pilot: Path | None) -> Pilot | None:
    if pilot is None:
        return None
    with open_to_look(load_campaign(pilot)) as store:
        return pilot_of(store)


def _assumptions(crowd: Mapping[str, int], pilot: Pilot | None) -> list[str]:
    bad = sum(number for name, number in crowd.items() if name in BAD)
    people = (
        f"There are {sum(crowd.values())} simulated workers, {bad} of them planted as "
        "bad: [rehearsal.crowd] of the campaign file or the default, unless varied."
    )
    pay = (
        "Simulated workers behave the same whatever the pay, so a reward changes only "
        "cost and wage. Real people come sooner and stay longer for more money."
    )
    caps = "Caps are ignored, because the forecast asks what each choice costs."
    policy = "The policy of the campaign file decides; no person reviews anything."
    if pilot is None:
        return [people, pay, caps, policy, "The traits define times and accuracy."]
    agreed = (
        ""
        if isnan(pilot.agreement)
        else f"; {pilot.agreement:.0%} of its choices agree with their item's majority"
    )
    measured = (
        f"From the pilot ({pilot.answers} answers by {pilot.workers} workers): "
        f"{pilot.seconds_per_item:.1f} s per item; {pilot.bad:.0%} of the workers are "
        f"bad, with more than half of their answers dropped{agreed}."
    )
    return [
        people,
        measured,
        pay,
        caps,
        policy,
        "The traits define the accuracy of honest workers.",
    ]
