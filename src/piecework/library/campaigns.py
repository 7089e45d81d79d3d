"""A campaign before it runs: loaded, priced, rehearsed."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from os import PathLike
from pathlib import Path

import pandas as pd

from piecework.campaign import pricing
from piecework.campaign.assembling import load_with_results, read_anywhere
from piecework.campaign.pricing import Price
from piecework.domain.campaign import Campaign
from piecework.domain.clock import SystemClock
from piecework.domain.progress import Progress
from piecework.platforms.clocks import START
from piecework.results.comparing import comparison
from piecework.results.export import DATASET
from piecework.results.whole_pass import write_results
from piecework.simulation.rehearsals.campaign import prepare_rehearsal
from piecework.simulation.rehearsals.rehearsal import rehearsal_of, work_through


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """The result of a rehearsal.

    Attributes:
        number: the number of the rehearsal.
        dataset: the folder of the dataset, for `read_dataset`.
        report: the report, an HTML page.
        progress: counts, and money in cents.
        virtual_hours: the hours that the simulated workers took.
    """

    number: int
    dataset: Path
    report: Path
    progress: Progress
    virtual_hours: float


def load_campaign(path: str | PathLike[str]) -> Campaign:
    """Read and check the campaign of a file.

    Raises:
        ConfigError: every fault of the file, its items, heuristics and policy.
        RefusedForSafety: its answers are imported, so it posts and pays nothing.
    """
    return read_anywhere(Path(path))


def price(campaign: Campaign | str | PathLike[str], *, on: date | None = None) -> Price:
    """Return what a campaign costs: plain, expected, and at most; money in cents.

    Args:
        campaign: a loaded campaign, or the path of its file.
        on: the day of the fees; default: today.

    Raises:
        ConfigError: faults of the file, or no fees are known for that day.
    """
    loaded = campaign if isinstance(campaign, Campaign) else load_campaign(campaign)
    return pricing.price(loaded, on=on or SystemClock().now().date())


def compare_rules(path: str | PathLike[str], rules: str | PathLike[str]) -> pd.DataFrame:
    """Judge the stored answers of a campaign again, by its own and by other rules.

    Nothing is written. docs/how-to/compare.md says what the file of rules may hold.

    Args:
        path: the campaign file.
        rules: the file with the rules to try.

    Returns:
        One row per answer, index `answer` (str, as in the dataset): `assignment`,
        `worker` (pseudonym), `item`, `batch`, `round`, `before` and `after` ("keep",
        "drop", or "absent": the worker would have been excluded before),
        `before_because`, `after_because`, `is_changed`.

    Raises:
        ConfigError: a file has errors, or the rules are of another task.
        StoreError: the campaign has no store, or the store is of another campaign.
    """
    return comparison.compare_rules(load_with_results(Path(path)), Path(rules)).answers


def rehearse(
    path: str | PathLike[str],
    *,
    again: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> Rehearsal:
    """Run a whole campaign on simulated workers, in virtual time, without cost.

    It starts a marketplace on 127.0.0.1 as a process of its own, and writes to a
    numbered folder in `rehearsals` in the campaign's folder. If nothing has changed, an
    interrupted rehearsal continues, and a finished one only writes its results again.

    Args:
        path: the campaign file.
        again: begin a new one although nothing has changed.
        on_progress: called with the progress after every pass.

    Raises:
        ConfigError: every fault of the file.
        CampaignBusy: another process works on the campaign.
        StoreError: the folder belongs to something else.
    """
    prepared, begun = prepare_rehearsal(Path(path), again=again)
    with rehearsal_of(prepared) as (run, crowd):
        progress = work_through(run, crowd, on_progress=on_progress)
        report = write_results(run)
        return Rehearsal(
            number=begun.number,
            dataset=run.campaign.out / DATASET,
            report=Path(report),
            progress=progress,
            virtual_hours=(run.clock.now() - START).total_seconds() / 3600,
        )
