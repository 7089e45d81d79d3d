"""A forecast of a campaign file: rehearsed, summed up, written as a page."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isnan
from pathlib import Path

from piecework.campaign.assembling import load_campaign, read_anywhere
from piecework.config.campaign_file import parse
from piecework.engine.opening import open_to_look
from piecework.forecasting.choices import choices
from piecework.forecasting.outcomes import summarised
from piecework.forecasting.pilot import Pilot, pilot_of
from piecework.forecasting.rehearsals import BAD, crowd_as_stated, forecast
from piecework.report.forecast import Forecast, Row, render


@dataclass(frozen=True, slots=True)
class WrittenForecast:
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
    dask: str,
    on_progress: Callable[[int, int], None],
) -> WrittenForecast:
    """Rehearse all choices, and write the page.

    Args:
        campaign: path of the campaign file.
        seeds: how many rehearsals of each choice.
        vary: what is varied, each `KEY=VALUE,...`.
        pilot: a campaign file that real people have worked on.
        processes: how many rehearsals at once; as many as there are cores.
        dask: address of a scheduler whose workers rehearse instead; "" is none.
        on_progress: told how many rehearsals are finished, and of how many.
    """
    file = parse(campaign)
    if file.tables.imported is not None:
        read_anywhere(campaign)  # which refuses: nobody can be shown it
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
        assumptions=_assumptions(crowd_as_stated(read_anywhere(campaign)), measured),
    )
    page = file.out / "forecast.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(render(made), encoding="utf-8")
    text = json.dumps(as_document(made), indent=2)
    page.with_suffix(".json").write_text(text, encoding="utf-8")
    return WrittenForecast(made, page)


def as_document(made: Forecast) -> dict[str, object]:
    """Plain values, for `--json` and the file beside the page."""
    return {
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
