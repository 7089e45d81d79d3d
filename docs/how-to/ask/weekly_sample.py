"""Check a sample of this week's descriptions, and fail if too many are wrong."""

from pathlib import Path

import pandas as pd
from prefect import flow
from prefect.artifacts import create_table_artifact
from prefect.runtime import flow_run
from scipy.stats import binomtest

from piecework.flows.asking import ask_table

CAMPAIGN = Path(__file__).with_name("weekly_sample.toml")
LEAST_TRUE = 0.8


@flow(persist_result=True)
def check_week(
    table: Path, week: str | None = None, *, size: int = 30, rehearse: bool = False
) -> dict[str, float]:
    """Return the share of true descriptions, with a 95 % interval.

    Args:
        table: CSV with `pair_id`, `url`, `description` and `week`.
        week: such as "2026-W48"; default: that for which the run was scheduled.
        size: rows to ask about.
        rehearse: let simulated workers answer, at no cost.

    Raises:
        ValueError: fewer than 80 % are true, beyond chance.
    """
    # The same week and sample when the run is resumed, or started again.
    week = week or flow_run.scheduled_start_time.strftime("%G-W%V")
    rows = pd.read_csv(table, dtype=str)
    rows = rows[rows["week"] == week]
    sample = rows.sample(min(size, len(rows)), random_state=int(week[-2:]))
    answers = ask_table(sample, campaign=CAMPAIGN, rehearse=rehearse)

    n_true = int((answers["label"] == "congruent").sum())
    interval = binomtest(n_true, len(answers)).proportion_ci(method="wilson")
    share = {"share": n_true / len(answers), "low": interval.low, "high": interval.high}
    create_table_artifact([{"week": week, **share}], key="weekly-sample")
    if interval.high < LEAST_TRUE:
        raise ValueError(f"{week}: {share['share']:.0%} of the descriptions are true")
    return share
