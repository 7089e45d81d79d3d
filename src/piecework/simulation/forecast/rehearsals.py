"""Rehearse every choice with many seeds, in parallel: locally, or on a Dask cluster.

Each rehearsal is a campaign of its own in a temporary folder: real marketplace, real
pages, virtual time. It does not use Prefect, which would take longer to start than most
rehearsals to run.
"""

import multiprocessing
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from piecework.config.campaign_file import parse
from piecework.domain.campaign import Campaign
from piecework.results.large.running import dask_client
from piecework.simulation.crowd.people import people
from piecework.simulation.crowd.traits import SIMULATED_BAD, default_crowd
from piecework.simulation.forecast.choices import Choice, chosen
from piecework.simulation.forecast.outcomes import Outcome, outcome_of
from piecework.simulation.forecast.pilot import Pilot
from piecework.simulation.rehearsals.campaign import prepare_file
from piecework.simulation.rehearsals.rehearsal import rehearsal_of, work_through

BAD = tuple(sorted(SIMULATED_BAD))


def forecast(
    campaign: Path,
    choices: Sequence[Choice],
    *,
    seeds: int,
    pilot: Pilot | None = None,
    processes: int | None = None,
    dask: str = "",
    done: Callable[[int], None] = lambda _done: None,
) -> list[list[Outcome]]:
    """Return the outcomes of each choice, one per seed.

    Args:
        campaign: path of the campaign file.
        choices: the choices to try.
        seeds: how many rehearsals of each, starting with the campaign's seed.
        pilot: measurements of real people; without them, the file's crowd.
        processes: how many run at once; by default one per core.
        dask: address of a Dask scheduler that runs them instead; its workers must see
            the campaign's folder under the same path.
        done: called with the number of finished rehearsals.

    Raises:
        ConfigError: a choice does not fit the campaign, the campaign cannot be
            rehearsed, or no scheduler answers.
    """
    first = parse(campaign).tables.rehearsal.seed
    jobs = [(number, first + step) for step in range(seeds) for number in range(len(choices))]
    # Each choice once first, so that an error in any shows before the long run.
    outcomes: dict[tuple[int, int], Outcome] = {}
    with _workers(processes, dask) as pool:
        begun = {
            pool.submit(rehearse_once, campaign, choices[number], seed, pilot): (number, seed)
            for number, seed in jobs
        }
        for finished in as_completed(begun):
            outcomes[begun[finished]] = finished.result()
            done(len(outcomes))
    return [
        [outcomes[number, first + step] for step in range(seeds)] for number in range(len(choices))
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


def rehearse_once(campaign: Path, choice: Choice, seed: int, pilot: Pilot | None) -> Outcome:
    """Rehearse one choice once, in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="piecework-forecast-") as folder:
        file = chosen(parse(campaign), choice, seed=seed, out=folder)
        prepared = prepare_file(file)
        crowd = crowd_as_stated(prepared)
        if pilot is not None:
            prepared = replace(prepared, task=pilot.paced(prepared.task))
            if not choice.says_who_is_bad:
                crowd = pilot.crowd(crowd, BAD)
        plan = replace(prepared.rehearsal, crowd=choice.crowd(crowd, BAD))
        people(plan.crowd, seed=seed)
        with rehearsal_of(replace(prepared, rehearsal=plan)) as (run, workers):
            work_through(run, workers)
            return outcome_of(run)


def crowd_as_stated(campaign: Campaign) -> Mapping[str, int]:
    """The number of simulated workers per trait, from the campaign or the default."""
    judges = campaign.task.dataset != "captions"
    return campaign.rehearsal.crowd or default_crowd(judges=judges)
