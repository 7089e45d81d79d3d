"""Make a forecast of a campaign file: rehearse it, summarise, write a page.

Every choice is rehearsed with many seeds, in parallel: locally, or on a Dask cluster. Each
rehearsal is a campaign of its own in a temporary folder: real marketplace, real pages, virtual
time. It does not use Prefect, which would take longer to start than most rehearsals to run.
"""

import json
import multiprocessing
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from math import isnan
from pathlib import Path

from piecework.campaign.assembling import load_campaign, read_anywhere
from piecework.campaign.pricing import market_prices
from piecework.config.campaign_file import CampaignFile, parse
from piecework.domain.clock import SystemClock
from piecework.domain.crowds import MarketPrice
from piecework.engine.begun import as_priced
from piecework.engine.opening import open_to_look
from piecework.report.forecast import Forecast, Row, forecast_page
from piecework.report.page import render_sections
from piecework.results.large.work_folder import dask_client
from piecework.simulation.crowd.people import SIMULATED_BAD, crowd_as_stated, people, usual_crowd
from piecework.simulation.forecast.choices import (
    Choice,
    Outcome,
    Pilot,
    choices,
    chosen,
    outcome_of,
    pilot_of,
    summarised,
)
from piecework.simulation.rehearsals.campaign import prepare_file
from piecework.simulation.rehearsals.rehearsal import rehearsal_of, work_through

_NO_MARKETS = (
    "Simulated workers come from no market: [markets] is ignored, and every rehearsal "
    "has the fees of the campaign file. The prices by market are those of the campaign file as "
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
        [(file, choice) for choice in tried],
        seeds=seeds,
        pilot=measured,
        processes=processes,
        dask=dask,
        done=lambda done: on_progress(done, total),
    )
    made = Forecast(
        campaign=file.tables.name,
        currency=file.tables.currency,
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
    page.write_text(render_sections(forecast_page(made)), encoding="utf-8")
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
    pace = (
        "no kept answer has a time, so the task's own pace"
        if isnan(pilot.seconds_per_item)
        else f"{pilot.seconds_per_item:.1f} s per item"
    )
    measured = (
        f"From the pilot ({pilot.answers} answers by {pilot.workers} workers): "
        f"{pace}; {pilot.bad:.0%} of the workers are "
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


BAD = tuple(sorted(SIMULATED_BAD))


def forecast(
    tried: Sequence[tuple[CampaignFile, Choice]],
    *,
    seeds: int,
    pilot: Pilot | None = None,
    processes: int | None = None,
    dask: str = "",
    done: Callable[[int], None] = lambda _done: None,
) -> list[list[Outcome]]:
    """Return the outcomes of each choice, one per seed.

    Args:
        tried: campaign files, each with what is chosen differently.
        seeds: how many rehearsals of each, starting with the first file's seed.
        pilot: measurements of real people; without them, the file's crowd.
        processes: how many run at once; by default one per core.
        dask: address of a Dask scheduler that runs them instead; its workers must see
            the campaign's folder under the same path.
        done: called with the number of finished rehearsals.

    Raises:
        ConfigError: a choice does not fit the campaign, the campaign cannot be
            rehearsed, or no scheduler answers.
    """
    first = tried[0][0].tables.rehearsal.seed
    jobs = [(number, first + step) for step in range(seeds) for number in range(len(tried))]
    # Each choice once first, so that an error in any shows before the long run.
    outcomes: dict[tuple[int, int], Outcome] = {}
    with _workers(processes, dask) as pool:
        begun = {
            pool.submit(rehearse_once, *tried[number], seed, pilot): (number, seed)
            for number, seed in jobs
        }
        for finished in as_completed(begun):
            outcomes[begun[finished]] = finished.result()
            done(len(outcomes))
    return [
        [outcomes[number, first + step] for step in range(seeds)] for number in range(len(tried))
    ]


@contextmanager
def _workers(processes: int | None, dask: str) -> Iterator[Executor]:
    """Yield the executor; an error cancels rehearsals that have not started."""
    if dask:
        with dask_client(dask) as client:
            yield client.get_executor(pure=False)
        return
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes or os.cpu_count(), mp_context=spawn) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def rehearse_once(stated: CampaignFile, choice: Choice, seed: int, pilot: Pilot | None) -> Outcome:
    """Rehearse one choice once, in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="piecework-forecast-") as folder:
        file = chosen(stated, choice, seed=seed, out=folder)
        prepared = prepare_file(file)
        crowd = crowd_as_stated(prepared)
        if pilot is not None:
            prepared = replace(prepared, task=pilot.paced(prepared.task))
            if not choice.says_who_is_bad:
                crowd = pilot.crowd(crowd, BAD, usual_crowd(prepared))
        plan = replace(prepared.rehearsal, crowd=choice.crowd(crowd, BAD))
        people(plan.crowd, seed=seed)
        with rehearsal_of(replace(prepared, rehearsal=plan)) as (run, workers):
            work_through(run, workers)
            return outcome_of(run)
