"""When a campaign is finished: load its captions into a warehouse, and tell people."""

from pathlib import Path

import sqlalchemy
from prefect import flow, task
from prefect.artifacts import create_markdown_artifact
from prefect.blocks.system import Secret

import piecework
from piecework.flows.exporting import export


@task(retries=3, retry_delay_seconds=30)
def load(dataset: Path, block: str) -> int:
    """Replace the table `captions` by the dataset's answers; return its rows."""
    answers = piecework.read_dataset(dataset).answers
    # The block holds the whole URL, so that no run shows the password.
    engine = sqlalchemy.create_engine(Secret.load(block).get())
    try:
        columns = [name for name in ("task", "worker", "caption") if name in answers]
        answers.reset_index()[columns].to_sql("captions", engine, if_exists="replace", index=False)
    finally:
        engine.dispose()
    return len(answers)


@flow(log_prints=True)
def publish(campaign: Path, block: str = "warehouse") -> int:
    """Return how many captions were loaded.

    Args:
        campaign: absolute path of the campaign file.
        block: name of the `Secret` block with the warehouse's SQLAlchemy URL.
    """
    report = Path(export(str(campaign)))
    rows = load(report.with_name("dataset"), block)
    create_markdown_artifact(
        f"**{rows} captions** of {campaign.stem} are in the warehouse. How far one can trust "
        f"them: `{report}`",
        key=f"{campaign.stem}-published",
    )
    return rows
