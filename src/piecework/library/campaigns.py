"""A campaign before it is run: loaded, priced, rehearsed."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from os import PathLike
from pathlib import Path

from piecework.campaign import pricing
from piecework.campaign.assembling import read_anywhere
from piecework.campaign.pricing import Price
from piecework.domain.campaign import Campaign
from piecework.domain.clock import SystemClock
from piecework.domain.progress import Progress
from piecework.platforms.virtual_clock import START
from piecework.rehearsing.campaign import prepare
from piecework.rehearsing.rehearsal import rehearsal_of, work_through
from piecework.results.export import DATASET
from piecework.results.whole_pass import write_results


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """What a rehearsal left behind.

    Attributes:
        dataset: the folder of the dataset, for `read_dataset`.
        report: the report, one HTML page.
        progress: its figures: counts, and money in cents.
        virtual_hours: that simulated workers took.
    """

    dataset: Path
    report: Path
    progress: Progress
    virtual_hours: float


def load_campaign(path: str | PathLike[str]) -> Campaign:
    """The campaign of a file, checked.

    Raises:
        ConfigError: every fault of the file, its items, heuristics and policy.
        RefusedForSafety: its answers were imported, so it posts and pays nothing.
    """
    return read_anywhere(Path(path))


def price(campaign: Campaign | str | PathLike[str], *, on: date | None = None) -> Price:
    """What a campaign costs: plain, expected, and at most; money in cents.

    Args:
        campaign: that was loaded, or the path of its file.
        on: the day whose fees count; without one, today.

    Raises:
        ConfigError: faults of the file, or no fees are known for that day.
    """
    loaded = campaign if isinstance(campaign, Campaign) else load_campaign(campaign)
    return pricing.price(loaded, on=on or SystemClock().now().date())


def rehearse(
    path: str | PathLike[str],
    *,
    on_progress: Callable[[Progress], None] | None = None,
) -> Rehearsal:
    """Run a whole campaign on simulated workers, in virtual time; nothing is spent.

    It starts a marketplace on 127.0.0.1 as a process of its own, and writes into the
    campaign's folder (`[output] folder`). A rehearsal that was cut off goes on where it
    stopped; one that is finished is only read and written again.

    Args:
        path: of the campaign file.
        on_progress: told how far the campaign is after every pass.

    Raises:
        ConfigError: every fault of the file.
        CampaignBusy: another process works on the campaign.
        StoreError: the folder belongs to something else.
    """
    with rehearsal_of(prepare(Path(path))) as (run, crowd):
        progress = work_through(run, crowd, on_progress=on_progress)
        report = write_results(run)
        return Rehearsal(
            dataset=run.campaign.out / DATASET,
            report=Path(report),
            progress=progress,
            virtual_hours=(run.clock.now() - START).total_seconds() / 3600,
        )
